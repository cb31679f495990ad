#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include <sys/types.h>

#include "apps/cleat-load/world.hpp"

namespace cleat::load {

/// The `cleat-runner` that is to be used: `given`, or one beside this program, in the build folder, or in PATH. Throws
/// `std::runtime_error` with a sentence that says what is missing.
std::filesystem::path find_runner_program(const std::filesystem::path& given);

/// A real `cleat-runner` with a folder of its own, whose containers all have the null driver. It ends with this object,
/// and its folder goes with it; it ends as well when this process dies.
class RunnerProcess {
public:
  /// Starts it. `server` is the HOST:PORT that Runners connect to. Throws `std::runtime_error` when that is impossible.
  RunnerProcess(const std::filesystem::path& program, const std::string& server, const RunnerEntry& runner);
  ~RunnerProcess();

  RunnerProcess(const RunnerProcess&) = delete;
  RunnerProcess& operator=(const RunnerProcess&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// Waits for a while at most. Whether the process has ended.
  [[nodiscard]] bool ends_within(std::chrono::milliseconds time) const;

  /// The end of what it has logged.
  [[nodiscard]] std::string last_words() const;

private:
  void write_files(const RunnerEntry& runner) const;
  void start(const std::filesystem::path& program, const std::string& server);

  std::filesystem::path folder_;
  pid_t pid_ = -1;
  /// Becomes readable when the process ends.
  int descriptor_ = -1;
};

} // namespace cleat::load
