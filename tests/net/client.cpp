#include "tests/net/client.hpp"

#include <array>
#include <cerrno>
#include <stdexcept>
#include <utility>
#include <variant>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "protocol/runner_codec.hpp"

namespace cleat::test {

Client::Client(std::uint16_t port, std::shared_ptr<tls::Context> context)
  : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    throw std::runtime_error("cannot connect");
  if (context) {
    tls_ = std::make_unique<tls::Session>(std::move(context));
    flush(tls_->take_output());
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!tls_->established() && tls_->error().empty() && read_more(until)) {
    }
  }
}

Client::~Client() {
  ::close(socket_);
}

void Client::send(const wire::FromRunner& message) {
  send_bytes(wire::frame(wire::encode(message)));
}

void Client::report(wire::Report what) {
  wire::FromRunner message;
  message.report = std::move(what);
  send(message);
}

bool Client::send_bytes(std::string_view bytes) {
  if (!tls_)
    return flush(bytes);
  tls_->send(bytes);
  return flush(tls_->take_output());
}

std::size_t Client::send_until_stuck(std::string_view bytes) {
  constexpr int stuck_ms = 1500;
  const std::size_t all = bytes.size();
  pollfd waiting{socket_, POLLOUT, 0};
  while (!bytes.empty() && ::poll(&waiting, 1, stuck_ms) > 0) {
    const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0)
      break;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return all - bytes.size();
}

bool Client::flush(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0)
      return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool Client::read_more(std::chrono::steady_clock::time_point until) {
  const auto rest =
    std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
  pollfd waiting{socket_, POLLIN, 0};
  if (has_ended_ || rest <= 0 || ::poll(&waiting, 1, static_cast<int>(rest)) <= 0)
    return false;
  std::array<char, 65'536> buffer{};
  const auto count = ::recv(socket_, buffer.data(), buffer.size(), 0);
  if (count <= 0) {
    has_ended_ = true;
    return false;
  }
  const std::string_view bytes(buffer.data(), static_cast<std::size_t>(count));
  if (!tls_) {
    frames_.append(bytes);
    return true;
  }
  frames_.append(tls_->receive(bytes));
  flush(tls_->take_output());
  return true;
}

std::optional<wire::ToRunner> Client::receive_any(std::chrono::milliseconds within) {
  const auto until = std::chrono::steady_clock::now() + within;
  for (;;) {
    if (const auto envelope = frames_.next())
      return wire::decode_to_runner(*envelope);
    if (!read_more(until))
      return std::nullopt;
  }
}

std::optional<wire::ToRunner> Client::receive(std::chrono::milliseconds within) {
  const auto until = std::chrono::steady_clock::now() + within;
  for (;;) {
    const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    auto message = receive_any(rest);
    if (!message || !std::holds_alternative<wire::Heartbeat>(message->command))
      return message;
  }
}

bool Client::is_ended(std::chrono::milliseconds within) {
  const auto until = std::chrono::steady_clock::now() + within;
  while (read_more(until)) {
  }
  return has_ended_;
}

std::optional<wire::Enrolled> Client::enrol(const std::string& secret, const std::string& token) {
  report(wire::AskEnrolment{token, secret, journal_id, "1.0"});
  const auto answer = receive();
  if (!answer || !std::holds_alternative<wire::Enrolled>(answer->command))
    return std::nullopt;
  return std::get<wire::Enrolled>(answer->command);
}

std::string Client::ask(const std::string& secret, const std::string& token) {
  report(wire::AskEnrolment{token, secret, journal_id, "1.0"});
  const auto answer = receive();
  if (!answer)
    return {};
  const auto* const refused = std::get_if<wire::EnrolmentRefused>(&answer->command);
  return refused != nullptr ? refused->code : "admitted";
}

} // namespace cleat::test
