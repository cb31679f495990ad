#include "tests/http/raw_client.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <stdexcept>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cleat::test {
namespace {

int connect_to(std::uint16_t port, const RawOptions& options = {}) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (options.receive_buffer > 0)
    ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &options.receive_buffer, sizeof(options.receive_buffer));
  const timeval patience{20, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + options.from);
  if (options.from != 1 && ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    throw std::runtime_error("cannot come from another address of the loopback");
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0)
    return socket;
  ::close(socket);
  return -1;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

} // namespace

RawClient::RawClient(std::uint16_t port, RawOptions options) : socket_(connect_to(port, options)) {
  if (socket_ < 0)
    throw std::runtime_error("cannot connect");
  if (!options.tls)
    return;
  tls_ = std::make_unique<tls::Session>(std::move(options.tls));
  shake_hands();
}

RawClient::~RawClient() {
  ::close(socket_);
}

void RawClient::shake_hands() {
  send_as_it_is(tls_->take_output());
  while (!tls_->established() && tls_->error().empty() && fill()) {
  }
}

std::string RawClient::tls_error() const {
  return tls_ ? tls_->error() : std::string();
}

bool RawClient::send(std::string_view bytes) {
  if (!tls_)
    return send_as_it_is(bytes);
  tls_->send(bytes);
  return tls_->error().empty() && send_as_it_is(tls_->take_output());
}

void RawClient::say_the_end() {
  tls_->close();
  send_as_it_is(tls_->take_output());
}

bool RawClient::send_as_it_is(std::string_view bytes) const {
  while (!bytes.empty()) {
    const auto count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0)
      return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool RawClient::fill() {
  std::array<char, 4096> buffer{};
  const auto count = has_ended_ ? 0 : ::recv(socket_, buffer.data(), buffer.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    throw std::runtime_error("the server neither answered nor ended the connection");
  has_ended_ = count <= 0;
  if (has_ended_)
    return false;
  const std::string_view bytes(buffer.data(), static_cast<std::size_t>(count));
  in_ += tls_ ? tls_->receive(bytes) : std::string(bytes);
  if (tls_)
    send_as_it_is(tls_->take_output());
  return true;
}

std::optional<RawResponse> RawClient::receive(bool head) {
  while (in_.find("\r\n\r\n") == std::string::npos)
    if (!fill())
      return std::nullopt;
  RawResponse response;
  const auto end = in_.find("\r\n\r\n");
  auto lines = in_.substr(0, end + 2);
  in_.erase(0, end + 4);
  response.status = std::stoi(lines.substr(9, 3));
  for (auto next = lines.find("\r\n"); next + 2 < lines.size(); next = lines.find("\r\n")) {
    lines.erase(0, next + 2);
    const auto colon = lines.find(':');
    const auto name = lower(lines.substr(0, colon));
    if (!response.headers.emplace(name, lines.substr(colon + 2, lines.find("\r\n") - colon - 2)).second)
      throw std::runtime_error("the answer has " + name + " twice");
  }
  const auto length = response.headers.contains("content-length") ? std::stoul(response.headers["content-length"]) : 0;
  while (!head && in_.size() < length)
    if (!fill())
      throw std::runtime_error("the answer was cut off");
  response.body = in_.substr(0, head ? 0 : length);
  in_.erase(0, response.body.size());
  return response;
}

std::string RawClient::read_until(std::string_view end) {
  while (in_.find(end) == std::string::npos)
    if (!fill())
      throw std::runtime_error("the connection ended before: " + std::string(end));
  auto text = in_.substr(0, in_.find(end) + end.size());
  in_.erase(0, text.size());
  return text;
}

std::string RawClient::read_to_end() {
  while (fill()) {
  }
  return std::exchange(in_, {});
}

RawResponse RawClient::exchange(std::string_view bytes) {
  send(bytes);
  auto response = receive();
  if (!response)
    throw std::runtime_error("the connection ended without an answer");
  return *response;
}

bool RawClient::ends() {
  // Through TLS something may come that is no text.
  while (in_.empty() && fill()) {
  }
  return in_.empty();
}

bool RawClient::ends_within(std::chrono::milliseconds time) {
  pollfd descriptor{socket_, POLLIN, 0};
  return ::poll(&descriptor, 1, static_cast<int>(time.count())) > 0 && ends();
}

bool RawClient::is_refused(std::uint16_t port) {
  const int socket = connect_to(port);
  if (socket < 0)
    return true;
  ::close(socket);
  return false;
}

} // namespace cleat::test
