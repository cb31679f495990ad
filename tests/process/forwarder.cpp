#include "tests/process/forwarder.hpp"

#include <array>
#include <cstdint>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cleat::test {
namespace {

int port_of(const std::string& address) {
  return std::stoi(address.substr(address.rfind(':') + 1));
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

/// Passes on what there is. False when either side has gone.
bool pump(int from, int to) {
  std::array<char, 65'536> bytes{};
  const auto count = ::recv(from, bytes.data(), bytes.size(), 0);
  if (count <= 0)
    return false;
  for (ssize_t sent = 0; sent < count;) {
    const auto more = ::send(to, bytes.data() + sent, static_cast<std::size_t>(count - sent), MSG_NOSIGNAL);
    if (more <= 0)
      return false;
    sent += more;
  }
  return true;
}

} // namespace

Forwarder::Forwarder(const std::string& target)
  : target_port_(port_of(target)),
    listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
    wake_(::eventfd(0, EFD_CLOEXEC)) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address); // NOLINT: the sockets API wants it so
  if (::bind(listener_, plain, size) != 0 || ::listen(listener_, 16) != 0 ||
      ::getsockname(listener_, plain, &size) != 0)
    throw std::runtime_error("the forwarder cannot listen");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

Forwarder::~Forwarder() {
  ends_ = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
  thread_.join();
  ::close(listener_);
  ::close(wake_);
}

void Forwarder::move_to(const std::string& target) {
  target_port_ = port_of(target);
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
}

void Forwarder::run() {
  while (!ends_) {
    std::array<pollfd, 2> watched{{{listener_, POLLIN, 0}, {wake_, POLLIN, 0}}};
    ::poll(watched.data(), watched.size(), -1);
    if (watched[1].revents != 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] const auto taken = ::read(wake_, &count, sizeof count);
    }
    if (watched[0].revents == 0)
      continue;
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    pass(client); // one Runner, one connection at a time
    ::close(client);
  }
}

void Forwarder::pass(int client) const {
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(target_port_);
  bool open = ::connect(server, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0; // NOLINT: as above
  while (open) {
    std::array<pollfd, 3> watched{{{client, POLLIN, 0}, {server, POLLIN, 0}, {wake_, POLLIN, 0}}};
    ::poll(watched.data(), watched.size(), -1);
    open = watched[2].revents == 0 && (watched[0].revents == 0 || pump(client, server)) &&
           (watched[1].revents == 0 || pump(server, client));
  }
  ::close(server);
}

} // namespace cleat::test
