#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cleat {

/// Where something listens.
struct Address {
  std::string host;
  std::uint16_t port = 0;

  /// `HOST:PORT`, with an IPv6 host in brackets.
  [[nodiscard]] std::string str() const;

  bool operator==(const Address&) const = default;
};

/// Splits `HOST:PORT`, with an IPv6 host in brackets; nothing for any other text.
std::optional<Address> parse_address(std::string_view text);

/// Whether only this machine can reach the host.
bool is_loopback(const std::string& host);

} // namespace cleat
