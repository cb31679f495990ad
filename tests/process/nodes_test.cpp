#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <ctime>
#include <thread>

#include "tests/process/suite.hpp"

/// Two servers on one database (spec 02 "More than one server").
namespace cleat::test {
namespace {

using Clock = std::chrono::steady_clock;

class Nodes : public WorldSuite {
protected:
  Server second{ServerOptions{url()}};

  Client at_second(const Actor& actor) { return second.client(actor.token); }
};

TEST_F(Nodes, OneWorldSeenFromBoth) {
  const std::string thread = world.thread(world.support);
  Client there = at_second(world.alex);
  const std::string first = bind(alex, thread, {fresh_reference()}).json()["id"].string();
  const auto second_bind = bind(there, thread, {fresh_reference(), first});
  ASSERT_EQ(second_bind.status, 201) << second_bind.body;
  // The first server has the thread in memory as it was; its answers are true all the same.
  const auto stale = bind(alex, thread, {fresh_reference(), first});
  EXPECT_EQ(stale.problem(), "conflict/session_changed");
  EXPECT_EQ(reset(alex, thread, second_bind.json()["id"].string()).status, 201);
  EXPECT_EQ(reset(there, thread).problem(), "conflict/no_current_session");
}

TEST_F(Nodes, ARightThatIsTakenIsGoneOnBoth) {
  const std::string thread = world.thread(world.support);
  Client there = at_second(world.alex);
  const auto bound = bind(there, thread, {fresh_reference()});
  ASSERT_EQ(bound.status, 201);
  ASSERT_EQ(owner.del("/v1/channels/" + world.support.channel + "/grants/" + world.alex.id).status, 204);
  EXPECT_EQ(bind(there, thread, {fresh_reference(), bound.json()["id"].string()}).status, 404);
}

TEST_F(Nodes, RevocationHoldsOnEveryNodeWithinASecond) {
  Client here = world.as(world.robin);
  Client there = at_second(world.robin);
  ASSERT_EQ(here.get("/v1/me").status, 200);
  ASSERT_EQ(there.get("/v1/me").status, 200);
  const std::string tokens = "/v1/principals/" + world.robin.id + "/tokens";
  const std::string token = owner.get(tokens).json()["items"][0]["id"].string();

  ASSERT_EQ(owner.del(tokens + "/" + token).status, 204);
  const auto deadline = Clock::now() + std::chrono::seconds{1};
  EXPECT_EQ(here.get("/v1/me").status, 401) << "at the node that revoked it, at once";
  // Until the second is over either answer is right; after it there is only one.
  while (Clock::now() < deadline && there.get("/v1/me").status == 200)
    ;
  std::this_thread::sleep_until(deadline);
  EXPECT_EQ(there.get("/v1/me").status, 401);
}

TEST_F(Nodes, ATokenExpiresOnEveryNodeAtItsTime) {
  // Whole seconds are enough: what is looked at is that no server goes on with what it remembers.
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const auto expiry = now + std::chrono::seconds{2};
  const std::time_t seconds = std::chrono::system_clock::to_time_t(expiry);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  const auto made = owner.post("/v1/principals/" + world.robin.id + "/tokens",
                               Object().text("label", "short").text("expires_at", text.data()).str());
  ASSERT_EQ(made.status, 201) << made.body;
  Client here = server().client(made.json()["token"].string());
  Client there = second.client(made.json()["token"].string());
  // Asked all the time, so that both remember it as well as they ever do; the last answer before the end is from before
  // it, or says that it is over.
  while (std::chrono::system_clock::now() < expiry)
    for (auto* client : {&here, &there}) {
      const auto status = client->get("/v1/me").status;
      EXPECT_TRUE(status == 200 || std::chrono::system_clock::now() >= expiry) << status;
    }
  EXPECT_EQ(here.get("/v1/me").status, 401);
  EXPECT_EQ(there.get("/v1/me").status, 401);
}

TEST_F(Nodes, AReplayFromTheOtherNode) {
  const std::string thread = world.thread(world.support);
  const std::string reference = fresh_reference();
  const Headers key{{"Idempotency-Key", "from-here"}};
  const auto first = bind(alex, thread, {reference}, key);
  ASSERT_EQ(first.status, 201);
  Client there = at_second(world.alex);
  const auto replay = bind(there, thread, {reference}, key);
  EXPECT_EQ(replay.body, first.body);
  EXPECT_EQ(replay.header("idempotent-replay"), "true");
}

} // namespace
} // namespace cleat::test
