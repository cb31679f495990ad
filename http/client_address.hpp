#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <sys/socket.h>

namespace cleat::http {

/// Where a connection comes from, as far as clients can be told apart by it: an IPv4 address, or the /64 of an IPv6
/// one, because whoever has one address of a /64 has all of them.
struct ClientAddress {
  /// The 64 bits of the network, or those of the IPv4 address. The two cannot be confused: the IPv6 networks that such
  /// numbers would be are reserved.
  std::uint64_t network = 0;

  bool operator==(const ClientAddress&) const = default;
};

/// The client's part of a socket's address. An IPv4 address that is written as an IPv6 one is the former; whatever is
/// no address of the internet is 0.
ClientAddress client_address(const sockaddr_storage& address);

/// Who is at the other end of a connected socket.
ClientAddress client_address_of(int socket);

} // namespace cleat::http

/// Lets addresses be keys.
template <>
struct std::hash<cleat::http::ClientAddress> {
  std::size_t operator()(const cleat::http::ClientAddress& address) const noexcept {
    return std::hash<std::uint64_t>()(address.network);
  }
};
