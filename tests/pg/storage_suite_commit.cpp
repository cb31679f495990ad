/// What a single decision may do and what refuses it, the same in PostgreSQL and in the memory twin.
#include <gtest/gtest.h>

#include "tests/pg/storage_fixture.hpp"

namespace cleat::test {

namespace {

using enum storage::CommitOutcome;

class CommitSuite : public StorageTest {};

/// The texts of an event log.
std::vector<std::string> texts(const std::vector<EventLine>& lines) {
  std::vector<std::string> all;
  for (const auto& line : lines)
    all.push_back(line.text);
  return all;
}

} // namespace

TEST_P(CommitSuite, EverythingOfADecisionIsThere) {
  const auto row = world_.session(world_.threads[0], "ref-1");
  auto decision = world_.bind(row);
  decision.idempotency = World::record(world_.alex, "key-1", 7);
  ASSERT_EQ(client_->commit(decision), committed);

  EXPECT_EQ(client_->sessions_of(row.thread_id), std::vector{row});
  EXPECT_EQ(client_->facts_of(row.thread_id)->current, row);
  EXPECT_EQ(client_->facts_of(row.thread_id)->newest_session_at, row.created_at);
  EXPECT_EQ(texts(backend_->events()), std::vector{event_text(decision.events.front())});
  EXPECT_EQ(client_->audit(), decision.audit);
  EXPECT_EQ(client_->find(storage::FindIdempotency{world_.alex.id, "key-1"}).record, decision.idempotency);
}

TEST_P(CommitSuite, EveryColumnOfASessionComesBack) {
  auto row = world_.imported(world_.threads[0], "ref-1", at(-123'456'789'012));
  row.cost_baseline_micros = 9'000'000'000'000'000'001;
  row.cost_is_estimate = true;
  row.started = false;
  row.currency = "USD";
  ASSERT_EQ(client_->commit(world_.bind(row)), committed);
  EXPECT_EQ(client_->sessions_of(row.thread_id), std::vector{row});
}

TEST_P(CommitSuite, TextIsStoredExactlyAsItIs) {
  const std::vector<std::string> texts = {"plain",
                                          "with \"quotes\" and 'single'",
                                          "back\\slash \\n \\\\",
                                          "{brace,comma}",
                                          "NULL",
                                          "null",
                                          " space around ",
                                          "tab\tand\nline",
                                          "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
                                          "$1; DROP TABLE agent_sessions; --",
                                          std::string(1024, 'x')};
  std::vector<Decision> decisions;
  std::vector<AgentSession> rows;
  for (const auto& text : texts) {
    rows.push_back(world_.imported(world_.threads[0], text, at(std::ssize(rows))));
    decisions.push_back(world_.bind(rows.back()));
  }
  for (const auto outcome : client_->commit_at_once(decisions))
    EXPECT_EQ(outcome, committed);
  EXPECT_EQ(client_->sessions_of(world_.threads[0].id), std::vector(rows.rbegin(), rows.rend()));
}

TEST_P(CommitSuite, EventsKeepTheOrderOfTheDecision) {
  Decision decision;
  std::vector<std::string> expected;
  for (int i = 0; i < 20; ++i) {
    decision.events.push_back(
      world_.event("thread.changed", world_.threads[0].id, "{\"n\":" + std::to_string(i) + "}"));
    expected.push_back(event_text(decision.events.back()));
  }
  decision.events.front().channel_id.reset();
  decision.events.front().thread_id.reset();
  decision.events.front().resource_version = 3;
  expected.front() = event_text(decision.events.front());
  ASSERT_EQ(client_->commit(decision), committed);
  EXPECT_EQ(texts(backend_->events()), expected);
}

TEST_P(CommitSuite, VersionGuardsHoldOrNothingIsWritten) {
  const std::vector<std::pair<GuardedRow, Id>> rows = {{GuardedRow::space_facts, world_.space.id},
                                                       {GuardedRow::space, world_.space.id},
                                                       {GuardedRow::channel, world_.channel.id},
                                                       {GuardedRow::thread, world_.threads[0].id},
                                                       {GuardedRow::principal, world_.lotse.id}};
  std::int64_t number = 0;
  for (const auto& [row, id] : rows) {
    const std::string reference = "ref-" + std::to_string(++number);
    auto decision = world_.bind(world_.imported(world_.threads[0], reference, at(number)));
    decision.guards = {{row, id, 2}};
    EXPECT_EQ(client_->commit(decision), stale) << static_cast<int>(row);
    decision.guards = {{row, world_.ids.next(), 1}};
    EXPECT_EQ(client_->commit(decision), stale) << static_cast<int>(row);
    EXPECT_EQ(std::ssize(client_->sessions_of(world_.threads[0].id)), number - 1);
    decision.guards = {{row, id, 1}};
    EXPECT_EQ(client_->commit(decision), committed) << static_cast<int>(row);
  }
  EXPECT_EQ(client_->audit().size(), rows.size());
  EXPECT_EQ(backend_->events().size(), rows.size());
}

TEST_P(CommitSuite, OneFailingGuardOfManyIsEnough) {
  auto decision = world_.bind(world_.session(world_.threads[0], "ref-1"));
  decision.guards = {{GuardedRow::space_facts, world_.space.id, 1}, {GuardedRow::thread, world_.threads[0].id, 9}};
  EXPECT_EQ(client_->commit(decision), stale);
  EXPECT_TRUE(client_->sessions_of(world_.threads[0].id).empty());
  EXPECT_TRUE(backend_->events().empty());
  EXPECT_TRUE(client_->audit().empty());
}

TEST_P(CommitSuite, ReferenceGuardsKnowTheNewestRowOfAnyThread) {
  const auto old = world_.imported(world_.threads[0], "ref-1", at(10));
  const auto newest = world_.imported(world_.threads[1], "ref-1", at(20));
  const auto attempt = [&](std::optional<Id> expected) {
    auto decision = world_.bind(world_.imported(world_.threads[2], "other"));
    decision.reference_guards = {{world_.lotse.id, "ref-1", expected}};
    decision.sessions.clear();
    return client_->commit(decision);
  };
  EXPECT_EQ(attempt(old.id), stale);
  EXPECT_EQ(attempt(std::nullopt), committed);
  ASSERT_EQ(client_->commit(world_.bind(newest)), committed);
  ASSERT_EQ(client_->commit(world_.bind(old)), committed);
  EXPECT_EQ(attempt(std::nullopt), stale);
  EXPECT_EQ(attempt(old.id), stale);
  EXPECT_EQ(attempt(newest.id), committed);
}

TEST_P(CommitSuite, ReferenceGuardsBreakTiesById) {
  const auto first = world_.imported(world_.threads[0], "ref-1", at(10));
  const auto second = world_.imported(world_.threads[1], "ref-1", at(10));
  ASSERT_EQ(client_->commit(world_.bind(second)), committed);
  ASSERT_EQ(client_->commit(world_.bind(first)), committed);
  Decision decision;
  decision.reference_guards = {{world_.lotse.id, "ref-1", first.id}};
  EXPECT_EQ(client_->commit(decision), stale);
  decision.reference_guards = {{world_.lotse.id, "ref-1", second.id}};
  EXPECT_EQ(client_->commit(decision), committed);
}

TEST_P(CommitSuite, AnEndNeedsTheRowAsItWas) {
  const auto row = world_.session(world_.threads[0], "ref-1");
  ASSERT_EQ(client_->commit(world_.bind(row)), committed);
  auto wrong_version = world_.reset(row);
  wrong_version.ends.front().expected_version = 2;
  EXPECT_EQ(client_->commit(wrong_version), stale);
  auto unknown = world_.reset(row);
  unknown.ends.front().id = world_.ids.next();
  EXPECT_EQ(client_->commit(unknown), stale);
  EXPECT_EQ(client_->sessions_of(row.thread_id), std::vector{row});

  const auto right = world_.reset(row);
  EXPECT_EQ(client_->commit(right), committed);
  EXPECT_EQ(client_->sessions_of(row.thread_id), std::vector{ended(row, right.ends.front())});
  EXPECT_EQ(client_->commit(right), stale) << "an ended row does not end again";
  auto again = right;
  again.ends.front().expected_version = 2;
  EXPECT_EQ(client_->commit(again), stale) << "not even with its new version";
  EXPECT_FALSE(client_->facts_of(row.thread_id)->current.has_value());
}

TEST_P(CommitSuite, AThreadHasOneCurrentRow) {
  ASSERT_EQ(client_->commit(world_.bind(world_.session(world_.threads[0], "ref-1"))), committed);
  EXPECT_EQ(client_->commit(world_.bind(world_.session(world_.threads[0], "ref-2"))), lost_race);
  EXPECT_EQ(client_->sessions_of(world_.threads[0].id).size(), 1U);
  EXPECT_EQ(backend_->events().size(), 1U);
  EXPECT_EQ(client_->audit().size(), 1U);
}

TEST_P(CommitSuite, AReferenceIsCurrentOnce) {
  ASSERT_EQ(client_->commit(world_.bind(world_.session(world_.threads[0], "ref-1"))), committed);
  EXPECT_EQ(client_->commit(world_.bind(world_.session(world_.threads[1], "ref-1"))), lost_race);
  EXPECT_TRUE(client_->sessions_of(world_.threads[1].id).empty());
  auto of_another_agent = world_.session(world_.threads[1], "ref-1");
  of_another_agent.agent_id = world_.builder.id;
  EXPECT_EQ(client_->commit(world_.bind(of_another_agent)), committed);
}

TEST_P(CommitSuite, TakeOverEndsBothAndBindsOnce) {
  const auto mine = world_.session(world_.threads[0], "ref-1");
  const auto theirs = world_.session(world_.threads[1], "ref-2");
  ASSERT_EQ(client_->commit(world_.bind(mine)), committed);
  ASSERT_EQ(client_->commit(world_.bind(theirs)), committed);
  const auto taken = world_.session(world_.threads[0], "ref-2", at(2000));
  const auto decision = world_.bind(taken, {theirs, mine});
  ASSERT_EQ(client_->commit(decision), committed);
  ASSERT_EQ(decision.ends.size(), 2U);
  EXPECT_EQ(client_->sessions_of(mine.thread_id), (std::vector{taken, ended(mine, decision.ends[0])}));
  EXPECT_EQ(client_->sessions_of(theirs.thread_id), std::vector{ended(theirs, decision.ends[1])});
}

TEST_P(CommitSuite, TakeOverOfARowThatIsNotCurrentAnyMoreIsStale) {
  const auto mine = world_.session(world_.threads[0], "ref-1");
  const auto theirs = world_.session(world_.threads[1], "ref-2");
  ASSERT_EQ(client_->commit(world_.bind(mine)), committed);
  ASSERT_EQ(client_->commit(world_.bind(theirs)), committed);
  ASSERT_EQ(client_->commit(world_.reset(theirs)), committed);
  EXPECT_EQ(client_->commit(world_.bind(world_.session(world_.threads[0], "ref-2"), {mine, theirs})), stale);
  EXPECT_EQ(client_->sessions_of(mine.thread_id), std::vector{mine}) << "the other end was taken back";
}

TEST_P(CommitSuite, TheSameReferenceMayBeBoundAgain) {
  const auto row = world_.session(world_.threads[0], "ref-1");
  ASSERT_EQ(client_->commit(world_.bind(row)), committed);
  const auto again = world_.session(world_.threads[0], "ref-1", at(2000));
  EXPECT_EQ(client_->commit(world_.bind(again, {row})), committed);
  EXPECT_EQ(client_->facts_of(row.thread_id)->current, again);
}

TEST_P(CommitSuite, AnImportIsWrittenOnce) {
  ASSERT_EQ(client_->commit(world_.bind(world_.imported(world_.threads[0], "ref-1", at(10)))), committed);
  EXPECT_EQ(client_->commit(world_.bind(world_.imported(world_.threads[0], "ref-1", at(10)))), lost_race);
  EXPECT_EQ(client_->commit(world_.bind(world_.imported(world_.threads[0], "ref-1", at(11)))), committed);
  EXPECT_EQ(client_->commit(world_.bind(world_.imported(world_.threads[0], "ref-2", at(10)))), committed);
  EXPECT_EQ(client_->commit(world_.bind(world_.imported(world_.threads[1], "ref-1", at(10)))), committed);
  EXPECT_EQ(client_->sessions_of(world_.threads[0].id).size(), 3U);
}

TEST_P(CommitSuite, AnImportWithADuplicateInItselfIsRefusedAsAWhole) {
  auto decision = world_.bind(world_.imported(world_.threads[0], "ref-1", at(10)));
  decision.sessions.push_back(world_.imported(world_.threads[0], "ref-2", at(10)));
  decision.sessions.push_back(world_.imported(world_.threads[0], "ref-1", at(10)));
  EXPECT_EQ(client_->commit(decision), lost_race);
  EXPECT_TRUE(client_->sessions_of(world_.threads[0].id).empty());
}

TEST_P(CommitSuite, AnIdOfASessionIsGivenOnce) {
  const auto row = world_.imported(world_.threads[0], "ref-1");
  ASSERT_EQ(client_->commit(world_.bind(row)), committed);
  auto same_id = world_.imported(world_.threads[1], "ref-2");
  same_id.id = row.id;
  EXPECT_EQ(client_->commit(world_.bind(same_id)), lost_race);
}

TEST_P(CommitSuite, AUsedKeyIsToldBeforeEverythingElse) {
  const auto row = world_.session(world_.threads[0], "ref-1");
  auto decision = world_.bind(row);
  decision.idempotency = World::record(world_.alex, "key");
  ASSERT_EQ(client_->commit(decision), committed);
  EXPECT_EQ(client_->commit(decision), key_used) << "it would have lost a race, too";

  auto stale_too = world_.reset(row);
  stale_too.ends.front().expected_version = 9;
  stale_too.guards = {{GuardedRow::thread, row.thread_id, 9}};
  stale_too.idempotency = World::record(world_.alex, "key", 1);
  EXPECT_EQ(client_->commit(stale_too), key_used);

  auto of_sam = world_.bind(world_.session(world_.threads[1], "ref-2"));
  of_sam.idempotency = World::record(world_.sam, "key", 2);
  EXPECT_EQ(client_->commit(of_sam), committed);
  EXPECT_EQ(client_->find(storage::FindIdempotency{world_.alex.id, "key"}).record, decision.idempotency);
  EXPECT_EQ(client_->find(storage::FindIdempotency{world_.sam.id, "key"}).record, of_sam.idempotency);
  EXPECT_FALSE(client_->find(storage::FindIdempotency{world_.sam.id, "KEY"}).record.has_value());
}

TEST_P(CommitSuite, ARefusedDecisionLeavesItsKeyFree) {
  auto decision = world_.bind(world_.session(world_.threads[0], "ref-1"));
  decision.guards = {{GuardedRow::thread, world_.threads[0].id, 9}};
  decision.idempotency = World::record(world_.alex, "key");
  ASSERT_EQ(client_->commit(decision), stale);
  EXPECT_FALSE(client_->find(storage::FindIdempotency{world_.alex.id, "key"}).record.has_value());
  decision.guards.clear();
  EXPECT_EQ(client_->commit(decision), committed);
}

TEST_P(CommitSuite, AReplyComesBackByteByByte) {
  Decision decision;
  decision.idempotency = World::record(world_.alex, "key \"with\" {everything},\\", 255);
  decision.idempotency->reply = {204, "", std::nullopt, false};
  ASSERT_EQ(client_->commit(decision), committed);
  EXPECT_EQ(client_->find(storage::FindIdempotency{world_.alex.id, decision.idempotency->key.key}).record,
            decision.idempotency);
  decision.idempotency = World::record(world_.alex, "second");
  decision.idempotency->reply = {201, "{\"b\" : 1,  \"a\":\"\xc3\xa4\\n\", \"b\":2}", 7, false};
  ASSERT_EQ(client_->commit(decision), committed);
  EXPECT_EQ(client_->find(storage::FindIdempotency{world_.alex.id, "second"}).record, decision.idempotency);
}

TEST_P(CommitSuite, ARowThatTheDatabaseForbidsIsFailed) {
  auto of_no_thread = world_.session(world_.threads[0], "ref-1");
  of_no_thread.thread_id = world_.ids.next();
  EXPECT_EQ(client_->commit(world_.bind(of_no_thread)), failed);
  auto ended_without_reason = world_.imported(world_.threads[0], "ref-1");
  ended_without_reason.end_reason.reset();
  EXPECT_EQ(client_->commit(world_.bind(ended_without_reason)), failed);
  EXPECT_TRUE(client_->sessions_of(world_.threads[0].id).empty());
  EXPECT_TRUE(client_->audit().empty());
  EXPECT_TRUE(backend_->events().empty());
}

INSTANTIATE_TEST_SUITE_P(Storage, CommitSuite, testing::Values(BackendKind::memory, BackendKind::postgres));

} // namespace cleat::test
