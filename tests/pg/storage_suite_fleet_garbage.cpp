/// What has outlived its span around Runners goes, and nothing else (spec 04 section 8).
#include <gtest/gtest.h>

#include "tests/pg/fleet_suite.hpp"

namespace cleat::test {

namespace {

constexpr std::int64_t hour = 3600;

class FleetGarbageSuite : public FleetTest {
protected:
  /// Collects so long after the rows of the test were finished.
  std::int64_t collect(std::int64_t seconds, std::int64_t limit = 100) {
    storage::CollectGarbage question;
    question.now = at(3000) + std::chrono::seconds{seconds};
    question.limit = limit;
    question.fleet = storage::FleetSpans{1 * hour, 7 * hour, 30 * hour, 20 * hour};
    return client_->collect(question).removed;
  }

  Operation insert(Operation row) {
    commit(fleet::InsertOperation{row});
    return row;
  }
};

} // namespace

TEST_P(FleetGarbageSuite, ARetryableFailureTurnsTerminal) {
  const auto row = insert(with_failure(fleet_.fresh(), FailureClass::retryable));
  EXPECT_EQ(collect(hour - 1), 0);
  EXPECT_EQ(operation(row.id), row);
  EXPECT_EQ(collect(hour), 0);
  auto terminal = next(row);
  terminal.failure->failure_class = FailureClass::terminal;
  EXPECT_EQ(operation(row.id), terminal);
  EXPECT_EQ(client_->commit(decide(fleet::UpdateOperation{moved(row, OperationState::reserved)})),
            storage::CommitOutcome::stale)
    << "whoever retries it now has to look again";
  EXPECT_EQ(collect(30 * hour - 1), 0);
  EXPECT_EQ(collect(30 * hour), 1);
  EXPECT_FALSE(operation(row.id));
}

TEST_P(FleetGarbageSuite, PromotedOperationsAndTerminalFailuresGoAfterTheirSpans) {
  const auto promoted = insert(moved(fleet_.fresh(0), OperationState::promoted));
  const auto stopped = insert(moved(fleet_.stop(session_id(1), 0), OperationState::promoted));
  const auto terminal = insert(with_failure(fleet_.fresh(1)));
  EXPECT_EQ(collect(7 * hour - 1), 0);
  EXPECT_EQ(collect(7 * hour), 2);
  EXPECT_FALSE(operation(promoted.id));
  EXPECT_FALSE(operation(stopped.id));
  EXPECT_EQ(operation(terminal.id), terminal);
  EXPECT_EQ(collect(30 * hour - 1), 0);
  EXPECT_EQ(collect(30 * hour), 1);
  auto question = about("nowhere");
  question.handle = terminal.handle_digest;
  EXPECT_FALSE(client_->load(question).operation);
}

TEST_P(FleetGarbageSuite, WhatIsInFlightStays) {
  const auto reserved = insert(fleet_.fresh(0));
  const auto dispatched = insert(moved(fleet_.fresh(1), OperationState::dispatched));
  EXPECT_EQ(collect(1000 * hour), 0);
  EXPECT_EQ(operation(reserved.id), reserved);
  EXPECT_EQ(operation(dispatched.id), dispatched);
}

TEST_P(FleetGarbageSuite, ALiveBindingKeepsItsOperationWithoutItsHandle) {
  const auto live = start(0);
  const auto row = operation(live.operation_id).value();
  EXPECT_EQ(collect(7 * hour), 0);
  auto kept = next(row);
  kept.handle_digest.reset();
  EXPECT_EQ(operation(row.id), kept);
  EXPECT_EQ(collect(8 * hour), 0);
  EXPECT_EQ(operation(row.id), kept) << "once";
  commit(fleet::UpdateBinding{moved(live, BindingState::released)});
  EXPECT_EQ(collect(8 * hour), 1);
  EXPECT_TRUE(binding(live.session_id)) << "so that it can be resumed";
}

TEST_P(FleetGarbageSuite, AnUnresolvedOrphanKeepsItsOperationAndItself) {
  const auto row = insert(with_failure(fleet_.fresh()));
  auto orphan = fleet_.orphan_of(row);
  commit(fleet::InsertOrphan{orphan});
  EXPECT_EQ(collect(1000 * hour), 0);
  EXPECT_FALSE(operation(row.id)->handle_digest);
  EXPECT_EQ(load(0).orphans, std::vector{orphan});
  orphan = next(orphan);
  orphan.resolved_at = at(3000);
  commit(fleet::UpdateOrphan{orphan});
  EXPECT_EQ(collect(20 * hour - 1), 0) << "the operation's span is longer";
  EXPECT_EQ(collect(20 * hour), 1);
  EXPECT_EQ(collect(30 * hour), 1);
}

TEST_P(FleetGarbageSuite, StaleAttemptsGoWhenNothingRefersToThem) {
  const auto row = insert(with_failure(fleet_.fresh(0)));
  const auto live = start(1);
  commit(fleet::InsertOrphan{fleet_.orphan_of(fleet_.fresh(2))});
  commit(enrol());
  EXPECT_EQ(collect(30 * hour - 1), 1) << "the operation of the binding, whose attempt it still refers to";
  EXPECT_EQ(collect(30 * hour), 1 + 1) << "the failure, and its attempt; not the orphan's and no current one";
  EXPECT_EQ(collect(1000 * hour), 0);
}

TEST_P(FleetGarbageSuite, NodesThatFellSilentAreForgotten) {
  client_->beat(fleet_.node);
  const auto beat_at = load(0).node->heartbeat_at;
  storage::CollectGarbage question;
  question.limit = 10;
  question.fleet = storage::FleetSpans{1, 1, 1, 1};
  question.now = beat_at + std::chrono::hours{24} - std::chrono::microseconds{1};
  const auto is_known = [&] {
    client_->collect(question);
    auto of_any_age = about("box-0");
    of_any_age.node_timeout_s = 1000 * hour;
    return client_->load(of_any_age).node.has_value();
  };
  EXPECT_TRUE(is_known());
  question.now += std::chrono::microseconds{1};
  question.fleet.reset();
  EXPECT_TRUE(is_known()) << "without spans nothing is collected here";
  question.fleet = storage::FleetSpans{1, 1, 1, 1};
  EXPECT_FALSE(is_known());
}

TEST_P(FleetGarbageSuite, ACallRemovesNoMoreThanItsLimit) {
  for (int i = 0; i < 5; ++i)
    insert(with_failure(fleet_.fresh()));
  EXPECT_EQ(collect(100 * hour, 2), 2);
  EXPECT_EQ(collect(100 * hour, 2), 2);
  EXPECT_EQ(collect(100 * hour, 2), 1);
}

INSTANTIATE_TEST_SUITE_P(Storage, FleetGarbageSuite, testing::Values(BackendKind::memory, BackendKind::postgres));

} // namespace cleat::test
