#include <gtest/gtest.h>

#include <algorithm>

#include "tests/process/adapter.hpp"
#include "tests/process/crowd.hpp"
#include "tests/process/events.hpp"
#include "tests/process/suite.hpp"

/// Bind and take-over (spec 03 section 5).
namespace cleat::test {
namespace {

constexpr const char* unknown_id = "01890000-0000-7000-8000-000000000000";

class Binding : public WorldSuite {
protected:
  std::string thread = world.thread(world.support);
  std::string other = world.thread(world.support);
  std::string reference = fresh_reference();

  /// How often a reference of an agent is current, at most; 0 when none is.
  std::int64_t most_current(const std::string& agent) {
    return database.number("SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM agent_sessions "
                           "WHERE is_current AND agent_id = $1 GROUP BY external_session_ref) AS counted",
                           {agent});
  }

  Json bind_entry(const std::string& session) {
    return Json::parse(database.value("SELECT details FROM audit_log WHERE allowed "
                                      "AND action = 'agent_session.bind' AND details::jsonb ->> 'session_id' = $1",
                                      {session}));
  }
};

TEST_F(Binding, TestBind) {
  const auto answer = bind(alex, thread, {reference});
  ASSERT_EQ(answer.status, 201);
  EXPECT_EQ(answer.header("etag"), "\"1\"");
  const Json row = answer.json();
  EXPECT_TRUE(row["is_current"].boolean());
  EXPECT_TRUE(row["started"].boolean());
  EXPECT_EQ(row["external_session_ref"].string(), reference);
  EXPECT_EQ(row["agent_id"].string(), world.lotse.id);

  const auto events = events_of(database, thread);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].payload["agent_session"].dump(), row.dump());
  const Json entry = bind_entry(row["id"].string());
  EXPECT_EQ(entry.names(), (std::vector<std::string>{"cause", "session_id", "take_over"}));
  EXPECT_EQ(entry["cause"].string(), "bind");
  EXPECT_FALSE(entry["take_over"].boolean());
}

TEST_F(Binding, TheSameReferenceAgainBeginsANewRow) {
  const std::string first = bind(alex, thread, {reference}).json()["id"].string();
  const auto again = bind(alex, thread, {reference, first});
  ASSERT_EQ(again.status, 201);
  EXPECT_NE(again.json()["id"].string(), first);
  const auto sessions = sessions_of(alex, thread);
  ASSERT_EQ(sessions.size(), 2U);
  EXPECT_EQ(sessions[1]["end_reason"].string(), "rebind");
  EXPECT_EQ(bind_entry(again.json()["id"].string())["ended_session_id"].string(), first);
}

TEST_F(Binding, TestAG17_StaleExpectedSession) {
  const std::string first = bind(alex, thread, {fresh_reference()}).json()["id"].string();
  ASSERT_EQ(bind(alex, thread, {fresh_reference(), first}).status, 201);
  const std::string before = everything_in(database);
  for (const std::string& expected : {first, std::string(), std::string(unknown_id)}) {
    const auto answer = bind(alex, thread, {reference, expected});
    EXPECT_EQ(answer.status, 409);
    EXPECT_EQ(answer.problem(), "conflict/session_changed") << "expected: " << expected;
  }
  EXPECT_EQ(everything_in(database), before);
}

TEST_F(Binding, TestAG17_TakeOverWithoutFlag) {
  ASSERT_EQ(bind(alex, other, {reference}).status, 201);
  const std::string before = everything_in(database);
  const auto answer = bind(alex, thread, {reference});
  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(answer.problem(), "conflict/session_bound_elsewhere");
  EXPECT_EQ(everything_in(database), before);
}

TEST_F(Binding, TestBindTakeOver) {
  const auto earlier = import_item(world.lotse, reference, "2025-01-01T10:00:00Z", "2025-01-01T11:00:00Z", 700, "CHF");
  ASSERT_EQ(import_sessions(owner, other, {earlier}).status, 201);
  const std::string taken = bind(alex, other, {reference}).json()["id"].string();
  const std::string ended = bind(alex, thread, {fresh_reference()}).json()["id"].string();
  const std::string last_seq = database.value("SELECT max(seq) FROM events");

  const auto answer = bind(alex, thread, {reference, ended, true});
  ASSERT_EQ(answer.status, 201) << answer.body;
  const Json row = answer.json();
  EXPECT_TRUE(row["started"].boolean());
  EXPECT_EQ(row["cost"]["currency"].string(), "CHF");
  EXPECT_EQ(database.value("SELECT cost_baseline_micros FROM agent_sessions WHERE id = $1", {row["id"].string()}),
            "700");
  for (const auto& [place, id] : {std::pair{thread, ended}, std::pair{other, taken}}) {
    const auto old = database.run("SELECT end_reason, version, is_current FROM agent_sessions WHERE id = $1", {id});
    EXPECT_EQ(old, (std::vector<Sql::Row>{{"rebind", "2", "f"}})) << "in thread " << place;
  }

  // Ended rows first, ascending by id, then the new one; each in the scope of its own thread.
  std::vector<std::pair<std::string, std::string>> expected{{ended, thread}, {taken, other}};
  std::sort(expected.begin(), expected.end());
  expected.emplace_back(row["id"].string(), thread);
  std::vector<std::pair<std::string, std::string>> seen;
  for (const auto& event : database.run("SELECT payload::jsonb #>> '{agent_session,id}', thread_id FROM events "
                                        "WHERE seq > $1 AND type = 'agent_session.changed' ORDER BY seq",
                                        {last_seq}))
    seen.emplace_back(event[0].value_or(""), event[1].value_or(""));
  EXPECT_EQ(seen, expected);

  const Json entry = bind_entry(row["id"].string());
  EXPECT_EQ(entry.names(), (std::vector<std::string>{"cause", "ended_session_id", "session_id", "take_over",
                                                     "taken_over_session_id", "taken_over_thread_id"}));
  EXPECT_TRUE(entry["take_over"].boolean());
  EXPECT_EQ(entry["ended_session_id"].string(), ended);
  EXPECT_EQ(entry["taken_over_session_id"].string(), taken);
  EXPECT_EQ(entry["taken_over_thread_id"].string(), other);
  EXPECT_EQ(database.number("SELECT count(*) FROM audit_log t WHERE t::text LIKE '%' || $1 || '%'", {reference}), 0)
    << "the audit log holds ids and codes, never a reference";
}

TEST_F(Binding, TestBindTakeOverTargetRights) {
  const std::string hidden = world.thread(world.backstage);
  ASSERT_EQ(bind(owner, hidden, {reference}).status, 201);
  const std::string before = everything_in(database);

  const auto invisible = bind(alex, thread, {reference, "", true});
  const auto unknown = bind(alex, unknown_id, {reference, "", true});
  EXPECT_EQ(invisible.status, 404);
  EXPECT_EQ(invisible.body, unknown.body);
  EXPECT_EQ(invisible.uniform_headers(), unknown.uniform_headers());
  // Without the flag it is no different: that the reference lives elsewhere is not to be learned.
  EXPECT_EQ(bind(alex, thread, {reference}).body, unknown.body);
  EXPECT_EQ(everything_in(database), before);

  world.grant("threads", hidden, world.alex, "read");
  const auto read_only = bind(alex, thread, {reference, "", true});
  EXPECT_EQ(read_only.status, 403);
  EXPECT_EQ(read_only.problem(), "forbidden/level_insufficient");

  world.grant("threads", hidden, world.alex, "trigger");
  EXPECT_EQ(bind(alex, thread, {reference, "", true}).status, 201);
}

TEST_F(Binding, TakeOverIsAskedOfTheGuardInBothThreads) {
  ASSERT_EQ(bind(alex, other, {reference}).status, 201);
  const std::string archive = owner
                                .post("/v1/spaces/" + world.space + "/channels",
                                      Object().text("name", "Archive").text("operator_agent_id", world.lotse.id).str())
                                .json()["id"]
                                .string();
  world.grant("channels", archive, world.alex, "trigger");
  const std::string kept = world.thread({archive, "", world.lotse.id});
  const std::string elsewhere = fresh_reference();
  ASSERT_EQ(bind(alex, kept, {elsewhere}).status, 201);
  ASSERT_EQ(owner.patch("/v1/channels/" + archive, R"({"mode":"archived"})").status, 200);

  const auto answer = bind(alex, thread, {elsewhere, "", true});
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(answer.problem(), "channel_read_only");
  EXPECT_EQ(current_session(alex, kept)["external_session_ref"].string(), elsewhere);
}

TEST_F(Binding, AReferenceOfAConversationThatTheActorMayNotReadIsUnknown) {
  const std::string hidden = world.thread(world.backstage);
  ASSERT_EQ(bind(owner, hidden, {reference}).status, 201);
  ASSERT_EQ(reset(owner, hidden).status, 201);

  const auto answer = bind(alex, thread, {reference});
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body, bind(alex, unknown_id, {reference}).body);
  EXPECT_TRUE(sessions_of(alex, thread).empty());

  world.grant("threads", hidden, world.alex, "read");
  EXPECT_EQ(bind(alex, thread, {reference}).status, 201);
}

TEST_F(Binding, TestBindConcurrent) {
  for (int round = 0; round < 10; ++round) {
    const std::string place = world.thread(world.support);
    const std::string expected = bind(alex, place, {fresh_reference()}).json()["id"].string();
    auto answers = at_once(2, [&](int) {
      Client client = world.as(world.alex);
      return bind(client, place, {fresh_reference(), expected});
    });
    std::sort(answers.begin(), answers.end(), [](const auto& a, const auto& b) { return a.status < b.status; });
    EXPECT_EQ(answers[0].status, 201);
    EXPECT_EQ(answers[1].status, 409);
    EXPECT_EQ(answers[1].problem(), "conflict/session_changed");
    EXPECT_EQ(database.number("SELECT count(*) FROM agent_sessions WHERE is_current AND thread_id = $1", {place}), 1);
  }
}

TEST_F(Binding, TestExternalSessionInOneThread) {
  // Six people work with three references in three threads at once, taking over from each other, while the adapter of
  // a run in each thread reports the same references.
  const std::vector<std::string> threads{thread, other, world.thread(world.support)};
  const std::vector<std::string> references{fresh_reference(), fresh_reference(), fresh_reference()};
  Adapter lotse(world.as(world.lotse));
  for (const auto& place : threads) {
    triggered(alex, place);
    lotse.accept();
  }
  const auto report_all = [&] {
    std::string wrong;
    std::map<std::string, std::int64_t> versions;
    for (std::size_t step = 0; step < 60; ++step) {
      const auto& place = threads[step % 3];
      const std::string body = Object().text("external_session_ref", references[step / 3 % 3]).str();
      const auto answer = lotse.report(place, body, versions[place]);
      if (answer.status == 200)
        versions[place] = answer.json()["version"].number();
      else if (answer.status == 412)
        versions[place] = answer.json().has("current") ? answer.json()["current"]["version"].number() : 0;
      else if (answer.status != 409)
        wrong += std::to_string(answer.status) + " " + answer.body + "\n";
    }
    return wrong;
  };
  const auto answers = at_once(7, [&](int who) {
    if (who == 6)
      return report_all();
    Client client = world.as(world.alex);
    std::string wrong;
    for (int step = 0; step < 40; ++step) {
      const auto& place = threads[static_cast<std::size_t>((who + step) % 3)];
      const auto sessions = sessions_of(client, place);
      const bool current = !sessions.empty() && sessions[0]["is_current"].boolean();
      const std::string expected = current ? sessions[0]["id"].string() : "";
      const auto& wanted = references[static_cast<std::size_t>((who * 7 + step) / 2 % 3)];
      const auto answer = step % 5 == 4 ? reset(client, place) : bind(client, place, {wanted, expected, step % 2 == 0});
      if (answer.status != 201 && answer.status != 409)
        wrong += std::to_string(answer.status) + " " + answer.body + "\n";
    }
    return wrong;
  });
  for (const auto& wrong : answers)
    EXPECT_EQ(wrong, "");
  EXPECT_LE(most_current(world.lotse.id), 1);
  for (const auto& place : threads)
    EXPECT_LE(database.number("SELECT count(*) FROM agent_sessions WHERE is_current AND thread_id = $1", {place}), 1);
}

TEST_F(Binding, TwoThreadsThatTakeOverFromEachOther) {
  for (int round = 0; round < 10; ++round) {
    const std::vector<std::string> threads{world.thread(world.support), world.thread(world.support)};
    const std::vector<std::string> references{fresh_reference(), fresh_reference()};
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < 2; ++i)
      ids.push_back(bind(alex, threads[i], {references[i]}).json()["id"].string());
    const auto answers = at_once(2, [&](int who) {
      const auto mine = static_cast<std::size_t>(who);
      Client client = world.as(world.alex);
      return bind(client, threads[mine], {references[1 - mine], ids[mine], true}).status;
    });
    for (const int status : answers)
      EXPECT_TRUE(status == 201 || status == 409) << status;
    EXPECT_NE(answers, (std::vector<int>{409, 409})) << "one of the two has nothing against it";
  }
  EXPECT_LE(most_current(world.lotse.id), 1);
}

TEST_F(Binding, CostBaselineContinuesTheNewestRow) {
  const auto item = import_item(world.lotse, reference, "2025-01-01T10:00:00Z", "2025-01-01T11:00:00Z", 1200, "EUR");
  ASSERT_EQ(import_sessions(owner, other, {item}).status, 201);
  const Json first = bind(alex, thread, {reference}).json();
  EXPECT_EQ(first["cost"]["currency"].string(), "EUR");
  // What the run path will book later, a test has to book itself.
  database.run("UPDATE agent_sessions SET cumulative_cost_micros = 300 WHERE id = $1", {first["id"].string()});
  ASSERT_EQ(reset(alex, thread).status, 201);
  const Json second = bind(alex, thread, {reference}).json();
  EXPECT_EQ(database.value("SELECT cost_baseline_micros FROM agent_sessions WHERE id = $1", {first["id"].string()}),
            "1200");
  EXPECT_EQ(database.value("SELECT cost_baseline_micros FROM agent_sessions WHERE id = $1", {second["id"].string()}),
            "1500");
  EXPECT_EQ(database.value("SELECT cumulative_cost_micros FROM agent_sessions WHERE id = $1", {second["id"].string()}),
            "0");
  EXPECT_EQ(second["cost"]["currency"].string(), "EUR");
}

} // namespace
} // namespace cleat::test
