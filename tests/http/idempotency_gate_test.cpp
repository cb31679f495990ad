#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "http/idempotency_gate.hpp"
#include "tests/http/fake_backend.hpp"

namespace cleat::http {
namespace {

TEST(IdempotencyGate, LetsAKeyOfAPrincipalInOnce) {
  IdempotencyGate gate;
  const auto alex = test::human(1).id;
  const auto sam = test::human(2).id;
  auto first = gate.enter(alex, "k");
  EXPECT_TRUE(first);
  EXPECT_FALSE(gate.enter(alex, "k"));
  EXPECT_TRUE(gate.enter(alex, "other"));
  EXPECT_TRUE(gate.enter(sam, "k"));
  first.reset();
  EXPECT_TRUE(gate.enter(alex, "k"));
}

TEST(IdempotencyGate, AMovedPassLeavesOnce) {
  IdempotencyGate gate;
  const auto id = test::human(1).id;
  auto first = gate.enter(id, "k");
  ASSERT_TRUE(first);
  const auto moved = std::move(*first);
  first.reset();
  EXPECT_FALSE(gate.enter(id, "k"));
}

TEST(IdempotencyGate, HoldsBetweenThreads) {
  IdempotencyGate gate;
  const auto id = test::human(1).id;
  std::atomic<int> inside = 0;
  std::atomic<bool> overlapped = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 2000; ++round)
        if (const auto pass = gate.enter(id, "k")) {
          overlapped = overlapped || inside.fetch_add(1) != 0;
          inside.fetch_sub(1);
        }
    });
  for (auto& thread : threads)
    thread.join();
  EXPECT_FALSE(overlapped);
}

} // namespace
} // namespace cleat::http
