/// Runs, their messages and what their agents are told, as decisions write them, in both implementations.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "tests/pg/runs.hpp"
#include "tests/pg/storage_fixture.hpp"

namespace cleat::test {

namespace {

using enum storage::CommitOutcome;

class RunSuite : public StorageTest {
protected:
  using Counts = std::map<storage::CommitOutcome, int>;

  const Thread& thread(std::size_t number = 0) { return world_.threads[number]; }

  std::int64_t turn(std::size_t number = 0) { return client_->run_facts_of(thread(number).id).turn; }

  /// Commits a run in this state, with its message.
  cleat::Run start(RunState state, std::size_t number = 0) {
    const auto message = message_in(world_, thread(number));
    const auto run = run_in(world_, message, state);
    EXPECT_EQ(client_->commit(trigger(world_, message, run, turn(number))), committed);
    return run;
  }

  storage::CommitOutcome commit_move(const cleat::Run& before, const cleat::Run& after) {
    return client_->commit(move(world_, before, after, client_->run_facts_of(before.thread_id).turn));
  }

  /// The only run of a thread.
  cleat::Run only_run(std::size_t number = 0) {
    const auto runs = client_->runs_of(thread(number).id);
    EXPECT_EQ(runs.size(), 1U);
    return runs.at(0);
  }

  Counts count(const std::vector<storage::CommitOutcome>& outcomes) {
    Counts counts;
    for (const auto outcome : outcomes)
      ++counts[outcome];
    return counts;
  }
};

/// A moment that is `seconds` after now by any clock that a server may have.
Timestamp in_seconds(std::int64_t seconds) {
  return SystemClock().now() + std::chrono::seconds{seconds};
}

} // namespace

TEST_P(RunSuite, ARunIsThereWithItsMessage) {
  const auto message = message_in(world_, thread(), "Text with \"quotes\", {braces} and \xc3\xa4");
  const auto run = run_in(world_, message);
  ASSERT_EQ(client_->commit(trigger(world_, message, run, 1)), committed);
  EXPECT_EQ(client_->runs_of(thread().id), std::vector{run});
  EXPECT_EQ(client_->messages_of(thread().id), std::vector{message});
  EXPECT_EQ(client_->find(storage::LocateRun{run.id}).thread_id, thread().id);
  EXPECT_FALSE(client_->find(storage::LocateRun{world_.ids.next()}).thread_id.has_value());
  EXPECT_EQ(backend_->events().size(), 2U);
  const auto found = client_->find(storage::FindAgentEvents{world_.lotse.id, 0, 10});
  ASSERT_EQ(found.events.size(), 1U);
  EXPECT_EQ(found.events[0].event, told(world_.lotse));
}

TEST_P(RunSuite, EveryColumnOfARunComesBack) {
  const auto session = world_.session(thread(), "ref-1");
  ASSERT_EQ(client_->commit(world_.bind(session)), committed);
  const auto message = message_in(world_, thread());
  auto run = run_in(world_, message);
  run.kind = RunKind::guest;
  run.agent_id = world_.builder.id;
  run.triggered_by = world_.sam.id;
  run.agent_session_id = session.id;
  run.version = 4;
  ASSERT_EQ(client_->commit(trigger(world_, message, run, 1)), committed);
  EXPECT_EQ(only_run(), run);

  auto after = moved(run, RunState::failed, at(4000));
  after.kind = RunKind::guest;
  after.bind_failed = true;
  after.agent_session_id.reset();
  after.failure = RunFailure{"agent_error", std::nullopt};
  ASSERT_EQ(commit_move(run, after), committed);
  EXPECT_EQ(only_run(), after);
}

TEST_P(RunSuite, AnUpdateLeavesWhatARunIsForEver) {
  const auto run = start(RunState::queued);
  auto after = moved(run, RunState::running);
  after.agent_id = world_.builder.id;
  after.triggered_by = world_.sam.id;
  after.message_id = world_.ids.next();
  after.created_at = at(1);
  ASSERT_EQ(commit_move(run, after), committed);
  EXPECT_EQ(only_run(), moved(run, RunState::running));
}

TEST_P(RunSuite, MessagesOfEveryKindComeBack) {
  const auto run = start(RunState::running);
  Decision decision;
  auto answer = message_in(world_, thread(), "I am at it");
  answer.author_id = world_.lotse.id;
  answer.origin = MessageOrigin::agent;
  answer.run_id = run.id;
  auto reopened = message_in(world_, thread(), "");
  reopened.kind = MessageKind::system;
  reopened.origin = MessageOrigin::system;
  reopened.system_code = SystemCode::thread_reopened;
  auto resume_failed = reopened;
  resume_failed.id = world_.ids.next();
  resume_failed.author_id = world_.lotse.id;
  resume_failed.system_code = SystemCode::resume_failed;
  resume_failed.run_id = run.id;
  decision.messages = {answer, reopened, resume_failed};
  ASSERT_EQ(client_->commit(decision), committed);
  const auto messages = client_->messages_of(thread().id);
  ASSERT_EQ(messages.size(), 4U);
  EXPECT_EQ((std::vector(messages.begin() + 1, messages.end())), decision.messages);
  EXPECT_EQ(client_->commit(decision), lost_race) << "an id is given once";
}

TEST_P(RunSuite, RowsThatTheDatabaseForbidsAreFailed) {
  const auto attempt = [&](auto change) {
    const auto message = message_in(world_, thread());
    auto decision = trigger(world_, message, run_in(world_, message), 1);
    change(decision);
    return client_->commit(decision);
  };
  EXPECT_EQ(attempt([&](Decision& item) { item.runs[0].queued_at.reset(); }), failed);
  EXPECT_EQ(attempt([&](Decision& item) { item.runs[0].lease_expires_at = at(1); }), failed);
  EXPECT_EQ(attempt([&](Decision& item) { item.runs[0].finished_at = at(1); }), failed);
  EXPECT_EQ(attempt([&](Decision& item) { item.runs[0].failure = RunFailure{"x", {}}; }), failed);
  EXPECT_EQ(attempt([&](Decision& item) { item.runs[0].state = RunState::held; }), failed)
    << "a held one is not queued";
  EXPECT_EQ(attempt([&](Decision& item) { item.runs[0].agent_session_id = world_.ids.next(); }), failed);
  EXPECT_EQ(attempt([&](Decision& item) { item.runs[0].message_id = world_.ids.next(); }), failed);
  EXPECT_EQ(attempt([&](Decision& item) { item.messages[0].author_id = world_.ids.next(); }), failed);
  EXPECT_EQ(attempt([&](Decision& item) { item.messages[0].run_id = world_.ids.next(); }), failed);
  EXPECT_EQ(attempt([&](Decision& item) { item.messages[0].system_code = SystemCode::resume_failed; }), failed);
  EXPECT_EQ(attempt([&](Decision& item) { item.messages[0].kind = MessageKind::system; }), failed);
  EXPECT_EQ(attempt([](Decision&) {}), committed);
  EXPECT_EQ(turn(), 2) << "only what was committed has taken a turn";

  const auto run = only_run();
  auto after = moved(run, RunState::running);
  after.lease_expires_at.reset();
  EXPECT_EQ(commit_move(run, after), failed);
  after = moved(run, RunState::running);
  after.agent_session_id = world_.ids.next();
  EXPECT_EQ(commit_move(run, after), failed);
  EXPECT_EQ(only_run(), run);
}

TEST_P(RunSuite, EveryDecisionAboutRunsTakesATurn) {
  Decision decision;
  decision.turn = RunTurn{thread().id, 2};
  EXPECT_EQ(client_->commit(decision), stale);
  decision.turn->expected = 1;
  EXPECT_EQ(client_->commit(decision), committed);
  EXPECT_EQ(client_->commit(decision), stale) << "it is the turn of the next one";
  decision.turn->expected = 2;
  EXPECT_EQ(client_->commit(decision), committed);
  EXPECT_EQ(turn(), 3);
  EXPECT_EQ(turn(1), 1) << "each thread counts for itself";
  EXPECT_EQ(client_->facts_of(thread().id)->thread, thread()) << "the thread's own version is another one";
  decision.turn->thread_id = world_.ids.next();
  EXPECT_EQ(client_->commit(decision), stale);
}

TEST_P(RunSuite, ATurnIsTakenOnlyIfAllIsCommitted) {
  Decision decision;
  decision.turn = RunTurn{thread().id, 1};
  decision.guards = {{GuardedRow::thread, thread().id, 9}};
  EXPECT_EQ(client_->commit(decision), stale);
  EXPECT_EQ(turn(), 1);
}

TEST_P(RunSuite, OneOfManyInATurnWins) {
  std::vector<Decision> decisions;
  for (int i = 0; i < 32; ++i) {
    const auto message = message_in(world_, thread());
    decisions.push_back(trigger(world_, message, run_in(world_, message, RunState::held), 1));
  }
  EXPECT_EQ(count(client_->commit_at_once(decisions)), (Counts{{committed, 1}, {stale, 31}}));
  EXPECT_EQ(client_->messages_of(thread().id).size(), 1U);

  Decision nothing_else;
  nothing_else.turn = RunTurn{thread(1).id, 1};
  EXPECT_EQ(count(client_->commit_at_once(std::vector(16, nothing_else))), (Counts{{committed, 1}, {stale, 15}}));
  EXPECT_EQ(turn(1), 2);
}

TEST_P(RunSuite, AThreadHasOneActiveRun) {
  start(RunState::running);
  const auto message = message_in(world_, thread());
  for (const auto state : {RunState::queued, RunState::running, RunState::waiting_input})
    EXPECT_EQ(client_->commit(trigger(world_, message, run_in(world_, message, state), turn())), lost_race);
  EXPECT_EQ(client_->messages_of(thread().id).size(), 1U) << "its message is not there either";
  for (const auto state : {RunState::held, RunState::succeeded, RunState::failed, RunState::cancelled})
    start(state);
  EXPECT_EQ(client_->runs_of(thread().id).size(), 5U);
}

TEST_P(RunSuite, AnUpdateNeedsTheRunAsItWas) {
  const auto run = start(RunState::queued);
  const auto attempt = [&](auto change) {
    auto decision = move(world_, run, moved(run, RunState::running), turn());
    change(decision.run_updates[0]);
    return client_->commit(decision);
  };
  EXPECT_EQ(attempt([](UpdateRun& update) { update.row.version = 3; }), stale);
  EXPECT_EQ(attempt([](UpdateRun& update) { update.from = RunState::running; }), stale);
  EXPECT_EQ(attempt([&](UpdateRun& update) { update.row.id = world_.ids.next(); }), stale);
  EXPECT_EQ(attempt([&](UpdateRun& update) { update.row.thread_id = thread(1).id; }), stale);
  EXPECT_EQ(only_run(), run);
  EXPECT_EQ(attempt([](UpdateRun&) {}), committed);
  EXPECT_EQ(attempt([](UpdateRun&) {}), stale);
  EXPECT_EQ(only_run(), moved(run, RunState::running));
}

TEST_P(RunSuite, OneDecisionEndsARunAndReleasesTheNext) {
  const auto active = start(RunState::running);
  const auto held = start(RunState::held);
  auto decision = move(world_, active, moved(active, RunState::succeeded), turn());
  // The one that begins stands first, and still it is written last.
  decision.run_updates.insert(decision.run_updates.begin(), update_of(held, moved(held, RunState::queued)));
  ASSERT_EQ(client_->commit(decision), committed);
  EXPECT_EQ(client_->runs_of(thread().id),
            (std::vector{moved(active, RunState::succeeded), moved(held, RunState::queued)}));

  const auto message = message_in(world_, thread());
  const auto next = run_in(world_, message);
  const auto queued = moved(held, RunState::queued);
  auto exchange = trigger(world_, message, next, turn());
  exchange.run_updates = {update_of(queued, moved(queued, RunState::cancelled))};
  ASSERT_EQ(client_->commit(exchange), committed) << "a new run may take the place of one that ends";
  EXPECT_EQ(client_->run_facts_of(thread().id).active, next);
}

TEST_P(RunSuite, ARunThatBecomesActiveBesideAnotherLosesTheRace) {
  start(RunState::running);
  const auto held = start(RunState::held);
  EXPECT_EQ(commit_move(held, moved(held, RunState::queued)), lost_race);
  auto stale_too = move(world_, held, moved(held, RunState::queued), 9);
  EXPECT_EQ(client_->commit(stale_too), stale) << "which explains it better";

  // The others of its batch do not suffer.
  std::vector<Decision> decisions;
  for (std::size_t i = 1; i < 4; ++i) {
    const auto message = message_in(world_, thread(i));
    decisions.push_back(trigger(world_, message, run_in(world_, message), 1));
  }
  decisions.insert(decisions.begin() + 1, move(world_, held, moved(held, RunState::queued), turn()));
  EXPECT_EQ(client_->commit_at_once(decisions), (std::vector{committed, lost_race, committed, committed}));
}

TEST_P(RunSuite, ALeaseIsOverByTheClockOfTheDatabase) {
  const auto queued = start(RunState::queued);
  auto running = moved(queued, RunState::running);
  running.lease_expires_at = in_seconds(3600);
  ASSERT_EQ(commit_move(queued, running), committed);
  auto decision = move(world_, running, moved(running, RunState::failed), turn());
  decision.run_updates[0].expiry = RunExpiry::lease;
  EXPECT_EQ(client_->commit(decision), stale) << "its lease has an hour to go";

  auto waiting = moved(running, RunState::waiting_input);
  waiting.lease_expires_at = in_seconds(-3600);
  ASSERT_EQ(commit_move(running, waiting), committed);
  decision = move(world_, waiting, moved(waiting, RunState::failed), turn());
  decision.run_updates[0].expiry = RunExpiry::lease;
  EXPECT_EQ(client_->commit(decision), committed);
}

TEST_P(RunSuite, AQueueIsOverByTheClockOfTheDatabase) {
  const auto message = message_in(world_, thread());
  auto run = run_in(world_, message);
  run.queued_at = in_seconds(-1800);
  ASSERT_EQ(client_->commit(trigger(world_, message, run, 1)), committed);
  auto decision = move(world_, run, moved(run, RunState::failed), turn());
  decision.run_updates[0].expiry = RunExpiry::queued;
  decision.run_updates[0].queued_timeout_s = 3600;
  EXPECT_EQ(client_->commit(decision), stale) << "it may wait for half an hour more";
  decision.run_updates[0].expiry = RunExpiry::lease;
  EXPECT_EQ(client_->commit(decision), stale) << "nobody holds it";
  decision.run_updates[0].expiry = RunExpiry::queued;
  decision.run_updates[0].queued_timeout_s = 900;
  EXPECT_EQ(client_->commit(decision), committed);
}

TEST_P(RunSuite, AHeartbeatAndAnExpiryDoNotBothHold) {
  const auto run = start(RunState::running); // its lease is over long ago
  auto beaten = moved(run, RunState::running);
  beaten.lease_expires_at = in_seconds(60);
  auto expired = move(world_, run, moved(run, RunState::failed), turn());
  expired.run_updates[0].expiry = RunExpiry::lease;
  EXPECT_EQ(count(client_->commit_at_once({move(world_, run, beaten, turn()), expired})),
            (Counts{{committed, 1}, {stale, 1}}));
}

TEST_P(RunSuite, RunsAndSessionsOfADecisionComeTogether) {
  const auto session = world_.session(thread(), "ref-1");
  const auto message = message_in(world_, thread());
  auto run = run_in(world_, message);
  run.agent_session_id = session.id;
  auto decision = trigger(world_, message, run, 1);
  decision.sessions = {session};
  ASSERT_EQ(client_->commit(decision), committed) << "the session is there before the run that is on it";
  const auto facts = client_->run_facts_of(thread().id);
  EXPECT_EQ(facts.active, run);
  EXPECT_EQ(facts.active_session, session);
}

TEST_P(RunSuite, WhatAgentsAreToldKeepsItsOrder) {
  std::vector<Decision> decisions;
  std::vector<AgentEvent> expected;
  for (int i = 0; i < 20; ++i) {
    Decision decision;
    for (int n = 0; n < 3; ++n) {
      expected.push_back(told(world_.lotse, "{\"n\": " + std::to_string(i * 3 + n) + "}"));
      decision.agent_events.push_back(expected.back());
      decision.agent_events.push_back(told(world_.builder));
    }
    ASSERT_EQ(client_->commit(decision), committed);
  }
  const auto found = client_->find(storage::FindAgentEvents{world_.lotse.id, 0, 1000});
  ASSERT_EQ(found.events.size(), expected.size());
  std::int64_t seq = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(found.events[i].event, expected[i]) << "byte by byte, spaces included";
    EXPECT_GT(found.events[i].seq, seq);
    seq = found.events[i].seq;
  }
}

TEST_P(RunSuite, DenialsOfDecisionsShareAnEntry) {
  constexpr std::int64_t window_s = 300;
  const auto start = Timestamp{std::chrono::seconds{window_s * 5'900'000}};
  const auto denial = [&](std::int64_t seconds) {
    return Denial{
      world_.denial(world_.sam, "run.trigger", "agent_not_reachable", start + std::chrono::seconds{seconds}), window_s};
  };
  std::vector<Decision> decisions;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto message = message_in(world_, thread(i));
    decisions.push_back(trigger(world_, message, run_in(world_, message), 1));
    decisions.back().denials = {denial(static_cast<std::int64_t>(i)), denial(10)};
  }
  decisions[3].denials.push_back(denial(window_s));
  EXPECT_EQ(count(client_->commit_at_once(decisions)), (Counts{{committed, 4}}));
  EXPECT_EQ(client_->deny(denial(20).entry, window_s), committed) << "and it is the same entry for a refused request";
  auto refused = decisions[0];
  EXPECT_EQ(client_->commit(refused), stale);

  const auto entries = client_->audit();
  ASSERT_EQ(entries.size(), 2U);
  std::vector<std::int64_t> counts = {entries[0].count, entries[1].count};
  std::ranges::sort(counts);
  EXPECT_EQ(counts, (std::vector<std::int64_t>{1, 9}));
}

INSTANTIATE_TEST_SUITE_P(Storage, RunSuite, testing::Values(BackendKind::memory, BackendKind::postgres));

} // namespace cleat::test
