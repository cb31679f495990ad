#include <csignal>
#include <cstdlib>
#include <sstream>

#include "tests/runner/fixture.hpp"

/// kill -9 at every place where it could matter: the journal answers, and no agent runs twice (spec 04 section 7).
namespace cleat::test {
namespace {

using wire::Status;
using wire::StatusKind;

/// Says its process's number in a file, then waits to be told something.
const std::string agent = "echo $$ >> pids; echo hello; read -r line; echo \"heard $line\"";

class Crash : public RunnerTest {
protected:
  /// Starts a Runner that kills itself there, and asks it for an agent.
  void crash_during_a_start(const std::string& place) {
    add_agent("one", agent);
    start_runner(place);
    meet();
    enrol();
    old_attempt_ = attempt("one");
    operation_ = new_id();
    peer_->send(fresh("one", operation_, session('a')));
    ASSERT_EQ(end_of_runner(), 128 + SIGKILL) << place;
  }

  void restart() {
    start_runner();
    EXPECT_EQ(meet().secret, "");
    enrol();
  }

  /// What the journal says of the operation under its attempt, or about another one.
  Status recalled(const std::string& operation, std::int64_t dispatch = 1) {
    auto question = ask("one", operation, dispatch);
    question.container_attempt_id = old_attempt_;
    peer_->send(question);
    return std::get<Status>(peer_->next<Status>().report);
  }

  /// The processes that agents of this test ever were.
  [[nodiscard]] std::vector<pid_t> pids() const {
    std::vector<pid_t> found;
    std::istringstream text(read_file(folder() / "pids"));
    for (pid_t pid = 0; text >> pid;)
      found.push_back(pid);
    return found;
  }

  std::string old_attempt_;
  std::string operation_;
};

TEST_F(Crash, BeforeTheExecNothingHasStartedAndItMayBeTriedAgain) {
  for (const char* place : {"after_journal_accepted", "before_exec"}) {
    toml_.clear();
    crash_during_a_start(place);
    restart();
    const auto status = recalled(operation_);
    EXPECT_EQ(status.kind, StatusKind::terminal_outcome) << place;
    const auto failed = std::get<wire::Failed>(status.outcome);
    EXPECT_EQ(failed.code, "runner_restarted");
    EXPECT_TRUE(failed.retryable);
    EXPECT_TRUE(pids().empty()) << place;
    // The same dispatch again starts nothing.
    auto again = fresh("one", operation_, session('a'));
    again.container_attempt_id = old_attempt_;
    peer_->send(again);
    EXPECT_EQ(std::get<wire::Failed>(peer_->next<wire::Failed>().report).code, "runner_restarted");
    EXPECT_TRUE(pids().empty()) << place;
  }
}

TEST_F(Crash, AfterTheExecTheAgentIsGoneAndTheStartHasFailed) {
  crash_during_a_start("after_exec");
  restart();
  EXPECT_EQ(std::get<wire::Failed>(recalled(operation_).outcome).code, "runner_restarted");
  for (const auto pid : pids())
    EXPECT_FALSE(is_running(pid));
  // And the container is free.
  const auto next = start_agent("one", session('b'));
  EXPECT_EQ(hear(next, 1).front().line, "hello");
}

TEST_F(Crash, OnceTheStartIsJournalledItIsToldAsOneThatHasEndedSince) {
  for (const char* place : {"after_journal_started", "before_result"}) {
    toml_.clear();
    crash_during_a_start(place);
    restart();
    EXPECT_EQ(recalled(operation_),
              (Status{StatusKind::terminal_outcome, wire::Started{session('a'), session('a'), ""}}))
      << place;
    for (const auto pid : pids())
      EXPECT_FALSE(is_running(pid)) << place;
    // Its end is told as well.
    EXPECT_EQ(hear_to_the_end(operation_).back().exit_code, 128 + SIGKILL);
  }
}

TEST_F(Crash, WhatWasJournalledOfAnAgentsWordsComesAfterTheRestart) {
  add_agent("one", agent);
  start_runner("after_relay_journal");
  meet();
  enrol();
  old_attempt_ = attempt("one");
  operation_ = new_id();
  peer_->send(fresh("one", operation_, session('a')));
  ASSERT_EQ(end_of_runner(), 128 + SIGKILL);
  restart();
  const auto lines = hear_to_the_end(operation_);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].line, "hello");
  EXPECT_EQ(lines[1].exit_code, 128 + SIGKILL);
}

TEST_F(Crash, ARunnerThatIsKilledTakesItsAgentsAndTheirChildrenAlong) {
  add_agent("one", "sleep 1000 & echo $! >> pids; echo $$ >> pids; setsid sleep 1000 & echo $! >> pids; "
                   "echo hello; read -r line");
  serve();
  old_attempt_ = attempt("one");
  operation_ = start_agent("one", session('a'));
  hear(operation_, 1);
  const auto running = pids();
  ASSERT_EQ(running.size(), 3U);
  kill_runner();
  restart();
  for (const auto pid : running)
    EXPECT_FALSE(is_running(pid)) << "before the Runner enrolled anew everything of old attempts had ended";
  EXPECT_EQ(recalled(operation_).kind, StatusKind::terminal_outcome);
  // Numbers go on where they were.
  EXPECT_EQ(hear_to_the_end(operation_).front().seq, 2);
}

TEST_F(Crash, AnAgentThatReadsNothingDiesWithItsRunnerAsWell) {
  add_agent("one", "echo $$ >> pids; echo hello; exec sleep 1000");
  serve();
  hear(start_agent("one", session('a')), 1);
  kill_runner();
  EXPECT_TRUE(is_gone_within(pids().at(0)));
}

TEST_F(Crash, AStopThatWasUnderWayHasHappened) {
  add_agent("one", "trap '' TERM; echo $$ >> pids; echo hello; while :; do sleep 0.05; done");
  serve();
  old_attempt_ = attempt("one");
  operation_ = start_agent("one", session('a'));
  hear(operation_, 1);
  const auto message = stop("one", new_id(), session('a'));
  peer_->send(message);
  peer_->next<wire::Acknowledged>();
  kill_runner();
  restart();
  EXPECT_EQ(recalled(message.operation_id), (Status{StatusKind::terminal_outcome, wire::Stopped{session('a')}}));
}

TEST_F(Crash, AProcessThatOnlyHasTheSameNumberIsLeftAlone) {
  add_agent("one", agent);
  serve();
  operation_ = start_agent("one", session('a'));
  hear(operation_, 1);
  kill_runner();
  ASSERT_TRUE(is_gone_within(pids().front()));
  // Somebody else's process, to which the journal now points. Numbers come again much later than in a test.
  Command command;
  command.program = "/bin/sleep";
  command.arguments = {"1000"};
  command.output = file("sleep.log");
  Child other(command);
  const auto edit = "sqlite3 " + (state() / "journal.db").string() +
                    " 'update operations set pid = " + std::to_string(other.pid()) +
                    ", process_start = process_start - 1'";
  ASSERT_EQ(std::system(edit.c_str()), 0);
  restart();
  EXPECT_TRUE(is_running(other.pid()));
}

TEST_F(Crash, OneAgentAtMostHoweverOftenTheRunnerDies) {
  for (const char* place : {"after_journal_accepted", "before_exec", "after_exec", "after_journal_started",
                            "before_result", "after_relay_journal"}) {
    toml_.clear();
    crash_during_a_start(place);
  }
  restart();
  const auto last = start_agent("one", session('b'));
  hear(last, 1);
  int running = 0;
  for (const auto pid : pids())
    running += is_running(pid) ? 1 : 0;
  EXPECT_EQ(running, 1);
}

} // namespace
} // namespace cleat::test
