/// The twin can be told what to answer, so that tests of owners meet every outcome.
#include <memory>

#include <gtest/gtest.h>

#include "storage/memory_tables.hpp"
#include "tests/pg/runs.hpp"

namespace cleat::test {

namespace {

using enum storage::CommitOutcome;
using storage::ReadStatus;

class MemoryScript : public testing::Test {
protected:
  void SetUp() override { ASSERT_EQ(tables_.commit(world_.provision()), committed); }

  Decision bind(std::size_t thread) {
    return world_.bind(world_.session(world_.threads[thread], "ref-" + std::to_string(thread)));
  }
  std::size_t rows(std::size_t thread) { return tables_.sessions_of(world_.threads[thread].id).size(); }

  World world_;
  storage::MemoryTables tables_;
};

} // namespace

TEST_F(MemoryScript, OutcomesAreAnsweredInOrderAndThenTheTruth) {
  tables_.script({{stale, false}, {unknown, true}, {unknown, false}, {unavailable, false}});
  EXPECT_EQ(tables_.commit(bind(0)), stale);
  EXPECT_EQ(rows(0), 0U);
  EXPECT_EQ(tables_.commit(bind(0)), unknown);
  EXPECT_EQ(rows(0), 1U) << "unknown to its owner, and committed";
  EXPECT_EQ(tables_.commit(bind(1)), unknown);
  EXPECT_EQ(rows(1), 0U) << "unknown to its owner, and not committed";
  EXPECT_EQ(tables_.commit(bind(1)), unavailable);
  EXPECT_EQ(tables_.commit(bind(1)), committed);
  EXPECT_EQ(tables_.commit(bind(1)), lost_race);
  EXPECT_EQ(tables_.commits(), 3) << "the world, thread 0 and thread 1";
}

TEST_F(MemoryScript, WhileItIsAwayNothingIsReadOrWritten) {
  tables_.set_unavailable(true);
  EXPECT_EQ(tables_.commit(bind(0)), unavailable);
  EXPECT_EQ(tables_.record_denial({world_.denial(world_.sam, "agent_session.bind", "not_self", at(0)), 300}),
            unavailable);
  storage::LoadThread question;
  question.thread_id = world_.main.id;
  EXPECT_EQ(tables_.load(question).status, ReadStatus::unavailable);
  EXPECT_EQ(tables_.find(storage::FindToken{}).status, ReadStatus::unavailable);
  EXPECT_EQ(tables_.find(storage::FindIdempotency{}).status, ReadStatus::unavailable);
  EXPECT_EQ(tables_.load(storage::LoadDirectory{}).status, ReadStatus::unavailable);
  EXPECT_EQ(tables_.read({PrincipalsPage{}}).status, ReadStatus::unavailable);
  EXPECT_EQ(tables_.collect({at(0), 1}).status, ReadStatus::unavailable);
  EXPECT_EQ(tables_.ping().status, ReadStatus::unavailable);
  EXPECT_EQ(tables_.find(storage::LocateRun{}).status, ReadStatus::unavailable);
  EXPECT_EQ(tables_.find(storage::FindEvents{}).status, ReadStatus::unavailable);
  EXPECT_EQ(tables_.find(storage::FindAgentEvents{}).status, ReadStatus::unavailable);
  EXPECT_EQ(tables_.find(storage::FindOverdueRuns{}).status, ReadStatus::unavailable);
  EXPECT_EQ(tables_.advance().status, ReadStatus::unavailable);
  tables_.set_unavailable(false);
  EXPECT_EQ(rows(0), 0U);
  EXPECT_TRUE(tables_.audit().empty());
  EXPECT_EQ(tables_.commit(bind(0)), committed);
}

TEST_F(MemoryScript, LeasesAndQueuesAreJudgedByItsClock) {
  struct TestClock final : Clock {
    [[nodiscard]] Timestamp now() const override { return time; }
    Timestamp time;
  };
  const auto clock = std::make_shared<TestClock>();
  tables_.set_clock(clock);
  const auto message = message_in(world_, world_.threads[0]);
  const auto run = run_in(world_, message, RunState::running);
  ASSERT_EQ(tables_.commit(trigger(world_, message, run, 1)), committed);
  auto expiry = move(world_, run, moved(run, RunState::failed), 2);
  expiry.run_updates[0].expiry = RunExpiry::lease;

  clock->time = *run.lease_expires_at - std::chrono::microseconds{1};
  storage::LoadThread question;
  question.thread_id = run.thread_id;
  question.with_runs = true;
  EXPECT_EQ(tables_.load(question).run_facts->now, clock->time);
  EXPECT_TRUE(tables_.find(storage::FindOverdueRuns{60, 10}).runs.empty());
  EXPECT_EQ(tables_.commit(expiry), stale);
  clock->time = *run.lease_expires_at;
  EXPECT_EQ(tables_.find(storage::FindOverdueRuns{60, 10}).runs.size(), 1U);
  EXPECT_EQ(tables_.commit(expiry), committed);
  EXPECT_EQ(tables_.runs_of(run.thread_id), std::vector{moved(run, RunState::failed)});
  EXPECT_EQ(tables_.messages_of(run.thread_id), std::vector{message});
  EXPECT_EQ(tables_.agent_events().size(), 1U);
}

} // namespace cleat::test
