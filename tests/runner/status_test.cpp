#include "tests/runner/fixture.hpp"

/// What a Runner answers to "what became of it?" (spec 04 sections 7 and 8).
namespace cleat::test {
namespace {

using wire::Status;
using wire::StatusKind;

class StatusOf : public RunnerTest {};

Status of(const wire::FromRunner& message) {
  return std::get<Status>(message.report);
}

TEST_F(StatusOf, ALiveAgentComesWithItsEchoes) {
  add_null("one");
  serve();
  const auto operation = start_agent("one", session('a'));
  const auto answer = status_of("one", operation);
  EXPECT_EQ(answer.container_attempt_id, attempt("one"));
  EXPECT_EQ(answer.dispatch, 1);
  EXPECT_EQ(of(answer), (Status{StatusKind::live, wire::Started{session('a'), session('a'), ""}}));
}

TEST_F(StatusOf, AnAgentThatHasEndedIsATerminalOutcomeOfItsStart) {
  add_agent("one", "exit 3");
  serve();
  const auto operation = start_agent("one", session('a'));
  hear_to_the_end(operation);
  EXPECT_EQ(of(status_of("one", operation)),
            (Status{StatusKind::terminal_outcome, wire::Started{session('a'), session('a'), ""}}));
}

TEST_F(StatusOf, AStopIsATerminalOutcome) {
  add_null("one");
  serve();
  start_agent("one", session('a'));
  const auto message = stop("one", new_id(), session('a'));
  peer_->send(message);
  peer_->next<wire::Stopped>();
  EXPECT_EQ(of(status_of("one", message.operation_id)),
            (Status{StatusKind::terminal_outcome, wire::Stopped{session('a')}}));
}

TEST_F(StatusOf, AFailureIsATerminalOutcome) {
  add_null("one");
  serve();
  const auto operation = new_id();
  peer_->send(fresh("one", operation, ""));
  const auto failed = peer_->next<wire::Failed>();
  const auto status = of(status_of("one", operation));
  EXPECT_EQ(status.kind, StatusKind::terminal_outcome);
  EXPECT_EQ(std::get<wire::Failed>(status.outcome), std::get<wire::Failed>(failed.report));
}

TEST_F(StatusOf, AnAgentThatIsBeingEndedIsAmbiguous) {
  add_agent("one", "trap 'echo ending; read -r line; exit 0' TERM; echo ready; while :; do sleep 0.02; done",
            "stop_grace_s = 60");
  toml_.replace(toml_.find("stop_grace_s = 1\n"), std::string("stop_grace_s = 1\n").size(), "");
  serve();
  const auto operation = start_agent("one", session('a'));
  hear(operation, 1);
  const auto message = stop("one", new_id(), session('a'));
  peer_->send(message);
  hear(operation, 1); // "ending": it waits for a line that never comes
  EXPECT_EQ(of(status_of("one", operation)).kind, StatusKind::ambiguous);
  EXPECT_EQ(of(status_of("one", message.operation_id)).kind, StatusKind::ambiguous);
}

TEST_F(StatusOf, WhatNeverCameIsToldOnceAndNeverStartsAfterwards) {
  add_agent("one", "echo started > begun; echo hello");
  serve();
  const auto operation = new_id();
  const auto answer = status_of("one", operation, 1);
  EXPECT_EQ(of(answer), (Status{StatusKind::no_such_operation, {}}));
  EXPECT_EQ(answer.dispatch, 1);
  EXPECT_EQ(answer.container_attempt_id, attempt("one"));
  // The dispatch was late.
  peer_->send(fresh("one", operation, session('a'), 1));
  const auto refused = std::get<wire::Failed>(peer_->next<wire::Failed>().report);
  EXPECT_TRUE(refused.retryable);
  EXPECT_EQ(refused.code, "tombstoned");
  EXPECT_EQ(of(status_of("one", operation, 1)).kind, StatusKind::no_such_operation);
  EXPECT_EQ(read_file(folder() / "begun"), "");
  // The next one is not.
  peer_->send(fresh("one", operation, session('a'), 2));
  EXPECT_EQ(peer_->next<wire::Started>().dispatch, 2);
}

TEST_F(StatusOf, ATombstoneSurvivesKillDashNine) {
  add_null("one");
  serve();
  const auto operation = new_id();
  status_of("one", operation, 1);
  kill_runner();
  start_runner();
  const auto attempt_before = attempt("one");
  meet();
  enrol();
  attempts_["one"] = attempt_before;
  peer_->send(fresh("one", operation, session('a'), 1));
  EXPECT_EQ(std::get<wire::Failed>(peer_->next<wire::Failed>().report).code, "tombstoned");
}

TEST_F(StatusOf, ARetryThatNeverCameIsNoSuchOperation) {
  configure("[containers.broken]\ncommand = [\"/nowhere/agent\"]\nfolder = \"" + folder().string() + "\"\n");
  attempts_["broken"] = "";
  serve();
  const auto operation = new_id();
  peer_->send(fresh("broken", operation, session('a'), 1));
  peer_->next<wire::Failed>();
  EXPECT_EQ(of(status_of("broken", operation, 1)).kind, StatusKind::terminal_outcome);
  EXPECT_EQ(of(status_of("broken", operation, 2)).kind, StatusKind::no_such_operation);
  peer_->send(fresh("broken", operation, session('a'), 2));
  EXPECT_EQ(std::get<wire::Failed>(peer_->next<wire::Failed>().report).code, "tombstoned");
  peer_->send(fresh("broken", operation, session('a'), 3));
  EXPECT_EQ(std::get<wire::Failed>(peer_->next<wire::Failed>().report).code, "start_failed");
}

TEST_F(StatusOf, AnotherJournalMayKnowWhatThisOneDoesNot) {
  add_null("one");
  serve();
  const auto operation = new_id();
  auto question = ask("one", operation);
  std::get<wire::AskStatus>(question.command).journal_id = new_id();
  peer_->send(question);
  EXPECT_EQ(of(peer_->next<wire::Status>()).kind, StatusKind::ambiguous);
  std::get<wire::AskStatus>(question.command).journal_id = "";
  peer_->send(question);
  EXPECT_EQ(of(peer_->next<wire::Status>()).kind, StatusKind::ambiguous);
  // And no tombstone was written.
  peer_->send(fresh("one", operation, session('a'), 1));
  peer_->next<wire::Started>();
  // What this one knows it tells whoever asks.
  peer_->send(question);
  EXPECT_EQ(of(peer_->next<wire::Status>()).kind, StatusKind::live);
}

TEST_F(StatusOf, TheAttemptBelongsToTheKey) {
  add_null("one");
  serve();
  const auto operation = start_agent("one", session('a'));
  auto question = ask("one", operation);
  question.container_attempt_id = new_id();
  peer_->send(question);
  EXPECT_EQ(of(peer_->next<wire::Status>()).kind, StatusKind::no_such_operation);
  EXPECT_EQ(of(status_of("one", operation)).kind, StatusKind::live);
}

} // namespace
} // namespace cleat::test
