#include "tests/runner/fixture.hpp"

/// Starts, stops and resumes (spec 04 sections 4 to 7).
namespace cleat::test {
namespace {

using wire::Acknowledged;
using wire::AckOutcome;
using wire::Failed;
using wire::Started;
using wire::Stopped;

/// An agent that writes that it has begun, then repeats what it is told.
const std::string echo = "echo started >> begun; echo hello; while read -r line; do echo \"heard $line\"; done";

class Operations : public RunnerTest {
protected:
  /// How often an agent has begun.
  [[nodiscard]] auto begun() const { return read_file(folder() / "begun").size() / std::string("started\n").size(); }

  void expect_refusal(const wire::ToRunner& message, AckOutcome outcome, bool retryable, const std::string& code) {
    peer_->send(message);
    const auto acknowledged = peer_->next<Acknowledged>();
    EXPECT_EQ(std::get<Acknowledged>(acknowledged.report).outcome, outcome) << code;
    const auto failed = peer_->next<Failed>();
    EXPECT_EQ(failed.request_id, message.request_id);
    EXPECT_EQ(failed.operation_id, message.operation_id);
    EXPECT_EQ(failed.container_attempt_id, message.container_attempt_id);
    EXPECT_EQ(failed.dispatch, message.dispatch);
    EXPECT_EQ(std::get<Failed>(failed.report).retryable, retryable) << code;
    EXPECT_EQ(std::get<Failed>(failed.report).code, code);
  }
};

TEST_F(Operations, AnAgentStartsSpeaksHearsAndIsStopped) {
  add_agent("one", echo);
  serve();
  const auto operation = start_agent("one", session('a'));
  EXPECT_EQ(hear(operation, 1).front().line, "hello");
  type("one", operation, session('a'), 7, "you");
  EXPECT_EQ(hear(operation, 1).front().line, "heard you");
  stop_agent("one", session('a'));
  const auto end = hear_to_the_end(operation).back();
  EXPECT_EQ(end.line, "");
  EXPECT_EQ(end.exit_code, 128 + 15);
}

TEST_F(Operations, AnAgentThatEndsByItselfTellsItsExitCodeLast) {
  add_agent("one", "echo one; printf two; exit 7");
  serve();
  const auto operation = start_agent("one", session('a'));
  const auto lines = hear_to_the_end(operation);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].line, "one");
  EXPECT_EQ(lines[1].line, "two") << "the last line has no line break";
  EXPECT_EQ(lines[2].exit_code, 7);
  // The container is free again.
  start_agent("one", session('b'));
}

TEST_F(Operations, AFreshStartWithoutTheServersIdStartsNothing) {
  add_agent("one", echo);
  serve();
  for (const auto& id :
       {std::string(), session('A'), std::string(63, 'a'), std::string(65, 'a'), "../" + std::string(61, 'a')})
    expect_refusal(fresh("one", new_id(), id), AckOutcome::rejected, false, "failed_precondition");
  EXPECT_EQ(begun(), 0U);
}

TEST_F(Operations, AResumeNeedsABarePathElementAndNoFreshId) {
  add_agent("one", echo);
  serve();
  for (const auto& id : {std::string("../../etc/passwd"), std::string("a/b"), std::string(".."), session('A')})
    expect_refusal(resume("one", new_id(), id, 0), AckOutcome::rejected, false, "failed_precondition");
  auto both = resume("one", new_id(), session('a'), 0);
  both.fresh_session_id = session('b');
  expect_refusal(both, AckOutcome::rejected, false, "failed_precondition");
  EXPECT_EQ(begun(), 0U);
}

TEST_F(Operations, UnknownContainersAndOtherAttemptsAreRefused) {
  add_agent("one", echo);
  serve();
  auto unknown = fresh("one", new_id(), session('a'));
  unknown.command = wire::Start{"another", "", 0};
  expect_refusal(unknown, AckOutcome::rejected, false, "unknown_container");
  auto stale = fresh("one", new_id(), session('a'));
  stale.container_attempt_id = new_id();
  expect_refusal(stale, AckOutcome::rejected, false, "stale_attempt");
  EXPECT_EQ(begun(), 0U);
}

TEST_F(Operations, AContainerWithAnAgentTakesNoSecond) {
  add_agent("one", echo);
  serve();
  const auto operation = start_agent("one", session('a'));
  expect_refusal(fresh("one", new_id(), session('b')), AckOutcome::already_running, true, "already_running");
  expect_refusal(resume("one", new_id(), session('b'), 0), AckOutcome::already_running, true, "already_running");
  hear(operation, 1);
  EXPECT_EQ(begun(), 1U);
}

TEST_F(Operations, ContainersDoNotDisturbEachOther) {
  add_agent("one", echo);
  add_agent("two", echo);
  serve();
  const auto first = start_agent("one", session('a'));
  const auto second = start_agent("two", session('b'));
  stop_agent("one", session('a'));
  type("two", second, session('b'), 1, "still here");
  EXPECT_EQ(hear(second, 2).back().line, "heard still here");
}

TEST_F(Operations, AnEqualOrLowerDispatchIsAnsweredFromTheJournal) {
  add_agent("one", echo);
  serve();
  const auto operation = new_id();
  peer_->send(fresh("one", operation, session('a'), 2));
  const auto first = peer_->next<Started>();
  EXPECT_EQ(first.dispatch, 2);
  for (const std::int64_t dispatch : {1, 2, 3}) {
    const auto again = fresh("one", operation, session('a'), dispatch);
    peer_->send(again);
    const auto answer = peer_->next<Started>();
    EXPECT_EQ(answer.report, first.report);
    EXPECT_EQ(answer.request_id, again.request_id);
    EXPECT_EQ(answer.dispatch, std::max<std::int64_t>(dispatch, 2));
  }
  hear(operation, 1);
  EXPECT_EQ(begun(), 1U);
}

TEST_F(Operations, AHigherDispatchStartsAfterARetryableFailureOnly) {
  add_agent("one", echo);
  configure("[containers.broken]\ncommand = [\"/nowhere/agent\"]\nfolder = \"" + folder().string() + "\"\n");
  attempts_["broken"] = "";
  serve();
  // Retryable: a program that is not there; it may be by the next time.
  const auto operation = new_id();
  for (const std::int64_t dispatch : {1, 2}) {
    peer_->send(fresh("broken", operation, session('a'), dispatch));
    EXPECT_EQ(std::get<Acknowledged>(peer_->next<Acknowledged>().report).outcome, AckOutcome::accepted);
    const auto failed = peer_->next<Failed>();
    EXPECT_EQ(failed.dispatch, dispatch);
    EXPECT_TRUE(std::get<Failed>(failed.report).retryable);
    EXPECT_EQ(std::get<Failed>(failed.report).code, "start_failed");
    EXPECT_NE(std::get<Failed>(failed.report).detail.find("No such file"), std::string::npos);
  }
  // The same number again is the same failure, and nothing is tried.
  peer_->send(fresh("broken", operation, session('a'), 2));
  EXPECT_EQ(std::get<Acknowledged>(peer_->next<Acknowledged>().report).outcome, AckOutcome::accepted);
  EXPECT_EQ(std::get<Failed>(peer_->next<Failed>().report).code, "start_failed");
  // Terminal: a higher number changes nothing.
  const auto other = new_id();
  expect_refusal(fresh("one", other, "", 1), AckOutcome::rejected, false, "failed_precondition");
  expect_refusal(fresh("one", other, session('a'), 2), AckOutcome::rejected, false, "failed_precondition");
  EXPECT_EQ(begun(), 0U);
}

TEST_F(Operations, AResumeFindsItsBodyWhenItStarts) {
  add_agent("one", "basename \"$CLEAT_SESSION_BODY\"; echo \"$CLEAT_SESSION_ID\"; cat \"$CLEAT_SESSION_BODY\"");
  serve();
  const auto operation = new_id();
  peer_->send(envelope("one", operation, wire::BodyPart{0, "first line\nsec"}, 1));
  peer_->send(envelope("one", operation, wire::BodyPart{1, "ond line\n"}, 1));
  const auto message = resume("one", operation, session('c'), 2);
  peer_->send(message);
  EXPECT_EQ(peer_->next<Started>(), (wire::FromRunner{message.request_id, operation, attempt("one"), 1,
                                                      Started{session('c'), "", session('c')}}));
  const auto lines = hear_to_the_end(operation);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0].line, session('c') + ".jsonl");
  EXPECT_EQ(lines[1].line, session('c'));
  EXPECT_EQ(lines[2].line, "first line");
  EXPECT_EQ(lines[3].line, "second line");
}

TEST_F(Operations, AResumeWithoutItsWholeBodyStartsNothing) {
  add_agent("one", echo);
  serve();
  const auto missing = new_id();
  peer_->send(envelope("one", missing, wire::BodyPart{0, "a"}, 1));
  expect_refusal(resume("one", missing, session('a'), 2), AckOutcome::rejected, true, "body_incomplete");
  const auto gap = new_id();
  peer_->send(envelope("one", gap, wire::BodyPart{0, "a"}, 1));
  peer_->send(envelope("one", gap, wire::BodyPart{2, "c"}, 1));
  peer_->send(envelope("one", gap, wire::BodyPart{1, "b"}, 1));
  expect_refusal(resume("one", gap, session('a'), 3), AckOutcome::rejected, true, "body_incomplete");
  // Parts of one dispatch are not those of another.
  peer_->send(envelope("one", missing, wire::BodyPart{0, "a"}, 2));
  expect_refusal(resume("one", missing, session('a'), 1, 3), AckOutcome::rejected, true, "body_incomplete");
  EXPECT_EQ(begun(), 0U);
}

TEST_F(Operations, AStopTakesExactlyItsTarget) {
  add_agent("one", echo);
  serve();
  const auto operation = start_agent("one", session('a'));
  hear(operation, 1);
  expect_refusal(stop("one", new_id(), session('b')), AckOutcome::rejected, false, "no_such_session");
  auto other_attempt = stop("one", new_id(), session('a'));
  std::get<wire::Stop>(other_attempt.command).container_attempt_id = new_id();
  expect_refusal(other_attempt, AckOutcome::rejected, false, "no_such_session");
  auto other_envelope = stop("one", new_id(), session('a'));
  other_envelope.container_attempt_id = new_id();
  expect_refusal(other_envelope, AckOutcome::rejected, false, "no_such_session");
  type("one", operation, session('a'), 1, "alive");
  EXPECT_EQ(hear(operation, 1).front().line, "heard alive");
  stop_agent("one", session('a'));
  expect_refusal(stop("one", new_id(), session('a')), AckOutcome::rejected, false, "no_such_session");
}

TEST_F(Operations, AStopThatIsSentAgainIsAnsweredFromTheJournal) {
  add_agent("one", echo);
  serve();
  start_agent("one", session('a'));
  const auto message = stop("one", new_id(), session('a'));
  peer_->send(message);
  peer_->send(message);
  const auto first = peer_->next<Stopped>();
  peer_->send(message);
  EXPECT_EQ(peer_->next<Stopped>(), first);
}

TEST_F(Operations, TwoStopsOfOneAgentBothSucceed) {
  add_agent("one", "trap 'sleep 0.2; exit 0' TERM; echo ready; while :; do sleep 0.05; done");
  serve();
  const auto operation = start_agent("one", session('a'));
  hear(operation, 1);
  const auto first = stop("one", new_id(), session('a'));
  const auto second = stop("one", new_id(), session('a'));
  peer_->send(first);
  peer_->send(second);
  EXPECT_EQ(peer_->next<Stopped>().operation_id, first.operation_id);
  EXPECT_EQ(peer_->next<Stopped>().operation_id, second.operation_id);
}

TEST_F(Operations, AnAgentThatDoesNotEndIsKilledWithItsChildren) {
  add_agent("one", "trap '' TERM; sleep 1000 & echo $!; echo $$; while :; do sleep 1000; done");
  serve();
  const auto operation = start_agent("one", session('a'));
  const auto said = hear(operation, 2);
  stop_agent("one", session('a'));
  EXPECT_EQ(hear_to_the_end(operation).back().exit_code, 128 + 9);
  EXPECT_TRUE(is_gone_within(std::stoi(said[0].line)));
  EXPECT_TRUE(is_gone_within(std::stoi(said[1].line)));
}

TEST_F(Operations, WhatAnAgentLeavesBehindEndsWithIt) {
  add_agent("one", "sleep 1000 & echo $!; exit 0");
  serve();
  const auto lines = hear_to_the_end(start_agent("one", session('a')));
  EXPECT_TRUE(is_gone_within(std::stoi(lines.front().line)));
}

TEST_F(Operations, WhatAnAgentSaysWhileItEndsComesBeforeTheAnswerToItsStop) {
  add_agent("one", "trap 'echo last words; exit 3' TERM; echo ready; while :; do sleep 0.05; done");
  serve();
  const auto operation = start_agent("one", session('a'));
  hear(operation, 1);
  peer_->send(stop("one", new_id(), session('a')));
  EXPECT_TRUE(std::holds_alternative<Acknowledged>(peer_->next_of_any().report));
  bool is_over = false;
  for (auto message = peer_->next_of_any(); !std::holds_alternative<Stopped>(message.report);
       message = peer_->next_of_any())
    is_over = std::get<wire::Relay>(message.report).lines.back().exit_code == 3;
  EXPECT_TRUE(is_over);
}

TEST_F(Operations, TheNullDriverStartsAndStopsWithoutAProcess) {
  add_null("one");
  serve();
  const auto operation = start_agent("one", session('a'));
  type("one", operation, session('a'), 5, "nobody");
  EXPECT_EQ(std::get<wire::InputDone>(peer_->next<wire::InputDone>().report).through, 5);
  stop_agent("one", session('a'));
  EXPECT_EQ(hear_to_the_end(operation).back().exit_code, 0);
}

TEST_F(Operations, ANewAttemptEndsWhatTheOldOneLeftAndThenBegins) {
  add_agent("one", "echo $$; while read -r line; do echo \"heard $line\"; done");
  serve();
  const auto operation = start_agent("one", session('a'));
  const auto pid = std::stoi(hear(operation, 1).front().line);
  const auto next = new_id();
  auto issue = envelope("one", "", wire::IssueAttempt{"one", next});
  issue.container_attempt_id = next;
  attempts_["one"] = next;
  // A start may follow at once; it waits for the lock.
  const auto second = fresh("one", new_id(), session('b'));
  peer_->send(issue);
  peer_->send(second);
  const auto issued = peer_->next<wire::AttemptIssued>();
  EXPECT_EQ(issued.request_id, issue.request_id);
  EXPECT_EQ(std::get<wire::AttemptIssued>(issued.report), (wire::AttemptIssued{"one", next}));
  EXPECT_FALSE(is_running(pid));
  EXPECT_EQ(peer_->next<Started>().operation_id, second.operation_id);
  // The same attempt again ends nothing.
  peer_->send(issue);
  peer_->next<wire::AttemptIssued>();
  EXPECT_EQ(settled_status_of("one", second.operation_id).kind, wire::StatusKind::live);
}

} // namespace
} // namespace cleat::test
