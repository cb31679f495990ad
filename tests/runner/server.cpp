#include "tests/runner/server.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.hpp"
#include "protocol/runner_codec.hpp"

namespace cleat::test {
namespace {

using std::chrono::steady_clock;

bool is_readable(int descriptor, steady_clock::time_point until) {
  const auto rest = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now()).count();
  pollfd ready{descriptor, POLLIN, 0};
  return ::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(rest, 0))) == 1;
}

} // namespace

Peer::Peer(int socket, std::shared_ptr<tls::Context> context)
  : socket_(socket), deframer_(static_cast<std::size_t>(limits::runner_max_frame_bytes)) {
  if (context)
    tls_.emplace(std::move(context));
}

Peer::~Peer() {
  close();
}

void Peer::close() {
  if (socket_ >= 0)
    ::close(socket_);
  socket_ = -1;
  closed_ = true;
}

void Peer::hang_up() const {
  ::shutdown(socket_, SHUT_WR);
}

void Peer::send(const wire::ToRunner& message) {
  send_bytes(wire::frame(wire::encode(message)));
}

void Peer::send_bytes(const std::string& bytes) {
  std::string output = bytes;
  if (tls_) {
    tls_->send(bytes);
    output = tls_->take_output();
  }
  for (std::size_t sent = 0; sent < output.size();) {
    const auto count = ::send(socket_, output.data() + sent, output.size() - sent, MSG_NOSIGNAL);
    if (count <= 0)
      throw std::runtime_error(std::string("cannot send to the Runner: ") + std::strerror(errno));
    sent += static_cast<std::size_t>(count);
  }
}

bool Peer::read(steady_clock::time_point until) {
  if (closed_ || !is_readable(socket_, until))
    return false;
  std::array<char, 65'536> piece{};
  const auto count = ::recv(socket_, piece.data(), piece.size(), 0);
  closed_ = count <= 0;
  std::string bytes(piece.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  if (tls_ && !closed_) {
    bytes = tls_->receive(bytes);
    send_bytes("");
    closed_ = !tls_->error().empty();
  }
  deframer_.append(bytes);
  while (const auto envelope = deframer_.next()) {
    auto message = wire::decode_from_runner(*envelope);
    if (!message)
      throw std::runtime_error("the Runner sent what is no envelope");
    if (std::holds_alternative<wire::Heartbeat>(message->report))
      ++heartbeats_;
    else
      received_.push_back(std::move(*message));
  }
  return true;
}

std::optional<wire::FromRunner> Peer::find_report(std::chrono::milliseconds wait,
                                                  bool (*is_it)(const wire::FromRunner& message)) {
  const auto until = steady_clock::now() + wait;
  do {
    for (auto message = received_.begin(); message != received_.end(); ++message) {
      if (!is_it(*message))
        continue;
      auto found = std::move(*message);
      received_.erase(message);
      return found;
    }
  } while (read(until));
  return std::nullopt;
}

wire::FromRunner Peer::next_of_any() {
  auto found = find_report(patience, [](const wire::FromRunner&) { return true; });
  if (!found)
    throw std::runtime_error("the Runner said nothing");
  return std::move(*found);
}

bool Peer::is_closed_within(std::chrono::milliseconds wait) {
  const auto until = steady_clock::now() + wait;
  while (!closed_ && read(until)) {
  }
  return closed_;
}

Server::Server(std::shared_ptr<tls::Context> context, std::uint16_t port) : context_(std::move(context)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  const int on = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  socklen_t size = sizeof address;
  if (listener_ < 0 || ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener_, 16) != 0 || ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error(std::string("cannot listen: ") + std::strerror(errno));
  port_ = ntohs(address.sin_port);
}

Server::~Server() {
  ::close(listener_);
}

std::unique_ptr<Peer> Server::accept(std::chrono::milliseconds wait) {
  if (!is_called_within(wait))
    throw std::runtime_error("no Runner has connected");
  return std::make_unique<Peer>(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC), context_);
}

bool Server::is_called_within(std::chrono::milliseconds wait) const {
  return is_readable(listener_, steady_clock::now() + wait);
}

} // namespace cleat::test
