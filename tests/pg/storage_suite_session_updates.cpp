/// Sessions that change without ending, and decisions that rely on a thread's current session.
#include <map>

#include <gtest/gtest.h>

#include "tests/pg/storage_fixture.hpp"

namespace cleat::test {

namespace {

using enum storage::CommitOutcome;

class SessionUpdateSuite : public StorageTest {
protected:
  AgentSession bind(std::size_t thread, const std::string& reference) {
    const auto row = world_.session(world_.threads[thread], reference);
    EXPECT_EQ(client_->commit(world_.bind(row)), committed);
    return row;
  }

  /// The next version of the row on another reference.
  static AgentSession renamed(AgentSession row, std::string reference) {
    row.external_session_ref = std::move(reference);
    ++row.version;
    return row;
  }

  Decision update(const AgentSession& row) {
    Decision decision;
    decision.session_updates = {{row}};
    decision.events = {world_.event("agent_session.changed", row.thread_id)};
    return decision;
  }

  /// Whether a decision that relies on this commits.
  storage::CommitOutcome rely(std::size_t thread, std::optional<Id> session, std::int64_t version = 0) {
    Decision decision;
    decision.current_guards = {{world_.threads[thread].id, session, version}};
    decision.events = {world_.event("run.changed", world_.threads[thread].id)};
    return client_->commit(decision);
  }

  std::vector<AgentSession> rows(std::size_t thread) { return client_->sessions_of(world_.threads[thread].id); }
};

} // namespace

TEST_P(SessionUpdateSuite, ReferenceModelAndStartedChange) {
  auto row = world_.session(world_.threads[0], "ref-1");
  row.started = false;
  ASSERT_EQ(client_->commit(world_.bind(row)), committed);
  auto after = renamed(row, "ref-2");
  after.model = "model-2";
  after.started = true;
  ASSERT_EQ(client_->commit(update(after)), committed);
  EXPECT_EQ(rows(0), std::vector{after});
  after.model.reset();
  ++after.version;
  ASSERT_EQ(client_->commit(update(after)), committed);
  EXPECT_EQ(rows(0), std::vector{after});
  EXPECT_EQ(backend_->events().size(), 3U);
}

TEST_P(SessionUpdateSuite, EverythingElseOfARowStays) {
  const auto row = bind(0, "ref-1");
  auto after = renamed(row, "ref-2");
  after.agent_id = world_.builder.id;
  after.cost_baseline_micros = 5;
  after.currency = "USD";
  after.created_at = at(1);
  ASSERT_EQ(client_->commit(update(after)), committed);
  EXPECT_EQ(rows(0), std::vector{renamed(row, "ref-2")});
}

TEST_P(SessionUpdateSuite, AnUpdateNeedsTheRowAsItWas) {
  const auto row = bind(0, "ref-1");
  auto wrong_version = renamed(row, "ref-2");
  wrong_version.version = 3;
  EXPECT_EQ(client_->commit(update(wrong_version)), stale);
  auto wrong_thread = renamed(row, "ref-2");
  wrong_thread.thread_id = world_.threads[1].id;
  EXPECT_EQ(client_->commit(update(wrong_thread)), stale);
  auto unknown = renamed(row, "ref-2");
  unknown.id = world_.ids.next();
  EXPECT_EQ(client_->commit(update(unknown)), stale);
  EXPECT_EQ(rows(0), std::vector{row});
  EXPECT_EQ(client_->commit(update(renamed(row, "ref-2"))), committed);
  EXPECT_EQ(client_->commit(update(renamed(row, "ref-3"))), stale);
}

TEST_P(SessionUpdateSuite, OneOfManyUpdatesWins) {
  const auto row = bind(0, "ref-1");
  std::vector<Decision> decisions;
  for (int i = 0; i < 16; ++i)
    decisions.push_back(update(renamed(row, "new-" + std::to_string(i))));
  std::map<storage::CommitOutcome, int> counts;
  for (const auto outcome : client_->commit_at_once(decisions))
    ++counts[outcome];
  EXPECT_EQ(counts, (std::map<storage::CommitOutcome, int>{{committed, 1}, {stale, 15}}));
}

TEST_P(SessionUpdateSuite, AnEndedRowChangesAsWell) {
  const auto row = bind(0, "ref-1");
  const auto reset = world_.reset(row);
  ASSERT_EQ(client_->commit(reset), committed);
  bind(1, "ref-2");
  const auto after = renamed(ended(row, reset.ends[0]), "ref-2");
  EXPECT_EQ(client_->commit(update(after)), committed) << "an ended row may have the reference of a current one";
  EXPECT_EQ(rows(0), std::vector{after});
}

TEST_P(SessionUpdateSuite, AReferenceThatIsCurrentElsewhereIsLostForThatDecisionAlone) {
  const auto first = bind(0, "ref-1");
  const auto second = bind(1, "ref-2");
  const auto third = bind(2, "ref-3");
  EXPECT_EQ(client_->commit(update(renamed(first, "ref-2"))), lost_race);
  auto stale_too = update(renamed(first, "ref-2"));
  stale_too.guards = {{GuardedRow::thread, first.thread_id, 9}};
  EXPECT_EQ(client_->commit(stale_too), stale) << "which explains it better";

  const auto outcomes = client_->commit_at_once({update(renamed(first, "ref-2")), update(renamed(third, "ref-4")),
                                                 world_.bind(world_.session(world_.threads[3], "ref-5"))});
  EXPECT_EQ(outcomes, (std::vector{lost_race, committed, committed}));
  EXPECT_EQ(rows(0), std::vector{first});
  EXPECT_EQ(rows(1), std::vector{second});
  EXPECT_EQ(rows(2), std::vector{renamed(third, "ref-4")});
}

TEST_P(SessionUpdateSuite, AReferenceThatIsFreedByTheSameDecisionMayBeTaken) {
  const auto first = bind(0, "ref-1");
  const auto second = bind(1, "ref-2");
  auto decision = update(renamed(first, "ref-2"));
  decision.ends = {end_of(second, EndReason::rebind)};
  EXPECT_EQ(client_->commit(decision), committed);
  EXPECT_EQ(rows(0), std::vector{renamed(first, "ref-2")});
}

TEST_P(SessionUpdateSuite, AReferenceThatTheDatabaseForbidsIsFailed) {
  const auto row = bind(0, "ref-1");
  EXPECT_EQ(client_->commit(update(renamed(row, ""))), failed);
  EXPECT_EQ(client_->commit(update(renamed(row, std::string(2601, 'x')))), failed);
  EXPECT_EQ(rows(0), std::vector{row});
}

TEST_P(SessionUpdateSuite, AGuardKnowsTheCurrentSessionInItsVersion) {
  const auto row = bind(0, "ref-1");
  EXPECT_EQ(rely(0, row.id, 1), committed);
  EXPECT_EQ(rely(0, row.id, 2), stale);
  EXPECT_EQ(rely(0, world_.ids.next(), 1), stale);
  EXPECT_EQ(rely(0, std::nullopt), stale);
  EXPECT_EQ(rely(1, row.id, 1), stale) << "it is another thread's";
  EXPECT_EQ(rely(1, std::nullopt), committed);

  ASSERT_EQ(client_->commit(update(renamed(row, "ref-2"))), committed);
  EXPECT_EQ(rely(0, row.id, 1), stale);
  EXPECT_EQ(rely(0, row.id, 2), committed);
  ASSERT_EQ(client_->commit(world_.reset(renamed(row, "ref-2"))), committed);
  EXPECT_EQ(rely(0, row.id, 3), stale) << "an ended row is not current";
  EXPECT_EQ(rely(0, std::nullopt), committed);
  ASSERT_EQ(client_->commit(world_.bind(world_.imported(world_.threads[0], "ref-3"))), committed);
  EXPECT_EQ(rely(0, std::nullopt), committed) << "a row that was never current is none either";
  EXPECT_EQ(backend_->events().size(), 4U + 5U);
}

TEST_P(SessionUpdateSuite, AGuardedSessionMayEndInTheSameDecision) {
  const auto row = bind(0, "ref-1");
  auto decision = world_.reset(row);
  decision.current_guards = {{row.thread_id, row.id, 1}};
  EXPECT_EQ(client_->commit(decision), committed);
}

TEST_P(SessionUpdateSuite, AGuardAndABindOfOneThreadDoNotMeetInABatch) {
  const auto row = bind(0, "ref-1");
  Decision relying;
  relying.current_guards = {{row.thread_id, row.id, 1}};
  const auto next = world_.session(world_.threads[0], "ref-2", at(2000));
  EXPECT_EQ(client_->commit_at_once({relying, world_.bind(next, {row}), relying}),
            (std::vector{committed, committed, stale}));
}

INSTANTIATE_TEST_SUITE_P(Storage, SessionUpdateSuite, testing::Values(BackendKind::memory, BackendKind::postgres));

} // namespace cleat::test
