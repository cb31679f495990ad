#include <csignal>

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "apps/cleat-runner/body_parts.hpp"
#include "apps/cleat-runner/event_loop.hpp"
#include "apps/cleat-runner/process_table.hpp"
#include "base/limits.hpp"

/// Small parts of the Runner.
namespace cleat::runner {
namespace {

const OperationKey key{"operation", "attempt"};

TEST(BodyParts, ABodyIsWholeWhenAllItsPartsHaveComeInOrder) {
  BodyParts parts;
  parts.add(key, 1, {0, "a"});
  parts.add(key, 1, {1, "b"});
  parts.add(key, 2, {0, "other"});
  EXPECT_EQ(parts.take(key, 1, 2), "ab");
  EXPECT_EQ(parts.take(key, 1, 2), std::nullopt) << "it was taken";
  EXPECT_EQ(parts.take(key, 2, 1), "other");
  EXPECT_EQ(parts.take(key, 3, 0), "") << "a body may be empty";
  parts.add(key, 4, {1, "b"});
  parts.add(key, 4, {0, "a"});
  EXPECT_EQ(parts.take(key, 4, 2), std::nullopt);
}

TEST(BodyParts, TheOldestGoWhenThereAreTooMany) {
  BodyParts parts;
  const std::string large(static_cast<std::size_t>(limits::runner_pending_bodies_bytes / 2), 'x');
  parts.add(key, 1, {0, large});
  parts.add(key, 2, {0, large});
  parts.add(key, 3, {0, "one more"});
  EXPECT_EQ(parts.take(key, 1, 1), std::nullopt);
  EXPECT_EQ(parts.take(key, 2, 1), large);
  EXPECT_EQ(parts.take(key, 3, 1), "one more");
}

TEST(RunnerLoop, TimersRunInTheOrderOfTheirTimesUnlessTakenBack) {
  EventLoop loop;
  std::string order;
  loop.after(EventLoop::Duration(20), [&] { order += "b"; });
  loop.after(EventLoop::Duration(0), [&] { order += "a"; });
  const auto never = loop.after(EventLoop::Duration(10), [&] { order += "x"; });
  loop.cancel(never);
  loop.after(EventLoop::Duration(30), [&] { loop.stop(5); });
  int settled = 0;
  EXPECT_EQ(loop.run([&] { ++settled; }), 5);
  EXPECT_EQ(order, "ab");
  EXPECT_GE(settled, 3);
}

TEST(RunnerLoop, AnEventOfADescriptorThatWasClosedInTheSameRoundMeetsNobody) {
  EventLoop loop;
  int first[2];
  int second[2];
  ASSERT_EQ(::pipe(first), 0);
  ASSERT_EQ(::pipe(second), 0);
  int calls = 0;
  // Whichever is called first takes the other back and opens its number anew.
  const auto take_back = [&](int mine, int other) {
    ++calls;
    loop.unwatch(mine);
    loop.unwatch(other);
    ::close(other);
    int again[2];
    ASSERT_EQ(::pipe(again), 0);
    loop.watch(again[0], EPOLLIN, [&](std::uint32_t) { ++calls; });
    loop.after(EventLoop::Duration(20), [&] { loop.stop(0); });
  };
  loop.watch(first[0], EPOLLIN, [&](std::uint32_t) { take_back(first[0], second[0]); });
  loop.watch(second[0], EPOLLIN, [&](std::uint32_t) { take_back(second[0], first[0]); });
  ASSERT_EQ(::write(first[1], "x", 1), 1);
  ASSERT_EQ(::write(second[1], "x", 1), 1);
  loop.run([] {});
  EXPECT_EQ(calls, 1);
}

TEST(ProcessTable, KnowsThisProcess) {
  const auto info = process_info(::getpid());
  ASSERT_TRUE(info);
  EXPECT_EQ(info->group, ::getpgrp());
  EXPECT_EQ(info->session, ::getsid(0));
  EXPECT_GT(info->start, 0);
  EXPECT_EQ(environment_of(::getpid(), "PATH"), std::string(::getenv("PATH")));
  EXPECT_EQ(environment_of(::getpid(), "NO_SUCH_VARIABLE"), std::nullopt);
  EXPECT_FALSE(process_info(0));
}

} // namespace
} // namespace cleat::runner
