#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/cleat-runner/event_loop.hpp"
#include "protocol/framing.hpp"
#include "protocol/tls.hpp"

namespace cleat::runner {

/// One socket to the server, with TLS where there is a context: envelopes in, envelopes out.
class Connection {
public:
  /// `opened`: envelopes can be sent. `closed`: it is over, and why; nothing comes after it. The connection must not be
  /// destroyed in one of these.
  struct Events {
    std::function<void()> opened;
    std::function<void(const std::string& envelope)> received;
    std::function<void(const std::string& why)> closed;
  };

  /// Where a server is. A name may stand for several addresses; each attempt begins with the next of them.
  struct Address {
    std::string host;
    std::uint16_t port = 0;
    std::size_t attempt = 0;
  };

  /// Begins to connect. What fails at once is told by `closed` in the next round of the loop.
  Connection(EventLoop& loop, const Address& address, std::shared_ptr<tls::Context> context,
             std::size_t max_frame_bytes, Events events);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void send(const std::string& envelope);
  /// Writes what there is as far as the socket takes it.
  void flush();
  [[nodiscard]] std::size_t unsent_bytes() const { return output_.size(); }
  /// Ends it without a further event.
  void close();

private:
  void on_event(std::uint32_t events);
  void on_connected();
  void read();
  void take_envelopes();
  void fail(const std::string& why);
  void opened_when_ready();

  EventLoop& loop_;
  Events events_;
  Descriptor socket_;
  std::optional<tls::Session> tls_;
  wire::Deframer deframer_;
  std::string output_;
  bool connected_ = false;
  bool opened_ = false;
  bool waits_for_room_ = false;
  EventLoop::TimerId failure_ = 0;
};

} // namespace cleat::runner
