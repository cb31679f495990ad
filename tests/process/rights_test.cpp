#include <gtest/gtest.h>

#include "tests/process/suite.hpp"

/// Who may switch sessions, and what the audit log says about those who tried (spec 03 section 2).
namespace cleat::test {
namespace {

constexpr const char* unknown_id = "01890000-0000-7000-8000-000000000000";

class Rights : public WorldSuite {
protected:
  std::string thread = world.thread(world.support);
  std::string reference = fresh_reference();

  /// What a denied attempt to bind and to reset answer, which is the same for both.
  std::string switching(const Actor& actor, const std::string& place) {
    Client client = world.as(actor);
    const auto bound = bind(client, place, {reference});
    const auto ended = reset(client, place);
    EXPECT_EQ(bound.body, ended.body) << "bind and reset are refused differently";
    EXPECT_EQ(bound.uniform_headers(), ended.uniform_headers());
    return std::to_string(ended.status) + " " + ended.problem();
  }

  /// How many denials the log has counted, and in how many entries.
  std::vector<Sql::Row> denials(const Actor& actor, const std::string& action, const std::string& place) {
    return database.run("SELECT reason, sum(count), count(*) FROM audit_log WHERE NOT allowed AND actor_id = $1 "
                        "AND action = $2 AND resource_id = $3 GROUP BY reason ORDER BY reason",
                        {actor.id, action, place});
  }
};

TEST_F(Rights, TestSessionSwitchRights) {
  EXPECT_EQ(switching(world.sam, thread), "403 forbidden/level_insufficient");
  EXPECT_EQ(switching(world.robin, thread), "404 not_found");
  EXPECT_EQ(switching(world.alex, world.engineering.main_thread), "403 agent_invocation_denied/tool_class_owner_only");
  ASSERT_EQ(owner.patch("/v1/channels/" + world.support.channel, R"({"mode":"read_only"})").status, 200);
  EXPECT_EQ(switching(world.alex, thread), "403 channel_read_only");
  EXPECT_EQ(switching(world.owner, thread), "403 channel_read_only");
  ASSERT_EQ(owner.patch("/v1/channels/" + world.support.channel, R"({"mode":"archived"})").status, 200);
  EXPECT_EQ(switching(world.alex, thread), "403 channel_read_only");
  ASSERT_EQ(owner.patch("/v1/channels/" + world.support.channel, R"({"mode":"open"})").status, 200);
  EXPECT_EQ(bind(alex, thread, {reference}).status, 201) << "the same request with the right is granted";
}

TEST_F(Rights, DenialsAreAudited) {
  for (const char* action : {"agent_session.bind", "agent_session.reset"}) {
    EXPECT_TRUE(denials(world.sam, action, thread).empty());
    EXPECT_TRUE(denials(world.robin, action, thread).empty());
  }
  switching(world.sam, thread);
  switching(world.robin, thread);
  switching(world.alex, world.engineering.main_thread);
  for (const char* action : {"agent_session.bind", "agent_session.reset"}) {
    EXPECT_EQ(denials(world.sam, action, thread), (std::vector<Sql::Row>{{"level_insufficient", "1", "1"}}));
    EXPECT_EQ(denials(world.robin, action, thread), (std::vector<Sql::Row>{{"not_found", "1", "1"}}));
    EXPECT_EQ(denials(world.alex, action, world.engineering.main_thread),
              (std::vector<Sql::Row>{{"tool_class_owner_only", "1", "1"}}));
  }
}

TEST_F(Rights, EqualDenialsShareAnEntry) {
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(reset(sam, thread).status, 403);
  const auto counted = denials(world.sam, "agent_session.reset", thread);
  ASSERT_EQ(counted.size(), 1U);
  EXPECT_EQ(counted[0][1], "20");
  // Twenty requests may lie on both sides of the border between two windows, never in a third.
  EXPECT_LE(std::stoi(counted[0][2].value_or("")), 2);
  const auto page = owner.get("/v1/audit?actor_id=" + world.sam.id + "&outcome=deny&action=agent_session.reset");
  ASSERT_EQ(page.status, 200);
  std::int64_t listed = 0;
  for (const auto& entry : page.json()["items"].items()) {
    EXPECT_EQ(entry["outcome"].string(), "deny");
    EXPECT_EQ(entry["reason"].string(), "level_insufficient");
    EXPECT_EQ(entry["resource"]["kind"].string(), "thread");
    EXPECT_EQ(entry["resource"]["id"].string(), thread);
    listed += entry["count"].number();
  }
  EXPECT_EQ(listed, 20);
}

TEST_F(Rights, OnlyHumansSwitchSessions) {
  EXPECT_EQ(switching(world.app, thread), "403 agent_invocation_denied/actor_not_human");
  world.grant("threads", thread, world.lotse, "trigger");
  EXPECT_EQ(switching(world.lotse, thread), "403 agent_invocation_denied/actor_not_human");
}

TEST_F(Rights, LevelsComeBeforeTheGuard) {
  // Robin may read Desk but not trigger there: the level is the reason, not the holder.
  world.grant("channels", world.desk.channel, world.robin, "write");
  EXPECT_EQ(switching(world.robin, world.desk.main_thread), "403 forbidden/level_insufficient");
}

TEST_F(Rights, AnAgentThatCannotBeReached) {
  const Json channel = owner.post("/v1/spaces/" + world.space + "/channels", R"({"name":"Empty"})").json();
  const std::string without = channel["main_thread_id"].string();
  world.grant("channels", channel["id"].string(), world.alex, "trigger");
  EXPECT_EQ(switching(world.alex, without), "403 agent_invocation_denied/agent_not_reachable");
  for (const char* member : {"enabled", "reachable"}) {
    const auto path = "/v1/principals/" + world.lotse.id;
    ASSERT_EQ(owner.patch(path, Object().json("agent", Object().boolean(member, false).str()).str()).status, 200);
    EXPECT_EQ(switching(world.alex, thread), "403 agent_invocation_denied/agent_not_reachable") << member;
    ASSERT_EQ(owner.patch(path, Object().json("agent", Object().boolean(member, true).str()).str()).status, 200);
  }
  EXPECT_EQ(bind(alex, thread, {reference}).status, 201);
}

TEST_F(Rights, HostToolsAreForTheSpacesOwner) {
  EXPECT_EQ(bind(owner, world.engineering.main_thread, {reference}).status, 201);
  world.grant("spaces", world.space, world.alex, "manage");
  EXPECT_EQ(switching(world.alex, world.engineering.main_thread), "403 agent_invocation_denied/tool_class_owner_only");
}

TEST_F(Rights, APersonalAgentIsOutOfReachOnEveryPath) {
  const std::string denied = "403 agent_invocation_denied/billing_mode_personal_not_holder";
  const std::string mine = world.thread(world.desk);
  const std::string other = world.thread(world.desk);
  ASSERT_EQ(bind(sam, mine, {reference}).status, 201) << "the holder may";
  EXPECT_EQ(switching(world.alex, mine), denied);
  EXPECT_EQ(switching(world.owner, mine), denied) << "nor may the space's owner";
  const auto taken = bind(alex, other, {reference, "", true});
  EXPECT_EQ(std::to_string(taken.status) + " " + taken.problem(), denied);
  // With a grant for everything, and with the agent as operator of a thread of one's own, it stays the holder's.
  world.grant("threads", other, world.alex, "manage");
  const auto managed = bind(alex, other, {reference, "", true});
  EXPECT_EQ(std::to_string(managed.status) + " " + managed.problem(), denied);

  const auto rows =
    database.run("SELECT is_current, version FROM agent_sessions WHERE external_session_ref = $1", {reference});
  EXPECT_EQ(rows, (std::vector<Sql::Row>{{"t", "1"}}));
  EXPECT_EQ(bind(sam, other, {reference, "", true}).status, 201);
}

TEST_F(Rights, GrantsOnThePathAddUp) {
  const Actor guest = world.person("human", "Guest");
  Client client = world.as(guest);
  EXPECT_EQ(client.get(sessions_path(thread)).status, 404);
  world.grant("threads", thread, guest, "read");
  EXPECT_EQ(client.get(sessions_path(thread)).status, 200);
  EXPECT_EQ(client.get(sessions_path(world.support.main_thread)).status, 404) << "a grant on a thread is for it alone";
  world.grant("spaces", world.space, guest, "trigger");
  EXPECT_EQ(bind(client, thread, {reference}).status, 201) << "the highest grant on the path counts";
  ASSERT_EQ(owner.del("/v1/spaces/" + world.space + "/grants/" + guest.id).status, 204);
  EXPECT_EQ(reset(client, thread).problem(), "forbidden/level_insufficient");
  ASSERT_EQ(owner.del("/v1/threads/" + thread + "/grants/" + guest.id).status, 204);
  EXPECT_EQ(client.get(sessions_path(thread)).body, client.get(sessions_path(unknown_id)).body);
}

TEST_F(Rights, RightsComeBeforeTheBody) {
  const std::string broken = "{";
  EXPECT_EQ(sam.post(sessions_path(thread) + "/bind", broken).status, 403);
  EXPECT_EQ(robin.post(sessions_path(thread) + "/bind", broken).status, 404);
  EXPECT_EQ(alex.post(sessions_path(thread) + "/bind", broken).status, 400);
}

} // namespace
} // namespace cleat::test
