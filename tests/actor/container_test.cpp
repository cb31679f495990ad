/// The owner of a container: callers, the Runner, and the database between them (spec 04).
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actor/container_fixture.hpp"

namespace cleat::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using storage::CommitOutcome;

TEST_F(ContainerTest, AStartIsReservedThenSentThenPromoted) {
  const Answer answer = ask_fleet(start());
  EXPECT_EQ(status_of(answer), 202);
  EXPECT_EQ(member(answer, "state"), "in_flight");
  EXPECT_EQ(member(answer, "session_id"), "");
  const auto sent = received_one();
  ASSERT_EQ(operations().size(), 1U);
  const Operation reserved = operations().front();
  EXPECT_EQ(sent.operation_id, reserved.id.str());
  EXPECT_EQ(sent.fresh_session_id, reserved.fresh_session_id);
  EXPECT_EQ(sent.container_attempt_id, box.attempt_id->str());
  EXPECT_EQ(reserved.handle_digest, sha256(member(answer, "retry_handle")));
  EXPECT_FALSE(live());

  say(sent, wire::Acknowledged{wire::AckOutcome::accepted});
  EXPECT_EQ(operations().front().state, OperationState::dispatched);
  EXPECT_FALSE(live()) << "an acknowledgement promotes nothing";
  say(sent, started(sent));
  EXPECT_EQ(operations().front().state, OperationState::promoted);
  ASSERT_TRUE(live());
  EXPECT_EQ(live()->session_id, sent.fresh_session_id);
}

TEST_F(ContainerTest, WhoPrefersToWaitGetsTheSession) {
  const auto answer = send_fleet(start(10'000));
  run();
  EXPECT_FALSE(*answer);
  const auto sent = received_one();
  say(sent, started(sent));
  ASSERT_TRUE(*answer);
  EXPECT_EQ(status_of(**answer), 201);
  EXPECT_EQ(member(**answer, "session_id"), sent.fresh_session_id);
  EXPECT_NE(member(**answer, "retry_handle"), "");
}

TEST_F(ContainerTest, WhoHasWaitedLongEnoughGetsTheHandle) {
  const auto answer = send_fleet(start(1000));
  run();
  advance(milliseconds(1500));
  ASSERT_TRUE(*answer);
  EXPECT_EQ(status_of(**answer), 202);
  const auto sent = received_one();
  say(sent, started(sent));
  EXPECT_EQ(member(ask_fleet(look_up(member(**answer, "retry_handle"))), "state"), "promoted");
}

TEST_F(ContainerTest, SixtyFourCallersOneOperationOneDispatch) {
  std::vector<std::shared_ptr<std::optional<Answer>>> answers;
  for (int i = 0; i < 64; ++i)
    answers.push_back(send_fleet(start()));
  run();
  int refused = 0;
  for (const auto& answer : answers)
    refused += !(*answer)->result && (*answer)->result.error().code == Code::already_running ? 1 : 0;
  EXPECT_EQ(refused, 63);
  EXPECT_EQ(operations().size(), 1U);
  EXPECT_EQ(received().size(), 1U);
}

TEST_F(ContainerTest, StartsInDifferentContainersDoNotDisturbEachOther) {
  const Answer first = ask_fleet(start(0, "", "box"));
  const Answer second = ask_fleet(start(0, "", "crate"));
  EXPECT_EQ(status_of(first), 202);
  EXPECT_EQ(status_of(second), 202);
  const auto sent = received();
  ASSERT_EQ(sent.size(), 2U);
  EXPECT_NE(sent[0].fresh_session_id, sent[1].fresh_session_id);
  EXPECT_NE(sent[0].operation_id, sent[1].operation_id);
}

TEST_F(ContainerTest, NothingIsSentBeforeTheReservationIsDurable) {
  tables->script({{CommitOutcome::unavailable}});
  EXPECT_EQ(refusal_of(ask_fleet(start())).code, Code::unavailable);
  tables->script({{CommitOutcome::unknown, true}});
  EXPECT_EQ(refusal_of(ask_fleet(start())).code, Code::outcome_unknown);
  EXPECT_TRUE(received().empty());
}

TEST_F(ContainerTest, AStaleDecisionIsMadeAgain) {
  tables->script({{CommitOutcome::stale}, {CommitOutcome::lost_race}});
  EXPECT_EQ(status_of(ask_fleet(start())), 202);
  EXPECT_EQ(operations().size(), 1U);
  EXPECT_EQ(received().size(), 1U);
}

TEST_F(ContainerTest, AResultIsPublicOnceItIsCommitted) {
  const auto answer = send_fleet(start(10'000));
  run();
  const auto sent = received_one();
  tables->script({{CommitOutcome::unavailable}});
  say(sent, started(sent));
  EXPECT_FALSE(*answer);
  EXPECT_FALSE(live());
  say(sent, wire::Status{wire::StatusKind::live, started(sent)}); // it was asked again
  ASSERT_TRUE(*answer);
  EXPECT_EQ(status_of(**answer), 201);
}

TEST_F(ContainerTest, AWrongEchoFailsTheCallerAndPromotesNothing) {
  const auto answer = send_fleet(start(10'000));
  run();
  const auto sent = received_one();
  say(sent, started(sent), sent.operation_id, "other");
  ASSERT_TRUE(*answer);
  EXPECT_EQ(refusal_of(**answer).code, Code::internal);
  EXPECT_FALSE(live());
  EXPECT_TRUE(received().empty()) << "no Stop: ownership cannot be proven";
  EXPECT_EQ(tables->fleet().orphans.size(), 1U);
}

TEST_F(ContainerTest, AnotherSessionIdIsCleanedUpOnceByWhatWasRecorded) {
  ask_fleet(start());
  const auto sent = received_one();
  const std::string other(64, 'f');
  say(sent, wire::Started{other, other, ""});
  const auto stop_sent = received_one();
  EXPECT_EQ(std::get<wire::Stop>(stop_sent.command).session_id, sent.fresh_session_id);
  say(sent, wire::Started{other, other, ""});
  EXPECT_TRUE(received().empty()) << "one Stop";
  EXPECT_EQ(refusal_of(ask_fleet(start())).code, Code::already_running) << "while it is being cleaned up";
  say(stop_sent, wire::Stopped{sent.fresh_session_id});
  EXPECT_EQ(operations().front().cleanup, Cleanup::done);
  EXPECT_FALSE(live());
  EXPECT_EQ(status_of(ask_fleet(start())), 202);
}

// --- the same result in every order

class OrderTest : public ContainerTest {
protected:
  /// The agent of this start ends by itself.
  void end(const wire::ToRunner& sent) {
    say(sent, wire::Relay{sent.fresh_session_id, {{1, 0, "", 0}}});
    received();
  }
};

TEST_F(OrderTest, EveryOrderOfReportsMakesOneTransition) {
  const auto said = [](int which, const wire::ToRunner& sent) -> wire::Report {
    switch (which) {
      case 0:
        return wire::Acknowledged{wire::AckOutcome::accepted};
      case 1:
        return started(sent);
      case 2:
        return started(sent); // a duplicate
      default:
        return wire::Failed{true, "start_failed", ""};
    }
  };
  std::vector<int> order{0, 1, 2, 3};
  do {
    const Answer answer = ask_fleet(start());
    const auto sent = received_one();
    for (const int which : order)
      say(sent, said(which, sent));
    const bool failed_first = std::ranges::find(order, 3) < std::ranges::find(order, 1) &&
                              std::ranges::find(order, 3) < std::ranges::find(order, 2);
    const std::string handle = member(answer, "retry_handle");
    EXPECT_EQ(member(ask_fleet(look_up(handle)), "state"), failed_first ? "failed" : "promoted");
    EXPECT_EQ(live().has_value(), !failed_first);
    EXPECT_EQ(member(ask_fleet(look_up(handle)), "session_id"), failed_first ? "" : sent.fresh_session_id);
    if (live())
      end(sent);
  } while (std::ranges::next_permutation(order).found);
}

// --- keys and handles

TEST_F(ContainerTest, AReplayJoinsTheSameOperationWithAHandleOfItsOwn) {
  const Answer first = ask_fleet(start(0, "key"));
  const auto sent = received_one();
  const Answer again = ask_fleet(start(0, "key"));
  EXPECT_EQ(status_of(again), 202);
  EXPECT_TRUE(again.result->replay);
  EXPECT_TRUE(received().empty()) << "nothing is sent";
  EXPECT_EQ(operations().size(), 1U);
  const std::string old_handle = member(first, "retry_handle");
  const std::string new_handle = member(again, "retry_handle");
  EXPECT_NE(old_handle, new_handle);
  EXPECT_EQ(refusal_of(ask_fleet(look_up(old_handle))).code, Code::not_found);
  say(sent, started(sent));
  EXPECT_EQ(member(ask_fleet(look_up(new_handle)), "session_id"), sent.fresh_session_id);
  const Answer late = ask_fleet(start(0, "key"));
  EXPECT_EQ(status_of(late), 201);
  EXPECT_EQ(member(late, "session_id"), sent.fresh_session_id);
}

TEST_F(ContainerTest, AKeyOfAnotherRequestIsRefused) {
  ask_fleet(start(0, "key"));
  StartSession other = start(0, "key");
  other.context = by(world.sam, "key", 2);
  EXPECT_EQ(refusal_of(ask_fleet(other)).code, Code::idempotency_key_reuse);
}

TEST_F(ContainerTest, ALookupWaitsForTheEnd) {
  const Answer answer = ask_fleet(start());
  const auto sent = received_one();
  const auto waiting = send_fleet(look_up(member(answer, "retry_handle"), false, 20));
  run();
  EXPECT_FALSE(*waiting);
  say(sent, started(sent));
  ASSERT_TRUE(*waiting);
  EXPECT_EQ(member(**waiting, "session_id"), sent.fresh_session_id);
  EXPECT_TRUE(received().empty()) << "and never dispatches again";
}

TEST_F(ContainerTest, RejectedHandlesAreAllTheSame) {
  const Answer answer = ask_fleet(start());
  const std::string handle = member(answer, "retry_handle");
  received();
  const auto refused = [&](FollowHandle command) { return refusal_of(ask_fleet(command)); };
  const Refusal uniform{Code::not_found};
  EXPECT_EQ(refused(look_up("nobody's")), uniform);
  FollowHandle foreign = look_up(handle);
  foreign.context = by(world.alex);
  EXPECT_EQ(refused(foreign), uniform);
  runner.enrollment_revision = 2;
  runner.version += 1;
  commit({fleet::Enrol{runner, {{ids->next(clock->now()), "box", runner.id, 2, true, clock->now()}}}});
  EXPECT_EQ(refused(look_up(handle)), uniform) << "of an attempt that is not current";
  EXPECT_EQ(refused(look_up(handle, true)), uniform);
}

TEST_F(ContainerTest, ARetryKeepsItsIdsUntilOneEnd) {
  const Answer answer = ask_fleet(start());
  const std::string handle = member(answer, "retry_handle");
  auto sent = received_one();
  const std::string id = sent.fresh_session_id;
  for (int round = 1; round <= 3; ++round) {
    say(sent, wire::Failed{true, "start_failed", ""});
    EXPECT_EQ(member(ask_fleet(look_up(handle)), "class"), "retryable");
    EXPECT_EQ(status_of(ask_fleet(look_up(handle, true))), 200);
    sent = received_one();
    EXPECT_EQ(sent.dispatch, round + 1);
    EXPECT_EQ(sent.fresh_session_id, id);
  }
  ask_fleet(look_up(handle, true));
  EXPECT_TRUE(received().empty()) << "in flight joins";
  say(sent, started(sent));
  EXPECT_EQ(member(ask_fleet(look_up(handle, true)), "session_id"), id) << "promoted replays";
  EXPECT_TRUE(received().empty());
  EXPECT_EQ(operations().size(), 1U);
}

// --- stop, input, transcript, resume

TEST_F(ContainerTest, AStopWaitsForItsResultAndASecondOneJoins) {
  const std::string session = go_live();
  const auto first = send_fleet(stop(session, "key"));
  run();
  const auto sent = received_one();
  const auto second = send_fleet(stop(session));
  run();
  EXPECT_TRUE(received().empty());
  EXPECT_EQ(refusal_of(ask_fleet(resume(session))).code, Code::already_running) << "a resume during a stop";
  say(sent, wire::Stopped{session});
  ASSERT_TRUE(*first && *second);
  EXPECT_EQ(member(**first, "state"), "released");
  EXPECT_EQ(member(**second, "state"), "released");
  EXPECT_FALSE(live());
  EXPECT_EQ(refusal_of(ask_fleet(stop(session))).code, Code::not_found);
  const Answer replayed = ask_fleet(stop(session, "key"));
  EXPECT_EQ(member(replayed, "state"), "released") << "whose answer was lost";
  EXPECT_TRUE(replayed.result->replay);
  StopSession foreign = stop(session, "key");
  foreign.context = by(world.alex, "key");
  EXPECT_EQ(refusal_of(ask_fleet(foreign)).code, Code::not_found);
}

TEST_F(ContainerTest, InputIsToldOnceAndAgainWhenTheRunnerComesBack) {
  const std::string session = go_live();
  SendInput line;
  line.context = by(world.sam, "key");
  line.session_id = session;
  line.body = InputBody{"hello"};
  EXPECT_EQ(status_of(ask_fleet(line)), 202);
  const auto told = received_one();
  EXPECT_EQ(std::get<wire::Input>(told.command), (wire::Input{session, 1, "hello"}));
  EXPECT_TRUE(ask_fleet(line).result->replay);
  EXPECT_TRUE(received().empty());
  reconcile(true);
  EXPECT_EQ(std::get<wire::Input>(received_one().command).seq, 1);
  say(told, wire::InputDone{session, 1});
  EXPECT_EQ(live()->input_through, 1);
  reconcile(true);
  EXPECT_TRUE(received().empty());
}

TEST_F(ContainerTest, WhatAnAgentSaidComesBackWithItsResume) {
  const std::string session = go_live();
  const auto op = operations().front();
  const wire::ToRunner about{"r", op.id.str(), "", box.attempt_id->str(), 1, wire::Heartbeat{}};
  say(about, wire::Relay{session, {{1, 5, "hello"}, {2, 6, "world"}}});
  EXPECT_EQ(std::get<wire::RelayDone>(received_one().command), (wire::RelayDone{session, 2}));
  say(about, wire::Relay{session, {{3, 7, "", 0}}});
  received();
  EXPECT_FALSE(live());
  EXPECT_EQ(tables->fleet().transcript_of(session).size(), 3U);

  EXPECT_EQ(status_of(ask_fleet(resume(session))), 202);
  const auto sent = received();
  ASSERT_EQ(sent.size(), 2U);
  const auto& part = std::get<wire::BodyPart>(sent[0].command);
  EXPECT_THAT(part.bytes, testing::HasSubstr("\"line\":\"hello\""));
  EXPECT_EQ(std::ranges::count(part.bytes, '\n'), 3);
  EXPECT_EQ(std::get<wire::Start>(sent[1].command), (wire::Start{"box", session, 1}));
  EXPECT_EQ(sent[1].fresh_session_id, "");
  say(sent[1], started(sent[1]));
  ASSERT_TRUE(live());
  EXPECT_EQ(live()->session_id, session);
  EXPECT_EQ(live()->relayed_through, 0);
}

TEST_F(ContainerTest, SecretsGoToTheLiveSessionOfTheirAccount) {
  const std::string session = go_live();
  const std::string place = account.id.str() + "/TOKEN";
  commit({fleet::PutSecret{
    {account.id, "TOKEN", deps->options.fleet.master_key->seal("open sesame", place), clock->now()}}});
  const auto op = operations().front();
  const wire::ToRunner about{"r-1", op.id.str(), "", box.attempt_id->str(), 1, wire::Heartbeat{}};
  const auto secret_of = [&](const std::string& of, const std::string& name) {
    say(about, wire::AskSecret{of, name});
    const auto answer = received_one();
    EXPECT_EQ(answer.request_id, "r-1");
    return std::get<wire::SecretAnswer>(answer.command);
  };
  EXPECT_EQ(secret_of(session, "TOKEN"), (wire::SecretAnswer{true, "open sesame"}));
  EXPECT_EQ(secret_of(session, "OTHER"), (wire::SecretAnswer{false, ""}));
  EXPECT_EQ(secret_of(std::string(64, 'f'), "TOKEN"), (wire::SecretAnswer{false, ""}));
}

// --- recovery

TEST_F(ContainerTest, AfterARestartTheRunnerIsAskedAndNothingIsSentTwice) {
  ask_fleet(start());
  const auto sent = received_one();
  reconcile();
  EXPECT_TRUE(received().empty()) << "too young to be asked about";
  reconcile(true);
  const auto asked = received_one();
  EXPECT_EQ(asked.operation_id, sent.operation_id);
  EXPECT_EQ(std::get<wire::AskStatus>(asked.command).journal_id, runner.journal_id->str());
  say(asked, wire::Status{wire::StatusKind::ambiguous, {}});
  EXPECT_TRUE(operations().front().reconciling);
  say(asked, wire::Status{wire::StatusKind::live, started(sent)});
  EXPECT_TRUE(live());
  EXPECT_TRUE(received().empty());
}

TEST_F(ContainerTest, ADispatchThatNeverArrivedMayBeRetried) {
  const Answer answer = ask_fleet(start());
  received();
  reconcile(true);
  say(received_one(), wire::Status{wire::StatusKind::no_such_operation, {}});
  const std::string handle = member(answer, "retry_handle");
  EXPECT_EQ(member(ask_fleet(look_up(handle)), "code"), "not_dispatched");
  EXPECT_EQ(status_of(ask_fleet(look_up(handle, true))), 200);
  EXPECT_EQ(received_one().dispatch, 2);
}

TEST_F(ContainerTest, PastTheDeadlineTheContainerIsClosedUntilSomebodyResolves) {
  ask_fleet(start());
  received();
  clock->advance(seconds(deps->options.rules.operation_deadline_s));
  tables->beat({deps->options.fleet.node});
  reconcile();
  EXPECT_EQ(operations().front().failure->code, "deadline_exceeded");
  const Refusal closed = refusal_of(ask_fleet(start()));
  EXPECT_EQ(closed.code, Code::conflict);
  EXPECT_EQ(closed.reason, Reason::container_closed);

  const Orphan orphan = tables->fleet().orphans.begin()->second;
  const auto resolved = send_fleet(ResolveOrphan{by(world.alex), orphan.id, {}, {}});
  run();
  EXPECT_FALSE(*resolved) << "first the Runner ends what the old attempt left";
  const auto issue = received_one();
  const auto& attempt = std::get<wire::IssueAttempt>(issue.command);
  say(issue, wire::AttemptIssued{"box", attempt.attempt_id});
  ASSERT_TRUE(*resolved);
  EXPECT_EQ(status_of(**resolved), 200);
  EXPECT_EQ(tables->fleet().containers.at("box").attempt_id->str(), attempt.attempt_id);
  EXPECT_EQ(status_of(ask_fleet(start())), 202);
  EXPECT_EQ(received_one().container_attempt_id, attempt.attempt_id);
}

TEST_F(ContainerTest, ARemovalStopsReleasesAndRemoves) {
  const std::string session = go_live();
  const auto removed = send_fleet(RemoveContainer{by(world.alex), "box"});
  run();
  const auto sent = received_one();
  EXPECT_EQ(std::get<wire::Stop>(sent.command).session_id, session);
  EXPECT_FALSE(*removed);
  say(sent, wire::Stopped{session});
  ASSERT_TRUE(*removed);
  EXPECT_EQ(status_of(**removed), 204);
  EXPECT_FALSE(tables->fleet().containers.contains("box"));
  EXPECT_EQ(refusal_of(ask_fleet(start())).code, Code::not_found);
}

TEST_F(ContainerTest, WhatAnotherServerHasEndedIsNoticed) {
  const auto answer = send_fleet(start(10'000));
  run();
  const auto sent = received_one();
  // Another server hears the result and commits it.
  Operation row = operations().front();
  row.state = OperationState::promoted;
  row.session_id = row.fresh_session_id;
  row.finished_at = clock->now();
  row.version += 1;
  commit({fleet::UpdateOperation{row}});
  caf::anon_send(fleet, ContainerMoved{"box"});
  run();
  ASSERT_TRUE(*answer);
  EXPECT_EQ(member(**answer, "session_id"), sent.fresh_session_id);
}

/// Closes the release gate as an old Runner's manifest does.
void close(release::Gate& gate) {
  auto verdict = open_verdict();
  verdict.runner.flaw = release::Flaw::other_revision;
  gate.replace(verdict);
}

TEST_F(ContainerTest, AClosedReleaseGateStartsNothingAndLeavesNoRecord) {
  close(*gate);
  const Refusal closed{Code::not_ready, Reason::release_gate};
  EXPECT_EQ(refusal_of(ask_fleet(start(0, "key"))), closed);
  EXPECT_TRUE(operations().empty());
  EXPECT_TRUE(received().empty());
  StartSession foreign = start();
  foreign.context = by(world.alex);
  EXPECT_EQ(refusal_of(ask_fleet(foreign)).code, Code::not_found) << "who may not start learns nothing of the gate";
  gate->replace(open_verdict());
  EXPECT_EQ(status_of(ask_fleet(start(0, "key"))), 202) << "a refusal is not kept under its key";
}

TEST_F(ContainerTest, BehindAClosedReleaseGateWhatRunsGoesOnAndEnds) {
  ask_fleet(start(0, "key"));
  const auto sent = received_one();
  close(*gate);
  const Answer again = ask_fleet(start(0, "key"));
  EXPECT_EQ(status_of(again), 202) << "a replay joins and starts nothing";
  EXPECT_TRUE(received().empty());
  say(sent, started(sent));
  ASSERT_TRUE(live()) << "a result is a result";
  const auto stopping = send_fleet(stop(live()->session_id));
  run();
  say(received_one(), wire::Stopped{sent.fresh_session_id});
  ASSERT_TRUE(*stopping);
  EXPECT_EQ(member(**stopping, "state"), "released");
  EXPECT_EQ(refusal_of(ask_fleet(resume(sent.fresh_session_id))).code, Code::not_ready);
  EXPECT_TRUE(received().empty());
  EXPECT_EQ(member(ask_fleet(look_up(member(again, "retry_handle"))), "state"), "promoted");
}

TEST_F(ContainerTest, AClosedReleaseGateLetsNoRetryPass) {
  const std::string handle = member(ask_fleet(start()), "retry_handle");
  say(received_one(), wire::Failed{true, "start_failed", ""});
  close(*gate);
  EXPECT_EQ(refusal_of(ask_fleet(look_up(handle, true))).code, Code::not_ready);
  EXPECT_TRUE(received().empty());
  gate->replace(open_verdict());
  EXPECT_EQ(status_of(ask_fleet(look_up(handle, true))), 200);
  EXPECT_EQ(received_one().dispatch, 2);
}

TEST_F(ContainerTest, DenialsAreAudited) {
  StartSession foreign = start();
  foreign.context = by(world.alex);
  EXPECT_EQ(refusal_of(ask_fleet(foreign)).code, Code::not_found);
  const auto audit = tables->audit();
  ASSERT_FALSE(audit.empty());
  EXPECT_EQ(audit.back().action, "agent_session.start");
  EXPECT_EQ(audit.back().resource_id, box.id);
  EXPECT_FALSE(audit.back().allowed);
}

} // namespace
} // namespace cleat::test
