#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/tls.hpp"

namespace cleat::test {

/// An answer as it came over the wire.
struct RawResponse {
  int status = 0;
  /// By name in lower case.
  std::map<std::string, std::string> headers;
  std::string body;
};

/// What is special about a connection.
struct RawOptions {
  /// The bytes of its receive buffer, if it is given: what a client that reads slowly can leave unread.
  int receive_buffer = 0;
  /// With it TLS is spoken.
  std::shared_ptr<tls::Context> tls = nullptr;
  /// Which address of the loopback it comes from: the last byte.
  std::uint8_t from = 1;
};

/// A TCP connection that sends exactly what it is told to, plain or through TLS. Every wait ends after some seconds
/// with an exception.
class RawClient {
public:
  /// Connects, and shakes hands where TLS is spoken; whether that worked says `tls_error`.
  explicit RawClient(std::uint16_t port, RawOptions options = {});
  ~RawClient();

  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  /// Sends the bytes; false when the server does not take them any more.
  bool send(std::string_view bytes);

  /// Says through TLS that nothing more will be sent (close_notify), and goes on reading.
  void say_the_end();

  /// Why TLS failed; empty when it did not.
  [[nodiscard]] std::string tls_error() const;

  /// Whether the server has ended TLS in order (close_notify).
  [[nodiscard]] bool was_told_the_end() const { return tls_ && tls_->closed(); }

  /// Reads one answer; nothing when the connection ends first. `head` is set for answers to HEAD.
  std::optional<RawResponse> receive(bool head = false);

  /// Reads up to and with `end`. Throws when the connection ends first.
  std::string read_until(std::string_view end);

  /// Reads until the server has ended the connection, whether in order or not. Returns what came.
  std::string read_to_end();

  /// `send`, then `receive`, which must give an answer.
  RawResponse exchange(std::string_view bytes);

  /// Waits for the server to end the connection. True: without a further byte.
  bool ends();

  /// Whether the server ends the connection within `time`.
  bool ends_within(std::chrono::milliseconds time);

  /// Whether the server resets or refuses the connection attempt.
  static bool is_refused(std::uint16_t port);

private:
  bool fill();
  bool send_as_it_is(std::string_view bytes) const;
  void shake_hands();

  int socket_;
  /// Whether the server has ended the connection.
  bool has_ended_ = false;
  std::unique_ptr<tls::Session> tls_;
  std::string in_;
};

} // namespace cleat::test
