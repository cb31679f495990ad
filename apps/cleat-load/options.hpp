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
  mixed,     ///< a quarter of the connections each
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

  /// Throws `std::invalid_argument` with a sentence that names the option and the fix.
  void validate() const;
};

/// Declares every option on `app`, to be filled into `options` when it parses.
void declare(CLI::App& app, Options& options);

} // namespace cleat::load
