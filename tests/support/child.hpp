#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace cleat::test {

/// A program to run.
struct Command {
  std::filesystem::path program;
  std::vector<std::string> arguments = {};
  /// Set on top of the environment of the test, from which every `CLEAT_*` is taken out.
  std::map<std::string, std::string> environment = {};
  /// Where standard output and standard error go; appended to.
  std::filesystem::path output;
};

/// The command, started by a program with arguments that becomes what follows them, as `nice` does.
Command through(const std::vector<std::string>& starter, Command command);

/// A running child process. It gets SIGKILL when this object ends and when the thread that made it dies.
class Child {
public:
  /// Starts the program; throws `std::runtime_error` when that is impossible.
  explicit Child(const Command& command);
  ~Child();

  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// A descriptor that becomes readable when the process ends.
  [[nodiscard]] int descriptor() const { return descriptor_; }

  /// Sends a signal, unless the process has ended.
  void signal(int number) const;

  /// Waits for the end. The exit status, 128 + the signal's number for one that was killed, or `nullopt` when it
  /// still runs after `patience`.
  std::optional<int> wait(std::chrono::milliseconds patience);

private:
  pid_t pid_ = -1;
  int descriptor_ = -1;
  std::optional<int> status_;
};

/// A folder below /tmp that other users may enter (an embedded PostgreSQL of root runs as one of them), gone with
/// this object.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();

  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

/// The text of a file; empty when there is none.
std::string read_file(const std::filesystem::path& path);

/// Writes a file; throws `std::runtime_error` when that is impossible.
void write_file(const std::filesystem::path& path, const std::string& text);

} // namespace cleat::test
