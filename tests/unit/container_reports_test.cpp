/// What Runners say, and what comes of it (spec 04 sections 4, 5, 7 and 8).
#include <chrono>
#include <string>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/container_world.hpp"

namespace cleat::unit {
namespace {

using namespace rules::container;
using std::chrono::seconds;
using wire::AckOutcome;
using wire::StatusKind;

class ContainerReportsTest : public testing::Test {
protected:
  Consequence hear(const RunnerSays& says) { return report(world.facts, says, world.context()); }
  Consequence hear(wire::Report said) { return hear(world.says(std::move(said))); }

  /// The operation as the consequence leaves it.
  static Operation after(const Consequence& consequence) {
    EXPECT_TRUE(consequence.decision) << consequence.note;
    return consequence.decision ? writes<fleet::UpdateOperation>(*consequence.decision).front().row : Operation{};
  }
  static std::string failure_of(const Operation& row) {
    return row.failure ? std::string(to_string(row.failure->failure_class)) + " " + row.failure->code : "none";
  }
  static bool stops_something(const Consequence& consequence) {
    return std::ranges::any_of(consequence.tell, [](const wire::ToRunner& message) {
      return std::holds_alternative<wire::Stop>(message.command);
    });
  }

  ContainerWorld world;
};

TEST_F(ContainerReportsTest, ExactEchoesPromoteInOneDecision) {
  const Operation before = world.in_flight(world.operation());
  const Consequence promoted = hear(world.started());
  const Operation row = after(promoted);
  EXPECT_EQ(row.state, OperationState::promoted);
  EXPECT_EQ(row.session_id, before.fresh_session_id);
  EXPECT_EQ(row.version, before.version + 1);
  const Binding binding = only_row<fleet::InsertBinding>(*promoted.decision);
  EXPECT_EQ(binding.session_id, before.fresh_session_id);
  EXPECT_EQ(binding.account_id, before.account_id);
  EXPECT_EQ(binding.actor_id, before.actor_id);
  EXPECT_EQ(binding.runner_id, before.runner_id);
  EXPECT_EQ(binding.container_name, before.container_name);
  EXPECT_EQ(binding.container_attempt_id, before.container_attempt_id);
  EXPECT_EQ(binding.operation_id, before.id);
  EXPECT_EQ(binding.state, BindingState::live);
  EXPECT_THAT(promoted.decision->guards, testing::ElementsAre(VersionGuard{GuardedRow::account, id_of(10), 3}));
  EXPECT_EQ(only_row<fleet::UpdateContainer>(*promoted.decision).version, 6);
}

TEST_F(ContainerReportsTest, AResumePromotesTheSameSessionForItsNextLifetime) {
  world.in_flight(world.operation(OperationKind::resume));
  world.facts.binding = world.binding(BindingState::released);
  world.facts.binding->container_attempt_id = id_of(99);
  world.facts.binding->operation_id = id_of(98);
  const Consequence promoted = hear(world.started());
  EXPECT_EQ(after(promoted).session_id, world.session_id);
  const Binding binding = only_row<fleet::UpdateBinding>(*promoted.decision);
  EXPECT_EQ(binding.state, BindingState::live);
  EXPECT_EQ(binding.container_attempt_id, id_of(31));
  EXPECT_EQ(binding.operation_id, id_of(40));
  EXPECT_EQ(binding.relayed_through, 0);
  EXPECT_EQ(binding.input_through, 5) << "what was typed before is in the session body";
  EXPECT_FALSE(binding.released_at);
  EXPECT_TRUE(writes<fleet::InsertBinding>(*promoted.decision).empty());
}

TEST_F(ContainerReportsTest, MissingOrAlteredEchoesPromoteNothingAndStopNothing) {
  world.in_flight(world.operation());
  const auto op = world.facts.operation;
  using Change = void (*)(RunnerSays&, wire::FromRunner&);
  for (const Change change :
       {Change([](RunnerSays&, wire::FromRunner& m) { m.operation_id.clear(); }),
        Change([](RunnerSays&, wire::FromRunner& m) { m.operation_id = "other"; }),
        Change([](RunnerSays&, wire::FromRunner& m) { m.container_attempt_id.clear(); }),
        Change([](RunnerSays&, wire::FromRunner& m) { m.container_attempt_id = "other"; }),
        Change([](RunnerSays&, wire::FromRunner& m) { m.report = std::monostate(); }),
        Change([](RunnerSays&, wire::FromRunner& m) { m.report = wire::Started{}; }),
        Change([](RunnerSays&, wire::FromRunner& m) { std::get<wire::Started>(m.report).session_id.clear(); }),
        Change([](RunnerSays&, wire::FromRunner& m) { std::get<wire::Started>(m.report).fresh_session_id.clear(); })}) {
    const Consequence broken = hear(world.says(world.started(), change));
    EXPECT_EQ(failure_of(after(broken)), "terminal wire_contract");
    EXPECT_TRUE(writes<fleet::InsertBinding>(*broken.decision).empty());
    EXPECT_FALSE(stops_something(broken));
    EXPECT_EQ(after(broken).cleanup, Cleanup::none);
    EXPECT_EQ(only_row<fleet::InsertOrphan>(*broken.decision).reason, "wire_contract") << "it is recorded and left";
  }
}

TEST_F(ContainerReportsTest, AnAlteredSessionIdIsCleanedUpByWhatWasRecorded) {
  const Operation op = world.in_flight(world.operation());
  const std::string reported(64, 'f');
  for (const wire::Started& said :
       {wire::Started{reported, *op.fresh_session_id, ""}, wire::Started{*op.fresh_session_id, reported, ""},
        wire::Started{reported, reported, ""}, wire::Started{*op.fresh_session_id, *op.fresh_session_id, reported}}) {
    const Consequence mismatch = hear(said);
    EXPECT_EQ(failure_of(after(mismatch)), "terminal wire_contract");
    EXPECT_EQ(after(mismatch).cleanup, Cleanup::claimed);
    EXPECT_EQ(after(mismatch).cleanup_deadline, noon + seconds(world.options.cleanup_timeout_s));
    EXPECT_TRUE(writes<fleet::InsertBinding>(*mismatch.decision).empty());
    ASSERT_EQ(mismatch.tell.size(), 1U);
    const auto& stop = std::get<wire::Stop>(mismatch.tell.front().command);
    EXPECT_EQ(stop.session_id, op.fresh_session_id) << "never the one that was reported";
    EXPECT_EQ(stop.container_attempt_id, op.container_attempt_id.str());
    EXPECT_EQ(stop.container_name, op.container_name);
    EXPECT_EQ(only_row<fleet::InsertOperation>(*mismatch.decision).stop_session_id, op.fresh_session_id);
  }
}

TEST_F(ContainerReportsTest, AnAlteredIdOfALaterGenerationIsNotStopped) {
  world.in_flight(world.operation());
  world.facts.container->attempt_id = id_of(99);
  const Consequence mismatch = hear(wire::Started{std::string(64, 'f'), std::string(64, 'f'), ""});
  EXPECT_EQ(failure_of(after(mismatch)), "terminal wire_contract");
  EXPECT_FALSE(stops_something(mismatch));
}

TEST_F(ContainerReportsTest, AStaleAttemptIsNeverPromoted) {
  world.in_flight(world.operation());
  world.facts.container->attempt_id = id_of(99);
  const Consequence stale = hear(world.started());
  EXPECT_EQ(failure_of(after(stale)), "terminal attempt_stale");
  EXPECT_TRUE(writes<fleet::InsertBinding>(*stale.decision).empty());
}

TEST_F(ContainerReportsTest, ASubscriberChangedInFlightIsCleanedUp) {
  world.in_flight(world.operation());
  world.facts.account->actor_id = world.sam.id;
  const Consequence changed = hear(world.started());
  EXPECT_EQ(failure_of(after(changed)), "terminal actor_changed");
  EXPECT_TRUE(stops_something(changed));
  EXPECT_TRUE(writes<fleet::InsertBinding>(*changed.decision).empty());
}

TEST_F(ContainerReportsTest, AContainerOfAnotherAccountMeanwhileIsCleanedUp) {
  world.in_flight(world.operation());
  world.facts.container->account_id = id_of(99);
  EXPECT_EQ(failure_of(after(hear(world.started()))), "terminal actor_changed");
}

TEST_F(ContainerReportsTest, ABoundSessionIsLeftUntouched) {
  world.in_flight(world.operation());
  world.facts.live = world.binding();
  EXPECT_EQ(failure_of(after(hear(world.started()))), "terminal conflict");
}

TEST_F(ContainerReportsTest, AfterTheFirstTransitionAllOthersAreNoOps) {
  for (const auto state : {OperationState::promoted, OperationState::failed}) {
    world.in_flight(world.operation());
    world.facts.operation->state = state;
    for (const wire::Report& said : std::vector<wire::Report>{
           wire::Acknowledged{AckOutcome::accepted}, world.started(), wire::Failed{true, "start_failed", ""},
           wire::Failed{false, "broken", ""}, wire::Status{StatusKind::no_such_operation, {}}, std::monostate()}) {
      const Consequence nothing = hear(said);
      EXPECT_FALSE(nothing.decision);
      EXPECT_TRUE(nothing.tell.empty());
    }
  }
}

TEST_F(ContainerReportsTest, FramesOfAnotherConnectionOrRunnerAreDropped) {
  world.in_flight(world.operation());
  using Change = void (*)(RunnerSays&, wire::FromRunner&);
  for (const Change change : {Change([](RunnerSays&s, wire::FromRunner&) { s.epoch = 6; }),
                              Change([](RunnerSays&s, wire::FromRunner&) { s.epoch = 8; }),
                              Change([](RunnerSays&s, wire::FromRunner&) { s.enrollment_revision = 3; }),
                              Change([](RunnerSays&s, wire::FromRunner&) { s.runner_id = id_of(99); })})
    EXPECT_FALSE(hear(world.says(world.started(), change)).decision);
  world.facts.operation->runner_id = id_of(99);
  EXPECT_FALSE(hear(world.started()).decision) << "another Runner's operation";
  world.in_flight(world.operation()).container_name = "other";
  EXPECT_FALSE(hear(world.started()).decision) << "another container's operation";
}

TEST_F(ContainerReportsTest, AnAcknowledgementPromotesAndFailsNothing) {
  world.in_flight(world.operation()).state = OperationState::reserved;
  EXPECT_EQ(after(hear(wire::Acknowledged{AckOutcome::accepted})).state, OperationState::dispatched);
  EXPECT_FALSE(hear(wire::Acknowledged{AckOutcome::already_running}).decision);
  EXPECT_FALSE(hear(wire::Acknowledged{AckOutcome::rejected}).decision);
  const auto altered = world.says(wire::Acknowledged{AckOutcome::accepted},
                                  [](RunnerSays&, wire::FromRunner& m) { m.container_attempt_id = "other"; });
  EXPECT_FALSE(hear(altered).decision);
}

TEST_F(ContainerReportsTest, AFailureIsWhatTheJournalSays) {
  world.in_flight(world.operation());
  EXPECT_EQ(failure_of(after(hear(wire::Failed{true, "start_failed", ""}))), "retryable start_failed");
  EXPECT_EQ(failure_of(after(hear(wire::Failed{false, "unknown_container", ""}))), "terminal unknown_container");
  EXPECT_EQ(failure_of(after(hear(wire::Failed{false, "Anything <b>", ""}))), "terminal runner_failure");
  EXPECT_EQ(failure_of(after(hear(wire::Failed{false, "", ""}))), "terminal runner_failure");
}

TEST_F(ContainerReportsTest, TheEndOfAnEarlierDispatchSaysNothingAboutThisOne) {
  world.in_flight(world.operation()).dispatch = 2;
  const auto earlier = [](RunnerSays&, wire::FromRunner& m) { m.dispatch = 1; };
  EXPECT_FALSE(hear(world.says(wire::Failed{true, "start_failed", ""}, earlier)).decision);
  EXPECT_FALSE(hear(world.says(wire::Status{StatusKind::no_such_operation, {}}, earlier)).decision);
  EXPECT_EQ(after(hear(world.says(world.started(), earlier))).state, OperationState::promoted)
    << "an agent that runs is an agent that runs";
}

TEST_F(ContainerReportsTest, TheFourStatusAnswers) {
  const Operation op = world.in_flight(world.operation());
  EXPECT_EQ(after(hear(wire::Status{StatusKind::live, world.started()})).state, OperationState::promoted);
  EXPECT_EQ(after(hear(wire::Status{StatusKind::terminal_outcome, world.started()})).state, OperationState::promoted);
  EXPECT_EQ(failure_of(after(hear(wire::Status{StatusKind::terminal_outcome, wire::Failed{true, "start_failed", ""}}))),
            "retryable start_failed");
  EXPECT_EQ(failure_of(after(hear(wire::Status{StatusKind::no_such_operation, {}}))), "retryable not_dispatched");
  for (const wire::Status& said :
       {wire::Status{StatusKind::ambiguous, {}}, wire::Status{StatusKind::terminal_outcome, {}},
        wire::Status{StatusKind::live, {}}, wire::Status{StatusKind::live, wire::Failed{false, "odd", ""}}}) {
    const Operation left = after(hear(said));
    EXPECT_TRUE(left.in_flight());
    EXPECT_TRUE(left.reconciling);
  }
  world.facts.operation->reconciling = true;
  EXPECT_FALSE(hear(wire::Status{StatusKind::ambiguous, {}}).decision) << "is written down once";
}

TEST_F(ContainerReportsTest, AStatusNeverPromotesByAReportedId) {
  world.in_flight(world.operation());
  const wire::Started other{std::string(64, 'f'), std::string(64, 'f'), ""};
  const Consequence live = hear(wire::Status{StatusKind::live, other});
  EXPECT_TRUE(writes<fleet::InsertBinding>(*live.decision).empty());
}

// --- stops

TEST_F(ContainerReportsTest, AStopReleasesItsBinding) {
  world.live();
  world.in_flight(world.operation(OperationKind::stop));
  const Consequence stopped = hear(wire::Stopped{world.session_id});
  EXPECT_EQ(after(stopped).state, OperationState::promoted);
  const Binding binding = only_row<fleet::UpdateBinding>(*stopped.decision);
  EXPECT_EQ(binding.state, BindingState::released);
  EXPECT_EQ(binding.version, world.binding().version + 1);
}

TEST_F(ContainerReportsTest, AStopOfAnotherSessionReleasesNothing) {
  world.live();
  world.in_flight(world.operation(OperationKind::stop));
  const Consequence other = hear(wire::Stopped{std::string(64, 'f')});
  EXPECT_EQ(failure_of(after(other)), "terminal wire_contract");
  EXPECT_TRUE(writes<fleet::UpdateBinding>(*other.decision).empty());
}

TEST_F(ContainerReportsTest, AStopOfAnEarlierLifetimeLeavesTheNextOne) {
  world.live();
  world.in_flight(world.operation(OperationKind::stop));
  world.facts.binding->container_attempt_id = id_of(99);
  EXPECT_TRUE(writes<fleet::UpdateBinding>(*hear(wire::Stopped{world.session_id}).decision).empty());
}

TEST_F(ContainerReportsTest, ACleanupEndsWithItsStop) {
  Operation start = world.operation();
  start.id = id_of(70);
  start.state = OperationState::failed;
  start.failure = OperationFailure{FailureClass::terminal, "wire_contract"};
  start.finished_at = noon;
  start.cleanup = Cleanup::claimed;
  Operation stop = world.operation(OperationKind::stop);
  stop.stop_session_id = start.fresh_session_id;
  const auto cleanup_after = [&](wire::Report said) {
    world.in_flight(stop);
    world.facts.open.push_back(start);
    const Consequence done = hear(std::move(said));
    return std::pair(writes<fleet::UpdateOperation>(*done.decision).back().row.cleanup,
                     writes<fleet::InsertOrphan>(*done.decision).size());
  };
  EXPECT_EQ(cleanup_after(wire::Stopped{*start.fresh_session_id}), std::pair(Cleanup::done, std::size_t{0}));
  EXPECT_EQ(cleanup_after(wire::Failed{false, "no_such_session", ""}), std::pair(Cleanup::failed, std::size_t{1}));
}

// --- what an agent says

class RelayTest : public ContainerReportsTest {
protected:
  RelayTest() {
    world.live();
    world.facts.operation = world.operation();
    world.facts.operation->state = OperationState::promoted;
    world.facts.operation->fresh_session_id = world.session_id;
  }
  [[nodiscard]] RunnerSays said(std::vector<wire::RelayedLine> lines) const {
    return world.says(wire::Relay{world.session_id, std::move(lines)});
  }
  Consequence hear_lines(const RunnerSays& says) { return relay(world.facts, says, world.context()); }
  static std::int64_t acknowledged(const Consequence& consequence) {
    return consequence.tell.empty() ? -1 : std::get<wire::RelayDone>(consequence.tell.front().command).through;
  }
};

TEST_F(RelayTest, LinesAreTakenInOrderAndOnce) {
  const Consequence heard = hear_lines(said({{2, 0, "old"}, {3, 1, "a"}, {4, 2, "b"}, {6, 3, "gap"}}));
  ASSERT_TRUE(heard.decision);
  const auto lines = writes<fleet::AppendTranscript>(*heard.decision).front().lines;
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].line, "a");
  EXPECT_EQ(lines[0].seq, 6);
  EXPECT_EQ(lines[1].line, "b");
  EXPECT_EQ(lines[1].seq, 7);
  const Binding row = only_row<fleet::UpdateBinding>(*heard.decision);
  EXPECT_EQ(row.relayed_through, 4);
  EXPECT_EQ(row.transcript_through, 7);
  EXPECT_EQ(row.version, 2);
  EXPECT_EQ(acknowledged(heard), 4);
}

TEST_F(RelayTest, WhatIsHereAlreadyIsAcknowledgedAgain) {
  const Consequence heard = hear_lines(said({{1, 0, "x"}, {2, 0, "y"}}));
  EXPECT_FALSE(heard.decision);
  EXPECT_EQ(acknowledged(heard), 2);
}

TEST_F(RelayTest, TheEndReleasesTheBinding) {
  const Consequence heard = hear_lines(said({{3, 0, "bye"}, {4, 0, "", 7}}));
  const Binding row = only_row<fleet::UpdateBinding>(*heard.decision);
  EXPECT_EQ(row.state, BindingState::released);
  EXPECT_EQ(row.released_at, noon);
  EXPECT_EQ(writes<fleet::AppendTranscript>(*heard.decision).front().lines.back().exit_code, 7);
  EXPECT_EQ(writes<fleet::UpdateContainer>(*heard.decision).size(), 1U);
}

TEST_F(RelayTest, ALineIsNeverOfTheFuture) {
  const auto late = std::chrono::duration_cast<std::chrono::microseconds>((noon + seconds(60)).time_since_epoch());
  const Consequence heard = hear_lines(said({{3, late.count(), "a"}, {4, -5, "b"}}));
  const auto lines = writes<fleet::AppendTranscript>(*heard.decision).front().lines;
  EXPECT_EQ(lines[0].time, noon);
  EXPECT_EQ(lines[1].time, Timestamp{});
}

TEST_F(RelayTest, OnlyTheLifetimeOfTheBindingIsHeard) {
  const auto keep = world.facts;
  using Change = void (*)(ContainerFacts&);
  for (const Change change : {Change([](ContainerFacts& f) { f.binding->operation_id = id_of(99); }),
                              Change([](ContainerFacts& f) { f.binding->container_attempt_id = id_of(99); }),
                              Change([](ContainerFacts& f) { f.container->attempt_id = id_of(99); }),
                              Change([](ContainerFacts& f) { f.binding->state = BindingState::suspended; }),
                              Change([](ContainerFacts& f) { f.binding->runner_id = id_of(99); }),
                              Change([](ContainerFacts& f) { f.account->actor_id = id_of(99); }),
                              Change([](ContainerFacts& f) { f.container->account_id = id_of(99); }),
                              Change([](ContainerFacts& f) { f.binding.reset(); })}) {
    world.facts = keep;
    change(world.facts);
    const Consequence heard = hear_lines(said({{3, 0, "a"}}));
    EXPECT_FALSE(heard.decision);
    EXPECT_EQ(acknowledged(heard), 3) << "the Runner is not left sending them for ever";
  }
}

TEST_F(RelayTest, AnEarlierConnectionIsAnsweredNothing) {
  const auto old =
    world.says(wire::Relay{world.session_id, {{3, 0, "a"}}}, [](RunnerSays& s, wire::FromRunner&) { s.epoch = 6; });
  const Consequence heard = hear_lines(old);
  EXPECT_FALSE(heard.decision);
  EXPECT_TRUE(heard.tell.empty());
}

TEST_F(RelayTest, LinesBeforeThePromotionAreKeptByTheRunner) {
  world.facts.binding.reset();
  world.facts.operation->state = OperationState::dispatched;
  const Consequence heard = hear_lines(said({{1, 0, "early"}}));
  EXPECT_FALSE(heard.decision);
  EXPECT_TRUE(heard.tell.empty()) << "sent again after the promotion";
}

TEST_F(RelayTest, TheLastLinesOfAStoppedAgentAreNotLost) {
  world.facts.binding = world.binding(BindingState::released);
  const Consequence heard = hear_lines(said({{3, 0, "bye"}, {4, 0, "", 143}}));
  ASSERT_TRUE(heard.decision);
  EXPECT_EQ(only_row<fleet::UpdateBinding>(*heard.decision).state, BindingState::released);
  EXPECT_FALSE(input_done(world.facts, world.says(wire::InputDone{world.session_id, 5}), world.context()).decision)
    << "and nothing but lines is taken then";
  EXPECT_FALSE(may_have_secrets(world.facts, world.says(wire::AskSecret{world.session_id, "TOKEN"})));
}

TEST_F(RelayTest, InputIsDoneOnce) {
  const auto done = [&](std::int64_t through) {
    return input_done(world.facts, world.says(wire::InputDone{world.session_id, through}), world.context());
  };
  EXPECT_EQ(only_row<fleet::UpdateBinding>(*done(5).decision).input_through, 5);
  EXPECT_FALSE(done(3).decision);
  EXPECT_FALSE(done(6).decision) << "there is no such line";
}

TEST_F(RelayTest, SecretsBelongToTheLiveSessionsAccount) {
  const wire::AskSecret ask{world.session_id, "TOKEN"};
  EXPECT_TRUE(may_have_secrets(world.facts, world.says(ask)));
  EXPECT_FALSE(may_have_secrets(world.facts, world.says(wire::AskSecret{std::string(64, 'f'), "TOKEN"})));
  world.facts.account->actor_id = world.sam.id;
  EXPECT_FALSE(may_have_secrets(world.facts, world.says(ask)));
}

// --- deadlines and questions

TEST_F(ContainerReportsTest, WhatNobodyCanTellAboutBecomesAnOrphan) {
  world.in_flight(world.operation());
  const auto deadline = seconds(world.options.operation_deadline_s);
  world.now = noon + deadline - seconds(1);
  EXPECT_FALSE(expire(world.facts, world.context()).decision);
  world.now = noon + deadline;
  const Consequence given_up = expire(world.facts, world.context());
  EXPECT_EQ(failure_of(after(given_up)), "terminal deadline_exceeded");
  EXPECT_FALSE(only_row<fleet::UpdateContainer>(*given_up.decision).attempt_id) << "the container is closed";
  EXPECT_EQ(writes<fleet::EndAttempts>(*given_up.decision).size(), 1U);
  EXPECT_EQ(only_row<fleet::InsertOrphan>(*given_up.decision).operation_id, id_of(40));
  EXPECT_FALSE(stops_something(given_up));
}

TEST_F(ContainerReportsTest, TheDeadlineOfAnEarlierAttemptLeavesTheNextOneOpen) {
  world.in_flight(world.operation());
  world.facts.container->attempt_id = id_of(99);
  world.now = noon + seconds(world.options.operation_deadline_s);
  const Consequence given_up = expire(world.facts, world.context());
  EXPECT_EQ(only_row<fleet::UpdateContainer>(*given_up.decision).attempt_id, id_of(99));
  EXPECT_TRUE(writes<fleet::EndAttempts>(*given_up.decision).empty());
}

TEST_F(ContainerReportsTest, ACleanupThatNobodyAnswersIsAbandonedAndRecorded) {
  Operation start = world.operation();
  start.state = OperationState::failed;
  start.cleanup = Cleanup::claimed;
  start.cleanup_deadline = noon + seconds(30);
  world.facts.open = {start};
  world.now = noon + seconds(29);
  EXPECT_FALSE(expire(world.facts, world.context()).decision);
  world.now = noon + seconds(30);
  const Consequence abandoned = expire(world.facts, world.context());
  EXPECT_EQ(after(abandoned).cleanup, Cleanup::failed);
  EXPECT_EQ(only_row<fleet::InsertOrphan>(*abandoned.decision).reason, "cleanup_failed");
  EXPECT_THAT(abandoned.note, testing::HasSubstr(*start.fresh_session_id));
}

TEST_F(ContainerReportsTest, WhatIsInFlightIsAskedAbout) {
  const Operation op = world.in_flight(world.operation());
  const auto ask = [&](bool arrived) { return questions(world.facts, arrived, 5000, world.context()); };
  EXPECT_TRUE(ask(false).empty()) << "it is too young";
  ASSERT_EQ(ask(true).size(), 1U) << "unless the Runner has just come back";
  world.now = noon + seconds(5);
  const auto asked = ask(false);
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked.front().operation_id, op.id.str());
  EXPECT_EQ(asked.front().container_attempt_id, op.container_attempt_id.str());
  EXPECT_EQ(asked.front().dispatch, op.dispatch);
  EXPECT_EQ(std::get<wire::AskStatus>(asked.front().command).journal_id, op.journal_id->str());
  world.facts.node.reset();
  EXPECT_TRUE(ask(true).empty());
}

TEST_F(ContainerReportsTest, TheEnvelopeCarriesWhatItsKindNeedsAndNothingElse) {
  const Operation fresh = world.operation();
  const auto start = envelope(fresh, 0, world.context());
  EXPECT_EQ(start.operation_id, fresh.id.str());
  EXPECT_EQ(start.fresh_session_id, fresh.fresh_session_id);
  EXPECT_EQ(start.container_attempt_id, fresh.container_attempt_id.str());
  EXPECT_EQ(start.dispatch, 1);
  EXPECT_EQ(start.command, (wire::Command{wire::Start{"box", "", 0}}));
  const auto resume = envelope(world.operation(OperationKind::resume), 3, world.context());
  EXPECT_EQ(resume.fresh_session_id, "");
  EXPECT_EQ(resume.command, (wire::Command{wire::Start{"box", world.session_id, 3}}));
  const auto stop = envelope(world.operation(OperationKind::stop), 0, world.context());
  EXPECT_EQ(stop.fresh_session_id, "");
  EXPECT_EQ(stop.command, (wire::Command{wire::Stop{"box", world.session_id, id_of(31).str()}}));
}

} // namespace
} // namespace cleat::unit
