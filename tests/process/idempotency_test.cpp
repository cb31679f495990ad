#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

#include "tests/process/suite.hpp"

/// Idempotency-Key (spec 05 "Conventions").
namespace cleat::test {
namespace {

class Idempotency : public WorldSuite {
protected:
  std::string thread = world.thread(world.support);
  std::string other = world.thread(world.support);

  static Headers key(const std::string& value) { return {{"Idempotency-Key", value}}; }

  std::int64_t rows_of(const std::string& place) {
    return database.number("SELECT count(*) FROM agent_sessions WHERE thread_id = $1", {place});
  }

  std::int64_t records(const std::string& value) {
    return database.number("SELECT count(*) FROM idempotency_records WHERE key = $1", {value});
  }

  static void expect_replay(const Response& replay, const Response& first) {
    EXPECT_EQ(replay.status, first.status);
    EXPECT_EQ(replay.body, first.body);
    EXPECT_EQ(replay.header("etag"), first.header("etag"));
    EXPECT_EQ(first.header("idempotent-replay"), "");
    EXPECT_EQ(replay.header("idempotent-replay"), "true");
  }
};

TEST_F(Idempotency, AReplayAnswersTheSameAndDoesNothing) {
  const std::string reference = fresh_reference();
  const auto first = bind(alex, thread, {reference}, key("bind-1"));
  ASSERT_EQ(first.status, 201);
  const std::string before = everything_in(database);
  expect_replay(bind(alex, thread, {reference}, key("bind-1")), first);
  EXPECT_EQ(everything_in(database), before);

  const auto ended = alex.post(sessions_path(thread) + "/reset", "{}", key("reset-1"));
  ASSERT_EQ(ended.status, 201);
  // The session that was bound is gone, but what was answered then is still the answer.
  expect_replay(bind(alex, thread, {reference}, key("bind-1")), first);
  expect_replay(alex.post(sessions_path(thread) + "/reset", "{}", key("reset-1")), ended);
  EXPECT_EQ(rows_of(thread), 1);
}

TEST_F(Idempotency, EveryWriteTakesAKey) {
  const auto twice = [&](const std::string& method, const std::string& path, const std::optional<std::string>& body) {
    const std::string value = method + path;
    const auto first = owner.send(method, path, body, key(value));
    const auto again = owner.send(method, path, body, key(value));
    ASSERT_TRUE(first && again);
    EXPECT_EQ(first->status / 100, 2) << value << " " << first->body;
    expect_replay(*again, *first);
  };
  const std::string name = Object().text("name", "Another").str();
  const std::string grant = "/v1/threads/" + thread + "/grants/" + world.robin.id;
  twice("POST", "/v1/spaces", name);
  twice("PATCH", "/v1/spaces/" + world.space, name);
  twice("POST", "/v1/spaces/" + world.space + "/channels", name);
  twice("PATCH", "/v1/channels/" + world.support.channel, name);
  twice("POST", "/v1/channels/" + world.support.channel + "/threads", Object().text("title", "Another").str());
  twice("PATCH", "/v1/threads/" + thread, Object().text("title", "Another").str());
  twice("POST", "/v1/threads/" + thread + "/close", std::nullopt);
  twice("POST", "/v1/principals", Object().text("kind", "human").text("name", "Kim").str());
  twice("PATCH", "/v1/principals/" + world.robin.id, name);
  twice("PUT", grant, Object().text("level", "read").str());
  twice("DELETE", grant, std::nullopt);
  const auto item = import_item(world.lotse, fresh_reference(), "2025-01-01T10:00:00Z", "2025-01-01T11:00:00Z");
  twice("POST", sessions_path(thread) + "/import", Object().json("items", "[" + item + "]").str());
}

TEST_F(Idempotency, AKeyIsForOneRequest) {
  const std::string reference = fresh_reference();
  ASSERT_EQ(bind(alex, thread, {reference}, key("once")).status, 201);
  const std::string before = everything_in(database);
  const auto expect_reuse = [](const Response& answer) {
    EXPECT_EQ(answer.status, 422);
    EXPECT_EQ(answer.problem(), "idempotency_key_reuse");
  };
  expect_reuse(bind(alex, thread, {fresh_reference()}, key("once")));
  expect_reuse(bind(alex, other, {reference}, key("once")));
  expect_reuse(alex.post(sessions_path(thread) + "/reset", "{}", key("once")));
  EXPECT_EQ(everything_in(database), before);
}

TEST_F(Idempotency, AKeyIsItsPrincipalsOwn) {
  ASSERT_EQ(bind(alex, thread, {fresh_reference()}, key("mine")).status, 201);
  const auto owners = bind(owner, other, {fresh_reference()}, key("mine"));
  EXPECT_EQ(owners.status, 201);
  EXPECT_EQ(owners.header("idempotent-replay"), "");
}

TEST_F(Idempotency, ARefusalStoresNothing) {
  const std::string reference = fresh_reference();
  ASSERT_EQ(bind(alex, other, {reference}).status, 201);
  EXPECT_EQ(bind(alex, thread, {reference}, key("later")).problem(), "conflict/session_bound_elsewhere");
  EXPECT_EQ(reset(sam, thread).status, 403);
  EXPECT_EQ(sam.post(sessions_path(thread) + "/reset", "{}", key("later")).status, 403);
  EXPECT_EQ(records("later"), 0);
  ASSERT_EQ(reset(alex, other).status, 201);
  const auto now = bind(alex, thread, {reference}, key("later"));
  EXPECT_EQ(now.status, 201);
  EXPECT_EQ(now.header("idempotent-replay"), "");
}

TEST_F(Idempotency, ASecretIsShownOnceOnly) {
  const auto path = "/v1/principals/" + world.robin.id + "/tokens";
  const auto first = owner.post(path, R"({"label":"phone"})", key("token-1"));
  ASSERT_EQ(first.status, 201);
  const std::string secret = first.json()["token"].string();
  const auto replay = owner.post(path, R"({"label":"phone"})", key("token-1"));
  EXPECT_EQ(replay.status, 201);
  EXPECT_EQ(replay.header("idempotent-replay"), "true");
  EXPECT_FALSE(replay.json().has("token"));
  EXPECT_EQ(replay.json()["id"].string(), first.json()["id"].string());
  EXPECT_EQ(everything_in(database).find(secret), std::string::npos) << "a token's secret is in the database";
  EXPECT_EQ(server().output().find(secret), std::string::npos) << "a token's secret is in the log";
}

TEST_F(Idempotency, VisibilityIsCheckedBeforeAReplay) {
  const std::string reference = fresh_reference();
  ASSERT_EQ(bind(alex, thread, {reference}, key("visible")).status, 201);
  ASSERT_EQ(owner.del("/v1/channels/" + world.support.channel + "/grants/" + world.alex.id).status, 204);
  EXPECT_EQ(bind(alex, thread, {reference}, key("visible")).status, 404);
}

TEST_F(Idempotency, TheSecondWhileTheFirstRuns) {
  const std::string session = bind(alex, thread, {fresh_reference()}).json()["id"].string();
  const std::string reference = fresh_reference();
  // A lock on the row that the first bind has to end keeps it from finishing.
  Sql locker(url());
  locker.run("BEGIN");
  locker.run("SELECT FROM agent_sessions WHERE id = $1 FOR UPDATE", {session});
  auto first = std::async(std::launch::async, [&] {
    Client client = world.as(world.alex);
    return bind(client, thread, {reference, session}, key("slow"));
  });
  // The database tells when the bind is waiting; there is nothing to subscribe to.
  while (database.number("SELECT count(*) FROM pg_locks WHERE NOT granted") == 0)
    std::this_thread::yield();
  const auto second = bind(alex, thread, {reference, session}, key("slow"));
  EXPECT_EQ(second.status, 409);
  EXPECT_EQ(second.problem(), "idempotency_in_progress");
  locker.run("COMMIT");
  const auto finished = first.get();
  EXPECT_EQ(finished.status, 201) << finished.body;
  expect_replay(bind(alex, thread, {reference, session}, key("slow")), finished);
}

TEST_F(Idempotency, KeysAreVisibleAscii) {
  const std::string before = everything_in(database);
  for (const std::string& bad :
       {std::string(), std::string(256, 'k'), std::string("two words"), std::string("\xc3\xa4")}) {
    const auto answer = bind(alex, thread, {fresh_reference()}, key(bad));
    EXPECT_EQ(answer.status, 400) << bad;
    EXPECT_EQ(answer.problem(), "invalid_idempotency_key") << bad;
  }
  Headers two = key("a");
  two.emplace("Idempotency-Key", "b");
  EXPECT_EQ(bind(alex, thread, {fresh_reference()}, two).problem(), "invalid_idempotency_key");
  EXPECT_EQ(everything_in(database), before);
  EXPECT_EQ(bind(alex, thread, {fresh_reference()}, key(std::string(255, 'k'))).status, 201);
}

} // namespace
} // namespace cleat::test
