#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include <CLI/CLI.hpp>

namespace cleat::load {

/// What the connections do (spec 06 section 1).
enum class Scenario {
  distinct,  ///< each binds new references on threads of its own: every answer is 201
  contended, ///< all bind on one thread with the same expectation: one of them wins
  takeover,  ///< each moves a reference of its own from thread to thread
  list,      ///< each lists threads with 50 sessions
  reset,     ///< each binds and resets on threads of its own
  report,    ///< each is the agent of runs of its own and reports another model again and again
  mixed,     ///< a fifth of the connections each: distinct, contended, takeover, report, list
  starts,    ///< each starts agents in containers of its own, which a real Runner with the null driver holds
  etcd,      ///< each puts four keys in a transaction; the server at the URL is an etcd
  noop,      ///< each asks for /healthz: the ceiling of HTTP itself
};

/// The scenario's name on the command line.
std::string_view to_string(Scenario scenario);

/// The command line.
struct Options {
  std::filesystem::path data;
  std::string url;
  std::filesystem::path token_file;
  std::string database_url;
  std::vector<Scenario> scenarios{Scenario::distinct};
  std::size_t connections = 64;
  std::size_t threads = 640;
  /// Imported sessions in each of these threads.
  std::size_t history = 0;
  std::size_t containers = 1000;
  std::size_t runners = 1;
  std::filesystem::path runner_program;
  std::string runner_address;
  std::chrono::seconds duration{10};
  std::chrono::seconds warmup{2};
  /// Requests to send in place of a duration; 0 goes by time.
  std::uint64_t count = 0;
  std::filesystem::path json;
  std::filesystem::path html;
  pid_t server_pid = 0;
  pid_t postgres_pid = 0;
  /// The longest wait for `endpoints.json` of a server that is just being started.
  std::chrono::seconds wait{60};
  /// The longest wait for an answer.
  std::chrono::seconds patience{30};

  /// Whether a scenario is to be played.
  [[nodiscard]] bool plays(Scenario scenario) const;

  /// Throws `std::invalid_argument` with a sentence that names the option and the fix.
  void validate() const;
};

/// Declares every option on `app`, to be filled into `options` when it parses.
void declare(CLI::App& app, Options& options);

} // namespace cleat::load
