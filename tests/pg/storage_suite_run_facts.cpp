/// What storage answers to questions about runs: what is decided on, single runs, and lists.
#include <chrono>
#include <utility>

#include <gtest/gtest.h>

#include "tests/pg/runs.hpp"
#include "tests/pg/storage_fixture.hpp"

namespace cleat::test {

namespace {

using enum storage::CommitOutcome;

class RunFactsSuite : public StorageTest {
protected:
  void commit(const Decision& decision) { ASSERT_EQ(client_->commit(decision), committed); }

  const Thread& thread() { return world_.threads[0]; }
  RunFacts facts() { return client_->run_facts_of(thread().id); }

  /// Commits a run in this state on the session, if one is given, with a message of its own.
  cleat::Run start(RunState state, const std::optional<Id>& session = std::nullopt) {
    const auto message = message_in(world_, thread());
    auto run = run_in(world_, message, state);
    run.agent_session_id = session;
    commit(trigger(world_, message, run, facts().turn));
    return run;
  }

  AgentSession bind(const std::string& reference, Timestamp time = at(1000)) {
    const auto row = world_.session(thread(), reference, time);
    commit(world_.bind(row));
    return row;
  }

  AgentSession end(const AgentSession& row, EndReason reason, Timestamp time) {
    Decision decision;
    decision.ends = {end_of(row, reason, time)};
    commit(decision);
    return ended(row, decision.ends[0]);
  }

  void give(const Principal& principal, ScopeKind scope, const Id& resource, Level level) {
    commit(World::only(SetGrant{grant_on(scope, resource, world_.space, principal, level)}));
  }

  std::vector<ReferenceFacts> probe(const std::vector<std::string>& references, bool with_runs = true) {
    storage::LoadThread question;
    question.thread_id = thread().id;
    question.with_runs = with_runs;
    for (const auto& reference : references)
      question.references.push_back({world_.alex.id, reference});
    return client_->load(question).references;
  }
};

} // namespace

TEST_P(RunFactsSuite, AThreadWithoutAnything) {
  const auto before = SystemClock().now() - std::chrono::seconds{60};
  auto answer = facts();
  EXPECT_GT(answer.now, before) << "the database's clock";
  EXPECT_LT(answer.now, before + std::chrono::seconds{120});
  answer.now = {};
  RunFacts nothing;
  nothing.turn = 1;
  EXPECT_EQ(answer, nothing);
}

TEST_P(RunFactsSuite, TheyComeOnlyWhenTheyAreAskedForAndTheThreadExists) {
  storage::LoadThread question;
  question.thread_id = thread().id;
  EXPECT_FALSE(client_->load(question).run_facts.has_value());
  question.with_runs = true;
  EXPECT_TRUE(client_->load(question).run_facts.has_value());
  EXPECT_TRUE(client_->load(question).facts.has_value());
  question.thread_id = world_.ids.next();
  question.references = {{world_.alex.id, "ref-1"}};
  const auto answer = client_->load(question);
  EXPECT_FALSE(answer.run_facts.has_value());
  EXPECT_FALSE(answer.references.at(0).ended_here.has_value());
}

TEST_P(RunFactsSuite, TheActiveRunWithItsSession) {
  const auto session = bind("ref-1");
  start(RunState::succeeded);
  EXPECT_FALSE(facts().active.has_value());
  const auto run = start(RunState::running, session.id);
  EXPECT_EQ(facts().active, run);
  EXPECT_EQ(facts().active_session, session);
  const auto after = end(session, EndReason::reset, at(2000));
  EXPECT_EQ(facts().active_session, after) << "a run keeps its session when it ends";
  const auto waiting = moved(run, RunState::waiting_input);
  commit(move(world_, run, waiting, facts().turn));
  EXPECT_EQ(facts().active, waiting);
}

TEST_P(RunFactsSuite, AnActiveRunWithoutSession) {
  bind("ref-1");
  const auto run = start(RunState::queued);
  EXPECT_EQ(facts().active, run);
  EXPECT_FALSE(facts().active_session.has_value());
}

TEST_P(RunFactsSuite, HeldRunsComeOldestFirstWithWhatTheirReleaseDependsOn) {
  give(world_.sam, ScopeKind::channel, world_.channel.id, Level::read);
  give(world_.sam, ScopeKind::thread, thread().id, Level::trigger);
  give(world_.builder, ScopeKind::space, world_.space.id, Level::write);
  std::vector<HeldRun> expected;
  const auto hold = [&](const Principal& human, Level level, const Principal& agent, Level agent_level) {
    auto message = message_in(world_, thread(), "Message " + std::to_string(expected.size()));
    message.author_id = human.id;
    auto run = run_in(world_, message, RunState::held);
    run.triggered_by = human.id;
    run.agent_id = agent.id;
    expected.push_back({run, human, level, agent, agent_level, message});
  };
  hold(world_.alex, Level::manage, world_.lotse, Level::none);
  hold(world_.sam, Level::trigger, world_.builder, Level::write);
  hold(world_.builder, Level::write, world_.lotse, Level::none);
  // Ids of one millisecond are in no order: the oldest one has the newest id.
  expected[2].run.created_at = expected[0].run.created_at - std::chrono::microseconds(1);
  std::swap(expected[0], expected[2]);
  std::swap(expected[1], expected[2]);
  for (const std::size_t number : {2U, 0U, 1U})
    commit(trigger(world_, expected[number].message, expected[number].run, facts().turn));
  start(RunState::running);
  EXPECT_EQ(facts().held, expected);
  EXPECT_TRUE(client_->run_facts_of(world_.threads[1].id).held.empty());

  commit(move(world_, expected[0].run, moved(expected[0].run, RunState::cancelled), facts().turn));
  expected.erase(expected.begin());
  EXPECT_EQ(facts().held, expected);
}

TEST_P(RunFactsSuite, WhetherARunHasUsedTheCurrentSession) {
  const auto session = bind("ref-1");
  start(RunState::failed);
  EXPECT_FALSE(facts().current_used);
  start(RunState::failed, session.id);
  EXPECT_TRUE(facts().current_used);
  end(session, EndReason::reset, at(2000));
  EXPECT_FALSE(facts().current_used) << "there is none";
  bind("ref-2", at(3000));
  EXPECT_FALSE(facts().current_used) << "the next one is another one";
}

TEST_P(RunFactsSuite, TheNewestImportRowOfTheOperator) {
  EXPECT_FALSE(facts().import_row.has_value());
  auto older = world_.imported(thread(), "ref-1", at(10));
  const auto newest = world_.imported(thread(), "ref-2", at(20));
  const auto same_moment = world_.imported(thread(), "ref-3", at(20));
  auto of_another = world_.imported(thread(), "ref-4", at(30));
  of_another.agent_id = world_.builder.id;
  commit(world_.bind(same_moment));
  commit(world_.bind(newest));
  commit(world_.bind(older));
  commit(world_.bind(of_another));
  EXPECT_EQ(facts().import_row, same_moment) << "of one moment the later id is the newer";
  EXPECT_FALSE(facts().import_reference_current);

  auto elsewhere = world_.session(world_.threads[1], "ref-3");
  elsewhere.agent_id = world_.builder.id;
  commit(world_.bind(elsewhere));
  EXPECT_FALSE(facts().import_reference_current) << "of another agent";
  commit(world_.bind(world_.session(world_.threads[2], "ref-3")));
  EXPECT_TRUE(facts().import_reference_current);
}

TEST_P(RunFactsSuite, ImportsOfOthersAloneAreNoneOfTheOperator) {
  auto of_another = world_.imported(thread(), "ref-4", at(30));
  of_another.agent_id = world_.builder.id;
  commit(world_.bind(of_another));
  EXPECT_FALSE(facts().import_row.has_value());
}

TEST_P(RunFactsSuite, AnImportRowIsNoMoreOfferedOnceAnythingElseWasThere) {
  commit(world_.bind(world_.imported(thread(), "ref-1", at(5000))));
  EXPECT_TRUE(facts().import_row.has_value());
  const auto session = bind("ref-2");
  EXPECT_FALSE(facts().import_row.has_value()) << "a current row";
  end(session, EndReason::reset, at(2000));
  EXPECT_FALSE(facts().import_row.has_value()) << "a row that was current";
}

TEST_P(RunFactsSuite, AMainThreadHasItsChannelsOperator) {
  const auto row = world_.imported(world_.main, "ref-1");
  commit(world_.bind(row));
  EXPECT_EQ(client_->run_facts_of(world_.main.id).import_row, row);
  auto channel = world_.channel;
  channel.operator_agent_id.reset();
  channel.version = 2;
  commit(World::only(UpdateChannel{channel}));
  EXPECT_FALSE(client_->run_facts_of(world_.main.id).import_row.has_value());
}

TEST_P(RunFactsSuite, TheRowOfAReferenceThatWasEndedHereLast) {
  const auto first = end(bind("ref-1", at(10)), EndReason::reset, at(3000));
  const auto second = end(bind("ref-1", at(20)), EndReason::rebind, at(2000));
  end(bind("ref-2", at(30)), EndReason::agent_changed, at(4000));
  commit(world_.bind(world_.imported(thread(), "ref-3", at(9000))));
  auto elsewhere = world_.session(world_.threads[1], "ref-1");
  commit(world_.bind(elsewhere));
  commit(world_.reset(elsewhere));
  bind("ref-4", at(40));

  const auto references = probe({"ref-1", "ref-2", "ref-3", "ref-4", "ref-5"});
  ASSERT_EQ(references.size(), 5U);
  EXPECT_EQ(references[0].ended_here, first) << "ended last, not begun last";
  EXPECT_NE(references[0].ended_here, second);
  ASSERT_TRUE(references[1].ended_here.has_value());
  EXPECT_EQ(references[1].ended_here->end_reason, EndReason::agent_changed);
  EXPECT_FALSE(references[2].ended_here.has_value()) << "an import ends nothing";
  EXPECT_FALSE(references[3].ended_here.has_value()) << "it is current";
  EXPECT_FALSE(references[4].ended_here.has_value());
  EXPECT_FALSE(probe({"ref-1"}, false)[0].ended_here.has_value()) << "it was not asked for";
}

TEST_P(RunFactsSuite, OfRowsThatEndedAtOnceTheLaterIdCounts) {
  end(bind("ref-1", at(10)), EndReason::reset, at(3000));
  const auto second = end(bind("ref-1", at(20)), EndReason::reset, at(3000));
  EXPECT_EQ(probe({"ref-1"})[0].ended_here, second);
}

TEST_P(RunFactsSuite, ARowOfAnotherAgentEndedNothingOfTheOperator) {
  auto row = world_.session(thread(), "ref-1");
  row.agent_id = world_.builder.id;
  commit(world_.bind(row));
  commit(world_.reset(row));
  EXPECT_FALSE(probe({"ref-1"})[0].ended_here.has_value());
}

TEST_P(RunFactsSuite, SingleRunsAreFoundInTheirThreadOnly) {
  const auto run = start(RunState::running);
  const auto held = start(RunState::held);
  storage::LoadThread question;
  question.thread_id = thread().id;
  question.run_ids = {held.id, world_.ids.next(), run.id, run.id};
  EXPECT_EQ(client_->load(question).runs, (std::vector<std::optional<cleat::Run>>{held, std::nullopt, run, run}));
  question.thread_id = world_.threads[1].id;
  EXPECT_EQ(client_->load(question).runs, std::vector<std::optional<cleat::Run>>(4));
}

TEST_P(RunFactsSuite, PagesOfRunsAndMessages) {
  std::vector<cleat::Run> runs;
  std::vector<Message> messages;
  for (int i = 0; i < 5; ++i) {
    messages.push_back(message_in(world_, thread(), std::to_string(i)));
    runs.push_back(run_in(world_, messages.back(), RunState::held));
  }
  for (const std::size_t i : {3U, 1U, 4U, 0U, 2U})
    commit(trigger(world_, messages[i], runs[i], facts().turn));
  const auto some_runs = [&](std::int64_t limit, std::optional<Id> after) {
    return client_->page<cleat::Run>(RunsPage{thread().id, {limit, after}});
  };
  EXPECT_EQ(some_runs(2, std::nullopt), (std::vector{runs[0], runs[1], runs[2]})) << "one more than asked for";
  EXPECT_EQ(some_runs(2, runs[1].id), (std::vector{runs[2], runs[3], runs[4]}));
  EXPECT_EQ(some_runs(2, runs[3].id), std::vector{runs[4]});
  EXPECT_TRUE(some_runs(2, runs[4].id).empty());
  const auto some_messages = [&](std::int64_t limit, std::optional<Id> after) {
    return client_->page<Message>(MessagesPage{thread().id, {limit, after}});
  };
  EXPECT_EQ(some_messages(2, std::nullopt), (std::vector{messages[0], messages[1], messages[2]}));
  EXPECT_EQ(some_messages(9, messages[2].id), (std::vector{messages[3], messages[4]}));
  EXPECT_TRUE(client_->runs_of(world_.threads[1].id).empty());
  EXPECT_TRUE(client_->messages_of(world_.ids.next()).empty());
}

TEST_P(RunFactsSuite, ARunStandsForItsThreadInAPath) {
  give(world_.sam, ScopeKind::channel, world_.channel.id, Level::read);
  give(world_.sam, ScopeKind::thread, thread().id, Level::write);
  const auto run = start(RunState::running);
  storage::LoadDirectory question;
  question.actor_id = world_.sam.id;
  question.subject_id = world_.sam.id;
  question.run_id = run.id;
  const auto found = client_->load(question).facts;
  EXPECT_EQ(found.run, run);
  EXPECT_EQ(found.thread, thread());
  EXPECT_EQ(found.channel, world_.channel);
  EXPECT_EQ(found.space, world_.space);
  EXPECT_EQ(found.level, Level::write);
  EXPECT_EQ(found.subject_grant, grant_on(ScopeKind::thread, thread().id, world_.space, world_.sam, Level::write));
  auto as_thread = found;
  as_thread.run.reset();
  question.run_id.reset();
  question.thread_id = thread().id;
  EXPECT_EQ(client_->load(question).facts, as_thread);

  question.thread_id.reset();
  question.subject_id.reset();
  question.run_id = world_.ids.next();
  EXPECT_EQ(client_->load(question).facts, DirectoryFacts{});
}

INSTANTIATE_TEST_SUITE_P(Storage, RunFactsSuite, testing::Values(BackendKind::memory, BackendKind::postgres));

} // namespace cleat::test
