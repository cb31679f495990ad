#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <httplib.h>

#include "http/message.hpp"
#include "protocol/tls.hpp"

namespace cleat::http {

/// A connection as cpp-httplib reads and writes it, with what the library's own stream lacks: `poll` instead of
/// `select` (no limit at descriptor 1024), bytes kept from one request to the next (pipelining), one deadline and one
/// byte budget for a whole request (slow clients and endless heads end), and one `send` an answer. With a context it
/// speaks TLS: everything above counts what is in the clear, and a handshake is one more thing that must be over in
/// time.
///
/// Does not own the descriptor. Used by one thread.
class SocketStream final : public httplib::Stream, public Line {
public:
  using Clock = std::chrono::steady_clock;

  /// What `read_head` found.
  enum class HeadStatus { complete, too_large, closed };

  /// `wake_fd` becomes readable when idle connections shall end. Writing one piece takes at most `write_timeout`.
  SocketStream(int fd, int wake_fd, std::chrono::milliseconds write_timeout, std::shared_ptr<tls::Context> context);

  /// Agrees on TLS with the client, where it is spoken; before anything else. False: that failed, the client went away,
  /// it was not over in time, or `wake_fd` spoke.
  bool shake_hands(std::chrono::milliseconds timeout);

  /// Whether the stream is beyond use: the client takes nothing any more, or TLS failed.
  [[nodiscard]] bool failed() const { return failed_; }
  /// Why TLS failed; empty when it did not.
  [[nodiscard]] std::string_view tls_error() const {
    return tls_ ? std::string_view(tls_->error()) : std::string_view();
  }

  /// Waits for the first byte of a request. False: the client went away, nothing came in time, or `wake_fd` spoke.
  bool wait_for_request(std::chrono::milliseconds timeout);

  /// Starts a request that must have arrived by `deadline`, and reads its head into the buffer, at most `max_bytes`.
  HeadStatus read_head(std::size_t max_bytes, Clock::time_point deadline);

  /// The head that `read_head` completed; valid until the next read.
  [[nodiscard]] std::string_view head() const { return std::string_view(in_).substr(begin_, head_length_); }

  /// From here on the request may bring this many bytes at most; further reads fail.
  void set_budget(std::size_t bytes) { budget_ = bytes; }

  /// Sends what was written. False when the client does not take it.
  bool flush();

  /// Tells the client that everything was sent, where TLS can tell: an answer whose end is that of the connection is
  /// whole. Nothing can be sent afterwards.
  void say_the_end();

  /// Ends the sending side and discards what the client still sends, for at most `timeout`, so that closing does not
  /// reset the connection before the client has read the answer.
  void linger(std::chrono::milliseconds timeout);

  bool holds(std::chrono::milliseconds time) override;
  bool send(std::string_view bytes) override;

  [[nodiscard]] bool is_readable() const override;
  [[nodiscard]] bool is_writable() const override;
  ssize_t read(char* out, size_t size) override;
  ssize_t write(const char* data, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  /// Only used by the library to refuse descriptors that `select` cannot take; this stream has no such limit.
  [[nodiscard]] socket_t socket() const override { return 0; }

private:
  [[nodiscard]] std::string_view unread() const { return std::string_view(in_).substr(begin_); }
  /// Whether the client has said through TLS that nothing more comes; in the clear the socket tells that.
  [[nodiscard]] bool has_said_the_end() const { return tls_ && tls_->closed(); }
  /// What ends a wait besides the client: nothing, or `wake_fd` as well.
  enum class Woken { never, when_draining };

  /// Whether the client's descriptor became ready in time.
  bool wait(short events, Clock::time_point deadline, Woken woken = Woken::never) const;
  /// Sends bytes as they are.
  bool transmit(std::string_view bytes, Clock::time_point deadline, Woken woken);
  /// Receives bytes as they are, at most `size`; less than 1 when nothing comes any more.
  ssize_t receive(char* out, std::size_t size, Clock::time_point deadline, Woken woken = Woken::never);
  bool push(Woken woken);
  bool fill(Clock::time_point deadline);
  /// Takes one piece of what the client sent through TLS, which need not bring any text.
  bool decrypt_more(Clock::time_point deadline, Woken woken);

  int fd_;
  int wake_fd_;
  std::chrono::milliseconds write_timeout_;
  std::optional<tls::Session> tls_;
  std::string in_;
  std::size_t begin_ = 0;
  std::size_t head_length_ = 0;
  std::size_t budget_ = 0;
  Clock::time_point deadline_;
  std::string out_;
  bool failed_ = false;
};

} // namespace cleat::http
