#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "storage/file_descriptor.hpp"
#include "storage/process.hpp"

/// What is known about the main process of a PostgreSQL cluster from outside.
namespace cleat::storage {

/// What PostgreSQL tells in `postmaster.pid`.
struct PostmasterFile {
  pid_t pid = 0;
  /// "starting", "ready", "stopping"; empty while the file is being written.
  std::string status;
};

/// Reads `postmaster.pid` of a cluster; `nullopt` when there is none or it holds no process id yet.
std::optional<PostmasterFile> read_postmaster_file(const std::filesystem::path& cluster);

/// What `cluster_name` is set to for the cluster in this folder: a name that no other folder of the machine has.
/// Throws `std::system_error` when the folder cannot be seen.
std::string cluster_name(const std::filesystem::path& cluster);

/// The process that `postmaster.pid` names, as long as it runs and is a PostgreSQL of this cluster. A file that
/// names a process that is gone, or one that only got the same number later, gives `nullopt`.
std::optional<Process> find_postmaster(const std::filesystem::path& cluster);

/// The command line of a running process; empty when it cannot be read.
std::vector<std::string> command_line(pid_t pid);

/// How waiting for a start ended.
enum class StartOutcome { ready, ended, interrupted, timed_out };

/// Waits until PostgreSQL says in `postmaster.pid` that it takes connections. It is told of every change of the file
/// by the kernel, so a start is known at once. `interrupt` becomes readable to end the wait early.
StartOutcome await_start(const std::filesystem::path& cluster, Process& process, int interrupt,
                         std::chrono::steady_clock::time_point deadline);

} // namespace cleat::storage
