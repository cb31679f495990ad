#include <gtest/gtest.h>

#include "tests/process/events.hpp"
#include "tests/process/suite.hpp"

/// List, reset and import (spec 03 sections 3, 4 and 12).
namespace cleat::test {
namespace {

constexpr const char* unknown_id = "01890000-0000-7000-8000-000000000000";

class Sessions : public WorldSuite {
protected:
  std::string thread = world.thread(world.support);

  std::int64_t allow_entries(const std::string& action) {
    return database.number("SELECT count(*) FROM audit_log WHERE allowed AND action = $1 AND resource_id = $2",
                           {action, thread});
  }
};

TEST_F(Sessions, TestListAgentSessions) {
  EXPECT_EQ(alex.get(sessions_path(thread)).body, R"({"items":[]})");

  const std::string earlier = fresh_reference();
  const auto item =
    import_item(world.lotse, earlier, "2025-01-01T10:00:00.000001Z", "2025-01-01T11:00:00Z", 2500, "EUR");
  ASSERT_EQ(import_sessions(owner, thread, {item}).status, 201);
  const std::string reference = fresh_reference();
  ASSERT_EQ(bind(alex, thread, {reference}).status, 201);

  const auto answer = sam.get(sessions_path(thread));
  ASSERT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body.find("null"), std::string::npos);
  EXPECT_EQ(answer.header("etag"), "");
  const auto items = answer.json()["items"].items();
  ASSERT_EQ(items.size(), 2U);

  const Json& current = items[0];
  EXPECT_EQ(current.names(), (std::vector<std::string>{"agent_id", "cost", "created_at", "external_session_ref", "id",
                                                       "is_current", "started", "thread_id", "version"}));
  EXPECT_EQ(current["thread_id"].string(), thread);
  EXPECT_EQ(current["agent_id"].string(), world.lotse.id);
  EXPECT_EQ(current["external_session_ref"].string(), reference);
  EXPECT_TRUE(current["is_current"].boolean());
  EXPECT_TRUE(current["started"].boolean());
  EXPECT_EQ(current["version"].number(), 1);
  EXPECT_EQ(current["cost"]["amount_micros"].number(), 0);
  EXPECT_FALSE(current["cost"]["is_estimate"].boolean());

  const Json& imported = items[1];
  EXPECT_EQ(imported["external_session_ref"].string(), earlier);
  EXPECT_EQ(imported["created_at"].string(), "2025-01-01T10:00:00.000001Z");
  EXPECT_EQ(imported["ended_at"].string(), "2025-01-01T11:00:00.000000Z");
  EXPECT_EQ(imported["end_reason"].string(), "import");
  EXPECT_EQ(imported["cost"]["currency"].string(), "EUR");
  EXPECT_EQ(database.number("SELECT count(*) FROM audit_log WHERE actor_id = $1", {world.sam.id}), 0)
    << "a list writes no audit entry";

  const auto hidden = robin.get(sessions_path(thread));
  const auto unknown = robin.get(sessions_path(unknown_id));
  EXPECT_EQ(hidden.status, 404);
  EXPECT_EQ(hidden.body, unknown.body);
  EXPECT_EQ(hidden.uniform_headers(), unknown.uniform_headers());
}

TEST_F(Sessions, ListIsNewestFirst) {
  std::string expected;
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    const auto bound = bind(alex, thread, {fresh_reference(), expected});
    ASSERT_EQ(bound.status, 201);
    expected = bound.json()["id"].string();
    ids.insert(ids.begin(), expected);
  }
  std::vector<std::string> listed;
  for (const auto& session : sessions_of(sam, thread))
    listed.push_back(session["id"].string());
  EXPECT_EQ(listed, ids);
}

TEST_F(Sessions, TestResetSession) {
  const std::string id = bind(alex, thread, {fresh_reference()}).json()["id"].string();
  const auto events_before = events_of(database, thread).size();

  const auto answer = reset(alex, thread);
  ASSERT_EQ(answer.status, 201);
  EXPECT_EQ(answer.header("etag"), "\"2\"");
  const Json ended = answer.json();
  EXPECT_EQ(ended["id"].string(), id);
  EXPECT_EQ(ended["version"].number(), 2);
  EXPECT_FALSE(ended["is_current"].boolean());
  EXPECT_EQ(ended["end_reason"].string(), "reset");
  EXPECT_TRUE(ended.has("ended_at"));

  const auto events = events_of(database, thread);
  ASSERT_EQ(events.size(), events_before + 1);
  const auto& event = events.back();
  EXPECT_EQ(event.resource, "thread/" + thread);
  EXPECT_EQ(event.resource_version, "");
  EXPECT_EQ(event.space_id, world.space);
  EXPECT_EQ(event.channel_id, world.support.channel);
  EXPECT_EQ(event.actor, "human/" + world.alex.id);
  EXPECT_EQ(event.payload["thread_id"].string(), thread);
  EXPECT_EQ(event.payload["agent_session"].dump(), ended.dump());

  const auto again = reset(alex, thread);
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.problem(), "conflict/no_current_session");
  EXPECT_EQ(allow_entries("agent_session.reset"), 0);
  EXPECT_EQ(events_of(database, thread).size(), events.size());
}

TEST_F(Sessions, ResetWithExpectedId) {
  const std::string first = bind(alex, thread, {fresh_reference()}).json()["id"].string();
  const std::string second = bind(alex, thread, {fresh_reference(), first}).json()["id"].string();
  const std::string before = everything_in(database);

  const auto late = reset(alex, thread, first);
  EXPECT_EQ(late.status, 409);
  EXPECT_EQ(late.problem(), "conflict/session_changed");
  EXPECT_EQ(everything_in(database), before) << "a late reset ended a newer session";

  EXPECT_EQ(reset(alex, thread, second).status, 201);
}

TEST_F(Sessions, ResetTakesAnEmptyBodyToo) {
  bind(alex, thread, {fresh_reference()});
  const auto answer = alex.send("POST", sessions_path(thread) + "/reset");
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, 201) << answer->body;
}

TEST_F(Sessions, ImportIsIdempotent) {
  const std::vector<std::string> items{
    import_item(world.lotse, fresh_reference(), "2025-01-01T10:00:00Z", "2025-01-01T11:00:00Z", 100, "EUR"),
    import_item(world.lotse, fresh_reference(), "2025-01-02T10:00:00Z", "2025-01-02T11:00:00Z", 200, "USD")};
  const auto first = import_sessions(owner, thread, items);
  ASSERT_EQ(first.status, 201);
  EXPECT_EQ(first.json()["imported"].number(), 2);
  ASSERT_EQ(first.json()["items"].size(), 2U);
  for (const auto& session : first.json()["items"].items()) {
    EXPECT_FALSE(session["is_current"].boolean());
    EXPECT_TRUE(session["started"].boolean());
    EXPECT_EQ(session["end_reason"].string(), "import");
  }

  const auto again = import_sessions(owner, thread, items);
  ASSERT_EQ(again.status, 201);
  EXPECT_EQ(again.json()["imported"].number(), 0);
  EXPECT_EQ(again.json()["items"].dump(), first.json()["items"].dump());
  EXPECT_EQ(sessions_of(sam, thread).size(), 2U);
}

TEST_F(Sessions, ImportWritesAnEventPerRowAndOneAuditEntry) {
  const auto answer =
    import_sessions(owner, thread,
                    {import_item(world.lotse, fresh_reference(), "2025-01-01T10:00:00Z", "2025-01-01T11:00:00Z"),
                     import_item(world.lotse, fresh_reference(), "2025-01-02T10:00:00Z", "2025-01-02T11:00:00Z")});
  ASSERT_EQ(answer.status, 201);
  const auto events = events_of(database, thread);
  ASSERT_EQ(events.size(), 2U);
  for (const auto& event : events) {
    EXPECT_EQ(event.actor, "human/" + world.owner.id);
    EXPECT_EQ(event.payload["agent_session"]["end_reason"].string(), "import");
  }
  EXPECT_EQ(database.number("SELECT count(*) FROM audit_log WHERE allowed AND resource_id = $1 AND actor_id = $2 "
                            "AND action LIKE 'agent_session%'",
                            {thread, world.owner.id}),
            1);
}

TEST_F(Sessions, ImportNeedsManage) {
  const auto item = import_item(world.lotse, fresh_reference(), "2025-01-01T10:00:00Z", "2025-01-01T11:00:00Z");
  const auto refused = import_sessions(alex, thread, {item});
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.problem(), "forbidden/level_insufficient");
  EXPECT_EQ(import_sessions(robin, thread, {item}).status, 404);
  EXPECT_TRUE(sessions_of(sam, thread).empty());
  world.grant("threads", thread, world.alex, "manage");
  EXPECT_EQ(import_sessions(alex, thread, {item}).status, 201);
}

TEST_F(Sessions, RenamingAThreadKeepsItsSession) {
  const std::string id = bind(alex, thread, {fresh_reference()}).json()["id"].string();
  ASSERT_EQ(owner.patch("/v1/threads/" + thread, Object().text("title", "Another question").str()).status, 200);
  EXPECT_EQ(current_session(sam, thread)["id"].string(), id);
}

} // namespace
} // namespace cleat::test
