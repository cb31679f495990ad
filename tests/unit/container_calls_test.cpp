/// What callers may ask of a container (spec 04 sections 1, 3 to 6 and 8).
#include <chrono>
#include <string>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/render_fleet.hpp"
#include "tests/unit/container_world.hpp"

namespace cleat::unit {
namespace {

using namespace rules::container;
using std::chrono::seconds;

constexpr auto spent = std::chrono::hours(24);

class ContainerCallsTest : public testing::Test {
protected:
  [[nodiscard]] static StartSession command(StartSessionBody body = {}) {
    StartSession made;
    made.container_name = "box";
    made.body = std::move(body);
    return made;
  }
  Result<Begun> begin(const Principal& who, const StartSession& command) {
    Call call(who);
    return start(world.facts, command, world.handle, call.context);
  }
  Result<Begun> begin(StartSessionBody body = {}) { return begin(world.alex, command(std::move(body))); }

  ContainerWorld world;
};

Code code_of(const auto& result) {
  return result ? Code::internal : result.error().code;
}

// Computed with `printf 'compass.session-id.v1\0\0\0\x24%s' ID | sha256sum`.
TEST(SessionIdTest, KnownVectors) {
  const auto derive = [](std::string_view id) { return rules::derive_session_id(*Id::parse(id)); };
  EXPECT_EQ(derive("00000000-0000-7000-8000-000000000000"),
            "0b4b20fc0549bd057426dcf02d9af3110874b0fc18e187aa2b2c0909ae18ccfc");
  EXPECT_EQ(derive("0190a5c2-7b3e-7cde-9f01-23456789abcd"),
            "635f156bda9cc0b4a95e1475a3f7ef3fad89e857cd7c5e2cf86908ca315d5790");
  EXPECT_EQ(derive("ffffffff-ffff-7fff-bfff-ffffffffffff"),
            "0536b9ed6ec1d5f4d53e5de77099975e726a01b13dc39f244c71be6b55478f5c");
}

TEST_F(ContainerCallsTest, AFreshStartReservesADerivedId) {
  const auto begun = begin();
  ASSERT_TRUE(begun);
  const Operation row = only_row<fleet::InsertOperation>(begun->decision);
  EXPECT_EQ(row, begun->operation);
  EXPECT_EQ(row.kind, OperationKind::fresh);
  EXPECT_EQ(row.state, OperationState::reserved);
  EXPECT_EQ(row.fresh_session_id, rules::derive_session_id(*row.relay_request_id));
  EXPECT_EQ(row.handle_digest, world.handle.digest);
  EXPECT_EQ(row.account_id, world.facts.account->id);
  EXPECT_EQ(row.actor_id, world.alex.id);
  EXPECT_EQ(row.runner_id, world.facts.runner->id);
  EXPECT_EQ(row.container_attempt_id, world.facts.container->attempt_id);
  EXPECT_EQ(row.enrollment_revision, 4);
  EXPECT_EQ(row.journal_id, world.facts.runner->journal_id);
  EXPECT_EQ(only_row<fleet::UpdateContainer>(begun->decision).version, 6) << "so that two servers meet in it";
  EXPECT_THAT(begun->decision.guards, testing::ElementsAre(VersionGuard{GuardedRow::account, id_of(10), 3}));
  EXPECT_TRUE(writes<fleet::InsertBinding>(begun->decision).empty());
}

TEST_F(ContainerCallsTest, DistinctOperationsHaveDistinctIds) {
  Call call(world.alex);
  const auto first = start(world.facts, command(), world.handle, call.context);
  const auto second = start(world.facts, command(), world.handle, call.context);
  EXPECT_NE(first->operation.fresh_session_id, second->operation.fresh_session_id);
  EXPECT_NE(first->operation.relay_request_id, second->operation.relay_request_id);
}

TEST_F(ContainerCallsTest, NoHandleIsStoredInClear) {
  Call call(world.alex);
  call.with_key();
  const auto begun = start(world.facts, command(), world.handle, call.context);
  ASSERT_TRUE(begun->decision.idempotency);
  EXPECT_EQ(begun->decision.idempotency->reply.body, begun->operation.id.str());
}

TEST_F(ContainerCallsTest, OnlyTheAccountsActorStarts) {
  EXPECT_EQ(code_of(begin(world.sam, command())), Code::not_found);
  EXPECT_EQ(code_of(begin(world.owner, command())), Code::not_found);
  world.facts.account->actor_id.reset();
  EXPECT_EQ(code_of(begin()), Code::not_found);
  world.facts.container.reset();
  EXPECT_EQ(code_of(begin()), Code::not_found);
}

TEST_F(ContainerCallsTest, RightsComeBeforeTheBody) {
  StartSession broken = command();
  broken.body = refuse(Code::invalid_argument);
  EXPECT_EQ(code_of(begin(world.sam, broken)), Code::not_found);
  EXPECT_EQ(code_of(begin(world.alex, broken)), Code::invalid_argument);
}

TEST_F(ContainerCallsTest, WithoutItsRunnerNothingIsReserved) {
  world.facts.node.reset();
  EXPECT_EQ(code_of(begin()), Code::runner_unavailable);
}

TEST_F(ContainerCallsTest, AClosedReleaseGateIsAskedBehindRightsAndBeforeTheRunner) {
  const Refusal closed{Code::not_ready, Reason::release_gate};
  Call call(world.alex);
  call.context.gate_is_open = false;
  world.facts.node.reset();
  const auto started = start(world.facts, command(), world.handle, call.context);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error(), closed);
  Call stranger(world.sam);
  stranger.context.gate_is_open = false;
  EXPECT_EQ(code_of(start(world.facts, command(), world.handle, stranger.context)), Code::not_found);
  world.facts.operation = world.operation();
  world.facts.operation->state = OperationState::failed;
  world.facts.operation->failure = OperationFailure{FailureClass::retryable, "start_failed"};
  world.facts.operation->finished_at = noon;
  const auto retried = retry(world.facts, call.context);
  ASSERT_FALSE(retried);
  EXPECT_EQ(retried.error(), closed);
}

TEST_F(ContainerCallsTest, AClosedContainerTakesNoStart) {
  world.facts.container->attempt_id.reset();
  EXPECT_EQ(code_of(begin()), Code::runner_unavailable) << "never enrolled";
  world.facts.orphans.emplace_back();
  const auto refused = begin();
  EXPECT_EQ(code_of(refused), Code::conflict);
  EXPECT_EQ(refused.error().reason, Reason::container_closed);
}

TEST_F(ContainerCallsTest, ABusyContainerIsAlreadyRunning) {
  for (const auto kind : {OperationKind::fresh, OperationKind::resume, OperationKind::stop}) {
    world.facts.open = {world.operation(kind)};
    EXPECT_EQ(code_of(begin()), Code::already_running);
  }
  world.facts.open.front().container_attempt_id = id_of(99);
  EXPECT_TRUE(begin()) << "what an earlier attempt left does not hold the next one up";
  world.facts.open.clear();
  world.live();
  EXPECT_EQ(code_of(begin()), Code::already_running);
}

TEST_F(ContainerCallsTest, AResumeUsesTheIdItWasGiven) {
  world.facts.binding = world.binding(BindingState::released);
  const auto begun = begin({world.session_id, {}});
  ASSERT_TRUE(begun);
  EXPECT_EQ(begun->operation.kind, OperationKind::resume);
  EXPECT_EQ(begun->operation.resume_session_id, world.session_id);
  EXPECT_FALSE(begun->operation.fresh_session_id);
  EXPECT_FALSE(begun->operation.relay_request_id);
}

TEST_F(ContainerCallsTest, AResumeIsOfTheSameTuple) {
  world.facts.binding = world.binding(BindingState::suspended);
  EXPECT_TRUE(begin({world.session_id, {}}));
  const std::vector<void (*)(Binding&)> foreign{
    [](Binding& row) { row.account_id = id_of(99); },
    [](Binding& row) { row.actor_id = id_of(99); },
    [](Binding& row) { row.container_name = "other"; },
  };
  for (const auto change : foreign) {
    world.facts.binding = world.binding(BindingState::suspended);
    change(*world.facts.binding);
    EXPECT_EQ(code_of(begin({world.session_id, {}})), Code::not_found);
  }
  world.facts.binding.reset();
  EXPECT_EQ(code_of(begin({world.session_id, {}})), Code::not_found);
}

TEST_F(ContainerCallsTest, ALiveSessionIsNotResumed) {
  world.live();
  EXPECT_EQ(code_of(begin({world.session_id, {}})), Code::already_running);
}

TEST_F(ContainerCallsTest, ARerouteIsANewOperation) {
  world.facts.reroute_of = world.operation();
  world.facts.reroute_of->state = OperationState::failed;
  const auto begun = begin({{}, "handle"});
  ASSERT_TRUE(begun);
  EXPECT_NE(begun->operation.id, world.facts.reroute_of->id);
  EXPECT_NE(begun->operation.relay_request_id, world.facts.reroute_of->relay_request_id);
  world.facts.reroute_of->state = OperationState::dispatched;
  EXPECT_EQ(code_of(begin({{}, "handle"})), Code::already_running);
  world.facts.reroute_of->state = OperationState::promoted;
  world.facts.account_is_live = true;
  EXPECT_EQ(code_of(begin({{}, "handle"})), Code::already_running);
  EXPECT_TRUE(begin()) << "a start that is no reroute is not disturbed";
  world.facts.account_is_live = false;
  world.facts.reroute_of->account_id = id_of(99);
  EXPECT_EQ(code_of(begin({{}, "handle"})), Code::not_found);
  world.facts.reroute_of.reset();
  EXPECT_EQ(code_of(begin({{}, "handle"})), Code::not_found);
}

TEST_F(ContainerCallsTest, AReplayGetsAHandleOfItsOwn) {
  world.in_flight(world.operation());
  Call call(world.alex);
  const auto again = start_again(world.facts, world.handle, call.context);
  ASSERT_TRUE(again);
  Operation expected = world.operation();
  expected.handle_digest = world.handle.digest;
  expected.version += 1;
  EXPECT_EQ(only_row<fleet::UpdateOperation>(*again), expected);
  EXPECT_TRUE(writes<fleet::InsertOperation>(*again).empty());
}

// --- handles

TEST_F(ContainerCallsTest, AHandleIsKnownToItsActorUnderTheCurrentAttemptAlone) {
  const auto look = [&](const Principal& who) {
    Call call(who);
    return code_of(look_up(world.facts, call.context));
  };
  world.in_flight(world.operation());
  EXPECT_EQ(look(world.alex), Code::internal) << "is found";
  EXPECT_EQ(look(world.sam), Code::not_found);
  const auto keep = world.facts;
  world.facts.operation->actor_id = id_of(99);
  EXPECT_EQ(look(world.alex), Code::not_found) << "another actor's";
  world.facts = keep;
  world.facts.account->actor_id = world.sam.id;
  EXPECT_EQ(look(world.alex), Code::not_found) << "the subscriber has changed";
  world.facts = keep;
  world.facts.container->attempt_id = id_of(99);
  EXPECT_EQ(look(world.alex), Code::not_found) << "the attempt is stale";
  world.facts = keep;
  world.facts.operation->container_name = "other";
  EXPECT_EQ(look(world.alex), Code::not_found) << "another container's";
  world.facts = keep;
  world.facts.operation->account_id = id_of(99);
  EXPECT_EQ(look(world.alex), Code::not_found) << "another account's";
  world.facts = keep;
  world.facts.operation.reset();
  EXPECT_EQ(look(world.alex), Code::not_found) << "nobody's";
}

TEST_F(ContainerCallsTest, AHandleExpiresWithItsSpan) {
  const auto look = [&](OperationState state, Timestamp when) {
    world.facts.operation = world.operation();
    world.facts.operation->state = state;
    world.facts.operation->finished_at = noon;
    Call call(world.alex, when);
    return code_of(look_up(world.facts, call.context));
  };
  world.options = {};
  const seconds promoted(rules::RuleOptions().operation_promoted_s);
  const seconds failed(rules::RuleOptions().operation_failed_s);
  EXPECT_EQ(look(OperationState::promoted, noon + promoted - seconds(1)), Code::internal);
  EXPECT_EQ(look(OperationState::promoted, noon + promoted), Code::not_found);
  EXPECT_EQ(look(OperationState::failed, noon + failed - seconds(1)), Code::internal);
  EXPECT_EQ(look(OperationState::failed, noon + failed), Code::not_found);
}

TEST_F(ContainerCallsTest, ARetryKeepsItsIdsAndRaisesTheDispatch) {
  Operation failed = world.operation();
  failed.state = OperationState::failed;
  failed.failure = OperationFailure{FailureClass::retryable, "start_failed"};
  failed.finished_at = noon;
  world.facts.operation = failed;
  Call call(world.alex, noon + seconds(5));
  const auto step = retry(world.facts, call.context);
  ASSERT_TRUE(step);
  const Operation row = std::get<Begun>(*step).operation;
  EXPECT_EQ(row.id, failed.id);
  EXPECT_EQ(row.relay_request_id, failed.relay_request_id);
  EXPECT_EQ(row.fresh_session_id, failed.fresh_session_id);
  EXPECT_EQ(row.dispatch, 2);
  EXPECT_EQ(row.state, OperationState::reserved);
  EXPECT_EQ(row.dispatched_at, noon + seconds(5));
  EXPECT_EQ(only_row<fleet::UpdateOperation>(std::get<Begun>(*step).decision), row);

  world.live();
  EXPECT_EQ(code_of(retry(world.facts, call.context)), Code::already_running);
  world.facts.live.reset();
  world.facts.node.reset();
  EXPECT_EQ(code_of(retry(world.facts, call.context)), Code::runner_unavailable);
}

TEST_F(ContainerCallsTest, WhatFailedForGoodIsNotRetried) {
  Operation failed = world.operation();
  failed.state = OperationState::failed;
  failed.failure = OperationFailure{FailureClass::terminal, "wire_contract"};
  failed.finished_at = noon;
  world.facts.operation = failed;
  Call call(world.alex);
  EXPECT_EQ(code_of(retry(world.facts, call.context)), Code::conflict);
  world.facts.operation->failure = OperationFailure{FailureClass::retryable, "start_failed"};
  Call late(world.alex, noon + spent);
  EXPECT_EQ(code_of(retry(world.facts, late.context)), Code::conflict) << "retryable failures turn terminal";
}

TEST_F(ContainerCallsTest, ARetryOfWhatHasNotFailedJoinsOrReplays) {
  Call call(world.alex);
  for (const auto state : {OperationState::reserved, OperationState::dispatched, OperationState::promoted}) {
    world.facts.operation = world.operation();
    world.facts.operation->state = state;
    const auto step = retry(world.facts, call.context);
    ASSERT_TRUE(step);
    EXPECT_TRUE(std::holds_alternative<Joined>(*step));
  }
}

// --- stop, input, removal

TEST_F(ContainerCallsTest, AStopIsOfALiveSessionOfTheActor) {
  world.live();
  Call call(world.alex);
  const auto step = stop(world.facts, call.context);
  ASSERT_TRUE(step);
  const Operation row = std::get<Begun>(*step).operation;
  EXPECT_EQ(row.kind, OperationKind::stop);
  EXPECT_EQ(row.stop_session_id, world.session_id);
  EXPECT_EQ(row.container_attempt_id, world.facts.binding->container_attempt_id);
  Call stranger(world.sam);
  EXPECT_EQ(code_of(stop(world.facts, stranger.context)), Code::not_found);
  for (const auto state : {BindingState::suspended, BindingState::released}) {
    world.facts.binding = world.binding(state);
    EXPECT_EQ(code_of(stop(world.facts, call.context)), Code::not_found);
  }
  world.live();
  world.facts.container->attempt_id = id_of(99);
  EXPECT_EQ(code_of(stop(world.facts, call.context)), Code::not_found);
  world.facts.binding.reset();
  EXPECT_EQ(code_of(stop(world.facts, call.context)), Code::not_found);
}

TEST_F(ContainerCallsTest, ASecondStopJoinsTheFirst) {
  world.live();
  world.facts.open = {world.operation(OperationKind::stop)};
  Call call(world.alex);
  const auto step = stop(world.facts, call.context);
  ASSERT_TRUE(step);
  EXPECT_EQ(std::get<Joined>(*step).operation, world.facts.open.front());
}

TEST_F(ContainerCallsTest, AStopOutOfReachChangesNothing) {
  world.live();
  world.facts.node.reset();
  Call call(world.alex);
  EXPECT_EQ(code_of(stop(world.facts, call.context)), Code::runner_unavailable);
}

TEST_F(ContainerCallsTest, InputIsTheNextLineOfTheTranscript) {
  world.live();
  Call call(world.alex);
  call.with_key();
  const auto typed = input(world.facts, {"hello"}, call.context);
  ASSERT_TRUE(typed);
  EXPECT_EQ(typed->line, (TranscriptLine{world.session_id, 6, noon, Direction::in, "hello", {}}));
  EXPECT_EQ(only_row<fleet::UpdateBinding>(typed->decision).transcript_through, 6);
  EXPECT_EQ(typed->decision.reply.body, render::input_accepted(world.session_id, 6));
  EXPECT_TRUE(typed->decision.idempotency);
  Call stranger(world.sam);
  EXPECT_EQ(code_of(input(world.facts, {"x"}, stranger.context)), Code::not_found);
  world.facts.binding = world.binding(BindingState::suspended);
  EXPECT_EQ(code_of(input(world.facts, {"x"}, call.context)), Code::not_found);
}

TEST_F(ContainerCallsTest, ARemovalStopsWhatLivesThereFirst) {
  Call owner(world.owner);
  const auto free = remove(world.facts, owner.context);
  ASSERT_TRUE(free);
  EXPECT_EQ(writes<fleet::DeleteContainer>(std::get<Decision>(*free)).front().version, 5);
  world.live();
  const auto busy = remove(world.facts, owner.context);
  ASSERT_TRUE(busy);
  EXPECT_EQ(std::get<Begun>(*busy).operation.stop_session_id, world.session_id);
  world.facts.live.reset();
  world.facts.open = {world.operation()};
  EXPECT_EQ(code_of(remove(world.facts, owner.context)), Code::already_running);
  Call actor(world.alex);
  EXPECT_EQ(code_of(remove(world.facts, actor.context)), Code::forbidden);
  Call stranger(world.sam);
  EXPECT_EQ(code_of(remove(world.facts, stranger.context)), Code::not_found);
}

TEST_F(ContainerCallsTest, AClosedContainerIsNotRemoved) {
  world.facts.container->attempt_id.reset();
  world.facts.orphans.emplace_back();
  Call owner(world.owner);
  EXPECT_EQ(code_of(remove(world.facts, owner.context)), Code::conflict) << "its agent may still run";
}

TEST_F(ContainerCallsTest, AResolveOpensAClosedContainerWithTheRunnersConsent) {
  Orphan orphan;
  orphan.id = id_of(60);
  orphan.operation_id = id_of(40);
  world.facts.orphan = orphan;
  world.facts.container->attempt_id.reset();
  Call owner(world.owner);
  const auto asked = resolve(world.facts, {}, owner.context);
  ASSERT_TRUE(asked);
  EXPECT_TRUE(std::holds_alternative<AskForAttempt>(*asked));
  const auto done = resolve(world.facts, id_of(61), owner.context);
  ASSERT_TRUE(done);
  const Decision& decision = std::get<Decision>(*done);
  EXPECT_EQ(only_row<fleet::UpdateOrphan>(decision).resolved_by, world.owner.id);
  EXPECT_EQ(only_row<fleet::InsertAttempt>(decision).id, id_of(61));
  EXPECT_EQ(only_row<fleet::UpdateContainer>(decision).attempt_id, id_of(61));
  EXPECT_EQ(decision.audit.size(), 1U);
  world.facts.node.reset();
  EXPECT_EQ(code_of(resolve(world.facts, {}, owner.context)), Code::runner_unavailable);
  Call actor(world.alex);
  EXPECT_EQ(code_of(resolve(world.facts, {}, actor.context)), Code::forbidden);
}

TEST_F(ContainerCallsTest, AResolveOfAnOpenContainerLeavesItsAttempt) {
  world.facts.orphan = Orphan{};
  Call owner(world.owner);
  const auto done = resolve(world.facts, {}, owner.context);
  ASSERT_TRUE(done);
  EXPECT_TRUE(writes<fleet::InsertAttempt>(std::get<Decision>(*done)).empty());
  world.facts.orphan->resolved_at = noon;
  EXPECT_TRUE(std::holds_alternative<Reply>(*resolve(world.facts, {}, owner.context)));
}

} // namespace
} // namespace cleat::unit
