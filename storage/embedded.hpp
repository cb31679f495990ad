#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/limits.hpp"
#include "base/metrics.hpp"
#include "storage/data_folder.hpp"
#include "storage/file_descriptor.hpp"
#include "storage/postgres_programs.hpp"
#include "storage/postmaster.hpp"
#include "storage/process.hpp"

namespace cleat::storage {

/// How the private PostgreSQL is found and run. Each member has a configuration key of the name beside it.
struct EmbeddedOptions {
  /// database.postgres_bin: the folder of `initdb` and `postgres`; empty is a search.
  std::filesystem::path postgres_bin;
  /// database.embedded_user: who runs PostgreSQL when `cleatd` is root, which PostgreSQL refuses to be.
  std::string user = "postgres";
  /// database.embedded_max_connections
  std::int64_t max_connections = limits::embedded_max_connections;
  /// database.embedded_shared_buffers_mb
  std::int64_t shared_buffers_mb = limits::embedded_shared_buffers_mb;
  /// database.embedded_start_timeout_s: how long recovery after a crash may take.
  std::int64_t start_timeout_s = limits::embedded_start_timeout_s;
  /// database.embedded_stop_timeout_s: how long a clean stop may take before it becomes a hard one.
  std::int64_t stop_timeout_s = limits::embedded_stop_timeout_s;
  /// database.embedded_restart_backoff_max_ms: the longest pause between two attempts to restart it.
  std::int64_t restart_backoff_max_ms = limits::embedded_restart_backoff_max_ms;
};

/// A private PostgreSQL in the data folder (spec 02 "PostgreSQL"). It listens on a Unix socket in a folder that only
/// its own user and root can enter, runs on when `cleatd` is killed, and is restarted when it dies itself.
///
/// PostgreSQL gets its two folders, data and socket, as open descriptors and knows them as `/proc/self/fd/3` and
/// `/proc/self/fd/4`. So an unprivileged user can run it below folders that only root may enter, and the path of the
/// socket is short wherever the data folder is.
class EmbeddedPostgres {
public:
  /// Makes the cluster where there is none, adopts a PostgreSQL that an earlier `cleatd` left running with the
  /// same settings, replaces any other, and returns when connections to the database `cleat` are taken. Throws
  /// `std::runtime_error` with a sentence that says what to do. `folder` must outlive this object.
  EmbeddedPostgres(const DataFolder& folder, EmbeddedOptions options, std::shared_ptr<Metrics> metrics);

  /// Stops PostgreSQL as `stop` does.
  ~EmbeddedPostgres();

  EmbeddedPostgres(const EmbeddedPostgres&) = delete;
  EmbeddedPostgres& operator=(const EmbeddedPostgres&) = delete;

  /// How libpq reaches the database, the same for the whole life of this object.
  [[nodiscard]] const std::string& url() const { return url_; }

  /// The process id of PostgreSQL's main process; 0 while it is being restarted.
  [[nodiscard]] pid_t pid() const { return pid_; }

  /// Whether PostgreSQL was running already when this object was made.
  [[nodiscard]] bool adopted() const { return adopted_; }

  /// Ends supervision and stops PostgreSQL: connections are cut, what is committed is on disk. A PostgreSQL that does
  /// not stop within `stop_timeout_s` is stopped hard and recovers at its next start. Does nothing the second time.
  void stop();

private:
  void choose_user();
  void make_cluster() const;
  void open_folders();
  void take_over_or_start();
  void start();
  StartOutcome start_once();
  void remove_stale_locks() const;
  void start_supervision();
  void supervise();
  bool restart();
  [[nodiscard]] bool interrupted_within(std::chrono::milliseconds pause) const;
  void stop_process(Process& process) const;
  [[nodiscard]] std::vector<std::string> as_user(std::vector<std::string> arguments, bool dies_with_us) const;
  [[nodiscard]] std::vector<std::string> server_arguments() const;
  [[nodiscard]] FileDescriptor open_log() const;

  const DataFolder& folder_;
  const EmbeddedOptions options_;
  const std::shared_ptr<Metrics> metrics_;
  const std::filesystem::path cluster_;
  const std::filesystem::path socket_folder_;
  PostgresPrograms programs_;
  /// Who runs PostgreSQL; absent when that is the user that runs this process.
  std::optional<std::pair<uid_t, gid_t>> user_;
  FileDescriptor cluster_descriptor_;
  FileDescriptor socket_descriptor_;
  /// Readable once `stop` was called.
  FileDescriptor interrupt_;
  std::string url_;
  std::optional<Process> process_;
  std::atomic<pid_t> pid_ = 0;
  bool adopted_ = false;
  /// What PostgreSQL said in its log during the last attempt to start it.
  std::string last_words_;
  std::thread supervisor_;
};

} // namespace cleat::storage
