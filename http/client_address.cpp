#include "http/client_address.hpp"

#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace cleat::http {
namespace {

/// So many bytes as a number, the first one the most significant.
std::uint64_t number_of(const std::uint8_t* bytes, std::size_t count) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < count; ++i)
    number = (number << 8U) | bytes[i];
  return number;
}

} // namespace

ClientAddress client_address(const sockaddr_storage& address) {
  constexpr std::size_t v4_bytes = 4;
  constexpr std::size_t v4_begin = 12;
  constexpr std::size_t network_bytes = 8;
  if (address.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address, sizeof(v4));
    return {ntohl(v4.sin_addr.s_addr)};
  }
  if (address.ss_family != AF_INET6)
    return {};
  sockaddr_in6 v6{};
  std::memcpy(&v6, &address, sizeof(v6));
  const auto* bytes = v6.sin6_addr.s6_addr;
  return {IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr) ? number_of(bytes + v4_begin, v4_bytes)
                                              : number_of(bytes, network_bytes)};
}

ClientAddress client_address_of(int socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    return {}; // it has gone already, and asks nothing any more
  return client_address(address);
}

} // namespace cleat::http
