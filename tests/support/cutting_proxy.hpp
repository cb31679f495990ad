#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace cleat::test {

/// What is lost of a COMMIT when the proxy cuts the connection that carries it.
enum class Loss {
  nothing,
  request, ///< The server never sees the COMMIT: the transaction is rolled back.
  answer,  ///< The server has committed, and its client never hears of it.
};

/// Stands between a client of PostgreSQL and the server's Unix socket, and cuts connections at the one moment
/// that is hard to hit otherwise: around COMMIT. It can also be a network that is slow or has fallen silent.
class CuttingProxy {
public:
  /// Listens in an own folder below /tmp for clients of the server at `server_socket`.
  explicit CuttingProxy(std::filesystem::path server_socket);
  ~CuttingProxy();

  CuttingProxy(const CuttingProxy&) = delete;
  CuttingProxy& operator=(const CuttingProxy&) = delete;

  /// The folder for `host=` of a client.
  [[nodiscard]] const std::filesystem::path& folder() const;

  /// The next COMMIT that comes by loses its `loss`; afterwards the proxy is quiet again.
  void cut_next_commit(Loss loss);

  /// Whether new connections are closed at once, as if the server were gone.
  void refuse_connections(bool refuse);

  /// Cuts every connection that is open.
  void cut_all();

  /// Whether everything stands still: connections stay open, and nothing passes, not even the news that one end is
  /// gone.
  void hold(bool held);

  /// How long everything that passes takes from now on.
  void delay(std::chrono::milliseconds span);

  /// Returns once `count` connections have been cut since the start. False when that takes over a minute.
  bool wait_for_cuts(int count);

private:
  struct Link;

  void run();
  /// Tells the thread that something has been asked for.
  void wake() const;
  /// Does what was asked for; false when that was to end.
  bool obey();
  void accept_client();
  /// Each answers whether the link stays.
  bool pump_client(Link& link);
  bool pump_server(Link& link);
  void note_cut();

  std::filesystem::path server_socket_;
  std::filesystem::path folder_;
  int listener_ = -1;
  int wake_ = -1;
  std::atomic<Loss> next_loss_ = Loss::nothing;
  std::atomic<bool> refuse_ = false;
  std::atomic<bool> ends_ = false;
  std::atomic<bool> cut_all_ = false;
  std::atomic<bool> held_ = false;
  std::atomic<int> delay_ms_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  int cuts_ = 0;
  std::map<int, std::unique_ptr<Link>> links_;
  std::thread thread_;
};

} // namespace cleat::test
