#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "tests/process/client.hpp"

namespace cleat::test {

/// Stands between a Runner and the servers as a load balancer would: passes each connection on to the server that is
/// the target at that moment.
class Forwarder {
public:
  /// `target` is HOST:PORT.
  explicit Forwarder(const std::string& target);
  ~Forwarder();

  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;

  /// HOST:PORT to connect to.
  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  /// The server for connections from now on; the one that is open is cut.
  void move_to(const std::string& target);

private:
  void run();
  void pass(int client) const;

  std::atomic<int> target_port_;
  int listener_ = -1;
  int wake_ = -1; ///< an eventfd: a move, or the end
  std::atomic<bool> ends_ = false;
  int port_ = 0;
  std::thread thread_;
};

} // namespace cleat::test
