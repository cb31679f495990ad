#include "base/addresses.hpp"

#include <charconv>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace cleat {
namespace {

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(port) : std::nullopt;
}

} // namespace

std::string Address::str() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::optional<Address> parse_address(std::string_view text) {
  const auto colon = text.rfind(':');
  const auto port = colon == std::string_view::npos ? std::nullopt : parse_port(text.substr(colon + 1));
  auto host = text.substr(0, colon == std::string_view::npos ? 0 : colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed)
    host = host.substr(1, host.size() - 2);
  // Brackets are for IPv6 and nothing else, so that an address has one spelling.
  const bool wrong =
    host.find_first_of("[]") != std::string_view::npos || (host.find(':') != std::string_view::npos) != bracketed;
  if (!port || host.empty() || wrong)
    return std::nullopt;
  return Address{std::string(host), *port};
}

bool is_loopback(const std::string& host) {
  in_addr v4{};
  in6_addr v6{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1)
    return (ntohl(v4.s_addr) >> 24U) == 127;
  if (inet_pton(AF_INET6, host.c_str(), &v6) == 1)
    return IN6_IS_ADDR_LOOPBACK(&v6);
  return host == "localhost";
}

} // namespace cleat
