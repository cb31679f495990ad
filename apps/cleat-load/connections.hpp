#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cleat-load/answer.hpp"

namespace cleat::load {

using Clock = std::chrono::steady_clock;

/// Where a server listens.
struct Address {
  std::string host;
  std::string port;
};

/// What goes out next on a connection. Kept from request to request, so that its strings are allocated once.
struct Request {
  std::string_view method = "GET";
  std::string target;
  /// Sent with a Content-Type when it is not empty.
  std::string body;
  /// Empty sends no Authorization.
  std::string_view token;
  /// Empty sends no Idempotency-Key.
  std::string idempotency_key;
  /// A version for If-Match; 0 sends none.
  std::int64_t if_match = 0;
  /// Empty sends no Prefer.
  std::string_view prefer;
};

/// Who decides what is sent and looks at what comes back.
class Traffic {
public:
  virtual ~Traffic() = default;

  /// The next request of a connection. False when it has nothing more to send, now and later.
  virtual bool next(std::size_t connection, Request& request) = 0;

  /// The answer to the last request of a connection, and how long it took from sending to the last byte.
  virtual void answered(std::size_t connection, const Answer& answer, std::chrono::nanoseconds latency) = 0;

  /// A second has passed.
  virtual void second() {}
};

/// Kept-alive connections to one server on one epoll loop: the thread that calls `play` does everything, so hundreds
/// of them cost no context switch among themselves.
class Connections {
public:
  /// Opens `count` connections. Throws `std::runtime_error` when the server takes none. `patience` is the longest that
  /// an answer may take.
  Connections(Address address, std::size_t count, std::chrono::seconds patience);
  ~Connections();

  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  [[nodiscard]] std::size_t count() const { return connections_.size(); }

  /// Sends and receives until `traffic` has nothing more to send and every answer is there. Each connection has one
  /// request on the way at a time. Throws `std::runtime_error` when a connection is lost with a request on it, an
  /// answer is no HTTP or takes longer than the patience.
  void play(Traffic& traffic);

private:
  struct Connection;

  void open(Connection& connection);
  void send_next(Connection& connection, Traffic& traffic);
  void flush(Connection& connection);
  void receive(Connection& connection, Traffic& traffic);
  void take_answers(Connection& connection, Traffic& traffic);
  void wait_for_room(Connection& connection, bool wanted) const;
  void check_patience() const;

  Address address_;
  std::chrono::seconds patience_;
  int epoll_ = -1;
  std::size_t in_flight_ = 0;
  std::vector<std::unique_ptr<Connection>> connections_;
};

} // namespace cleat::load
