#include "apps/cleat-runner/dispatch.hpp"

#include <gtest/gtest.h>

namespace cleat::runner {
namespace {

using wire::AckOutcome;
using wire::StatusKind;

const std::string id(64, 'a');

OperationRow row(RowState state, std::int64_t dispatch = 2) {
  OperationRow result;
  result.key = {"operation", "attempt"};
  result.kind = state == RowState::stopped ? RowKind::stop : RowKind::fresh;
  result.dispatch = dispatch;
  result.session_id = id;
  result.state = state;
  return result;
}

OperationRow failed_row(bool retryable) {
  auto result = row(RowState::failed);
  result.failure = failed(retryable, failure::start_failed, "why");
  return result;
}

TEST(Dispatch, EqualAndLowerNumbersAreAlwaysAnsweredFromTheJournal) {
  for (const auto& known : {row(RowState::accepted), row(RowState::started), row(RowState::exited),
                            row(RowState::stopped), row(RowState::tombstone), failed_row(true), failed_row(false)})
    for (const std::int64_t dispatch : {0, 1, 2}) {
      const auto replayed = replay(known, dispatch);
      ASSERT_TRUE(replayed);
      EXPECT_EQ(replayed->outcome, outcome_of(known));
      EXPECT_EQ(replayed->dispatch, 2);
    }
}

TEST(Dispatch, HigherNumbersAreWorkedOnAfterARetryableFailureOrATombstoneAlone) {
  EXPECT_FALSE(replay(std::nullopt, 1));
  EXPECT_FALSE(replay(failed_row(true), 3));
  EXPECT_FALSE(replay(row(RowState::tombstone), 3));
  for (const auto& known : {row(RowState::accepted), row(RowState::started), row(RowState::exited),
                            row(RowState::stopped), failed_row(false)}) {
    const auto replayed = replay(known, 3);
    ASSERT_TRUE(replayed);
    EXPECT_EQ(replayed->dispatch, 3) << "the answer is about this dispatch as well";
  }
}

TEST(Dispatch, OutcomesHaveTheEchoesOfTheirKind) {
  EXPECT_EQ(outcome_of(row(RowState::started)), Outcome(wire::Started{id, id, ""}));
  auto resumed = row(RowState::exited);
  resumed.kind = RowKind::resume;
  EXPECT_EQ(outcome_of(resumed), Outcome(wire::Started{id, "", id}));
  EXPECT_EQ(outcome_of(row(RowState::stopped)), Outcome(wire::Stopped{id}));
  EXPECT_EQ(outcome_of(failed_row(false)), Outcome(failed_row(false).failure));
  EXPECT_EQ(outcome_of(row(RowState::accepted)), Outcome());
}

/// A start that nothing speaks against.
struct GoodStart {
  wire::ToRunner message;
  wire::Start start{"one", "", 0};
  StartFacts facts{false, true, "attempt", false, true};

  GoodStart() {
    message.container_attempt_id = "attempt";
    message.fresh_session_id = id;
  }
  [[nodiscard]] std::string refusal() const {
    const auto refused = refuse(message, start, facts);
    return refused ? refused->failure.code : "";
  }
};

TEST(Dispatch, AStartIsRefusedForOneReasonAtATime) {
  EXPECT_EQ(GoodStart().refusal(), "");
  GoodStart draining;
  draining.facts.draining = true;
  EXPECT_EQ(draining.refusal(), failure::draining);
  GoodStart unknown;
  unknown.facts.known = false;
  EXPECT_EQ(unknown.refusal(), failure::unknown_container);
  GoodStart stale;
  stale.facts.attempt = "another";
  EXPECT_EQ(stale.refusal(), failure::stale_attempt);
  GoodStart without_attempt;
  without_attempt.facts.attempt = without_attempt.message.container_attempt_id = "";
  EXPECT_EQ(without_attempt.refusal(), failure::stale_attempt);
  GoodStart without_id;
  without_id.message.fresh_session_id = "";
  EXPECT_EQ(without_id.refusal(), failure::failed_precondition);
  GoodStart resume_and_fresh;
  resume_and_fresh.start.resume_session_id = id;
  EXPECT_EQ(resume_and_fresh.refusal(), failure::failed_precondition);
  GoodStart resume;
  resume.start.resume_session_id = id;
  resume.message.fresh_session_id = "";
  EXPECT_EQ(resume.refusal(), "");
  resume.facts.body_complete = false;
  EXPECT_EQ(resume.refusal(), failure::body_incomplete);
  GoodStart busy;
  busy.facts.busy = true;
  EXPECT_EQ(busy.refusal(), failure::already_running);
  EXPECT_EQ(refuse(busy.message, busy.start, busy.facts)->acknowledged, AckOutcome::already_running);
}

TEST(Dispatch, AStopIsRefusedUnlessItsTargetIsThere) {
  wire::ToRunner message;
  message.container_attempt_id = "attempt";
  const wire::Stop stop{"one", id, "attempt"};
  const StopFacts facts{true, "attempt", id, "attempt", false};
  EXPECT_FALSE(refuse(message, stop, facts));
  auto starting = facts;
  starting.starting = true;
  EXPECT_EQ(refuse(message, stop, starting)->failure.code, failure::in_transition);
  auto another = facts;
  another.session_id = "another";
  EXPECT_EQ(refuse(message, stop, another)->failure.code, failure::no_such_session);
  auto later = facts;
  later.session_attempt = "later";
  EXPECT_EQ(refuse(message, stop, later)->failure.code, failure::no_such_session);
  EXPECT_EQ(refuse(message, {"one", "", "attempt"}, {true, "attempt", "", "attempt", false})->failure.code,
            failure::no_such_session);
}

TEST(Dispatch, ExactlyOneAnswerForEachState) {
  const auto kind = [](const std::optional<OperationRow>& known, std::int64_t dispatch, bool ours, bool ending) {
    return answer_status(known, dispatch, ours, ending).status.kind;
  };
  EXPECT_EQ(kind(row(RowState::accepted), 2, true, false), StatusKind::ambiguous);
  EXPECT_EQ(kind(row(RowState::started), 2, true, false), StatusKind::live);
  EXPECT_EQ(kind(row(RowState::started), 2, true, true), StatusKind::ambiguous);
  EXPECT_EQ(kind(row(RowState::exited), 2, true, false), StatusKind::terminal_outcome);
  EXPECT_EQ(kind(row(RowState::stopped), 2, true, false), StatusKind::terminal_outcome);
  EXPECT_EQ(kind(failed_row(true), 2, true, false), StatusKind::terminal_outcome);
  EXPECT_EQ(kind(row(RowState::tombstone), 2, true, false), StatusKind::no_such_operation);
  EXPECT_EQ(kind(std::nullopt, 2, true, false), StatusKind::no_such_operation);
  for (const auto& nothing : {std::optional<OperationRow>(), std::optional(row(RowState::tombstone))})
    EXPECT_EQ(kind(nothing, 2, false, false), StatusKind::ambiguous) << "another journal may know";
  // What is known is told whatever journal is asked for.
  EXPECT_EQ(kind(row(RowState::started), 2, false, false), StatusKind::live);
}

TEST(Dispatch, ATombstoneIsWrittenWhereANumberIsDeniedForTheFirstTime) {
  EXPECT_TRUE(answer_status(std::nullopt, 1, true, false).tombstone);
  EXPECT_FALSE(answer_status(std::nullopt, 1, false, false).tombstone);
  EXPECT_TRUE(answer_status(row(RowState::tombstone), 3, true, false).tombstone);
  EXPECT_FALSE(answer_status(row(RowState::tombstone), 2, true, false).tombstone);
  EXPECT_TRUE(answer_status(failed_row(true), 3, true, false).tombstone);
  EXPECT_FALSE(answer_status(failed_row(false), 3, true, false).tombstone);
  EXPECT_FALSE(answer_status(row(RowState::started), 3, true, false).tombstone);
}

} // namespace
} // namespace cleat::runner
