#include "tests/runner/fixture.hpp"

/// What agents say and are told (spec 04 section 7).
namespace cleat::test {
namespace {

class Relays : public RunnerTest {
protected:
  /// The socket goes, the Runner comes back, the enrolment continues.
  void reconnect() {
    peer_->close();
    EXPECT_EQ(meet().secret, enrolled_.secret);
    continue_enrolment();
  }
};

TEST_F(Relays, LinesThatWereNotAcknowledgedComeAgainAfterAReconnectAndNoneTwice) {
  configure("[relay]\nresend_ms = 60000\n");
  add_agent("one", "for i in 1 2 3; do echo \"line $i\"; done; read -r line; echo \"heard $line\"");
  serve();
  const auto operation = start_agent("one", session('a'));
  hear(operation, 3, false);
  acknowledge("one", operation, session('a'), 1);
  reconnect();
  heard_[operation] = 1;
  const auto again = hear(operation, 2);
  EXPECT_EQ(again[0].line, "line 2");
  EXPECT_EQ(again[1].line, "line 3");
  type("one", operation, session('a'), 9, "x");
  EXPECT_EQ(hear(operation, 1).front().line, "heard x");
}

TEST_F(Relays, NothingIsLostWhileThereIsNoServer) {
  add_agent("one", "read -r line; for i in 1 2 3 4 5; do echo \"line $i\"; done; echo done > finished; exit 4");
  serve();
  const auto operation = start_agent("one", session('a'));
  type("one", operation, session('a'), 1, "go");
  peer_->next<wire::InputDone>();
  peer_->close();
  file_of_agent("finished");
  meet();
  continue_enrolment();
  const auto lines = hear_to_the_end(operation);
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[4].line, "line 5");
  EXPECT_EQ(lines[5].exit_code, 4);
}

TEST_F(Relays, LinesComeAgainWithoutAnAcknowledgement) {
  configure("[relay]\nresend_ms = 100\n");
  add_agent("one", "echo hello; read -r line");
  serve();
  const auto operation = start_agent("one", session('a'));
  const auto first = peer_->next<wire::Relay>();
  EXPECT_EQ(peer_->next<wire::Relay>().report, first.report);
  acknowledge("one", operation, session('a'), 1);
  status_of("one", operation); // the acknowledgement has been taken when this is answered
  while (peer_->find<wire::Relay>(std::chrono::milliseconds(0))) {
  }
  EXPECT_FALSE(peer_->find<wire::Relay>(std::chrono::milliseconds(400)));
}

TEST_F(Relays, NoMoreThanTheWindowIsOnItsWay) {
  configure("[relay]\nwindow = 3\nresend_ms = 60000\n");
  add_agent("one", "for i in 1 2 3 4 5 6 7; do echo $i; done; read -r line");
  serve();
  const auto operation = start_agent("one", session('a'));
  hear(operation, 3, false);
  EXPECT_FALSE(peer_->find<wire::Relay>(std::chrono::milliseconds(300)));
  acknowledge("one", operation, session('a'), 2);
  EXPECT_EQ(hear(operation, 2, false).back().line, "5");
  EXPECT_FALSE(peer_->find<wire::Relay>(std::chrono::milliseconds(300)));
}

TEST_F(Relays, TheAnswerToAStopWaitsUntilTheLastLinesAreOnTheirWay) {
  configure("[relay]\nwindow = 1\nresend_ms = 60000\n");
  add_agent("one", "trap 'echo two; echo three; exit 0' TERM; echo one; while :; do sleep 0.02; done");
  serve();
  const auto operation = start_agent("one", session('a'));
  hear(operation, 1, false);
  peer_->send(stop("one", new_id(), session('a')));
  EXPECT_FALSE(peer_->find<wire::Stopped>(std::chrono::milliseconds(500)));
  acknowledge("one", operation, session('a'), 1);
  hear(operation, 2);
  EXPECT_FALSE(peer_->find<wire::Stopped>(std::chrono::milliseconds(0)));
  hear(operation, 1);
  peer_->next<wire::Stopped>();
}

TEST_F(Relays, AnAgentWaitsWhileTooMuchIsUnacknowledged) {
  configure("[relay]\nmax_unacknowledged = 50\nresend_ms = 60000\n");
  // 64 KiB fit into its pipe, 50 lines into the journal; it wants to say a megabyte.
  add_agent("one", "i=0; while [ $i -lt 1024 ]; do printf '%01023d\\n' $i; i=$((i+1)); echo $i > progress; done");
  serve();
  const auto operation = start_agent("one", session('a'));
  const auto first = hear(operation, 50, false);
  EXPECT_FALSE(peer_->find<wire::Relay>(std::chrono::milliseconds(300)).has_value() && first.size() > 200U);
  EXPECT_LT(std::stoi(file_of_agent("progress")), 400);
  acknowledge("one", operation, session('a'), heard_[operation]);
  const auto rest = hear_to_the_end(operation);
  EXPECT_EQ(first.size() + rest.size(), 1025U);
  EXPECT_EQ(file_of_agent("progress"), "1024\n");
}

TEST_F(Relays, LongLinesComeInPiecesAndBytesThatAreNoTextAreReplaced) {
  add_agent("one", "printf '%0150000d\\n' 0; printf 'a\\377b\\000c\\n'");
  serve();
  const auto operation = start_agent("one", session('a'));
  const auto lines = hear_to_the_end(operation);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0].line, std::string(65'536, '0'));
  EXPECT_EQ(lines[1].line, std::string(65'536, '0'));
  EXPECT_EQ(lines[2].line, std::string(150'000 - 2 * 65'536, '0'));
  EXPECT_EQ(lines[3].line, "a\xef\xbf\xbd"
                           "b\xef\xbf\xbd"
                           "c");
}

TEST_F(Relays, AMegabyteArrivesWhole) {
  add_agent("one", "i=0; while [ $i -lt 2000 ]; do printf '%0600d\\n' $i; i=$((i+1)); done");
  serve();
  const auto operation = start_agent("one", session('a'));
  const auto lines = hear_to_the_end(operation);
  ASSERT_EQ(lines.size(), 2001U);
  for (std::size_t i = 0; i < 2000; ++i)
    ASSERT_EQ(std::stoul(lines[i].line), i);
}

TEST_F(Relays, AnInputLineIsWrittenOnceHoweverOftenItIsSent) {
  add_agent("one", "while read -r line; do echo \"heard $line\"; done");
  serve();
  const auto operation = start_agent("one", session('a'));
  for (int i = 0; i < 3; ++i)
    type("one", operation, session('a'), 4, "first");
  type("one", operation, session('a'), 6, "second");
  type("one", operation, session('a'), 4, "first");
  const auto lines = hear(operation, 2);
  EXPECT_EQ(lines[0].line, "heard first");
  EXPECT_EQ(lines[1].line, "heard second");
  reconnect();
  type("one", operation, session('a'), 6, "second");
  EXPECT_EQ(std::get<wire::InputDone>(peer_->next<wire::InputDone>().report).through, 6);
  type("one", operation, session('a'), 8, "third");
  EXPECT_EQ(hear(operation, 1).front().line, "heard third");
}

TEST_F(Relays, InputForAnotherSessionOrAttemptReachesNobody) {
  add_agent("one", "while read -r line; do echo \"heard $line\"; done");
  serve();
  const auto operation = start_agent("one", session('a'));
  type("one", operation, session('b'), 1, "wrong session");
  type("one", new_id(), session('a'), 1, "wrong operation");
  auto message = envelope("one", operation, wire::Input{session('a'), 1, "wrong attempt"});
  message.container_attempt_id = new_id();
  peer_->send(message);
  type("one", operation, session('a'), 2, "right");
  EXPECT_EQ(hear(operation, 1).front().line, "heard right");
}

TEST_F(Relays, InputThatDoesNotFitWaitsForItsTurn) {
  add_agent("one", "read -r first; echo \"$first\"; while [ ! -e go ]; do sleep 0.02; done; "
                   "while read -r line; do echo \"${line%%-*}\"; done");
  serve();
  const auto operation = start_agent("one", session('a'));
  type("one", operation, session('a'), 1, "0");
  hear(operation, 1);
  peer_->next<wire::InputDone>();
  // The agent does not read. Far more than its pipe and the queue can hold.
  constexpr std::int64_t many = 120;
  const std::string filling = "-" + std::string(60'000, 'x');
  std::int64_t done = 1;
  const auto send_from = [&](std::int64_t first) {
    for (auto seq = first; seq <= many; ++seq)
      // The last one is short: it would fit where others before it did not.
      type("one", operation, session('a'), seq, std::to_string(seq) + (seq < many ? filling : "-"));
  };
  send_from(2);
  status_of("one", operation);
  write_file(folder() / "go", "");
  for (std::int64_t expected = 2; expected <= many;) {
    // What was not taken is sent again, in order, as a server does.
    while (auto message = peer_->find<wire::InputDone>(std::chrono::milliseconds(0)))
      done = std::get<wire::InputDone>(message->report).through;
    if (const auto relay = peer_->find<wire::Relay>(std::chrono::milliseconds(200))) {
      for (const auto& line : std::get<wire::Relay>(relay->report).lines)
        if (line.seq > heard_[operation]) {
          EXPECT_EQ(line.line, std::to_string(expected++));
          heard_[operation] = line.seq;
        }
      acknowledge("one", operation, session('a'), heard_[operation]);
    } else {
      send_from(done + 1);
    }
  }
}

} // namespace
} // namespace cleat::test
