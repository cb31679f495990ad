#include <gtest/gtest.h>

#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include "http/client_address.hpp"

namespace cleat::http {
namespace {

ClientAddress v4(const char* text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  EXPECT_EQ(::inet_pton(AF_INET, text, &address.sin_addr), 1) << text;
  sockaddr_storage storage{};
  std::memcpy(&storage, &address, sizeof(address));
  return client_address(storage);
}

ClientAddress v6(const char* text) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  EXPECT_EQ(::inet_pton(AF_INET6, text, &address.sin6_addr), 1) << text;
  sockaddr_storage storage{};
  std::memcpy(&storage, &address, sizeof(address));
  return client_address(storage);
}

TEST(ClientAddress, IsAnAddressOfIPv4) {
  EXPECT_EQ(v4("192.0.2.1"), v4("192.0.2.1"));
  EXPECT_NE(v4("192.0.2.1"), v4("192.0.2.2"));
  EXPECT_EQ(v4("192.0.2.1").network, 0xc0000201U);
}

TEST(ClientAddress, IsANetworkOfIPv6) {
  EXPECT_EQ(v6("2001:db8:0:1::1"), v6("2001:db8:0:1:ffff::2"));
  EXPECT_NE(v6("2001:db8:0:1::1"), v6("2001:db8:0:2::1"));
  EXPECT_NE(v6("2001:db8:0:1::1"), v6("2001:db9:0:1::1"));
}

TEST(ClientAddress, IsTheSameHoweverItIsWritten) {
  EXPECT_EQ(v6("::ffff:192.0.2.1"), v4("192.0.2.1"));
}

TEST(ClientAddress, IsNothingForWhatIsNoAddress) {
  sockaddr_storage local{};
  local.ss_family = AF_UNIX;
  EXPECT_EQ(client_address(local), ClientAddress{});
  EXPECT_EQ(client_address_of(-1), ClientAddress{});
}

} // namespace
} // namespace cleat::http
