#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

namespace cleat::test {

/// How a throwaway cluster is made.
struct ClusterOptions {
  /// Whether commits wait for the disk. Off makes a suite faster that never kills the server.
  bool fsync = true;
  /// More settings of postgresql.conf, each as `name=value`.
  std::vector<std::string> settings = {};
};

/// A private PostgreSQL for one test process: an own data folder below /tmp, an own Unix socket, no TCP.
///
/// PostgreSQL refuses to run as root, so under root it runs as the user `postgres`, otherwise as whoever runs the
/// test. It dies with the thread that started it, whatever happens to the test, so clusters are started from the
/// main thread. Every function throws `std::runtime_error` with the server's log when something goes wrong.
class Cluster {
public:
  /// Makes the data folder with `initdb` and starts the server.
  explicit Cluster(ClusterOptions options = {});

  /// Stops the server and removes the folder.
  ~Cluster();

  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// Makes an empty database and answers its URL.
  std::string createdb(const std::string& name);

  /// The URL of a database of this cluster, for libpq.
  [[nodiscard]] std::string url(const std::string& database) const;

  /// The folder of the Unix socket, for `host=` or a proxy.
  [[nodiscard]] const std::filesystem::path& socket_folder() const;

  /// The socket that the server listens on.
  [[nodiscard]] std::filesystem::path socket() const;

  /// The process id of the postmaster; 0 while none runs.
  [[nodiscard]] pid_t pid() const;

  /// Starts the server again after `stop` or `kill`, and returns once it takes connections.
  void start();

  /// Shuts down cleanly ("fast": open transactions are aborted) and returns once the process is gone.
  void stop();

  /// Kills the postmaster and every process of it with SIGKILL, as a power cut would, and returns once all are gone.
  void kill();

private:
  struct Server;

  void initialize();
  void reap();

  ClusterOptions options_;
  std::filesystem::path root_;
  /// Held for as long as the folder is in use.
  int lock_ = -1;
  std::unique_ptr<Server> server_;
};

/// The cluster that all tests of this process share, made at first use and gone at exit. Tests keep apart by
/// databases of their own.
Cluster& shared_cluster();

/// A name for a database that no other test of this process uses.
std::string fresh_database_name();

} // namespace cleat::test
