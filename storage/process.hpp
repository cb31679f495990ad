#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "storage/file_descriptor.hpp"

namespace cleat::storage {

/// What to start. The child gets nothing of ours but what stands here: a short fixed environment, default signals,
/// the root folder as working folder, no descriptors but its standard ones and `descriptors`.
struct Command {
  /// The program's path and its arguments.
  std::vector<std::string> arguments;
  /// Descriptors of ours that the child finds as 3, 4 and so on.
  std::vector<int> descriptors = {};
  /// Where its output and errors go.
  int output = -1;
  /// Whether it gets a session of its own, so that Ctrl-C at our terminal is ours alone.
  bool own_session = false;
};

/// A process held by a descriptor, which cannot come to mean another process when the pid is used again.
class Process {
public:
  /// The running process of this pid, whoever started it; `nullopt` when there is none.
  static std::optional<Process> find(pid_t pid);

  /// Starts a child. Throws `std::system_error` when it cannot be started.
  static Process start(const Command& command);

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Becomes readable when the process has ended.
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }

  /// Sends a signal; nothing happens when the process has ended.
  void signal(int number) const;

  /// Waits for the end, at most `timeout`. Whether it has ended; a child is reaped by that.
  [[nodiscard]] bool wait(std::chrono::milliseconds timeout);

  /// The exit code of a child that has ended, 128 and the signal when one ended it; `nullopt` before that and for
  /// processes that others started.
  [[nodiscard]] std::optional<int> exit_code() const { return exit_code_; }

private:
  Process(pid_t pid, FileDescriptor descriptor) : pid_(pid), descriptor_(std::move(descriptor)) {}

  pid_t pid_;
  FileDescriptor descriptor_;
  std::optional<int> exit_code_;
};

/// What a short-lived program said and how it ended.
struct Output {
  int exit_code = -1;
  /// Its output and errors together, at most 64 KiB of them.
  std::string text;
};

/// Runs a program to its end; one that takes longer than `timeout` is killed, exit code 137. `command.output` is
/// not used. Throws `std::system_error` when it cannot be started.
Output run(Command command, std::chrono::milliseconds timeout);

/// Milliseconds from now to `deadline` for `poll`, 0 when it has passed.
int poll_timeout(std::chrono::steady_clock::time_point deadline);

} // namespace cleat::storage
