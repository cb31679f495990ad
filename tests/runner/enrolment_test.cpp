#include <csignal>

#include "tests/runner/fixture.hpp"

/// Enrolments: new, continued, over (spec 04 sections 7 and 8).
namespace cleat::test {
namespace {

using wire::EnrolmentRefused;

class Enrolment : public RunnerTest {
protected:
  void refuse(const std::string& code) {
    wire::ToRunner message;
    message.command = EnrolmentRefused{code, ""};
    peer_->send(message);
    peer_->hang_up();
  }
};

TEST_F(Enrolment, TheFirstOneShowsTokenAndJournalAndNoSecret) {
  add_null("one");
  start_runner();
  const auto request = meet();
  EXPECT_EQ(request.token, "the-token");
  EXPECT_EQ(request.secret, "");
  EXPECT_TRUE(Id::parse(request.journal_id));
  EXPECT_NE(request.version.find("runner-session-id-v1"), std::string::npos) << request.version;
}

TEST_F(Enrolment, TheJournalIsTheSameAfterARestartAndTheEnrolmentIsNot) {
  add_null("one");
  serve();
  const auto journal = journal_id_;
  kill_runner();
  start_runner();
  const auto request = meet();
  EXPECT_EQ(request.journal_id, journal);
  EXPECT_EQ(request.secret, "");
}

TEST_F(Enrolment, ADroppedSocketContinuesWithTheSecretAndItsAgentsGoOn) {
  add_agent("one", "echo $$; while read -r line; do echo \"heard $line\"; done");
  serve();
  const auto operation = start_agent("one", session('a'));
  const auto pid = std::stoi(hear(operation, 1).front().line);
  peer_->close();
  EXPECT_EQ(meet().secret, enrolled_.secret);
  continue_enrolment();
  EXPECT_EQ(std::get<wire::Status>(status_of("one", operation).report).kind, wire::StatusKind::live);
  type("one", operation, session('a'), 1, "you");
  EXPECT_EQ(hear(operation, 1).front().line, "heard you");
  EXPECT_TRUE(is_running(pid));
}

TEST_F(Enrolment, AfterTheGraceAgentsHaveEndedBeforeANewEnrolmentIsAskedFor) {
  enrolled_.reconnect_grace_ms = 200;
  // It needs a moment to end, so that the order can be seen.
  add_agent("one", "trap 'sleep 0.3; exit 0' TERM; echo $$; while :; do sleep 0.02; done");
  serve();
  const auto operation = start_agent("one", session('a'));
  const auto pid = std::stoi(hear(operation, 1).front().line);
  // The server is away for longer than the grace.
  const auto address = server_->port();
  peer_->close();
  server_ = nullptr;
  EXPECT_TRUE(is_gone_within(pid));
  server_ = std::make_unique<Server>(nullptr, address);
  const auto request = meet();
  EXPECT_EQ(request.secret, "");
  EXPECT_FALSE(is_running(pid));
  const auto old_attempt = attempt("one");
  enrol();
  // It was journalled, and what it said comes.
  auto question = ask("one", operation);
  question.container_attempt_id = old_attempt;
  peer_->send(question);
  EXPECT_EQ(std::get<wire::Status>(peer_->next<wire::Status>().report).kind, wire::StatusKind::terminal_outcome);
  EXPECT_EQ(hear_to_the_end(operation).back().exit_code, 0);
  start_agent("one", session('b'));
}

TEST_F(Enrolment, ARefusalToContinueEndsAgentsFirst) {
  add_agent("one", "trap 'sleep 0.3; exit 0' TERM; echo $$; while :; do sleep 0.02; done");
  serve();
  const auto operation = start_agent("one", session('a'));
  const auto pid = std::stoi(hear(operation, 1).front().line);
  peer_->close();
  EXPECT_EQ(meet().secret, enrolled_.secret);
  EXPECT_TRUE(is_running(pid));
  refuse("enrol_anew");
  EXPECT_EQ(meet().secret, "");
  EXPECT_FALSE(is_running(pid));
}

TEST_F(Enrolment, ANewEnrolmentInPlaceOfTheContinuedOneEndsOldAgents) {
  add_agent("one", "echo $$; read -r line");
  serve();
  const auto operation = start_agent("one", session('a'));
  const auto pid = std::stoi(hear(operation, 1).front().line);
  peer_->close();
  meet();
  enrol();
  EXPECT_TRUE(is_gone_within(pid));
  // A start under the new attempt waits for the old one's end.
  start_agent("one", session('b'));
}

TEST_F(Enrolment, AClosedContainerTakesNoStart) {
  add_null("one");
  add_null("two");
  start_runner();
  meet();
  enrol();
  peer_->hang_up();
  meet();
  const auto closed = enrolled_.containers.front();
  enrolled_.containers.front().attempt_id.clear();
  continue_enrolment();
  peer_->send(fresh("one", new_id(), session('a')));
  peer_->next<wire::Acknowledged>();
  EXPECT_EQ(std::get<wire::Failed>(peer_->next<wire::Failed>().report).code, "stale_attempt");
  start_agent("two", session('b'));
}

TEST_F(Enrolment, AnUnknownTokenEndsTheRunnerWithASentence) {
  add_null("one");
  start_runner();
  meet();
  refuse("unauthorized");
  EXPECT_EQ(end_of_runner(), 3);
  EXPECT_NE(log().find("does not accept the token"), std::string::npos);
}

TEST_F(Enrolment, ATokenThatIsRevokedLaterIsTriedAgain) {
  add_null("one");
  serve();
  peer_->close();
  meet();
  refuse("unauthorized");
  meet();
  continue_enrolment();
  start_agent("one", session('a'));
}

TEST_F(Enrolment, AServerThatCannotSayIsAskedAgain) {
  add_null("one");
  start_runner();
  meet();
  refuse("unavailable");
  meet();
  enrol();
  start_agent("one", session('a'));
}

TEST_F(Enrolment, ASupersededRunnerEndsItsAgentsAndItself) {
  add_agent("one", "echo $$; read -r line");
  serve();
  const auto operation = start_agent("one", session('a'));
  const auto pid = std::stoi(hear(operation, 1).front().line);
  refuse("superseded");
  EXPECT_EQ(end_of_runner(), 4);
  EXPECT_FALSE(is_running(pid));
  EXPECT_NE(log().find("Another process has enrolled"), std::string::npos);
}

TEST_F(Enrolment, TwoRunnersDoNotShareAState) {
  add_null("one");
  serve();
  const auto first = std::move(runner_);
  start_runner();
  EXPECT_EQ(end_of_runner(), 1);
  EXPECT_NE(log().find("another cleat-runner works with the state folder"), std::string::npos);
}

TEST_F(Enrolment, ADrainEndsAgentsSendsWhatIsLeftAndEnds) {
  add_agent("one", "trap 'echo last words; exit 5' TERM; echo $$; while :; do sleep 0.02; done");
  serve();
  const auto operation = start_agent("one", session('a'));
  const auto pid = std::stoi(hear(operation, 1).front().line);
  runner_->signal(SIGTERM);
  const auto lines = hear_to_the_end(operation);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].line, "last words");
  EXPECT_EQ(lines[1].exit_code, 5);
  EXPECT_EQ(end_of_runner(), 0);
  EXPECT_FALSE(is_running(pid));
}

TEST_F(Enrolment, ADrainStartsNothingMore) {
  add_agent("one",
            "trap 'echo ending; while [ ! -e go ]; do sleep 0.02; done; exit 0' TERM; echo ready; "
            "while :; do sleep 0.02; done",
            "env = {NAME = \"value\"}");
  add_null("two");
  toml_.replace(toml_.find("stop_grace_s = 1\n"), std::string("stop_grace_s = 1\n").size(), "stop_grace_s = 60\n");
  serve();
  const auto operation = start_agent("one", session('a'));
  hear(operation, 1);
  runner_->signal(SIGTERM);
  hear(operation, 1);
  peer_->send(fresh("two", new_id(), session('b')));
  const auto failed = std::get<wire::Failed>(peer_->next<wire::Failed>().report);
  EXPECT_EQ(failed.code, "draining");
  EXPECT_TRUE(failed.retryable);
  write_file(folder() / "go", "");
  hear_to_the_end(operation);
  EXPECT_EQ(end_of_runner(), 0);
}

TEST_F(Enrolment, ADrainDoesNotWaitForAServerThatNeverAcknowledges) {
  configure("drain_s = 1\n");
  add_agent("one", "echo hello; read -r line");
  serve();
  const auto operation = start_agent("one", session('a'));
  hear(operation, 1, false);
  runner_->signal(SIGINT);
  EXPECT_EQ(end_of_runner(), 0);
}

} // namespace
} // namespace cleat::test
