#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/encoding.hpp"
#include "base/limits.hpp"

/// The program `cleat-runner`: starts agents where the server tells it to, and keeps a journal of it (spec 04
/// section 7).
namespace cleat::runner {

/// A configuration that cannot work. The text names the key and what to do about it.
struct ConfigError : std::runtime_error {
  explicit ConfigError(const std::string& text) : std::runtime_error(printable(text)) {}
};

/// How an agent is started: as a process, inside bubblewrap, or not at all (for load tests).
enum class DriverKind : std::uint8_t { process, bwrap, null };

/// A container as this machine knows it; the server knows it by its name.
struct ContainerSpec {
  std::string name;
  DriverKind driver = DriverKind::process;
  /// Program and arguments; a program without a slash is looked for in the PATH of `environment`.
  std::vector<std::string> command;
  /// Where the agent works; absolute.
  std::string folder;
  std::map<std::string, std::string> environment;
  /// Of bwrap: whether the agent shares the machine's network.
  bool network = false;
  /// Of bwrap: folders that the agent shall see empty.
  std::vector<std::string> hide;
  std::int64_t stop_grace_s = limits::agent_stop_grace_s;
};

/// Everything that can be configured, with its defaults; explained in docs/operating/runner.md.
struct Config {
  std::string server_host;
  std::uint16_t server_port = 0;
  std::string token_file;
  std::string state;
  std::string log_level = "info";
  std::string log_format = "auto";

  std::string tls_ca;
  std::string tls_server_name;
  /// TLS is used when an authority is given, and always when the server is not on this machine.
  bool tls = false;

  /// The signed manifest of this program and the key that it is signed with; empty means beside the program.
  std::string release_manifest;
  std::string release_trust_root;

  std::map<std::string, ContainerSpec> containers;

  std::int64_t max_frame_bytes = limits::runner_max_frame_bytes;
  std::int64_t connect_timeout_s = limits::runner_connect_timeout_s;
  std::int64_t backoff_max_ms = limits::runner_backoff_max_ms;
  std::int64_t relay_window = limits::agent_relay_window;
  std::int64_t relay_resend_ms = limits::agent_relay_resend_ms;
  std::int64_t relay_max_unacknowledged = limits::agent_max_unacknowledged;
  std::int64_t journal_retention_s = limits::journal_retention_s;
  std::int64_t drain_s = limits::runner_drain_s;
};

/// Texts by name: the options that were given, or the environment.
using Values = std::map<std::string, std::string, std::less<>>;

/// Reads the TOML file, then what options (named `server`, `token-file`, `state`, `log-level`, `log-format`) and the
/// environment (`CLEAT_RUNNER_SERVER` and so on) say: options beat the environment, that beats the file. Throws
/// `ConfigError` with a sentence that names the key and the fix.
Config read_config(const std::string& file, const Values& options, const Values& environment);

} // namespace cleat::runner
