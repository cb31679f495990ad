#include "base/addresses.hpp"

#include <gtest/gtest.h>

/// Addresses as they stand in the configuration and in the table of servers.
namespace cleat::unit {
namespace {

TEST(Addresses, AreReadAndWritten) {
  for (const char* text : {"127.0.0.1:7481", "[::1]:0", "cleat.example.com:65535"}) {
    const auto address = parse_address(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->str(), text);
  }
  EXPECT_EQ(parse_address("[::1]:7481")->host, "::1");
}

TEST(Addresses, OtherTextIsNone) {
  for (const char* text :
       {"", ":", "7481", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "::1:7481", ":7481", "[]:7481",
        "127.0.0.1:74 81", "127.0.0.1:7481x", "[localhost]:7481", "[[]:7481", "[a[b]:7481", "[::]1]:7481"})
    EXPECT_FALSE(parse_address(text)) << text;
}

TEST(Addresses, KnowWhoCanReachThem) {
  for (const char* host : {"127.0.0.1", "127.8.9.10", "::1", "localhost"})
    EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host : {"0.0.0.0", "128.0.0.1", "::", "example.com", "", "127.0.0.1.example.com"})
    EXPECT_FALSE(is_loopback(host)) << host;
}

} // namespace
} // namespace cleat::unit
