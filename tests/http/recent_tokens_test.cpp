#include <gtest/gtest.h>

#include <string>

#include "http/recent_tokens.hpp"

namespace cleat::http {
namespace {

Digest token(int number) {
  return sha256(std::to_string(number));
}

TEST(RecentTokens, KnowsTheLatestHalfAtLeastAndIsBounded) {
  RecentTokens tokens(10);
  for (int i = 0; i < 100; ++i) {
    tokens.add(token(i));
    for (int latest = std::max(0, i - 4); latest <= i; ++latest)
      ASSERT_TRUE(tokens.contains(token(latest))) << latest << " after " << i;
    ASSERT_LE(tokens.size(), 10U);
  }
  EXPECT_FALSE(tokens.contains(token(0)));
}

TEST(RecentTokens, AddingAgainKeepsATokenYoung) {
  RecentTokens tokens(4);
  for (int i = 0; i < 100; ++i) {
    tokens.add(token(-1));
    tokens.add(token(i));
    ASSERT_TRUE(tokens.contains(token(-1))) << i;
    ASSERT_LE(tokens.size(), 4U);
  }
}

TEST(RecentTokens, ForgetsWhatIsRemovedHoweverOldItIs) {
  RecentTokens tokens(4);
  for (int i = 0; i < 3; ++i)
    tokens.add(token(i));
  for (int i = 0; i < 3; ++i) {
    tokens.remove(token(i));
    EXPECT_FALSE(tokens.contains(token(i))) << i;
  }
  EXPECT_EQ(tokens.size(), 0U);
}

} // namespace
} // namespace cleat::http
