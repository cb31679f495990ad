/// Many decisions at once: they share transactions, and still each gets its own outcome.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "tests/pg/storage_fixture.hpp"

namespace cleat::test {

namespace {

using enum storage::CommitOutcome;

class BatchSuite : public StorageTest {
protected:
  std::map<storage::CommitOutcome, int> count(const std::vector<storage::CommitOutcome>& outcomes) {
    std::map<storage::CommitOutcome, int> counts;
    for (const auto outcome : outcomes)
      ++counts[outcome];
    return counts;
  }
  using Counts = std::map<storage::CommitOutcome, int>;
};

} // namespace

TEST_P(BatchSuite, ABadItemSpoilsNoOther) {
  std::vector<Decision> decisions;
  for (int i = 0; i < 300; ++i)
    decisions.push_back(
      world_.bind(world_.imported(world_.threads[static_cast<std::size_t>(i) % 4], "ref-" + std::to_string(i))));
  decisions[10].guards = {{GuardedRow::thread, world_.threads[0].id, 7}};                      // stale
  decisions[50].sessions.front().thread_id = world_.ids.next();                                // a foreign key
  decisions[90].sessions.front().currency = "no currency";                                     // a check
  decisions[130].sessions.front() = decisions[129].sessions.front();                           // an id given twice
  decisions[170].rows = {RaiseSpaceFacts{world_.ids.next()}};                                  // stale
  decisions[210].idempotency = decisions[209].idempotency = World::record(world_.alex, "key"); // a key used twice
  std::vector<storage::CommitOutcome> expected(decisions.size(), committed);
  expected[10] = expected[170] = stale;
  expected[50] = expected[90] = failed;
  expected[130] = lost_race;
  expected[210] = key_used;

  EXPECT_EQ(client_->commit_at_once(decisions), expected);
  std::size_t rows = 0;
  for (const auto& thread : world_.threads)
    rows += client_->sessions_of(thread.id).size();
  EXPECT_EQ(rows, decisions.size() - 6);
  EXPECT_EQ(client_->audit().size(), decisions.size() - 6);
  EXPECT_EQ(backend_->events().size(), decisions.size() - 6);
}

TEST_P(BatchSuite, OneOfManyBindsOfAThreadWins) {
  const auto current = world_.session(world_.threads[0], "start");
  ASSERT_EQ(client_->commit(world_.bind(current)), committed);
  std::vector<Decision> decisions;
  for (int i = 0; i < 64; ++i)
    decisions.push_back(world_.bind(world_.session(world_.threads[0], "ref-" + std::to_string(i)), {current}));
  EXPECT_EQ(count(client_->commit_at_once(decisions)), (Counts{{committed, 1}, {stale, 63}}));
  EXPECT_EQ(client_->sessions_of(world_.threads[0].id).size(), 2U);
  EXPECT_EQ(backend_->events().size(), 1U + 2U);
}

TEST_P(BatchSuite, OneOfManyFirstBindsOfAThreadWins) {
  std::vector<Decision> decisions;
  for (int i = 0; i < 64; ++i)
    decisions.push_back(world_.bind(world_.session(world_.threads[0], "ref-" + std::to_string(i))));
  EXPECT_EQ(count(client_->commit_at_once(decisions)), (Counts{{committed, 1}, {lost_race, 63}}));
  EXPECT_EQ(client_->sessions_of(world_.threads[0].id).size(), 1U);
}

TEST_P(BatchSuite, OneOfManyThreadsGetsAReference) {
  std::vector<Decision> decisions;
  for (const auto& thread : world_.threads)
    decisions.push_back(world_.bind(world_.session(thread, "ref-1")));
  EXPECT_EQ(count(client_->commit_at_once(decisions)), (Counts{{committed, 1}, {lost_race, 3}}));
}

TEST_P(BatchSuite, ThreadsThatTakeOverFromEachOtherTakeTurns) {
  const auto first = world_.session(world_.threads[0], "ref-1");
  const auto second = world_.session(world_.threads[1], "ref-2");
  ASSERT_EQ(client_->commit(world_.bind(first)), committed);
  ASSERT_EQ(client_->commit(world_.bind(second)), committed);
  const auto outcomes =
    client_->commit_at_once({world_.bind(world_.session(world_.threads[0], "ref-2", at(2000)), {first, second}),
                             world_.bind(world_.session(world_.threads[1], "ref-1", at(2000)), {second, first})});
  EXPECT_EQ(count(outcomes), (Counts{{committed, 1}, {stale, 1}}));
}

TEST_P(BatchSuite, AKeyIsUsedOnce) {
  std::vector<Decision> decisions;
  for (int i = 0; i < 32; ++i) {
    decisions.push_back(world_.bind(world_.imported(world_.threads[static_cast<std::size_t>(i) % 4], "ref", at(i))));
    decisions.back().idempotency = World::record(world_.alex, "key", static_cast<std::uint8_t>(i));
  }
  const auto outcomes = client_->commit_at_once(decisions);
  EXPECT_EQ(count(outcomes), (Counts{{committed, 1}, {key_used, 31}}));
  const auto winner = static_cast<std::size_t>(std::ranges::find(outcomes, committed) - outcomes.begin());
  EXPECT_EQ(client_->find(storage::FindIdempotency{world_.alex.id, "key"}).record, decisions[winner].idempotency);
  EXPECT_EQ(client_->audit(), decisions[winner].audit);
}

TEST_P(BatchSuite, OneOfManyUpdatesOfARowWins) {
  std::vector<Decision> decisions;
  for (int i = 0; i < 16; ++i) {
    auto row = world_.threads[0];
    row.title = "Title " + std::to_string(i);
    row.version = 2;
    decisions.push_back(World::only(UpdateThread{row}));
  }
  EXPECT_EQ(count(client_->commit_at_once(decisions)), (Counts{{committed, 1}, {stale, 15}}));
}

TEST_P(BatchSuite, TwoChangesOfRightsFromTheSameFactsDoNotBothHold) {
  std::vector<Decision> decisions;
  for (const auto& thread : world_.threads) {
    auto decision = World::only(RaiseSpaceFacts{world_.space.id});
    decision.rows.emplace_back(SetGrant{grant_on(ScopeKind::thread, thread.id, world_.space, world_.sam, Level::read)});
    decision.guards = {{GuardedRow::space_facts, world_.space.id, 1}};
    decisions.push_back(std::move(decision));
  }
  EXPECT_EQ(count(client_->commit_at_once(decisions)), (Counts{{committed, 1}, {stale, 3}}));
  EXPECT_EQ(client_->facts_of(world_.main.id)->space.facts_version, 2);
}

TEST_P(BatchSuite, EveryRaiseOfTheFactsCounts) {
  const std::vector<Decision> decisions(12, World::only(RaiseSpaceFacts{world_.space.id}));
  EXPECT_EQ(count(client_->commit_at_once(decisions)), (Counts{{committed, 12}}));
  EXPECT_EQ(client_->facts_of(world_.main.id)->space.facts_version, 13);
}

TEST_P(BatchSuite, ABindKnowsTheRightsOfBeforeOrComesAgain) {
  std::vector<Decision> decisions;
  for (std::size_t i = 0; i < 4; ++i) {
    auto bind = world_.bind(world_.session(world_.threads[i], "ref-" + std::to_string(i)));
    bind.guards = {{GuardedRow::space_facts, world_.space.id, 1}};
    decisions.push_back(std::move(bind));
    if (i == 1)
      decisions.push_back(World::only(RaiseSpaceFacts{world_.space.id}));
  }
  const auto outcomes = client_->commit_at_once(decisions);
  for (const auto outcome : outcomes)
    EXPECT_TRUE(outcome == committed || outcome == stale);
  EXPECT_EQ(outcomes[2], committed) << "nothing guards the change itself";
  auto late = world_.bind(world_.imported(world_.threads[0], "late"));
  late.guards = {{GuardedRow::space_facts, world_.space.id, 1}};
  EXPECT_EQ(client_->commit(late), stale);
}

TEST_P(BatchSuite, AReferenceThatGrowsMeanwhileIsStale) {
  const auto bind_expecting_none = [&](std::size_t thread) {
    auto decision = world_.bind(world_.imported(world_.threads[thread], "ref-1", at(10)));
    decision.reference_guards = {{world_.lotse.id, "ref-1", std::nullopt}};
    return decision;
  };
  const auto outcomes = client_->commit_at_once(
    {bind_expecting_none(0), bind_expecting_none(1), bind_expecting_none(2), bind_expecting_none(3)});
  EXPECT_EQ(count(outcomes), (Counts{{committed, 1}, {stale, 3}}));
}

TEST_P(BatchSuite, OutcomesComeInTheOrderOfArrivalAtOneThread) {
  // Each decision ends the row of the one before, so all commit only if they are applied in order.
  std::vector<Decision> decisions;
  std::optional<AgentSession> before;
  for (int i = 0; i < 40; ++i) {
    const auto row = world_.session(world_.threads[0], "ref-" + std::to_string(i), at(i));
    decisions.push_back(before ? world_.bind(row, {*before}) : world_.bind(row));
    before = row;
  }
  EXPECT_EQ(count(client_->commit_at_once(decisions)), (Counts{{committed, 40}}));
  EXPECT_EQ(client_->facts_of(world_.threads[0].id)->current, before);
}

TEST_P(BatchSuite, EventsOfEveryDecisionKeepTheirOrder) {
  std::vector<Decision> decisions;
  for (std::size_t i = 0; i < 50; ++i) {
    Decision decision;
    for (int n = 0; n < 4; ++n)
      decision.events.push_back(world_.event("thread.changed", world_.threads[i % 4].id, "{}"));
    decisions.push_back(std::move(decision));
  }
  ASSERT_EQ(count(client_->commit_at_once(decisions)), (Counts{{committed, 50}}));
  std::map<std::string, std::int64_t> positions;
  for (const auto& line : backend_->events())
    EXPECT_TRUE(positions.emplace(line.text, line.seq).second) << "an event is there twice";
  ASSERT_EQ(positions.size(), 200U);
  for (const auto& decision : decisions) {
    for (std::size_t n = 1; n < decision.events.size(); ++n)
      EXPECT_LT(positions.at(event_text(decision.events[n - 1])), positions.at(event_text(decision.events[n])));
  }
}

TEST_P(BatchSuite, DenialsOfAWindowShareAnEntry) {
  constexpr std::int64_t window_s = 300;
  // The start of a window, so that what is in it and what is not is plain.
  const auto start = Timestamp{std::chrono::seconds{window_s * 5'900'000}};
  const auto in_window = [&](std::int64_t seconds) { return start + std::chrono::seconds{seconds}; };
  std::vector<AuditEntry> denials;
  for (int i = 0; i < 100; ++i)
    denials.push_back(world_.denial(world_.sam, "agent_session.bind", "level_insufficient", in_window(i)));
  denials.push_back(world_.denial(world_.sam, "agent_session.bind", "level_insufficient", in_window(window_s)));
  denials.push_back(world_.denial(world_.sam, "agent_session.bind", "actor_not_human", in_window(0)));
  denials.push_back(world_.denial(world_.sam, "agent_session.reset", "level_insufficient", in_window(0)));
  denials.push_back(world_.denial(world_.alex, "agent_session.bind", "level_insufficient", in_window(0)));
  denials.push_back(world_.denial(world_.sam, "agent_session.bind", "level_insufficient", in_window(0)));
  denials.back().resource_id = world_.threads[1].id;
  EXPECT_EQ(count(client_->deny_at_once(denials, window_s)), (Counts{{committed, 105}}));
  EXPECT_EQ(
    client_->deny(world_.denial(world_.sam, "agent_session.bind", "level_insufficient", in_window(299)), window_s),
    committed);

  const auto entries = client_->audit();
  ASSERT_EQ(entries.size(), 6U);
  const auto counted = std::ranges::find(entries, 101, &AuditEntry::count);
  ASSERT_NE(counted, entries.end());
  auto first = denials.front();
  first.count = 101;
  EXPECT_EQ(*counted, first);
  for (const auto& entry : entries)
    EXPECT_TRUE(entry.count == 1 || entry == *counted);
}

TEST_P(BatchSuite, DenialsAndDecisionsDoNotDisturbEachOther) {
  auto bad = world_.bind(world_.session(world_.threads[0], "ref-1"));
  bad.sessions.front().currency = "";
  EXPECT_EQ(client_->commit(bad), failed);
  EXPECT_EQ(client_->deny(world_.denial(world_.sam, "agent_session.bind", "level_insufficient", at(0)), 300),
            committed);
  EXPECT_EQ(client_->commit(world_.bind(world_.session(world_.threads[0], "ref-1"))), committed);
  EXPECT_EQ(client_->audit().size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(Storage, BatchSuite, testing::Values(BackendKind::memory, BackendKind::postgres));

} // namespace cleat::test
