#include <stdexcept>

#include "tests/net/fixture.hpp"

/// Where Runners connect: who may, how many, and how it ends.
namespace cleat::test {
namespace {

class Listener : public NetTest {};

TEST_F(Listener, SpeaksPlainOnLoopbackOnlyUnlessItIsTold) {
  actors::RunnerListenerOptions options;
  for (const char* host : {"127.0.0.1", "::1", "localhost"}) {
    options.host = host;
    EXPECT_FALSE(options.validate()) << host;
  }
  options.host = "0.0.0.0";
  options.port = 7481;
  ASSERT_TRUE(options.validate());
  EXPECT_NE(options.validate()->find("runner.listen is '0.0.0.0:7481'"), std::string::npos);
  EXPECT_THROW(serve()->listen(options), std::runtime_error);
  options.insecure = true;
  EXPECT_FALSE(options.validate());
  options.insecure = false;
  options.certificate_file = "chain.pem";
  ASSERT_TRUE(options.validate());
  EXPECT_NE(options.validate()->find("runner.key"), std::string::npos);
  options.key_file = "key.pem";
  EXPECT_FALSE(options.validate());
}

TEST_F(Listener, NamesThePortThatItCannotOpen) {
  const auto server = serve();
  actors::RunnerListenerOptions options;
  options.port = server->listen();
  const auto other = serve(quick(), "127.0.0.1:2");
  try {
    other->listen(options);
    FAIL() << "the port is taken";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("127.0.0.1:" + std::to_string(options.port)), std::string::npos)
      << error.what();
  }
}

TEST_F(Listener, HasRoomForSoManyAndForOthersWhenTheyHaveGone) {
  auto fleet = quick();
  fleet.max_connections = 2;
  fleet.timeout_s = 60;
  const auto server = serve(fleet);
  const auto port = server->listen();
  // A place is free once the listener has heard of an end, a moment after the other side has seen it.
  const auto is_answered = [&](const std::string& secret, const std::string& wanted) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < until)
      if (Client(port).ask(secret) == wanted)
        return true;
    return false;
  };
  Client first(port);
  ASSERT_TRUE(first.enrol());
  auto second = std::make_unique<Client>(port); // it says nothing and stays
  Client third(port);
  EXPECT_TRUE(third.is_ended());
  second.reset();
  EXPECT_TRUE(is_answered("old", "superseded")) << "there is room again";
  EXPECT_TRUE(is_answered("", "admitted")) << "who was refused took no place for good";
}

TEST_F(Listener, ClosesEverythingWhenItEnds) {
  const auto server = serve();
  const auto port = server->listen();
  Client client(port);
  ASSERT_TRUE(client.enrol());
  Client silent(port);
  server->stop_listening();
  EXPECT_TRUE(client.is_ended());
  EXPECT_TRUE(silent.is_ended());
  EXPECT_TRUE(becomes_disconnected());
  EXPECT_THROW(Client{port}, std::runtime_error);
}

TEST_F(Listener, AServerThatEndsInOrderLeavesNoRunnerBehind) {
  const auto server = serve();
  Client client(server->listen());
  ASSERT_TRUE(client.enrol());
  server->stop_hub();
  EXPECT_FALSE(row().node_id) << "known before the hub has ended";
  EXPECT_TRUE(row().disconnected_at);
  EXPECT_TRUE(client.is_ended());
}

} // namespace
} // namespace cleat::test
