#include "apps/cleat-runner/process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/cleat-runner/process_table.hpp"

extern "C" { // glibc 2.36 forgot to say so in its header
#include <sys/pidfd.h>
}

namespace cleat::runner {
namespace {

/// What the child was about when it failed.
enum class Step : int { settings, folder, program };

struct Failure {
  Step step;
  int error;
};

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Pipe new_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw LaunchError(std::string("cannot make a pipe: ") + std::strerror(errno));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void make_non_blocking(const Descriptor& descriptor) {
  ::fcntl(descriptor.get(), F_SETFL, ::fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Everything that the child needs, made before the fork: after it only async-signal-safe calls are allowed.
struct Prepared {
  const char* program;
  const char* folder;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  int input;
  int output;
  int errors;
  int report;
  pid_t parent;
};

[[noreturn]] void give_up(int report, Step step) {
  const Failure failure{step, errno};
  [[maybe_unused]] const auto written = ::write(report, &failure, sizeof failure);
  ::_exit(127);
}

/// The child's way to the program.
[[noreturn]] void become(const Prepared& prepared) {
  constexpr int report_at = 3;
  // Above everything that is about to be replaced.
  const int report = ::fcntl(prepared.report, F_DUPFD_CLOEXEC, 64);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  ::sigaction(SIGPIPE, &by_default, nullptr);
  // Should the Runner have died before the child could ask to die with it, it does so here.
  if (report < 0 || ::setsid() < 0 || ::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != prepared.parent)
    give_up(prepared.report, Step::settings);
  if (::dup2(prepared.input, STDIN_FILENO) < 0 || ::dup2(prepared.output, STDOUT_FILENO) < 0 ||
      ::dup2(prepared.errors, STDERR_FILENO) < 0 || ::dup3(report, report_at, O_CLOEXEC) < 0)
    give_up(report, Step::settings);
  if (::close_range(report_at + 1, ~0U, 0) != 0)
    give_up(report_at, Step::settings);
  ::umask(077);
  if (::chdir(prepared.folder) != 0)
    give_up(report_at, Step::folder);
  ::execve(prepared.program, prepared.arguments.data(), prepared.environment.data());
  give_up(report_at, Step::program);
}

} // namespace

Process spawn(const Launch& launch) {
  auto arguments = launch.arguments;
  std::vector<std::string> environment;
  for (const auto& [name, value] : launch.environment)
    environment.push_back(name + "=" + value);
  auto input = new_pipe();
  auto output = new_pipe();
  auto errors = new_pipe();
  auto report = new_pipe();
  const Prepared prepared{launch.program.c_str(),   launch.folder.c_str(), pointers_to(arguments),
                          pointers_to(environment), input.read.get(),      output.write.get(),
                          errors.write.get(),       report.write.get(),    ::getpid()};
  Process process;
  process.pid = ::fork();
  if (process.pid == 0)
    become(prepared);
  if (process.pid < 0)
    throw LaunchError(std::string("cannot make a process: ") + std::strerror(errno));
  process.ended = Descriptor(::pidfd_open(process.pid, 0));
  if (!process.ended) {
    const int error = errno;
    ::kill(process.pid, SIGKILL);
    ::waitpid(process.pid, nullptr, 0);
    throw LaunchError(std::string("cannot watch a process: ") + std::strerror(error));
  }
  if (const auto info = process_info(process.pid))
    process.start = info->start;
  process.input = std::move(input.write);
  process.output = std::move(output.read);
  process.errors = std::move(errors.read);
  process.execution = std::move(report.read);
  for (const auto* ours : {&process.input, &process.output, &process.errors, &process.execution})
    make_non_blocking(*ours);
  return process;
}

std::optional<std::string> exec_failure(const Descriptor& execution) {
  Failure failure{};
  if (::read(execution.get(), &failure, sizeof failure) != sizeof failure)
    return std::nullopt;
  const std::string why = std::strerror(failure.error);
  switch (failure.step) {
    case Step::folder:
      return "cannot enter the container's folder: " + why;
    case Step::program:
      return "cannot execute the container's command: " + why;
    case Step::settings:
      break;
  }
  return "cannot set the process up: " + why;
}

} // namespace cleat::runner
