#include "apps/cleat-runner/connection.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/limits.hpp"

namespace cleat::runner {
namespace {

/// Begins to connect to one address; answers why that is not possible.
std::string begin_connect(const addrinfo& address, Descriptor& socket) {
  Descriptor candidate(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol));
  if (!candidate || (::connect(candidate.get(), address.ai_addr, address.ai_addrlen) != 0 && errno != EINPROGRESS))
    return std::strerror(errno);
  const int on = 1;
  ::setsockopt(candidate.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  socket = std::move(candidate);
  return {};
}

/// Resolves the host and begins to connect to one of its addresses; answers why that is not possible.
std::string begin_connect(const Connection::Address& to, Descriptor& socket) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(to.host.c_str(), std::to_string(to.port).c_str(), &hints, &found); error != 0)
    return ::gai_strerror(error);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  std::vector<const addrinfo*> addresses;
  for (const auto* address = found; address != nullptr; address = address->ai_next)
    addresses.push_back(address);
  return begin_connect(*addresses.at(to.attempt % addresses.size()), socket);
}

} // namespace

Connection::Connection(EventLoop& loop, const Address& address, std::shared_ptr<tls::Context> context,
                       std::size_t max_frame_bytes, Events events)
  : loop_(loop), events_(std::move(events)), deframer_(max_frame_bytes) {
  if (context)
    tls_.emplace(std::move(context));
  if (auto why = begin_connect(address, socket_); !why.empty()) {
    failure_ = loop_.after(EventLoop::Duration(0), [this, why = std::move(why)] { fail(why); });
    return;
  }
  loop_.watch(socket_.get(), EPOLLOUT, [this](std::uint32_t happened) { on_event(happened); });
}

Connection::~Connection() {
  close();
}

void Connection::close() {
  loop_.cancel(std::exchange(failure_, 0));
  if (socket_)
    loop_.unwatch(socket_.get());
  socket_.reset();
  output_.clear();
}

void Connection::fail(const std::string& why) {
  failure_ = 0;
  close();
  events_.closed(why);
}

void Connection::on_event(std::uint32_t happened) {
  if (!connected_) {
    on_connected();
    return;
  }
  if ((happened & EPOLLOUT) != 0)
    flush();
  if (socket_ && (happened & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
    read();
}

void Connection::on_connected() {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) {
    fail(std::strerror(error));
    return;
  }
  connected_ = true;
  loop_.change(socket_.get(), EPOLLIN);
  opened_when_ready();
  flush();
}

void Connection::opened_when_ready() {
  if (opened_ || (tls_ && !tls_->established()))
    return;
  opened_ = true;
  events_.opened();
}

void Connection::send(const std::string& envelope) {
  if (!socket_)
    return;
  const auto frame = wire::frame(envelope);
  if (tls_) {
    tls_->send(frame);
    output_ += tls_->take_output();
  } else {
    output_ += frame;
  }
}

void Connection::flush() {
  if (!socket_ || !connected_)
    return;
  if (tls_)
    output_ += tls_->take_output();
  while (!output_.empty()) {
    const auto count = ::send(socket_.get(), output_.data(), output_.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && errno != EAGAIN) {
      fail(std::strerror(errno));
      return;
    }
    if (count < 0)
      break;
    output_.erase(0, static_cast<std::size_t>(count));
  }
  if (std::ssize(output_) > limits::runner_max_unsent_bytes) {
    fail("the server does not read");
    return;
  }
  if (waits_for_room_ != !output_.empty()) {
    waits_for_room_ = !output_.empty();
    loop_.change(socket_.get(), waits_for_room_ ? EPOLLIN | EPOLLOUT : EPOLLIN);
  }
}

void Connection::read() {
  std::array<char, 65'536> piece{};
  const auto count = ::recv(socket_.get(), piece.data(), piece.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (count <= 0) {
    fail(count == 0 ? "the server has hung up" : std::strerror(errno));
    return;
  }
  const std::string_view bytes(piece.data(), static_cast<std::size_t>(count));
  if (!tls_) {
    deframer_.append(bytes);
    take_envelopes();
    return;
  }
  deframer_.append(tls_->receive(bytes));
  opened_when_ready();
  take_envelopes();
  if (!socket_)
    return;
  flush(); // an alert as well
  if (socket_ && !tls_->error().empty())
    fail(tls_->error());
  else if (socket_ && tls_->closed())
    fail("the server has ended the connection");
}

void Connection::take_envelopes() {
  while (socket_) {
    const auto envelope = deframer_.next();
    if (!envelope)
      break;
    events_.received(*envelope);
  }
  if (socket_ && deframer_.broken())
    fail("the server has announced a frame that is too long or empty");
}

} // namespace cleat::runner
