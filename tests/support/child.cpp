#include "tests/support/child.hpp"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" { // glibc 2.36 forgot to say so in its header
#include <sys/pidfd.h>
}

namespace cleat::test {
namespace {

std::runtime_error failure(const std::string& what) {
  return std::runtime_error(what + ": " + std::strerror(errno));
}

std::vector<std::string> environment_of(const Command& command) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!std::string_view(*entry).starts_with("CLEAT_"))
      result.emplace_back(*entry);
  for (const auto& [name, value] : command.environment)
    result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

int exit_status_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace

Command through(const std::vector<std::string>& starter, Command command) {
  command.arguments.insert(command.arguments.begin(), command.program.string());
  command.arguments.insert(command.arguments.begin(), starter.begin() + 1, starter.end());
  command.program = starter.front();
  return command;
}

Child::Child(const Command& command) {
  std::vector<std::string> arguments{command.program.string()};
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  auto environment = environment_of(command);
  const auto argv = pointers_to(arguments);
  const auto envp = pointers_to(environment);
  const int output = ::open(command.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (output < 0)
    throw failure("cannot write " + command.output.string());
  pid_ = ::fork();
  if (pid_ == 0) {
    // Only async-signal-safe calls from here on: other threads may have held locks at the fork.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    ::execve(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }
  ::close(output);
  if (pid_ < 0)
    throw failure("cannot fork");
  descriptor_ = ::pidfd_open(pid_, 0);
  if (descriptor_ < 0)
    throw failure("cannot watch the child");
}

Child::~Child() {
  signal(SIGKILL);
  wait(std::chrono::minutes{1});
  ::close(descriptor_);
}

void Child::signal(int number) const {
  if (!status_)
    ::kill(pid_, number);
}

std::optional<int> Child::wait(std::chrono::milliseconds patience) {
  if (status_)
    return status_;
  pollfd ended{descriptor_, POLLIN, 0};
  if (::poll(&ended, 1, static_cast<int>(patience.count())) != 1)
    return std::nullopt;
  int status = 0;
  if (::waitpid(pid_, &status, 0) == pid_)
    status_ = exit_status_of(status);
  return status_;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = "/tmp/cleat-process-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr)
    throw failure("cannot make a folder");
  ::chmod(name.c_str(), 0711);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out)
    throw std::runtime_error("cannot write " + path.string());
}

} // namespace cleat::test
