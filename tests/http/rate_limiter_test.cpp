#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "http/rate_limiter.hpp"
#include "tests/http/fake_backend.hpp"

namespace cleat::http {
namespace {

using namespace std::chrono_literals;

class RateLimiterTest : public testing::Test {
protected:
  bool granted(std::uint8_t who = 1, RateClass rate = RateClass::read) {
    return limiter_.take(test::human(who).id, rate).value().granted;
  }

  std::shared_ptr<test::SteppedClock> clock_ = std::make_shared<test::SteppedClock>();
  RateLimiter limiter_{clock_, {2, 1, 3, 0, 2, 32}};
};

TEST_F(RateLimiterTest, GrantsWhatWasSavedUpAndThenWhatIsAdded) {
  for (int i = 0; i < 4; ++i)
    EXPECT_TRUE(granted()) << i;
  EXPECT_FALSE(granted());
  clock_->advance(499ms);
  EXPECT_FALSE(granted());
  clock_->advance(1ms);
  EXPECT_TRUE(granted());
  EXPECT_FALSE(granted());
  // No more is saved up than fits.
  clock_->advance(1h);
  for (int i = 0; i < 4; ++i)
    EXPECT_TRUE(granted()) << i;
  EXPECT_FALSE(granted());
}

TEST_F(RateLimiterTest, KeepsPrincipalsAndClassesApart) {
  while (granted()) {
  }
  EXPECT_TRUE(granted(2));
  EXPECT_TRUE(granted(1, RateClass::agent_runtime));
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(granted(1, RateClass::trigger)) << i;
  EXPECT_FALSE(granted(1, RateClass::trigger));
}

TEST_F(RateLimiterTest, AClassWithoutALimitIsNotCounted) {
  EXPECT_EQ(limiter_.take(test::human(1).id, RateClass::admin), std::nullopt);
  EXPECT_EQ(limiter_.size(), 0U);
}

TEST_F(RateLimiterTest, TellsWhatIsLeftAndWhenThereIsMore) {
  const auto id = test::human(1).id;
  EXPECT_EQ(limiter_.take(id, RateClass::trigger), (RateLimiter::Verdict{RateClass::trigger, true, 2, 2, 1, 1}));
  EXPECT_EQ(limiter_.take(id, RateClass::trigger), (RateLimiter::Verdict{RateClass::trigger, true, 2, 2, 0, 2}));
  EXPECT_EQ(limiter_.take(id, RateClass::trigger), (RateLimiter::Verdict{RateClass::trigger, false, 2, 2, 0, 2}));
  clock_->advance(900ms);
  EXPECT_EQ(limiter_.take(id, RateClass::trigger), (RateLimiter::Verdict{RateClass::trigger, false, 2, 2, 0, 2}));
}

TEST_F(RateLimiterTest, WritesStructuredFields) {
  const RateLimiter::Verdict verdict{RateClass::agent_runtime, true, 1000, 5, 999, 1};
  EXPECT_EQ(verdict.policy(), R"("agent_runtime";q=1000;w=5)");
  EXPECT_EQ(verdict.state(), R"("agent_runtime";r=999;t=1)");
  EXPECT_EQ(to_string(RateClass::read), "read");
  EXPECT_EQ(to_string(RateClass::trigger), "trigger");
  EXPECT_EQ(to_string(RateClass::admin), "admin");
}

TEST_F(RateLimiterTest, AClockThatIsSetBackChangesNothing) {
  granted();
  clock_->advance(-1h);
  EXPECT_EQ(limiter_.take(test::human(1).id, RateClass::read)->remaining, 2);
}

TEST_F(RateLimiterTest, FractionsOfATokenAddUpToOne) {
  while (granted(1, RateClass::trigger)) {
  }
  for (int i = 0; i < 4; ++i) {
    clock_->advance(200ms);
    EXPECT_FALSE(granted(1, RateClass::trigger)) << i;
  }
  clock_->advance(200ms);
  EXPECT_TRUE(granted(1, RateClass::trigger));
}

TEST_F(RateLimiterTest, CountsInThirdsWithoutLosingATokenToRounding) {
  for (int round = 0; round < 100; ++round) {
    ASSERT_TRUE(granted(1, RateClass::agent_runtime)) << round;
    ASSERT_TRUE(granted(1, RateClass::agent_runtime)) << round;
    ASSERT_TRUE(granted(1, RateClass::agent_runtime)) << round;
    clock_->advance(1s);
  }
  EXPECT_EQ(limiter_.take(test::human(1).id, RateClass::agent_runtime)->remaining, 5);
}

// All of these principals fall into the same shard, which has room for two of 32 in 16.

TEST_F(RateLimiterTest, ForgetsWhoseBucketsAreFullWhenThereIsNoRoom) {
  granted(1);
  granted(2, RateClass::trigger);
  clock_->advance(500ms);
  // The first one's bucket is full again, the second one's is not.
  granted(3);
  EXPECT_EQ(limiter_.size(), 2U);
  EXPECT_EQ(limiter_.take(test::human(2).id, RateClass::trigger)->remaining, 0);
}

TEST_F(RateLimiterTest, IsBoundedWhenNobodysBucketIsFull) {
  for (std::uint8_t who = 1; who <= 100; ++who)
    EXPECT_TRUE(granted(who));
  EXPECT_EQ(limiter_.size(), 2U);
}

TEST_F(RateLimiterTest, KnownPrincipalsNeedNoRoom) {
  granted(1);
  granted(2);
  for (int i = 0; i < 10; ++i)
    granted(1);
  EXPECT_FALSE(granted(1));
  EXPECT_EQ(limiter_.take(test::human(2).id, RateClass::read)->remaining, 2);
}

TEST_F(RateLimiterTest, GrantsToManyThreadsNoMoreThanToOne) {
  std::atomic<int> granted_to_all = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 100; ++round)
        granted_to_all += granted() ? 1 : 0;
    });
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(granted_to_all, 4);
}

} // namespace
} // namespace cleat::http
