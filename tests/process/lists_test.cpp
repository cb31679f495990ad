#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/process/suite.hpp"

/// Pages, versions and the shapes of provisioning (spec 05).
namespace cleat::test {
namespace {

class Lists : public WorldSuite {
protected:
  /// Walks a list page by page and answers what stands in `member` of every item.
  std::vector<std::string> walk(Client& client, const std::string& path, int limit, const std::string& member = "id") {
    std::vector<std::string> found;
    std::string cursor;
    do {
      const std::string query = (path.find('?') == std::string::npos ? "?" : "&") + ("limit=" + std::to_string(limit));
      const auto answer = client.get(path + query + (cursor.empty() ? "" : "&cursor=" + cursor));
      EXPECT_EQ(answer.status, 200) << answer.body;
      if (answer.status != 200)
        return found;
      const Json page = answer.json();
      EXPECT_LE(page["items"].size(), static_cast<std::size_t>(limit));
      for (const auto& item : page["items"].items())
        found.push_back(item[member].string());
      cursor = page.has("next_cursor") ? page["next_cursor"].string() : "";
    } while (!cursor.empty());
    return found;
  }
};

TEST_F(Lists, PagesHoldEverythingOnce) {
  std::vector<std::string> made;
  for (int i = 0; i < 7; ++i)
    made.push_back(world.thread(world.backstage));
  made.insert(made.begin(), world.backstage.main_thread);
  std::sort(made.begin(), made.end());
  const std::string path = "/v1/channels/" + world.backstage.channel + "/threads";
  for (const int limit : {1, 3, 4, 8, 200})
    EXPECT_EQ(walk(owner, path, limit), made) << "in pages of " << limit;
}

TEST_F(Lists, ACursorSurvivesNewRows) {
  const std::string path = "/v1/channels/" + world.backstage.channel + "/threads";
  world.thread(world.backstage);
  const Json first = owner.get(path + "?limit=1").json();
  const std::string later = world.thread(world.backstage);
  const auto rest = walk(owner, path + "?cursor=" + first["next_cursor"].string(), 200);
  EXPECT_EQ(rest.size(), 2U);
  EXPECT_EQ(rest.back(), later);
}

TEST_F(Lists, PeopleSeeTheSpacesTheyHaveSomethingIn) {
  const auto contains = [&](Client& client) {
    const auto ids = walk(client, "/v1/spaces", 50);
    return std::count(ids.begin(), ids.end(), world.space) == 1;
  };
  EXPECT_TRUE(contains(owner));
  EXPECT_FALSE(contains(robin));
  world.grant("spaces", world.space, world.robin, "read");
  EXPECT_TRUE(contains(robin));
  EXPECT_EQ(robin.get("/v1/spaces/" + world.space).status, 200);
}

TEST_F(Lists, MeTellsWhoIAmAndWhatIMay) {
  const Json me = alex.get("/v1/me").json();
  EXPECT_EQ(me["id"].string(), world.alex.id);
  EXPECT_EQ(me["kind"].string(), "human");
  EXPECT_EQ(me["name"].string(), "Alex");
  std::set<std::string> levels;
  for (const auto& grant : me["grants"]["items"].items())
    levels.insert(grant["scope"].string() + " " + grant["resource_id"].string() + " " + grant["level"].string());
  EXPECT_EQ(levels, (std::set<std::string>{"channel " + world.support.channel + " trigger",
                                           "channel " + world.engineering.channel + " trigger",
                                           "channel " + world.desk.channel + " trigger"}));
}

TEST_F(Lists, VersionsGuardChanges) {
  const std::string path = "/v1/threads/" + world.thread(world.support);
  const auto read = owner.get(path);
  EXPECT_EQ(read.header("etag"), "\"1\"");
  const auto changed = owner.patch(path, R"({"title":"Changed"})", {{"If-Match", "\"1\""}});
  ASSERT_EQ(changed.status, 200);
  EXPECT_EQ(changed.header("etag"), "\"2\"");
  EXPECT_EQ(changed.json()["version"].number(), 2);

  const std::string before = everything_in(database);
  const auto late = owner.patch(path, R"({"title":"Late"})", {{"If-Match", "\"1\""}});
  EXPECT_EQ(late.status, 412);
  EXPECT_EQ(late.problem(), "version_conflict");
  EXPECT_EQ(late.json()["current"].dump(), changed.json().dump());
  EXPECT_EQ(everything_in(database), before);
  EXPECT_EQ(owner.patch(path, R"({"title":"Free"})").status, 200) << "without If-Match the last one wins";
  EXPECT_EQ(owner.patch(path, R"({"title":"Free"})").header("etag"), "\"3\"") << "no change is no new version";
}

TEST_F(Lists, ClosingAThread) {
  const std::string path = "/v1/threads/" + world.thread(world.support);
  const auto closed = owner.send("POST", path + "/close");
  ASSERT_TRUE(closed.has_value());
  EXPECT_EQ(closed->status, 200);
  EXPECT_EQ(closed->json()["state"].string(), "closed");
  EXPECT_EQ(owner.get(path).json()["state"].string(), "closed");
}

TEST_F(Lists, GrantsAreReadAndTakenAway) {
  const std::string path = "/v1/channels/" + world.support.channel + "/grants/" + world.sam.id;
  EXPECT_EQ(owner.get(path).json()["level"].string(), "read");
  EXPECT_EQ(sam.get(path).json()["level"].string(), "read") << "everybody may see their own";
  EXPECT_EQ(owner.del(path).status, 204);
  EXPECT_EQ(owner.get(path).status, 404);
  EXPECT_EQ(owner.del(path).status, 204) << "gone is what was asked for";
}

TEST_F(Lists, TokensAreListedWithoutTheirSecret) {
  const std::string path = "/v1/principals/" + world.robin.id + "/tokens";
  const auto made = owner.post(path, R"({"label":"phone","expires_at":"2999-01-01T00:00:00Z"})").json();
  const auto listed = owner.get(path);
  EXPECT_EQ(listed.body.find(made["token"].string()), std::string::npos);
  const auto items = listed.json()["items"].items();
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[1]["label"].string(), "phone");
  EXPECT_EQ(items[1]["expires_at"].string(), "2999-01-01T00:00:00.000000Z");
  EXPECT_EQ(owner.del(path + "/" + made["id"].string()).status, 204);
  EXPECT_TRUE(owner.get(path).json()["items"][1].has("revoked_at"));
}

TEST_F(Lists, TheAuditLogIsFilteredAndPaged) {
  const std::string thread = world.thread(world.support);
  std::string expected;
  for (int i = 0; i < 4; ++i)
    expected = bind(alex, thread, {fresh_reference(), expected}).json()["id"].string();
  reset(sam, thread);
  const std::string path = "/v1/audit?resource_id=" + thread;
  const auto all = walk(owner, path, 2);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  EXPECT_TRUE(std::is_sorted(all.rbegin(), all.rend())) << "newest first";
  EXPECT_EQ(walk(owner, path + "&action=agent_session.bind&outcome=allow", 3).size(), 4U);
  EXPECT_EQ(walk(owner, path + "&actor_id=" + world.sam.id, 3, "outcome"), (std::vector<std::string>{"deny"}));
  EXPECT_EQ(walk(owner, path + "&outcome=deny", 3, "actor_id"), (std::vector<std::string>{world.sam.id}));
  EXPECT_EQ(alex.get(path).status, 403) << "the audit log is the owner's";
}

} // namespace
} // namespace cleat::test
