/// The two logs as their readers see them, and runs whose time is over, in both implementations.
#include <algorithm>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "tests/pg/runs.hpp"
#include "tests/pg/storage_fixture.hpp"

namespace cleat::test {

namespace {

using enum storage::CommitOutcome;

class LogSuite : public StorageTest {
protected:
  void commit(const Decision& decision) { ASSERT_EQ(client_->commit(decision), committed); }

  /// Commits one event of each kind of scope: space, channel, and every thread of the world.
  std::vector<Event> write_events() {
    Decision decision;
    decision.events = {world_.event("space.changed", world_.main.id), world_.event("channel.changed", world_.main.id)};
    decision.events[0].channel_id.reset();
    decision.events[0].thread_id.reset();
    decision.events[1].thread_id.reset();
    for (const auto& thread : world_.threads)
      decision.events.push_back(world_.event("thread.changed", thread.id, "{\"a\" : [1,  2]}"));
    decision.events.back().resource_version = 7;
    decision.events.back().actor_kind = PrincipalKind::agent;
    commit(decision);
    return decision.events;
  }

  /// What the principal sees of the whole log.
  std::vector<Event> seen_by(const Principal& principal, const EventFilter& filter = {}) {
    const auto found = client_->find(storage::FindEvents{principal.id, filter, 0, 1000});
    EXPECT_EQ(found.status, storage::ReadStatus::ok);
    std::vector<Event> events;
    std::int64_t seq = 0;
    for (const auto& logged : found.events) {
      EXPECT_GT(logged.seq, seq);
      seq = logged.seq;
      events.push_back(logged.event);
    }
    EXPECT_GE(found.next_after, seq);
    return events;
  }

  void give(ScopeKind scope, const Id& resource, Level level) {
    commit(World::only(SetGrant{grant_on(scope, resource, world_.space, world_.sam, level)}));
  }

  /// Commits an active run as it is given, in a thread of its own.
  void put(std::size_t thread, const std::function<void(cleat::Run&)>& change, RunState state) {
    const auto message = message_in(world_, world_.threads[thread]);
    auto run = run_in(world_, message, state);
    change(run);
    commit(trigger(world_, message, run, 1));
    runs_.push_back(run);
  }

  std::vector<Id> overdue(std::int64_t queued_timeout_s, std::int64_t limit = 100) {
    std::vector<Id> ids;
    for (const auto& run : client_->find(storage::FindOverdueRuns{queued_timeout_s, limit}).runs)
      ids.push_back(run.run_id);
    return ids;
  }

  std::vector<cleat::Run> runs_;
};

Timestamp in_seconds(std::int64_t seconds) {
  return SystemClock().now() + std::chrono::seconds{seconds};
}

} // namespace

TEST_P(LogSuite, AnOwnerSeesEverythingInHisSpace) {
  const auto events = write_events();
  EXPECT_EQ(seen_by(world_.alex), events);
  EXPECT_TRUE(seen_by(world_.sam).empty());
  auto space = world_.space;
  space.owner_id = world_.sam.id;
  space.version = 2;
  commit(World::only(UpdateSpace{space}));
  EXPECT_TRUE(seen_by(world_.alex).empty());
  EXPECT_EQ(seen_by(world_.sam), events);
}

TEST_P(LogSuite, AnyGrantOnTheWayLetsOneSee) {
  const auto events = write_events();
  give(ScopeKind::space, world_.space.id, Level::read);
  EXPECT_EQ(seen_by(world_.sam), events);
  give(ScopeKind::space, world_.space.id, Level::none);
  EXPECT_TRUE(seen_by(world_.sam).empty());

  give(ScopeKind::channel, world_.channel.id, Level::trigger);
  EXPECT_EQ(seen_by(world_.sam), std::vector(events.begin() + 1, events.end())) << "all but what the space has alone";
  give(ScopeKind::channel, world_.channel.id, Level::none);

  give(ScopeKind::thread, world_.threads[1].id, Level::read);
  EXPECT_EQ(seen_by(world_.sam), std::vector{events[3]});
  EXPECT_TRUE(seen_by(world_.builder).empty()) << "nobody else";
  give(ScopeKind::thread, world_.threads[1].id, Level::none);
  EXPECT_TRUE(seen_by(world_.sam).empty()) << "what he could see before as well";
}

TEST_P(LogSuite, AForeignSpaceIsNotSeen) {
  auto space = world_.space;
  space.id = world_.ids.next();
  space.owner_id = world_.sam.id;
  auto decision = World::only(InsertSpace{space});
  decision.events = {world_.event("space.created", world_.main.id)};
  decision.events[0].space_id = space.id;
  decision.events[0].channel_id.reset();
  decision.events[0].thread_id.reset();
  commit(decision);
  EXPECT_TRUE(seen_by(world_.alex).empty());
  EXPECT_EQ(seen_by(world_.sam), decision.events);
}

TEST_P(LogSuite, FiltersNarrowWhatIsSeen) {
  const auto events = write_events();
  EventFilter filter;
  filter.thread_id = world_.threads[2].id;
  EXPECT_EQ(seen_by(world_.alex, filter), std::vector{events[4]});
  EXPECT_TRUE(seen_by(world_.sam, filter).empty()) << "a filter gives no rights";
  filter.type = "run.changed";
  EXPECT_TRUE(seen_by(world_.alex, filter).empty());
  filter = {};
  filter.type = "channel.changed";
  EXPECT_EQ(seen_by(world_.alex, filter), std::vector{events[1]});
  filter = {};
  filter.channel_id = world_.channel.id;
  EXPECT_EQ(seen_by(world_.alex, filter), std::vector(events.begin() + 1, events.end()));
  filter.channel_id = world_.ids.next();
  EXPECT_TRUE(seen_by(world_.alex, filter).empty());
  filter = {};
  filter.space_id = world_.space.id;
  EXPECT_EQ(seen_by(world_.alex, filter), events);
  filter.space_id = world_.ids.next();
  EXPECT_TRUE(seen_by(world_.alex, filter).empty());
}

TEST_P(LogSuite, EventsComeInPartsWithoutAGap) {
  const auto events = write_events();
  const auto end = client_->find(storage::FindEvents{world_.alex.id, {}, 0, 1000}).next_after;
  std::vector<Event> seen;
  std::int64_t after = 0;
  for (int part = 0; part < 10; ++part) {
    const auto found = client_->find(storage::FindEvents{world_.alex.id, {}, after, 2});
    EXPECT_LE(found.events.size(), 2U);
    for (const auto& logged : found.events)
      seen.push_back(logged.event);
    EXPECT_GE(found.next_after, after);
    after = found.next_after;
  }
  EXPECT_EQ(seen, events);
  EXPECT_EQ(after, end);
  EXPECT_EQ(client_->find(storage::FindEvents{world_.sam.id, {}, 0, 2}).next_after, end)
    << "who may see nothing goes on behind it";
}

TEST_P(LogSuite, ManyReadersAtOnceGetTheirOwnAnswers) {
  const auto events = write_events();
  std::vector<storage::FindEvents> questions;
  for (std::int64_t i = 0; i < 200; ++i)
    questions.push_back({i % 2 == 0 ? world_.alex.id : world_.sam.id, {}, 0, i % 4 + 1});
  const auto answers = client_->find_at_once(questions);
  ASSERT_EQ(answers.size(), questions.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto limit = static_cast<std::ptrdiff_t>(questions[i].limit);
    std::vector<Event> seen;
    for (const auto& logged : answers[i].events)
      seen.push_back(logged.event);
    EXPECT_EQ(seen, i % 2 == 0 ? std::vector(events.begin(), events.begin() + limit) : std::vector<Event>()) << i;
  }
}

TEST_P(LogSuite, NoAnswerLeadsBack) {
  write_events();
  for (const std::int64_t after : {std::int64_t{1'000'000}, std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(client_->find(storage::FindEvents{world_.alex.id, {}, after, 10}).next_after, after);
    EXPECT_TRUE(client_->find(storage::FindEvents{world_.alex.id, {}, after, 10}).events.empty());
    EXPECT_EQ(client_->find(storage::FindAgentEvents{world_.lotse.id, after, 10}).next_after, after);
  }
  EXPECT_EQ(client_->find(storage::FindEvents{world_.alex.id, {}, 1, 0}).next_after, 1) << "nothing was looked through";
  EXPECT_EQ(client_->find(storage::FindAgentEvents{world_.lotse.id, 1, 0}).next_after, 1);
}

TEST_P(LogSuite, AnEmptyLogIsReadToItsStart) {
  const auto found = client_->find(storage::FindEvents{world_.alex.id, {}, 0, 10});
  EXPECT_EQ(found.status, storage::ReadStatus::ok);
  EXPECT_EQ(found.next_after, 0);
  const auto advanced = client_->advance();
  EXPECT_EQ(advanced.status, storage::ReadStatus::ok);
  EXPECT_EQ(advanced.events, 0);
  EXPECT_EQ(advanced.agent_events, 0);
}

TEST_P(LogSuite, AnAgentReadsItsOwnEventsFromItsOwnPosition) {
  Decision decision;
  for (int i = 0; i < 6; ++i)
    decision.agent_events.push_back(told(i % 2 == 0 ? world_.lotse : world_.builder, std::to_string(i)));
  commit(decision);
  auto found = client_->find(storage::FindAgentEvents{world_.lotse.id, 0, 2});
  ASSERT_EQ(found.events.size(), 2U);
  EXPECT_EQ(found.events[0].event, decision.agent_events[0]);
  EXPECT_EQ(found.events[1].event, decision.agent_events[2]);
  EXPECT_EQ(found.next_after, found.events[1].seq);
  found = client_->find(storage::FindAgentEvents{world_.lotse.id, found.next_after, 2});
  ASSERT_EQ(found.events.size(), 1U);
  EXPECT_EQ(found.events[0].event, decision.agent_events[4]);
  EXPECT_EQ(found.next_after, client_->advance().agent_events);
  EXPECT_TRUE(client_->find(storage::FindAgentEvents{world_.lotse.id, found.next_after, 2}).events.empty());
  EXPECT_TRUE(client_->find(storage::FindAgentEvents{world_.sam.id, 0, 2}).events.empty());
}

TEST_P(LogSuite, AgentsWithNewEventsAreNamedOnce) {
  Decision for_lotse;
  for_lotse.agent_events = {told(world_.lotse), told(world_.lotse)};
  commit(for_lotse);
  // The first time names whoever may have been told something already.
  const auto first = client_->advance().agents;
  EXPECT_TRUE(std::ranges::count(first, world_.lotse.id) == 1);
  EXPECT_TRUE(client_->advance().agents.empty());

  Decision for_builder;
  for_builder.agent_events = {told(world_.builder)};
  commit(for_builder);
  // A reader who is served before does not take the news away.
  EXPECT_EQ(client_->find(storage::FindAgentEvents{world_.builder.id, 0, 10}).events.size(), 1U);
  EXPECT_EQ(client_->advance().agents, std::vector{world_.builder.id});
  commit(for_lotse);
  commit(for_builder);
  auto both = client_->advance().agents;
  std::ranges::sort(both);
  EXPECT_EQ(both, (std::vector{world_.lotse.id, world_.builder.id}));
  EXPECT_TRUE(client_->advance().agents.empty());
}

TEST_P(LogSuite, TheEndsOfTheLogsAreTold) {
  const auto before = client_->advance();
  write_events();
  const auto after = client_->advance();
  EXPECT_GE(after.events, before.events + 6);
  EXPECT_EQ(after.events, client_->find(storage::FindEvents{world_.alex.id, {}, 0, 100}).events.back().seq);
  EXPECT_EQ(after.agent_events, before.agent_events);
}

TEST_P(LogSuite, RunsWhoseTimeIsOverComeLongestFirst) {
  put(
    0, [](cleat::Run& run) { run.lease_expires_at = in_seconds(-100); }, RunState::running);
  put(
    1, [](cleat::Run& run) { run.lease_expires_at = in_seconds(-300); }, RunState::waiting_input);
  put(
    2, [](cleat::Run& run) { run.queued_at = in_seconds(-1200); }, RunState::queued);
  put(
    3, [](cleat::Run& run) { run.lease_expires_at = in_seconds(600); }, RunState::running);
  EXPECT_EQ(overdue(1000), (std::vector{runs_[1].id, runs_[2].id, runs_[0].id})) << "since 300, 200 and 100 seconds";
  EXPECT_EQ(overdue(1150), (std::vector{runs_[1].id, runs_[0].id, runs_[2].id}));
  EXPECT_EQ(overdue(3600), (std::vector{runs_[1].id, runs_[0].id})) << "it may wait for longer";
  EXPECT_EQ(overdue(1000, 2), (std::vector{runs_[1].id, runs_[2].id}));

  const auto found = client_->find(storage::FindOverdueRuns{1000, 1}).runs;
  EXPECT_EQ(found, (std::vector{storage::OverdueRun{runs_[1].id, world_.threads[1].id, world_.lotse}}));
  const auto over = moved(runs_[1], RunState::failed);
  commit(move(world_, runs_[1], over, 2));
  EXPECT_EQ(overdue(3600), std::vector{runs_[0].id});
}

INSTANTIATE_TEST_SUITE_P(Storage, LogSuite, testing::Values(BackendKind::memory, BackendKind::postgres));

} // namespace cleat::test
