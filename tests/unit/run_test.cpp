#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/run_model.hpp"

namespace cleat::unit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Runs : public testing::Test {
public:
  void TearDown() override { EXPECT_THAT(model.broken, IsEmpty()); }

  RunModel model;
  const World& world = model.world;

  /// A run of Lotse that its adapter has started.
  cleat::Run running() {
    EXPECT_TRUE(model.trigger(world.alex));
    EXPECT_TRUE(model.start());
    return model.last_run();
  }
  RunState state(const Id& id) const {
    for (const cleat::Run& run : model.runs)
      if (run.id == id)
        return run.state;
    return {};
  }
  TriggerBody to(const Principal& agent) const { return {"Hello", agent.id, WhenActive::reject}; }
};

const Refusal wrong_state = denied(Code::conflict, Reason::run_state);

TEST_F(Runs, ATriggerWritesTheMessageAndInvokesTheOperator) {
  const auto decision = model.trigger(world.alex, {"Hello *there*", {}, WhenActive::reject});
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->reply.status, 201);
  EXPECT_EQ(decision->reply.etag, 1);
  const cleat::Run& run = model.last_run();
  EXPECT_EQ(run.state, RunState::queued);
  EXPECT_EQ(run.kind, RunKind::operator_run);
  EXPECT_EQ(run.agent_id, world.lotse.id);
  EXPECT_EQ(run.triggered_by, world.alex.id);
  ASSERT_EQ(model.messages.size(), 1U);
  const Message& message = model.messages.front();
  EXPECT_EQ(run.message_id, message.id);
  EXPECT_EQ(message.content_md, "Hello *there*");
  EXPECT_EQ(message.author_id, world.alex.id);
  EXPECT_EQ(message.origin, MessageOrigin::human);
  EXPECT_EQ(model.last_told().agent_id, world.lotse.id);
  EXPECT_EQ(model.last_told().mode, "new");
  EXPECT_EQ(model.last_told().session_id, "");
  EXPECT_EQ(model.events_of("message.created"), 1U);
  EXPECT_EQ(model.events_of("run.changed"), 1U);
  EXPECT_EQ(model.events_of("thread.changed"), 0U);
  EXPECT_THAT(model.audit, IsEmpty());
}

TEST_F(Runs, ATriggerIsGuarded) {
  const auto decision = model.trigger(world.alex);
  ASSERT_TRUE(decision);
  EXPECT_THAT(decision->guards, testing::UnorderedElementsAre(
                                  VersionGuard{GuardedRow::space_facts, world.space.id, world.space.facts_version},
                                  VersionGuard{GuardedRow::principal, world.lotse.id, world.lotse.version},
                                  VersionGuard{GuardedRow::thread, model.facts.thread.id, model.facts.thread.version}));
}

TEST_F(Runs, WhoMayTrigger) {
  EXPECT_EQ(refusal_of(model.trigger(world.robin)), denied(Code::not_found));
  EXPECT_EQ(refusal_of(model.trigger(world.sam)), denied(Code::forbidden, Reason::level_insufficient));
  model.levels[world.app.id] = Level::manage;
  EXPECT_EQ(refusal_of(model.trigger(world.app)), denied(Code::agent_invocation_denied, Reason::actor_not_human));
  model.set_operator(world.builder);
  EXPECT_EQ(refusal_of(model.trigger(world.alex)),
            denied(Code::agent_invocation_denied, Reason::tool_class_owner_only));
  EXPECT_TRUE(model.trigger(world.owner));
  model.facts.channel.mode = ChannelMode::read_only;
  EXPECT_EQ(refusal_of(model.trigger(world.owner)), denied(Code::channel_read_only));
}

TEST_F(Runs, APersonalAgentWorksForItsHolderAlone) {
  model.levels[world.sam.id] = Level::manage;
  const Refusal not_holder = denied(Code::agent_invocation_denied, Reason::billing_mode_personal_not_holder);
  EXPECT_EQ(refusal_of(model.trigger(world.sam, to(world.aide))), not_holder);
  EXPECT_EQ(refusal_of(model.trigger(world.owner, to(world.aide))), not_holder);
  ASSERT_TRUE(model.trigger(world.alex, to(world.aide)));
  EXPECT_EQ(refusal_of(model.operate(world.sam, model.last_run().id, run_op::Cancel{})), not_holder);
}

TEST_F(Runs, AThreadHasItsOperatorAndGuestsThatMayRead) {
  const Refusal unreachable = denied(Code::agent_invocation_denied, Reason::agent_not_reachable);
  EXPECT_EQ(refusal_of(model.trigger(world.owner, to(world.builder))), unreachable);
  EXPECT_EQ(refusal_of(model.trigger(world.owner, to(world.sam))), unreachable) << "no agent";
  EXPECT_EQ(refusal_of(model.trigger(world.owner, {"x", id_of(999), WhenActive::reject})), unreachable);
  ASSERT_TRUE(model.trigger(world.alex, to(world.aide)));
  EXPECT_EQ(model.last_run().kind, RunKind::guest);
  ASSERT_TRUE(model.operate(world.alex, model.last_run().id, run_op::Cancel{}));
  ASSERT_TRUE(model.trigger(world.alex, to(world.lotse))) << "the operator by its name";
  EXPECT_EQ(model.last_run().kind, RunKind::operator_run);
  model.facts.operator_agent.reset();
  EXPECT_EQ(refusal_of(model.trigger(world.alex)), unreachable);
}

TEST_F(Runs, RightsComeBeforeTheBody) {
  const auto refused_body = [&](const Principal& actor) {
    const RequestContext request{std::make_shared<const Principal>(actor), "test", {}, {}};
    CountingIds ids;
    const RunFacts none;
    const TriggerRun command{request, model.facts.thread.id, refuse({{"/content_md", FieldCode::required}})};
    const Level level = model.levels.contains(actor.id) ? model.levels.at(actor.id) : Level::none;
    return refusal_of(rules::trigger({model.facts, none, level}, command, {request, noon, ids, model.options}));
  };
  EXPECT_EQ(refused_body(world.robin), denied(Code::not_found));
  EXPECT_EQ(refused_body(world.sam), denied(Code::forbidden, Reason::level_insufficient));
  EXPECT_EQ(refused_body(world.alex), invalid({{"/content_md", FieldCode::required}}));
}

TEST_F(Runs, OneRunIsActive) {
  ASSERT_TRUE(model.trigger(world.alex));
  EXPECT_EQ(refusal_of(model.trigger(world.alex)), denied(Code::conflict, Reason::run_active));
  EXPECT_EQ(model.messages.size(), 1U) << "a refused trigger writes nothing";
}

TEST_F(Runs, HeldRunsAreReleasedInOrder) {
  ASSERT_TRUE(model.trigger(world.alex));
  const Id first = model.last_run().id;
  ASSERT_TRUE(model.enqueue(world.alex));
  const Id second = model.last_run().id;
  ASSERT_TRUE(model.enqueue(world.owner));
  const Id third = model.last_run().id;
  EXPECT_EQ(state(second), RunState::held);
  EXPECT_EQ(model.told.size(), 1U) << "an agent hears of a held run when it is released";
  ASSERT_TRUE(model.operate(world.lotse, first, run_op::Start{StartBody{}}));
  ASSERT_TRUE(model.operate(world.lotse, first, run_op::Finish{FinishBody{}}));
  EXPECT_EQ(state(second), RunState::queued);
  EXPECT_EQ(state(third), RunState::held);
  EXPECT_EQ(model.told.size(), 2U);
  EXPECT_EQ(model.events.back().actor_id, world.alex.id) << "the actor stays the human who triggered it";
  ASSERT_TRUE(model.operate(world.alex, second, run_op::Cancel{}));
  EXPECT_EQ(state(third), RunState::queued);
  EXPECT_EQ(model.events.back().actor_id, world.owner.id);
}

TEST_F(Runs, AReleaseAsksForTheRightsAgain) {
  const cleat::Run first = running();
  model.levels[world.sam.id] = Level::trigger;
  ASSERT_TRUE(model.enqueue(world.sam));
  const Id lost = model.last_run().id;
  ASSERT_TRUE(model.enqueue(world.alex));
  const Id next = model.last_run().id;
  model.levels[world.sam.id] = Level::read;
  ASSERT_TRUE(model.operate(world.lotse, first.id, run_op::Finish{FinishBody{}}));
  EXPECT_EQ(state(lost), RunState::failed);
  EXPECT_EQ(state(next), RunState::queued);
  ASSERT_EQ(model.denials.size(), 1U);
  EXPECT_EQ(model.denials[0].entry.actor_id, world.sam.id);
  EXPECT_EQ(model.denials[0].entry.reason, "level_insufficient");
  EXPECT_EQ(model.denials[0].window_s, model.options.deny_aggregate_window_s);
  EXPECT_EQ(model.runs.at(1).failure, (RunFailure{"invocation_denied", "level_insufficient"}));
}

TEST_F(Runs, AReleaseAsksForTheOperatorAgain) {
  const cleat::Run first = running();
  ASSERT_TRUE(model.enqueue(world.alex));
  model.levels[world.lotse.id] = Level::read;
  model.set_operator(world.aide);
  ASSERT_TRUE(model.operate(world.lotse, first.id, run_op::Finish{FinishBody{}}));
  EXPECT_EQ(model.last_run().state, RunState::queued);
  EXPECT_EQ(model.last_run().kind, RunKind::guest) << "Lotse does not work here any more";
  EXPECT_EQ(model.last_told().mode, "");
}

TEST_F(Runs, EveryWayToEndMakesRoom) {
  const auto ends = [&](const auto& end) {
    const cleat::Run first = running();
    ASSERT_TRUE(model.enqueue(world.alex));
    const Id held = model.last_run().id;
    ASSERT_TRUE(end(first.id));
    EXPECT_EQ(state(held), RunState::queued);
    ASSERT_TRUE(model.operate(world.alex, held, run_op::Cancel{}));
  };
  ends([&](const Id& id) { return model.operate(world.lotse, id, run_op::Finish{FinishBody{}}); });
  ends([&](const Id& id) { return model.operate(world.lotse, id, run_op::Finish{FinishBody{false, {}, {}}}); });
  ends([&](const Id& id) { return model.operate(world.alex, id, run_op::Cancel{}); });
  ends([&](const Id& id) {
    model.pass(std::chrono::seconds(model.options.run_lease_s + 1));
    return model.operate(world.lotse, id, run_op::Expire{});
  });
}

TEST_F(Runs, OnlySoManyRunsAreHeld) {
  model.options.runs_held_max = 2;
  ASSERT_TRUE(model.trigger(world.alex));
  ASSERT_TRUE(model.enqueue(world.alex));
  ASSERT_TRUE(model.enqueue(world.alex));
  EXPECT_EQ(refusal_of(model.enqueue(world.alex)), denied(Code::rate_limited, Reason::too_many_held));
}

TEST_F(Runs, AMessageReopensAClosedThreadWithOneLine) {
  model.facts.thread.state = ThreadState::closed;
  const std::int64_t version = model.facts.thread.version;
  ASSERT_TRUE(model.trigger(world.alex));
  EXPECT_EQ(model.facts.thread.state, ThreadState::open);
  EXPECT_EQ(model.facts.thread.version, version + 1);
  ASSERT_EQ(model.messages.size(), 2U);
  const Message& line = model.messages.front();
  EXPECT_EQ(line.system_code, SystemCode::thread_reopened);
  EXPECT_EQ(line.kind, MessageKind::system);
  EXPECT_EQ(line.origin, MessageOrigin::system);
  EXPECT_EQ(line.content_md, "");
  EXPECT_LT(line.id, model.messages.back().id);
  EXPECT_EQ(model.events_of("thread.changed"), 1U);
  ASSERT_TRUE(model.enqueue(world.alex));
  EXPECT_EQ(model.lines(SystemCode::thread_reopened), 1U);
}

TEST_F(Runs, TheLifeOfARun) {
  ASSERT_TRUE(model.trigger(world.alex));
  const auto started = model.start();
  ASSERT_TRUE(started);
  EXPECT_EQ(started->reply.status, 200);
  EXPECT_EQ(model.last_run().state, RunState::running);
  EXPECT_EQ(model.last_run().started_at, model.now);
  const auto lease = [&] { return *model.last_run().lease_expires_at - model.now; };
  EXPECT_EQ(lease(), std::chrono::seconds(model.options.run_lease_s));
  ASSERT_TRUE(model.as_agent(run_op::Wait{}));
  EXPECT_EQ(model.last_run().state, RunState::waiting_input);
  EXPECT_EQ(lease(), std::chrono::seconds(model.options.run_lease_s));
  ASSERT_TRUE(model.as_agent(run_op::Heartbeat{}));
  EXPECT_EQ(model.last_run().state, RunState::waiting_input);
  ASSERT_TRUE(model.as_agent(run_op::Resume{}));
  EXPECT_EQ(model.last_run().state, RunState::running);
  ASSERT_TRUE(model.as_agent(run_op::Heartbeat{}));
  EXPECT_EQ(lease(), std::chrono::seconds(model.options.run_lease_s));
  EXPECT_EQ(model.last_run().version, 6);
  ASSERT_TRUE(model.as_agent(run_op::Finish{FinishBody{false, "out_of_memory", "It was big."}}));
  EXPECT_EQ(model.last_run().state, RunState::failed);
  EXPECT_EQ(model.last_run().failure, (RunFailure{"out_of_memory", "It was big."}));
  EXPECT_EQ(model.last_run().finished_at, model.now);
  EXPECT_EQ(model.events_of("run.changed"), 7U);
}

TEST_F(Runs, AFailureHasACodeEvenWhenItsAgentNamesNone) {
  running();
  ASSERT_TRUE(model.as_agent(run_op::Finish{FinishBody{false, {}, {}}}));
  EXPECT_EQ(model.last_run().failure, (RunFailure{"failed", {}}));
}

TEST_F(Runs, EveryOperationInEveryState) {
  using S = RunState;
  const std::vector<S> all{S::held, S::queued, S::running, S::waiting_input, S::succeeded, S::failed, S::cancelled};
  const auto allowed = [&](const RunOperation& operation) {
    std::vector<S> states;
    for (const S state_of_run : all)
      if (rules::allows(state_of_run, operation))
        states.push_back(state_of_run);
    return states;
  };
  EXPECT_THAT(allowed(run_op::Start{StartBody{}}), ElementsAre(S::queued));
  EXPECT_THAT(allowed(run_op::Wait{}), ElementsAre(S::running));
  EXPECT_THAT(allowed(run_op::Resume{}), ElementsAre(S::waiting_input));
  EXPECT_THAT(allowed(run_op::Heartbeat{}), ElementsAre(S::running, S::waiting_input));
  EXPECT_THAT(allowed(run_op::Finish{FinishBody{}}), ElementsAre(S::running, S::waiting_input));
  EXPECT_THAT(allowed(run_op::Post{PostBody{}}), ElementsAre(S::running, S::waiting_input));
  EXPECT_THAT(allowed(run_op::Cancel{}), ElementsAre(S::held, S::queued, S::running, S::waiting_input));
  EXPECT_THAT(allowed(run_op::Expire{}), ElementsAre(S::queued, S::running, S::waiting_input));
}

TEST_F(Runs, WhatTheStateForbidsIsRefused) {
  ASSERT_TRUE(model.trigger(world.alex));
  for (const RunOperation& operation :
       {RunOperation(run_op::Wait{}), RunOperation(run_op::Resume{}), RunOperation(run_op::Heartbeat{}),
        RunOperation(run_op::Finish{FinishBody{}}), RunOperation(run_op::Post{PostBody{"x"}})})
    EXPECT_EQ(refusal_of(model.as_agent(operation)), wrong_state) << operation.index();
  ASSERT_TRUE(model.start());
  EXPECT_EQ(refusal_of(model.start()), wrong_state);
  ASSERT_TRUE(model.operate(world.alex, model.last_run().id, run_op::Cancel{}));
  EXPECT_EQ(refusal_of(model.as_agent(run_op::Heartbeat{})), wrong_state) << "how an agent learns of a cancel";
  EXPECT_EQ(refusal_of(model.operate(world.alex, model.last_run().id, run_op::Cancel{})), wrong_state);
}

TEST_F(Runs, ARunBelongsToItsAgent) {
  ASSERT_TRUE(model.trigger(world.alex));
  const Id run = model.last_run().id;
  const run_op::Start start{StartBody{}};
  EXPECT_EQ(refusal_of(model.operate(world.aide, run, start)), denied(Code::forbidden, Reason::not_self));
  EXPECT_EQ(refusal_of(model.operate(world.builder, run, start)), denied(Code::not_found)) << "may not read";
  EXPECT_EQ(refusal_of(model.operate(world.owner, run, start)), denied(Code::not_found)) << "no agent";
  EXPECT_EQ(refusal_of(model.operate(world.lotse, id_of(999), start)), denied(Code::not_found));
  EXPECT_EQ(refusal_of(model.operate(world.lotse, run, run_op::Cancel{})), denied(Code::not_found));
  EXPECT_EQ(refusal_of(model.operate(world.sam, run, run_op::Cancel{})),
            denied(Code::forbidden, Reason::level_insufficient));
}

TEST_F(Runs, ARunPostsInTheNameOfItsAgent) {
  const cleat::Run run = running();
  model.facts.thread.state = ThreadState::closed;
  const auto decision = model.as_agent(run_op::Post{PostBody{"Done."}});
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->reply.status, 201);
  const Message& message = model.messages.back();
  EXPECT_EQ(message.author_id, world.lotse.id);
  EXPECT_EQ(message.origin, MessageOrigin::agent);
  EXPECT_EQ(message.run_id, run.id);
  EXPECT_EQ(model.facts.thread.state, ThreadState::closed) << "an agent does not open a thread";
}

TEST_F(Runs, ALeaseRunsOut) {
  const cleat::Run run = running();
  const auto expire = [&] { return model.operate(world.lotse, run.id, run_op::Expire{}); };
  model.pass(std::chrono::seconds(model.options.run_lease_s - 2));
  EXPECT_EQ(refusal_of(expire()), wrong_state) << "not yet";
  const auto decision = expire();
  ASSERT_TRUE(decision);
  EXPECT_EQ(model.last_run().failure, (RunFailure{"lease_expired", {}}));
  EXPECT_EQ(decision->run_updates.front().expiry, RunExpiry::lease) << "the database has the last word";
  EXPECT_EQ(refusal_of(expire()), wrong_state);
}

TEST_F(Runs, AHeartbeatKeepsALease) {
  const cleat::Run run = running();
  for (int i = 0; i < 3; ++i) {
    model.pass(std::chrono::seconds(model.options.run_lease_s - 5));
    ASSERT_TRUE(model.as_agent(run_op::Heartbeat{}));
    EXPECT_EQ(refusal_of(model.operate(world.lotse, run.id, run_op::Expire{})), wrong_state);
  }
}

TEST_F(Runs, NobodyStartsIt) {
  ASSERT_TRUE(model.trigger(world.alex));
  model.pass(std::chrono::seconds(model.options.run_queued_timeout_s - 2));
  EXPECT_EQ(refusal_of(model.as_agent(run_op::Expire{})), wrong_state);
  const auto decision = model.as_agent(run_op::Expire{});
  ASSERT_TRUE(decision);
  EXPECT_EQ(model.last_run().failure, (RunFailure{"not_accepted", {}}));
  EXPECT_EQ(decision->run_updates.front().expiry, RunExpiry::queued);
  EXPECT_EQ(decision->run_updates.front().queued_timeout_s, model.options.run_queued_timeout_s);
}

} // namespace
} // namespace cleat::unit
