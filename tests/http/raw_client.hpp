#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace cleat::test {

/// An answer as it came over the wire.
struct RawResponse {
  int status = 0;
  /// By name in lower case.
  std::map<std::string, std::string> headers;
  std::string body;
};

/// A TCP connection that sends exactly what it is told to. Every wait ends after some seconds with an exception.
class RawClient {
public:
  /// With a receive buffer of that many bytes, if it is given: what a client that reads slowly can leave unread.
  explicit RawClient(std::uint16_t port, int receive_buffer = 0);
  ~RawClient();

  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  /// Sends the bytes; false when the server does not take them any more.
  bool send(std::string_view bytes) const;

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

  int socket_;
  std::string in_;
};

} // namespace cleat::test
