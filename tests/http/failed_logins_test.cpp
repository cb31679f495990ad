#include <gtest/gtest.h>

#include "http/failed_logins.hpp"
#include "tests/http/fake_backend.hpp"

namespace cleat::http {
namespace {

using namespace std::chrono_literals;

class FailedLoginsTest : public testing::Test {
protected:
  void fail(int times, ClientAddress client = {1}) {
    for (int i = 0; i < times; ++i)
      logins_.count(client);
  }

  std::shared_ptr<test::SteppedClock> clock_ = std::make_shared<test::SteppedClock>();
  Metrics metrics_;
  /// One in ten seconds, four at once.
  FailedLogins logins_{clock_, {6, 4, 32}, metrics_};
};

TEST_F(FailedLoginsTest, AnAddressHasABudgetThatComesBack) {
  fail(3);
  EXPECT_FALSE(logins_.is_exhausted({1}));
  EXPECT_EQ(logins_.wait_s({1}), 0);
  fail(1);
  EXPECT_TRUE(logins_.is_exhausted({1}));
  EXPECT_EQ(logins_.wait_s({1}), 10);
  clock_->advance(4s);
  EXPECT_EQ(logins_.wait_s({1}), 6);
  clock_->advance(5999ms);
  EXPECT_TRUE(logins_.is_exhausted({1}));
  EXPECT_EQ(logins_.wait_s({1}), 1);
  clock_->advance(1ms);
  EXPECT_FALSE(logins_.is_exhausted({1}));
  fail(1);
  EXPECT_TRUE(logins_.is_exhausted({1}));
  clock_->advance(1h);
  fail(3);
  EXPECT_FALSE(logins_.is_exhausted({1}));
}

TEST_F(FailedLoginsTest, AddressesAreKeptApart) {
  fail(4);
  EXPECT_FALSE(logins_.is_exhausted({2}));
  EXPECT_EQ(logins_.size(), 1U) << "asking remembers nothing";
}

TEST_F(FailedLoginsTest, WhatFailsTogetherIsOwedButForNoLongerThanAMinute) {
  fail(1000);
  EXPECT_EQ(logins_.wait_s({1}), 70);
  clock_->advance(70s);
  EXPECT_FALSE(logins_.is_exhausted({1}));
  fail(1);
  EXPECT_TRUE(logins_.is_exhausted({1}));
}

TEST_F(FailedLoginsTest, NoLimitIsNone) {
  Metrics metrics;
  FailedLogins unlimited(clock_, {0, 1, 32}, metrics);
  for (int i = 0; i < 100; ++i)
    unlimited.count({1});
  EXPECT_FALSE(unlimited.is_exhausted({1}));
  EXPECT_EQ(unlimited.size(), 0U);
}

TEST_F(FailedLoginsTest, IsBounded) {
  for (std::uint64_t i = 0; i < 1000; ++i)
    fail(4, {i});
  EXPECT_EQ(logins_.size(), 32U);
}

} // namespace
} // namespace cleat::http
