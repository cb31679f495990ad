#include "storage/process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>

extern "C" { // glibc 2.36 forgot to say so in its header
#include <sys/pidfd.h>
}

namespace cleat::storage {
namespace {

constexpr int first_handed_descriptor = 3;
constexpr std::size_t max_output_bytes = 64 * 1024;

void check(int error, const char* what) {
  if (error != 0)
    throw std::system_error(error, std::generic_category(), what);
}

/// Room for what `posix_spawn` shall do in the child.
class SpawnPlan {
public:
  SpawnPlan() {
    check(posix_spawn_file_actions_init(&actions_), "posix_spawn_file_actions_init");
    check(posix_spawnattr_init(&attributes_), "posix_spawnattr_init");
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  /// `from` must lie above everything that is handed over, so that no copy overwrites a source.
  void hand_over(int from, int to) {
    check(posix_spawn_file_actions_adddup2(&actions_, from, to), "posix_spawn_file_actions_adddup2");
  }

  void finish(int first_closed, bool own_session) {
    check(posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0), "/dev/null");
    check(posix_spawn_file_actions_addclosefrom_np(&actions_, first_closed), "closefrom");
    check(posix_spawn_file_actions_addchdir_np(&actions_, "/"), "chdir");
    // cleatd blocks the signals that end it and ignores SIGPIPE; a child must do neither.
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    check(posix_spawnattr_setsigmask(&attributes_, &none), "posix_spawnattr_setsigmask");
    check(posix_spawnattr_setsigdefault(&attributes_, &all), "posix_spawnattr_setsigdefault");
    const int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (own_session ? POSIX_SPAWN_SETSID : 0);
    check(posix_spawnattr_setflags(&attributes_, static_cast<short>(flags)), "posix_spawnattr_setflags");
  }

  pid_t spawn(std::vector<char*>& arguments) {
    std::string path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    std::string locale = "LC_ALL=C";
    std::array<char*, 3> environment{path.data(), locale.data(), nullptr};
    pid_t pid = 0;
    check(posix_spawnp(&pid, arguments.front(), &actions_, &attributes_, arguments.data(), environment.data()),
          arguments.front());
    return pid;
  }

private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// A copy of `descriptor` above every number that a child gets.
FileDescriptor lift(int descriptor, int floor) {
  FileDescriptor copy(fcntl(descriptor, F_DUPFD_CLOEXEC, floor));
  if (!copy)
    check(errno, "fcntl");
  return copy;
}

} // namespace

int poll_timeout(std::chrono::steady_clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
}

std::optional<Process> Process::find(pid_t pid) {
  FileDescriptor descriptor(pidfd_open(pid, 0));
  if (!descriptor)
    return std::nullopt;
  Process process(pid, std::move(descriptor));
  // A process that has ended and that nobody has reaped still has a descriptor.
  if (process.wait(std::chrono::milliseconds(0)))
    return std::nullopt;
  return process;
}

Process Process::start(const Command& command) {
  std::vector<char*> arguments;
  auto words = command.arguments;
  for (auto& word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);

  const int first_closed = first_handed_descriptor + static_cast<int>(command.descriptors.size());
  SpawnPlan plan;
  const auto output = lift(command.output, first_closed);
  plan.hand_over(output.get(), STDOUT_FILENO);
  plan.hand_over(output.get(), STDERR_FILENO);
  std::vector<FileDescriptor> lifted;
  for (const int descriptor : command.descriptors) {
    lifted.push_back(lift(descriptor, first_closed));
    plan.hand_over(lifted.back().get(), first_handed_descriptor + static_cast<int>(lifted.size()) - 1);
  }
  plan.finish(first_closed, command.own_session);
  const auto pid = plan.spawn(arguments);
  FileDescriptor descriptor(pidfd_open(pid, 0));
  if (!descriptor)
    check(errno, "pidfd_open");
  return {pid, std::move(descriptor)};
}

void Process::signal(int number) const {
  static_cast<void>(pidfd_send_signal(descriptor_.get(), number, nullptr, 0));
}

bool Process::wait(std::chrono::milliseconds timeout) {
  if (exit_code_)
    return true;
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  pollfd ended{descriptor_.get(), POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&ended, 1, poll_timeout(deadline));
  } while (ready < 0 && errno == EINTR);
  if (ready <= 0)
    return false;
  siginfo_t info{};
  // Fails for processes that others started: those are not ours to reap.
  if (waitid(P_PIDFD, static_cast<id_t>(descriptor_.get()), &info, WEXITED | WNOHANG) == 0 && info.si_pid == pid_)
    exit_code_ = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
  return true;
}

Output run(Command command, std::chrono::milliseconds timeout) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    check(errno, "pipe2");
  const FileDescriptor reading(ends[0]);
  FileDescriptor writing(ends[1]);
  command.output = writing.get();
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  auto process = Process::start(command);
  writing.reset();

  Output output;
  std::array<char, 4096> chunk{};
  pollfd readable{reading.get(), POLLIN, 0};
  while (poll(&readable, 1, poll_timeout(deadline)) > 0) {
    const auto count = read(reading.get(), chunk.data(), chunk.size());
    if (count <= 0)
      break;
    output.text.append(chunk.data(), std::min(static_cast<std::size_t>(count), max_output_bytes - output.text.size()));
  }
  const auto left = std::chrono::milliseconds(poll_timeout(deadline));
  if (!process.wait(left)) {
    process.signal(SIGKILL);
    static_cast<void>(process.wait(std::chrono::seconds(5)));
  }
  output.exit_code = process.exit_code().value_or(-1);
  return output;
}

} // namespace cleat::storage
