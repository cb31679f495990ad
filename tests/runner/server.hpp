#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>

#include "protocol/framing.hpp"
#include "protocol/runner_messages.hpp"
#include "protocol/tls.hpp"

namespace cleat::test {

/// How long a test waits for what must happen.
inline constexpr std::chrono::milliseconds patience{10'000};

/// A Runner's connection as a server sees it, in the hands of a test.
class Peer {
public:
  Peer(int socket, std::shared_ptr<tls::Context> context);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void send(const wire::ToRunner& message);
  /// Frames as they are, or none at all.
  void send_bytes(const std::string& bytes);
  /// Ends it at once; what the Runner has not read yet may be lost.
  void close();
  /// Says that nothing more comes; what was sent still arrives.
  void hang_up() const;

  /// The next report of kind T; what comes before it is kept for later calls. Throws when it does not come.
  template <class T>
  wire::FromRunner next(std::chrono::milliseconds wait = patience) {
    auto found = find<T>(wait);
    if (!found)
      throw std::runtime_error("the Runner did not say what was expected");
    return std::move(*found);
  }
  template <class T>
  std::optional<wire::FromRunner> find(std::chrono::milliseconds wait) {
    return find_report(wait, [](const wire::FromRunner& message) { return std::holds_alternative<T>(message.report); });
  }
  /// The very next report that is no heartbeat.
  wire::FromRunner next_of_any();

  /// Whether the Runner hangs up.
  bool is_closed_within(std::chrono::milliseconds wait);
  /// How many heartbeats have come.
  [[nodiscard]] int heartbeats() const { return heartbeats_; }

private:
  std::optional<wire::FromRunner> find_report(std::chrono::milliseconds wait,
                                              bool (*is_it)(const wire::FromRunner& message));
  /// Reads once; false when nothing came in time.
  bool read(std::chrono::steady_clock::time_point until);

  int socket_;
  std::optional<tls::Session> tls_;
  wire::Deframer deframer_;
  std::deque<wire::FromRunner> received_;
  int heartbeats_ = 0;
  bool closed_ = false;
};

/// Listens for Runners on a free port of this machine, or again on one that it had.
class Server {
public:
  explicit Server(std::shared_ptr<tls::Context> context = nullptr, std::uint16_t port = 0);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// The next connection; throws when none comes.
  std::unique_ptr<Peer> accept(std::chrono::milliseconds wait = patience);
  /// Whether somebody connects.
  bool is_called_within(std::chrono::milliseconds wait) const;

private:
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::shared_ptr<tls::Context> context_;
};

} // namespace cleat::test
