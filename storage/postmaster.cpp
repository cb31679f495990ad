#include "storage/postmaster.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>

namespace cleat::storage {
namespace {

// Lines of postmaster.pid (PostgreSQL, src/include/utils/pidfile.h).
constexpr std::size_t pid_line = 0;
constexpr std::size_t status_line = 7;

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Whether the process works in the cluster's folder, which PostgreSQL enters at start and never leaves; `nullopt`
/// when the kernel does not tell, for example root in a container about another user's process.
std::optional<bool> works_in(pid_t pid, const std::filesystem::path& cluster) {
  struct stat its {};
  struct stat ours {};
  const auto link = "/proc/" + std::to_string(pid) + "/cwd";
  if (stat(link.c_str(), &its) != 0 || stat(cluster.c_str(), &ours) != 0)
    return std::nullopt;
  return its.st_dev == ours.st_dev && its.st_ino == ours.st_ino;
}

bool was_named(pid_t pid, const std::filesystem::path& cluster) {
  const auto words = command_line(pid);
  return std::find(words.begin(), words.end(), "cluster_name=" + cluster_name(cluster)) != words.end();
}

bool says_ready(const std::filesystem::path& cluster, pid_t pid) {
  const auto file = read_postmaster_file(cluster);
  return file && file->pid == pid && file->status == "ready";
}

/// A descriptor that becomes readable when a file in the cluster's top folder changes.
FileDescriptor watch(const std::filesystem::path& cluster) {
  FileDescriptor watcher(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!watcher || inotify_add_watch(watcher.get(), cluster.c_str(), IN_CREATE | IN_MODIFY | IN_MOVED_TO) < 0)
    throw std::system_error(errno, std::generic_category(), "inotify on " + cluster.string());
  return watcher;
}

void drain(int descriptor) {
  std::array<char, 4096> ignored{};
  while (read(descriptor, ignored.data(), ignored.size()) > 0) {
  }
}

} // namespace

std::optional<PostmasterFile> read_postmaster_file(const std::filesystem::path& cluster) {
  std::ifstream file(cluster / "postmaster.pid");
  PostmasterFile result;
  std::string line;
  for (std::size_t i = 0; i <= status_line && std::getline(file, line); ++i) {
    if (i == pid_line)
      result.pid = std::atoi(line.c_str());
    if (i == status_line)
      result.status = line.substr(0, line.find_last_not_of(' ') + 1);
  }
  if (result.pid <= 0)
    return std::nullopt;
  return result;
}

std::optional<Process> find_postmaster(const std::filesystem::path& cluster) {
  const auto file = read_postmaster_file(cluster);
  if (!file)
    return std::nullopt;
  auto process = Process::find(file->pid);
  if (!process || read_file("/proc/" + std::to_string(file->pid) + "/comm") != "postgres\n")
    return std::nullopt;
  if (!works_in(file->pid, cluster).value_or(was_named(file->pid, cluster)))
    return std::nullopt;
  return process;
}

std::string cluster_name(const std::filesystem::path& cluster) {
  struct stat info {};
  if (stat(cluster.c_str(), &info) != 0)
    throw std::system_error(errno, std::generic_category(), cluster.string());
  return "cleat-" + std::to_string(info.st_dev) + "-" + std::to_string(info.st_ino);
}

std::vector<std::string> command_line(pid_t pid) {
  std::vector<std::string> words;
  const auto text = read_file("/proc/" + std::to_string(pid) + "/cmdline");
  for (std::size_t start = 0; start < text.size();) {
    const auto end = text.find('\0', start);
    words.push_back(text.substr(start, end - start));
    start = end == std::string::npos ? text.size() : end + 1;
  }
  return words;
}

StartOutcome await_start(const std::filesystem::path& cluster, Process& process, int interrupt,
                         std::chrono::steady_clock::time_point deadline) {
  const auto watcher = watch(cluster);
  for (;;) {
    if (says_ready(cluster, process.pid()))
      return StartOutcome::ready;
    std::array<pollfd, 3> events{
      {{watcher.get(), POLLIN, 0}, {process.descriptor(), POLLIN, 0}, {interrupt, POLLIN, 0}}};
    const int count = poll(events.data(), events.size(), poll_timeout(deadline));
    if (count == 0)
      return StartOutcome::timed_out;
    if (count > 0 && events[2].revents != 0)
      return StartOutcome::interrupted;
    if (count > 0 && events[1].revents != 0) {
      static_cast<void>(process.wait(std::chrono::milliseconds(0))); // reaps it
      return StartOutcome::ended;
    }
    drain(watcher.get());
  }
}

} // namespace cleat::storage
