#include "apps/cleat-load/connections.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apps/cleat-load/interrupt.hpp"

namespace cleat::load {
namespace {

constexpr std::size_t receive_bytes = 16 << 10;
constexpr int events_at_once = 64;

[[noreturn]] void fail_with_errno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

int connect_to(const Address& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &list) != 0)
    throw std::runtime_error("There is no address " + address.host + ":" + address.port + ".");
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, &freeaddrinfo);
  for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
    const int descriptor = ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (descriptor < 0)
      continue;
    if (::connect(descriptor, at->ai_addr, at->ai_addrlen) == 0)
      return descriptor;
    ::close(descriptor);
  }
  fail_with_errno("Nobody listens at " + address.host + ":" + address.port);
}

void write_request(const Request& request, const Address& address, std::string& out) {
  out.append(request.method).append(" ").append(request.target).append(" HTTP/1.1\r\nHost: ");
  out.append(address.host).append(":").append(address.port).append("\r\n");
  if (!request.token.empty())
    out.append("Authorization: Bearer ").append(request.token).append("\r\n");
  if (!request.idempotency_key.empty())
    out.append("Idempotency-Key: ").append(request.idempotency_key).append("\r\n");
  if (request.if_match > 0)
    out.append("If-Match: \"").append(std::to_string(request.if_match)).append("\"\r\n");
  if (!request.prefer.empty())
    out.append("Prefer: ").append(request.prefer).append("\r\n");
  if (!request.body.empty())
    out.append("Content-Type: application/json\r\nContent-Length: ")
      .append(std::to_string(request.body.size()))
      .append("\r\n");
  out.append("\r\n").append(request.body);
}

} // namespace

struct Connections::Connection {
  std::size_t index = 0;
  int descriptor = -1;
  /// Whether epoll tells when there is room to send.
  bool waits_for_room = false;
  bool in_flight = false;
  Clock::time_point sent_at;
  Request request;
  std::string out;
  std::size_t out_sent = 0;
  AnswerBuffer in;
};

Connections::Connections(Address address, std::size_t count, std::chrono::seconds patience)
  : address_(std::move(address)), patience_(patience), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  for (std::size_t i = 0; i < count; ++i) {
    connections_.push_back(std::make_unique<Connection>());
    connections_.back()->index = i;
    open(*connections_.back());
  }
}

Connections::~Connections() {
  for (const auto& connection : connections_)
    ::close(connection->descriptor);
  ::close(epoll_);
}

void Connections::open(Connection& connection) {
  if (connection.descriptor >= 0)
    ::close(connection.descriptor);
  connection.descriptor = connect_to(address_);
  connection.waits_for_room = false;
  const int on = 1;
  setsockopt(connection.descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = &connection;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.descriptor, &event) != 0)
    fail_with_errno("epoll");
}

void Connections::play(Traffic& traffic) {
  for (const auto& connection : connections_)
    send_next(*connection, traffic);
  auto next_second = Clock::now() + std::chrono::seconds(1);
  std::array<epoll_event, events_at_once> events{};
  while (in_flight_ > 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_second - Clock::now());
    const int timeout = static_cast<int>(std::max(left, std::chrono::milliseconds(0)).count());
    const int ready = epoll_wait(epoll_, events.data(), events_at_once, timeout);
    if (ready < 0 && errno != EINTR)
      fail_with_errno("epoll");
    throw_if_interrupted();
    for (const auto& event : std::span(events).first(static_cast<std::size_t>(std::max(ready, 0)))) {
      auto& connection = *static_cast<Connection*>(event.data.ptr);
      if (connection.waits_for_room)
        flush(connection);
      if ((event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0)
        receive(connection, traffic);
    }
    if (Clock::now() < next_second)
      continue;
    next_second += std::chrono::seconds(1);
    check_patience();
    traffic.second();
  }
}

void Connections::send_next(Connection& connection, Traffic& traffic) {
  if (!traffic.next(connection.index, connection.request))
    return;
  connection.out.clear();
  connection.out_sent = 0;
  write_request(connection.request, address_, connection.out);
  connection.in_flight = true;
  ++in_flight_;
  connection.sent_at = Clock::now();
  flush(connection);
}

void Connections::flush(Connection& connection) {
  while (connection.out_sent < connection.out.size()) {
    const auto sent = ::send(connection.descriptor, connection.out.data() + connection.out_sent,
                             connection.out.size() - connection.out_sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
      return wait_for_room(connection, true);
    if (sent < 0 && errno != EINTR)
      fail_with_errno("The server closed a connection while a request was sent");
    connection.out_sent += static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
  }
  wait_for_room(connection, false);
}

void Connections::wait_for_room(Connection& connection, bool wanted) const {
  if (connection.waits_for_room == wanted)
    return;
  connection.waits_for_room = wanted;
  epoll_event event{};
  event.events = EPOLLIN | (wanted ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
  event.data.ptr = &connection;
  if (epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.descriptor, &event) != 0)
    fail_with_errno("epoll");
}

void Connections::receive(Connection& connection, Traffic& traffic) {
  const auto space = connection.in.space(receive_bytes);
  const auto received = ::recv(connection.descriptor, space.data(), space.size(), MSG_DONTWAIT);
  if (received > 0) {
    connection.in.filled(static_cast<std::size_t>(received));
    return take_answers(connection, traffic);
  }
  if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
    return;
  if (connection.in_flight)
    throw std::runtime_error("The server closed a connection that waited for an answer.");
  open(connection); // An idle connection may be closed at any time.
}

void Connections::take_answers(Connection& connection, Traffic& traffic) {
  const auto answer = connection.in.peek();
  if (!answer)
    return;
  if (!connection.in_flight)
    throw std::runtime_error("The server answered without a question.");
  connection.in_flight = false;
  --in_flight_;
  traffic.answered(connection.index, *answer, Clock::now() - connection.sent_at);
  const bool closes = answer->closes;
  connection.in.drop();
  if (!connection.in.empty())
    throw std::runtime_error("The server sent more than one answer to a question.");
  if (closes)
    open(connection);
  send_next(connection, traffic);
}

void Connections::check_patience() const {
  const auto limit = Clock::now() - patience_;
  for (const auto& connection : connections_)
    if (connection->in_flight && connection->sent_at < limit)
      throw std::runtime_error("An answer took longer than " + std::to_string(patience_.count()) + " s.");
}

} // namespace cleat::load
