#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/framing.hpp"
#include "protocol/runner_codec.hpp"
#include "tests/net/fixture.hpp"

/// Whatever one socket does, it harms that connection alone.
namespace cleat::test {
namespace {

class Hostile : public NetTest {
public:
  std::unique_ptr<Server> server = serve();
  std::uint16_t port = server->listen();

  /// From here on, who is silent for a second is closed.
  void lose_patience() {
    server = serve(impatient());
    port = server->listen();
  }

  /// A second Runner that must not notice anything.
  void add_bystander() {
    const Id other = world.ids.next();
    Decision decision;
    decision.rows.emplace_back(fleet::InsertRunner{{other, "south", at(1000)}});
    decision.rows.emplace_back(
      fleet::InsertRunnerToken{{world.ids.next(), other, "first", sha256("other token"), at(1000), {}, {}}});
    ASSERT_EQ(tables->commit(decision), storage::CommitOutcome::committed);
    bystander = std::make_unique<Client>(port);
    ASSERT_TRUE(bystander->enrol("", "other token"));
  }

  void expect_bystander_unharmed(std::size_t reports) {
    bystander->send(numbered(7));
    EXPECT_EQ(server->log->await_reports(reports + 1).back().message->dispatch, 7);
  }

  std::unique_ptr<Client> bystander;
};

std::string framed(const wire::Report& what) {
  wire::FromRunner message;
  message.report = what;
  return wire::frame(wire::encode(message));
}

TEST_F(Hostile, WhatIsNoEnrolmentIsNoBeginning) {
  add_bystander();
  const std::string id(36, 'x');
  const wire::AskEnrolment no_journal{"token", "", "no id", "1.0"};
  const wire::AskEnrolment good{"token", "", world.ids.next().str(), "1.0"};
  const std::vector<std::pair<const char*, std::string>> beginnings{
    {"text", "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"},
    {"nothing in a frame", std::string(4, '\0')},
    {"a frame over the limit", std::string("\x00\x10\x00\x01", 4)},
    {"the largest length", "\xff\xff\xff\xff"},
    {"no envelope", wire::frame("\xff\xff\xff")},
    {"a report", framed(wire::Stopped{"session"})},
    {"a heartbeat", framed(wire::Heartbeat{})},
    {"a missing report", framed(std::monostate{})},
    {"an enrolment without a journal", framed(no_journal)},
  };
  for (const auto& [what, bytes] : beginnings) {
    Client client(port);
    client.send_bytes(bytes);
    EXPECT_EQ(client.receive(), std::nullopt) << what;
    EXPECT_TRUE(client.is_ended()) << what;
  }
  EXPECT_EQ(row().epoch, 0);
  expect_bystander_unharmed(0);
  Client client(port);
  client.send_bytes(framed(good) + wire::frame(wire::encode(numbered(1))));
  EXPECT_TRUE(client.is_ended()) << "a report before the enrolment is decided";
  EXPECT_TRUE(becomes_disconnected());
  expect_bystander_unharmed(1);
}

TEST_F(Hostile, AfterItsEnrolmentToo) {
  add_bystander();
  const std::vector<std::pair<const char*, std::string>> mistakes{
    {"a second enrolment", framed(wire::AskEnrolment{"token", "", world.ids.next().str(), "1.0"})},
    {"a frame over the limit", std::string("\x00\x10\x00\x01", 4)},
    {"no envelope", wire::frame("\xff\xff\xff")},
  };
  std::int64_t epoch = 0;
  for (const auto& [what, bytes] : mistakes) {
    Client client(port);
    ASSERT_TRUE(client.enrol()) << what;
    client.send_bytes(bytes);
    EXPECT_TRUE(client.is_ended()) << what;
    EXPECT_TRUE(becomes_disconnected()) << what;
    EXPECT_EQ(row().epoch, ++epoch) << what;
  }
  expect_bystander_unharmed(0);
}

TEST_F(Hostile, FramesMayComeInPieces) {
  Client client(port);
  const std::string bytes = framed(wire::AskEnrolment{"token", "", world.ids.next().str(), "1.0"});
  for (const char byte : bytes)
    client.send_bytes({&byte, 1});
  ASSERT_TRUE(client.receive());
  std::string reports;
  for (std::int64_t i = 1; i <= 3; ++i)
    reports += wire::frame(wire::encode(numbered(i)));
  client.send_bytes(reports.substr(0, reports.size() / 2));
  client.send_bytes(reports.substr(reports.size() / 2));
  const auto said = server->log->await_reports(3);
  EXPECT_EQ(said[2].message->dispatch, 3);
}

TEST_F(Hostile, ATruncatedFrameIsNothing) {
  {
    Client client(port);
    ASSERT_TRUE(client.enrol());
    const std::string bytes = wire::frame(wire::encode(numbered(1)));
    client.send_bytes(bytes.substr(0, bytes.size() - 1));
  }
  EXPECT_TRUE(becomes_disconnected());
  EXPECT_EQ(server->log->reports(), 0U);
}

TEST_F(Hostile, WhoDoesNotEnrolIsClosed) {
  lose_patience();
  Client silent(port);
  EXPECT_TRUE(silent.is_ended());
  Client half(port);
  half.send_bytes(std::string("\x00\x00\x00\x10half", 8));
  EXPECT_TRUE(half.is_ended());
}

TEST_F(Hostile, WhoFallsSilentIsClosed) {
  lose_patience();
  Client silent(port);
  ASSERT_TRUE(silent.enrol());
  EXPECT_TRUE(silent.is_ended());
  EXPECT_TRUE(becomes_disconnected());
  Client trickling(port);
  ASSERT_TRUE(trickling.enrol());
  trickling.send_bytes(std::string("\x00\x00\x10\x00", 4));
  while (trickling.receive_any() && trickling.send_bytes("x")) {
    // A byte for each heartbeat: a frame that never ends is not heard of.
  }
  EXPECT_TRUE(trickling.is_ended());
}

TEST_F(Hostile, AFloodWaitsAndIsNotLost) {
  lose_patience();
  server->log->hold();
  Client client(port);
  ASSERT_TRUE(client.enrol());
  constexpr std::int64_t count = 40'000;
  std::string flood;
  for (std::int64_t i = 1; i <= count; ++i) {
    auto report = numbered(i);
    report.report = wire::Failed{false, "code", std::string(1000, 'x')};
    flood += wire::frame(wire::encode(report));
  }
  const std::size_t sent = client.send_until_stuck(flood);
  ASSERT_LT(sent, flood.size()) << "nobody holds all of it in memory";
  EXPECT_EQ(server->log->reports(), 1U) << "one is being taken, the others wait";
  add_bystander();
  server->log->let_go();
  ASSERT_TRUE(client.send_bytes(std::string_view(flood).substr(sent)))
    << "who could not be heard was not closed for being silent";
  for (std::size_t taken = 0; taken < count; taken += 2'000) {
    server->log->await_reports(taken); // in steps, because a bystander must not be silent
    bystander->report(wire::Heartbeat{});
  }
  const auto reports = server->log->await_reports(count);
  for (std::int64_t i = 0; i < count; ++i)
    ASSERT_EQ(reports[static_cast<std::size_t>(i)].message->dispatch, i + 1);
  expect_bystander_unharmed(count);
}

TEST_F(Hostile, WhoDoesNotReadIsClosed) {
  auto options = quick();
  options.max_unsent_bytes = 4 << 20;
  const auto strict = serve(options, "127.0.0.1:2");
  Client client(strict->listen());
  ASSERT_TRUE(client.enrol());
  const std::int64_t epoch = row().epoch;
  wire::ToRunner part;
  part.command = wire::BodyPart{0, std::string(500'000, 'x')};
  int delivered = 0;
  while (delivered < 1000 && strict->deliver(command(*strict, epoch, part)) == Server::Handed::yes) {
    ++delivered;
    client.report(wire::Heartbeat{});
  }
  EXPECT_GT(delivered, 4);
  EXPECT_LT(delivered, 1000);
  EXPECT_TRUE(becomes_disconnected());
  EXPECT_TRUE(client.is_ended());
}

TEST_F(Hostile, AServerEndsThoughAPeerDoesNotRead) {
  Client client(port);
  ASSERT_TRUE(client.enrol());
  wire::ToRunner part;
  part.command = wire::BodyPart{0, std::string(1'000'000, 'x')};
  for (int i = 0; i < 20; ++i)
    ASSERT_EQ(server->deliver(command(*server, 1, part)), Server::Handed::yes);
  server.reset();
  EXPECT_FALSE(row().node_id);
  EXPECT_TRUE(client.is_ended());
}

} // namespace
} // namespace cleat::test
