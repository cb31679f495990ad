#include <variant>

#include "actors/echo_table.hpp"
#include "protocol/runner_codec.hpp"
#include "tests/net/fixture.hpp"

/// What a connection does for a Runner that behaves: enrolments, reports, commands and their echoes.
namespace cleat::test {
namespace {

class Connection : public NetTest {
public:
  std::unique_ptr<Server> server = serve();
  std::uint16_t port = server->listen();
};

wire::ToRunner start(const std::string& container, const std::string& attempt) {
  wire::ToRunner message;
  message.operation_id = "operation-1";
  message.fresh_session_id = "session-1";
  message.container_attempt_id = attempt;
  message.dispatch = 1;
  message.command = wire::Start{container, "", 0};
  return message;
}

TEST_F(Connection, EnrolsAndLooksAfterEachContainer) {
  Client client(port);
  const auto enrolled = client.enrol();
  ASSERT_TRUE(enrolled);
  EXPECT_EQ(enrolled->enrollment_revision, 1);
  EXPECT_EQ(enrolled->heartbeat_ms, 50);
  ASSERT_EQ(enrolled->containers.size(), 2U);
  EXPECT_EQ(enrolled->containers[0].attempt_id, tables->fleet().containers.at("atlas").attempt_id->str());
  const auto reconciles = server->log->await_reconciles(2);
  EXPECT_EQ(reconciles[0].container_name, "atlas");
  EXPECT_EQ(reconciles[1].container_name, "borealis");
  EXPECT_TRUE(reconciles[0].arrived && reconciles[1].arrived);
}

TEST_F(Connection, PassesReportsOnAsTheyCame) {
  Client client(port);
  ASSERT_TRUE(client.enrol());
  client.send(numbered(1));
  auto without_result = numbered(2);
  without_result.report = std::monostate{}; // which is for the container's owner to judge
  client.send(without_result);
  const auto reports = server->log->await_reports(2);
  ASSERT_TRUE(reports[1].message);
  EXPECT_EQ(reports[0].runner_id, runner_id);
  EXPECT_EQ(reports[0].enrollment_revision, 1);
  EXPECT_EQ(reports[0].epoch, 1);
  EXPECT_FALSE(reports[0].about);
  EXPECT_EQ(*reports[0].message, numbered(1));
  EXPECT_EQ(*reports[1].message, without_result);
}

TEST_F(Connection, TiesReportsToWhatWasSent) {
  Client client(port);
  ASSERT_TRUE(client.enrol());
  const Sent about{"operation-1", "attempt-1", "atlas"};
  wire::ToRunner ask;
  ask.request_id = "request-7";
  ask.command = wire::AskStatus{"atlas", "journal"};
  ASSERT_EQ(server->deliver(command(*server, 1, ask, about)), Server::Handed::yes);
  const auto received = client.receive();
  ASSERT_TRUE(received);
  EXPECT_EQ(*received, ask);
  auto report = numbered(1);
  report.operation_id = "altered";
  report.request_id = "request-7";
  client.send(report);
  client.send(report);
  report.request_id = "request-8";
  client.send(report);
  const auto reports = server->log->await_reports(3);
  EXPECT_EQ(reports[0].about, about);
  EXPECT_EQ(reports[1].about, about) << "an acknowledgement is followed by a result";
  EXPECT_FALSE(reports[2].about);
}

TEST_F(Connection, IssuesAnAttemptThatTheRunnerWasNotTold) {
  Client client(port);
  const auto enrolled = client.enrol();
  ASSERT_TRUE(enrolled);
  const auto receive = [&] {
    const auto message = client.receive();
    return message ? *message : wire::ToRunner{};
  };
  const auto deliver = [&](const wire::ToRunner& message) {
    EXPECT_EQ(server->deliver(command(*server, 1, message)), Server::Handed::yes);
  };
  deliver(start("atlas", enrolled->containers[0].attempt_id));
  EXPECT_TRUE(std::holds_alternative<wire::Start>(receive().command)) << "told when it enrolled";
  deliver(start("atlas", "attempt-2"));
  const auto issued = receive();
  EXPECT_EQ(issued.command, (wire::Command{wire::IssueAttempt{"atlas", "attempt-2"}}));
  EXPECT_TRUE(std::holds_alternative<wire::Start>(receive().command));
  deliver(start("atlas", "attempt-2"));
  EXPECT_TRUE(std::holds_alternative<wire::Start>(receive().command)) << "once is enough";
  wire::ToRunner by_owner;
  by_owner.command = wire::IssueAttempt{"cirrus", "attempt-3"};
  deliver(by_owner);
  EXPECT_TRUE(std::holds_alternative<wire::IssueAttempt>(receive().command));
  deliver(start("cirrus", "attempt-3"));
  EXPECT_TRUE(std::holds_alternative<wire::Start>(receive().command)) << "issued by the container's owner";
  auto report = numbered(1);
  report.request_id = issued.request_id;
  client.send(report);
  EXPECT_EQ(server->log->await_reports(1)[0].about, (Sent{{}, "attempt-2", "atlas"}));
}

TEST_F(Connection, DeliversAllEnvelopesInTheirOrder) {
  Client client(port);
  ASSERT_TRUE(client.enrol());
  Deliver several{runner_id, 1, server->node(), "request-1", {}, {}};
  for (std::int64_t i = 0; i < 100; ++i) {
    wire::ToRunner part;
    part.request_id = "request-1";
    part.command = wire::BodyPart{i, std::string(10'000, 'x')};
    several.envelopes.push_back(wire::encode(part));
  }
  ASSERT_EQ(server->deliver(several), Server::Handed::yes);
  for (std::int64_t i = 0; i < 100; ++i) {
    const auto message = client.receive();
    ASSERT_TRUE(message);
    EXPECT_EQ(std::get<wire::BodyPart>(message->command).index, i);
  }
}

TEST_F(Connection, TakesNothingForAnotherEpochAndNothingThatIsNoFrame) {
  Client client(port);
  ASSERT_TRUE(client.enrol());
  EXPECT_EQ(server->deliver(command(*server, 2, start("atlas", "a"))), Server::Handed::no);
  auto broken = command(*server, 1, start("atlas", "a"));
  broken.envelopes.emplace_back("no envelope");
  EXPECT_EQ(server->deliver(broken), Server::Handed::no);
  auto oversized = start("atlas", "a");
  oversized.command = wire::BodyPart{0, std::string(limits::runner_max_frame_bytes, 'x')};
  EXPECT_EQ(server->deliver(command(*server, 1, oversized)), Server::Handed::no);
  EXPECT_EQ(server->deliver(command(*server, 1, start("atlas", "b"))), Server::Handed::yes);
  ASSERT_TRUE(client.receive()) << "the attempt is issued";
  const auto message = client.receive();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->container_attempt_id, "b") << "nothing of what was refused was sent";
}

TEST_F(Connection, TheSecondProcessWithOneTokenTakesOver) {
  Client first(port);
  const auto enrolled = first.enrol();
  ASSERT_TRUE(enrolled);
  Client second(port);
  ASSERT_TRUE(second.enrol());
  const auto farewell = first.receive();
  ASSERT_TRUE(farewell);
  EXPECT_EQ(std::get<wire::EnrolmentRefused>(farewell->command).code, "superseded");
  EXPECT_TRUE(first.is_ended());
  Client again(port);
  EXPECT_EQ(again.ask(enrolled->secret), "superseded");
  EXPECT_TRUE(again.is_ended());
  second.send(numbered(1));
  EXPECT_EQ(server->log->await_reports(1)[0].epoch, 2);
  EXPECT_EQ(row().enrollment_revision, 2);
}

TEST_F(Connection, ANewSocketContinuesAndTheOldOneIsClosed) {
  Client first(port);
  const auto enrolled = first.enrol();
  ASSERT_TRUE(enrolled);
  Client second(port);
  const auto continued = second.enrol(enrolled->secret);
  ASSERT_TRUE(continued);
  EXPECT_TRUE(continued->continued);
  EXPECT_EQ(continued->containers, enrolled->containers);
  EXPECT_EQ(first.receive(), std::nullopt) << "closed without a word";
  EXPECT_TRUE(first.is_ended());
  first.send(numbered(1)); // what an old connection still says is heard by nobody
  second.send(numbered(2));
  EXPECT_EQ(server->log->await_reports(1)[0].message->dispatch, 2);
  const auto reconciles = server->log->await_reconciles(4);
  EXPECT_TRUE(reconciles[3].arrived);
  EXPECT_EQ(row().node_id, server->node().id);
  EXPECT_EQ(row().epoch, 2);
}

TEST_F(Connection, ReconnectsAfterItsSocketHasGone) {
  std::optional<wire::Enrolled> enrolled;
  {
    Client client(port);
    enrolled = client.enrol();
    ASSERT_TRUE(enrolled);
  }
  ASSERT_TRUE(becomes_disconnected());
  EXPECT_TRUE(row().disconnected_at);
  EXPECT_EQ(server->deliver(command(*server, 1, start("atlas", "a"))), Server::Handed::no);
  Client client(port);
  EXPECT_EQ(client.ask(enrolled->secret), "admitted");
}

TEST_F(Connection, TellsWhyAnEnrolmentIsRefused) {
  Client stranger(port);
  EXPECT_EQ(stranger.ask("", "made up"), "unauthorized");
  EXPECT_TRUE(stranger.is_ended());
  Client late(port);
  EXPECT_EQ(late.ask("an old secret"), "enrol_anew");
  EXPECT_TRUE(late.is_ended());
  tables->set_unavailable(true);
  Client unlucky(port);
  EXPECT_EQ(unlucky.ask(""), "unavailable");
  EXPECT_TRUE(unlucky.is_ended());
  EXPECT_EQ(row().epoch, 0);
}

TEST_F(Connection, HeartbeatsBothWaysKeepIt) {
  server = serve(impatient());
  port = server->listen();
  Client client(port);
  ASSERT_TRUE(client.enrol());
  for (int i = 0; i < 40; ++i) { // two seconds, twice what it may be silent for
    const auto message = client.receive_any();
    ASSERT_TRUE(message) << "closed after heartbeat " << i;
    EXPECT_TRUE(std::holds_alternative<wire::Heartbeat>(message->command));
    client.report(wire::Heartbeat{});
  }
  client.send(numbered(1));
  EXPECT_EQ(server->log->await_reports(1)[0].message->dispatch, 1) << "and no heartbeat was reported";
}

TEST(Echoes, TheNewestAreRemembered) {
  actors::EchoTable table(2);
  table.remember("a", {"1", "", ""});
  table.remember("b", {"2", "", ""});
  table.remember("b", {"3", "", ""});
  EXPECT_EQ(table.find("a")->operation_id, "1");
  EXPECT_EQ(table.find("b")->operation_id, "3");
  table.remember("c", {"4", "", ""});
  EXPECT_FALSE(table.find("a"));
  EXPECT_TRUE(table.find("b"));
  EXPECT_TRUE(table.find("c"));
  EXPECT_FALSE(table.find("d"));
}

} // namespace
} // namespace cleat::test
