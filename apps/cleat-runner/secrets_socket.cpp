#include "apps/cleat-runner/secrets_socket.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/limits.hpp"

namespace cleat::runner {
namespace {

Descriptor listen_at(const std::string& path) {
  ::unlink(path.c_str());
  Descriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw std::runtime_error("the path " + path + " is too long for a socket");
  std::memcpy(address.sun_path, path.c_str(), path.size());
  if (!listener || ::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), static_cast<int>(limits::agent_secret_connections)) != 0)
    throw std::runtime_error("cannot listen at " + path + ": " + std::strerror(errno));
  return listener;
}

} // namespace

SecretsSocket::SecretsSocket(EventLoop& loop, std::string path, Asked asked)
  : loop_(loop), path_(std::move(path)), asked_(std::move(asked)), listener_(listen_at(path_)) {
  loop_.watch(listener_.get(), EPOLLIN, [this](std::uint32_t) { on_connect(); });
}

SecretsSocket::~SecretsSocket() {
  while (!connections_.empty())
    close(connections_.begin()->first);
  loop_.unwatch(listener_.get());
  ::unlink(path_.c_str());
}

void SecretsSocket::on_connect() {
  Descriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  // One too many hangs up at once, and the agent may try again.
  if (!socket || std::ssize(connections_) >= limits::agent_secret_connections)
    return;
  const auto number = ++last_number_;
  auto& connection = connections_[number];
  connection.socket = std::move(socket);
  connection.timer = loop_.after(std::chrono::seconds(limits::agent_secret_timeout_s), [this, number] {
    auto& late = connections_.at(number);
    late.timer = 0;
    if (late.output.empty())
      reply(number, late, "error timeout\n");
    if (connections_.contains(number))
      close(number);
  });
  loop_.watch(connection.socket.get(), EPOLLIN, [this, number](std::uint32_t events) { on_event(number, events); });
}

void SecretsSocket::on_event(std::uint64_t number, std::uint32_t events) {
  auto& connection = connections_.at(number);
  if ((events & (EPOLLERR | EPOLLHUP)) != 0)
    close(number);
  else if (!connection.output.empty())
    flush(number, connection);
  else if (!connection.asked)
    read_name(number, connection);
}

void SecretsSocket::read_name(std::uint64_t number, Connection& connection) {
  std::array<char, 128> piece{};
  const auto count = ::read(connection.socket.get(), piece.data(), piece.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (count <= 0) {
    close(number);
    return;
  }
  connection.name.append(piece.data(), static_cast<std::size_t>(count));
  const auto end = connection.name.find('\n');
  const auto length = end == std::string::npos ? connection.name.size() : end;
  if (std::ssize(connection.name) > limits::secret_name_max_bytes + 1 ||
      std::cmp_greater(length, limits::secret_name_max_bytes)) {
    reply(number, connection, "error not_found\n");
    return;
  }
  if (end == std::string::npos)
    return;
  connection.name.resize(end);
  connection.asked = true;
  loop_.change(connection.socket.get(), 0);
  asked_(number, connection.name);
}

void SecretsSocket::answer(std::uint64_t number, bool found, const std::string& value) {
  const auto connection = connections_.find(number);
  if (connection == connections_.end() || !connection->second.output.empty())
    return;
  reply(number, connection->second,
        found ? "ok " + std::to_string(value.size()) + "\n" + value : std::string("error not_found\n"));
}

bool SecretsSocket::waits(std::uint64_t number) const {
  const auto connection = connections_.find(number);
  return connection != connections_.end() && connection->second.output.empty();
}

void SecretsSocket::reply(std::uint64_t number, Connection& connection, std::string text) {
  connection.output = std::move(text);
  flush(number, connection);
}

void SecretsSocket::flush(std::uint64_t number, Connection& connection) {
  const auto count =
    ::send(connection.socket.get(), connection.output.data(), connection.output.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count > 0)
    connection.output.erase(0, static_cast<std::size_t>(count));
  if (!connection.output.empty() && (count >= 0 || errno == EAGAIN || errno == EINTR)) {
    loop_.change(connection.socket.get(), EPOLLOUT);
    return;
  }
  close(number);
}

void SecretsSocket::close(std::uint64_t number) {
  const auto found = connections_.find(number);
  loop_.cancel(found->second.timer);
  loop_.unwatch(found->second.socket.get());
  connections_.erase(found);
}

} // namespace cleat::runner
