#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <random>
#include <set>
#include <thread>

#include "tests/process/adapter.hpp"
#include "tests/process/event_stream.hpp"
#include "tests/process/suite.hpp"

/// The event log as its readers see it (spec 03 section 11, spec 05 "Server-Sent Events").
namespace cleat::test {
namespace {

using Clock = std::chrono::steady_clock;

class Events : public WorldSuite {
protected:
  std::string thread = world.thread(world.support);

  std::vector<Json> page(Client& client, const std::string& query) {
    const auto answer = client.get("/v1/events?" + query, {{"Accept", "application/json"}});
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.json()["items"].items();
  }

  std::int64_t position() { return database.number("SELECT coalesce(max(seq), 0) FROM events"); }
};

TEST_F(Events, APageShowsWhatWasJustDone) {
  const std::int64_t before = position();
  ASSERT_EQ(bind(alex, thread, {fresh_reference()}).status, 201);
  const auto items = page(sam, "after=" + std::to_string(before));
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0]["type"].string(), "agent_session.changed");
  EXPECT_EQ(items[0]["actor"]["id"].string(), world.alex.id);
  EXPECT_EQ(items[0]["scope"]["channel_id"].string(), world.support.channel);
  EXPECT_TRUE(page(robin, "after=" + std::to_string(before)).empty());
}

TEST_F(Events, FiltersAndPages) {
  const std::string other = world.thread(world.support);
  const std::int64_t before = position();
  triggered(alex, thread);
  triggered(alex, other);
  const std::string after = "after=" + std::to_string(before);
  for (const auto& event : page(sam, after + "&thread_id=" + thread))
    EXPECT_EQ(event["scope"]["thread_id"].string(), thread);
  EXPECT_EQ(page(sam, after + "&type=run.changed").size(), 2U);
  EXPECT_EQ(page(sam, after + "&type=run.changed&thread_id=" + other).size(), 1U);
  EXPECT_EQ(page(sam, after + "&channel_id=" + world.engineering.channel).size(), 0U);
  EXPECT_EQ(page(sam, after + "&space_id=" + world.space).size(), 4U);

  // Page by page it is the same as at once.
  std::vector<std::int64_t> seqs;
  std::int64_t cursor = before;
  for (int i = 0; i < 10; ++i) {
    const Json answer =
      sam.get("/v1/events?limit=1&after=" + std::to_string(cursor), {{"Accept", "application/json"}}).json();
    for (const auto& event : answer["items"].items())
      seqs.push_back(event["seq"].number());
    cursor = answer["next_after"].number();
  }
  std::vector<std::int64_t> at_once_read;
  for (const auto& event : page(sam, after))
    at_once_read.push_back(event["seq"].number());
  EXPECT_EQ(seqs, at_once_read);
}

TEST_F(Events, AStreamTellsWhatHappens) {
  const std::int64_t before = position();
  std::jthread later;
  int events = 0;
  const auto end = read_stream(server().endpoint(), {world.sam.token, before, {}}, [&](const StreamedEvent& event) {
    if (event.data.empty() && !later.joinable())
      later = std::jthread([&] { EXPECT_EQ(bind(alex, thread, {fresh_reference()}).status, 201); });
    events += event.data.empty() ? 0 : 1;
    return events < 1;
  });
  EXPECT_EQ(end.status, 200);
  EXPECT_TRUE(end.content_type.starts_with("text/event-stream")) << end.content_type;
  EXPECT_FALSE(end.by_server);
  EXPECT_EQ(events, 1);
}

TEST_F(Events, ARightThatIsTakenStopsTheEventsAtOnce) {
  const std::string others = world.thread(world.engineering);
  world.grant("threads", others, world.sam, "read");
  const std::int64_t before = position();
  ASSERT_EQ(bind(alex, thread, {fresh_reference()}).status, 201);
  std::vector<std::string> seen;
  std::jthread later;
  read_stream(server().endpoint(), {world.sam.token, before, {}}, [&](const StreamedEvent& event) {
    if (event.data.empty())
      return true;
    seen.push_back(Json::parse(event.data)["scope"]["thread_id"].string());
    if (seen.size() == 1)
      later = std::jthread([&] {
        EXPECT_EQ(owner.del("/v1/channels/" + world.support.channel + "/grants/" + world.sam.id).status, 204);
        EXPECT_EQ(reset(alex, thread).status, 201);                      // not for Sam any more
        EXPECT_EQ(bind(owner, others, {fresh_reference()}).status, 201); // still is
      });
    return Json::parse(event.data)["scope"]["thread_id"].string() != others;
  });
  EXPECT_EQ(std::count(seen.begin(), seen.end(), thread), 1) << "an event reached who may not read any more";
  EXPECT_EQ(seen.back(), others);
}

TEST_F(Events, ARevokedTokenEndsPollsAndStreamsWithinASecond) {
  const Actor reader = world.person("human", "Reader");
  const Actor agent = world.person("agent", "Agent", R"({"tool_class":"container","billing_mode":"shared"})");
  const auto revoke = [&](const Actor& actor) {
    const std::string tokens = "/v1/principals/" + actor.id + "/tokens";
    const std::string id = owner.get(tokens).json()["items"][std::size_t{0}]["id"].string();
    EXPECT_EQ(owner.del(tokens + "/" + id).status, 204);
    return Clock::now();
  };
  Clock::time_point revoked;
  const auto end = read_stream(server().endpoint(), {reader.token, position(), {}}, [&](const StreamedEvent&) {
    if (revoked == Clock::time_point{})
      revoked = revoke(reader);
    return true;
  });
  EXPECT_TRUE(end.by_server);
  EXPECT_LT(Clock::now() - revoked, std::chrono::seconds(1));

  std::promise<Clock::time_point> answered;
  std::jthread poll([&] {
    Client client = world.as(agent);
    EXPECT_EQ(client.get("/v1/agent/events?wait_s=30").status, 401);
    answered.set_value(Clock::now());
  });
  // The poll is there as soon as the server counts it.
  const auto deadline = Clock::now() + std::chrono::seconds(10);
  while (owner.get("/metrics").body.find("cleat_http_waiting 1") == std::string::npos && Clock::now() < deadline)
    ;
  revoked = revoke(agent);
  EXPECT_LT(answered.get_future().get() - revoked, std::chrono::seconds(1));
}

TEST_F(Events, EachIsSeenOnceInOrderOverDisconnectsAndTwoServers) {
  // Two servers write at once, while a reader loses its connection again and again.
  constexpr int changes = 10'000;
  constexpr int writers = 8;
  Server second{ServerOptions{url()}};
  std::vector<std::string> threads;
  for (int i = 0; i < writers; ++i)
    threads.push_back(world.thread(world.support));
  const std::int64_t before = position();
  std::atomic<int> left = changes / 2; // a bind over a bind is two changes
  std::vector<std::jthread> pool;
  for (int i = 0; i < writers; ++i)
    pool.emplace_back([&, i] {
      Client client = i % 2 == 0 ? world.as(world.alex) : second.client(world.alex.token);
      std::string current;
      while (left.fetch_sub(1) > 0) {
        const auto answer = bind(client, threads[static_cast<std::size_t>(i)], {fresh_reference(), current});
        ASSERT_EQ(answer.status, 201) << answer.body;
        current = answer.json()["id"].string();
      }
    });
  const std::int64_t expected = changes - writers; // the first bind of a thread ends nothing
  std::vector<std::int64_t> seen;
  std::mt19937 random(20261130);
  std::int64_t position_of_reader = before;
  const auto deadline = Clock::now() + std::chrono::minutes(2);
  while (std::ssize(seen) < expected && Clock::now() < deadline) {
    const auto& endpoint = random() % 2 == 0 ? server().endpoint() : second.endpoint();
    int until_disconnect = static_cast<int>(random() % 400) + 1;
    const auto end = read_stream(endpoint, {world.sam.token, position_of_reader, {}}, [&](const StreamedEvent& event) {
      if (event.data.empty())
        return Clock::now() < deadline;
      seen.push_back(event.seq);
      position_of_reader = event.seq;
      return --until_disconnect > 0 && std::ssize(seen) < expected;
    });
    ASSERT_EQ(end.status, 200);
    ASSERT_FALSE(end.by_server);
  }
  pool.clear();
  std::vector<std::int64_t> logged;
  for (const auto& row : database.run("SELECT seq FROM events WHERE seq > $1 ORDER BY seq", {std::to_string(before)}))
    logged.push_back(std::stoll(row[0].value_or("")));
  EXPECT_EQ(seen.size(), logged.size());
  EXPECT_EQ(seen, logged) << "an event was skipped, doubled or out of order";
}

TEST_F(Events, AStreamGoesOnOverARestart) {
  Server other{ServerOptions{url()}};
  const std::int64_t before = position();
  ASSERT_EQ(bind(alex, thread, {fresh_reference()}).status, 201);
  std::int64_t cursor = before;
  const auto end = read_stream(other.endpoint(), {world.sam.token, cursor, {}}, [&](const StreamedEvent& event) {
    if (!event.data.empty()) {
      cursor = event.seq;
      other.stop();
    }
    return true;
  });
  EXPECT_TRUE(end.by_server) << "a server that drains ends its streams";
  ASSERT_EQ(reset(alex, thread).status, 201);
  other.start();
  std::vector<std::int64_t> seen;
  read_stream(other.endpoint(), {world.sam.token, cursor, {}}, [&](const StreamedEvent& event) {
    if (!event.data.empty())
      seen.push_back(event.seq);
    return seen.empty();
  });
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_GT(seen[0], cursor);
}

} // namespace
} // namespace cleat::test
