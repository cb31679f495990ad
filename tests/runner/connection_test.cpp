#include "tests/runner/fixture.hpp"
#include "tests/support/certificates.hpp"

/// The connection itself: TLS, silence, frames that may not be (spec 04 section 10).
namespace cleat::test {
namespace {

class Connections : public RunnerTest {
protected:
  /// A server with a certificate for these names and addresses.
  std::unique_ptr<Server> secure_server(const std::vector<std::string>& names,
                                        const std::vector<std::string>& addresses) {
    write_file(file("ca.pem"), authority_.certificate());
    const auto identity = authority_.issue(names, addresses);
    write_file(file("server.pem"), identity.certificate);
    write_file(file("server.key"), identity.key);
    return std::make_unique<Server>(tls::Context::server(file("server.pem"), file("server.key")));
  }

  Authority authority_{"authority"};
};

TEST_F(Connections, OverTlsEverythingIsTheSame) {
  server_ = secure_server({}, {"127.0.0.1"});
  configure("[tls]\nca = \"" + file("ca.pem").string() + "\"\n");
  add_agent("one", "read -r line; echo \"heard $line\"");
  serve();
  const auto operation = start_agent("one", session('a'));
  type("one", operation, session('a'), 1, "you");
  EXPECT_EQ(hear_to_the_end(operation).front().line, "heard you");
}

TEST_F(Connections, TheNameOfTheServerMayBeGiven) {
  server_ = secure_server({"cleat.example.com"}, {});
  configure("[tls]\nca = \"" + file("ca.pem").string() + "\"\nserver_name = \"cleat.example.com\"\n");
  add_null("one");
  serve();
  start_agent("one", session('a'));
}

TEST_F(Connections, AServerWithAnotherNameOrAuthorityIsToldNothing) {
  server_ = secure_server({"other.example.com"}, {});
  configure("[tls]\nca = \"" + file("ca.pem").string() + "\"\n");
  start_runner();
  peer_ = server_->accept();
  EXPECT_TRUE(peer_->is_closed_within(patience));
  EXPECT_FALSE(peer_->find<wire::AskEnrolment>(std::chrono::milliseconds(0)));
  EXPECT_TRUE(logs("IP address mismatch"));

  runner_.reset();
  server_ = secure_server({}, {"127.0.0.1"});
  write_file(file("ca.pem"), Authority("another").certificate());
  start_runner();
  peer_ = server_->accept();
  EXPECT_TRUE(peer_->is_closed_within(patience));
  EXPECT_FALSE(peer_->find<wire::AskEnrolment>(std::chrono::milliseconds(0)));
}

TEST_F(Connections, ASilentServerIsLeft) {
  enrolled_.timeout_ms = 300;
  enrolled_.heartbeat_ms = 50;
  add_null("one");
  serve();
  EXPECT_TRUE(peer_->is_closed_within(patience));
  EXPECT_GE(peer_->heartbeats(), 2) << "the Runner says that it lives";
  EXPECT_TRUE(logs("silent"));
  EXPECT_EQ(meet().secret, enrolled_.secret);
}

TEST_F(Connections, AServerThatOnlyBeatsIsKept) {
  enrolled_.timeout_ms = 500;
  add_null("one");
  serve();
  wire::ToRunner beat;
  beat.command = wire::Heartbeat{};
  for (int i = 0; i < 10; ++i) {
    peer_->send(beat);
    EXPECT_FALSE(peer_->is_closed_within(std::chrono::milliseconds(100)));
  }
  start_agent("one", session('a'));
}

TEST_F(Connections, AServerThatNeverAnswersIsLeft) {
  configure("[server_connection]\nconnect_timeout_s = 1\n");
  start_runner();
  meet();
  EXPECT_TRUE(peer_->is_closed_within(patience));
  meet();
}

TEST_F(Connections, FramesThatMayNotBeCloseTheConnectionAndHarmNoAgent) {
  add_agent("one", "while read -r line; do echo \"heard $line\"; done");
  serve();
  const auto operation = start_agent("one", session('a'));
  const std::string too_long("\x7f\xff\xff\xff", 4);
  const std::string empty(4, '\0');
  const std::string garbage = wire::frame("\xff\xff\xff\xff");
  for (const auto& bytes : {too_long, empty, garbage}) {
    peer_->send_bytes(bytes);
    EXPECT_TRUE(peer_->is_closed_within(patience));
    EXPECT_EQ(meet().secret, enrolled_.secret);
    continue_enrolment();
  }
  // Commands without operation or attempt.
  for (const bool without_operation : {true, false}) {
    auto message = ask("one", operation);
    (without_operation ? message.operation_id : message.container_attempt_id) = "";
    peer_->send(message);
    EXPECT_TRUE(peer_->is_closed_within(patience));
    meet();
    continue_enrolment();
  }
  // Out of turn: a second enrolment.
  continue_enrolment();
  EXPECT_TRUE(peer_->is_closed_within(patience));
  meet();
  // Out of turn: a command before the enrolment.
  peer_->send(ask("one", operation));
  EXPECT_TRUE(peer_->is_closed_within(patience));
  meet();
  continue_enrolment();
  type("one", operation, session('a'), 1, "you");
  EXPECT_EQ(hear(operation, 1).front().line, "heard you");
}

TEST_F(Connections, HalfAFrameWaitsForTheOtherHalf) {
  add_null("one");
  start_runner();
  meet();
  enrol();
  const auto frame = wire::frame(std::string("\x0a\x01x\x62\x00", 5)); // a heartbeat with a request id
  for (const char byte : frame)
    peer_->send_bytes(std::string(1, byte));
  start_agent("one", session('a'));
}

} // namespace
} // namespace cleat::test
