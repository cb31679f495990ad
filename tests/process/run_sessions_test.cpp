#include <gtest/gtest.h>

#include "tests/process/adapter.hpp"
#include "tests/process/crowd.hpp"
#include "tests/process/events.hpp"
#include "tests/process/suite.hpp"

/// Runs carry their session: the tests of the background under their names, with the tests as the adapter (spec 03
/// sections 6 to 8).
namespace cleat::test {
namespace {

constexpr const char* started = R"({"started":true})";

class RunSessions : public WorldSuite {
protected:
  std::string thread = world.thread(world.support);
  Adapter lotse{world.as(world.lotse)};

  /// A session of this reference that has started and that a run has used.
  Json used_session(const std::string& reference) {
    triggered(alex, thread);
    const Json run = lotse.accept(reference);
    EXPECT_EQ(lotse.report(thread, started, 1).status, 200);
    EXPECT_EQ(lotse.finish(run["run_id"].string()).status, 200);
    return current_session(sam, thread);
  }

  /// What the next trigger delivers, the run cancelled at once: its mode, and the id of its session if it names one.
  std::pair<std::string, std::string> next_mode(const std::string& in) {
    const std::string run = triggered(alex, in);
    const Json payload = lotse.next();
    EXPECT_EQ(alex.post(run_path(run, "cancel"), "{}").status, 200);
    return {payload["session_mode"].string(),
            payload.has("agent_session") ? payload["agent_session"]["id"].string() : ""};
  }

  std::string imported(const std::string& in, const Actor& agent, const std::string& reference) {
    const auto item = import_item(agent, reference, "2025-01-01T10:00:00Z", "2025-01-01T11:00:00Z", 2500, "EUR");
    const auto answer = import_sessions(owner, in, {item});
    EXPECT_EQ(answer.status, 201) << answer.body;
    return answer.json()["items"][std::size_t{0}]["id"].string();
  }

  std::int64_t bindings(const std::string& in) {
    return database.number("SELECT count(*) FROM audit_log WHERE allowed AND action = 'agent_session.bind' "
                           "AND resource_id = $1 AND details->>'cause' = 'import'",
                           {in});
  }
};

using Mode = std::pair<std::string, std::string>;

TEST_F(RunSessions, TestNewSession_ReferenceAtStart) {
  const std::string run = triggered(alex, thread);
  const Json payload = lotse.next();
  EXPECT_EQ(payload["run_id"].string(), run);
  EXPECT_EQ(payload["kind"].string(), "operator");
  EXPECT_EQ(payload["triggered_by"].string(), world.alex.id);
  EXPECT_EQ(payload["message"]["content_md"].string(), "Please go on.");
  EXPECT_EQ(payload["session_mode"].string(), "new");
  EXPECT_FALSE(payload.has("agent_session"));

  const std::string reference = fresh_reference();
  const auto answer = lotse.start(run, reference);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Json row = current_session(sam, thread);
  EXPECT_FALSE(row["started"].boolean());
  EXPECT_EQ(answer.json()["agent_session_id"].string(), row["id"].string());
  const auto report = lotse.report(thread, started, 1);
  ASSERT_EQ(report.status, 200) << report.body;
  EXPECT_EQ(report.header("etag"), "\"2\"");
  EXPECT_EQ(report.json()["version"].number(), 2);
  ASSERT_EQ(lotse.finish(run).status, 200);
  EXPECT_EQ(next_mode(thread), Mode("resume", row["id"].string()));
}

TEST_F(RunSessions, TestNewSession_FirstReportCreatesRow) {
  triggered(alex, thread);
  const Json payload = lotse.accept();
  EXPECT_TRUE(sessions_of(sam, thread).empty());
  const auto report = lotse.report(thread, Object().text("external_session_ref", fresh_reference()).str());
  ASSERT_EQ(report.status, 200) << report.body;
  const Json row = current_session(sam, thread);
  EXPECT_EQ(report.json().dump(), row.dump());
  EXPECT_EQ(alex.get(run_path(payload["run_id"].string())).json()["agent_session_id"].string(), row["id"].string());
  EXPECT_EQ(events_of(database, thread).size(), 1U);
}

TEST_F(RunSessions, TestSessionCrashBeforeStarted) {
  const std::string reference = fresh_reference();
  const std::string run = triggered(alex, thread);
  lotse.accept(reference);
  const std::string row = current_session(sam, thread)["id"].string();
  ASSERT_EQ(lotse.operate(run, "finish", R"({"outcome":"failed","code":"crashed"})").status, 200);
  triggered(alex, thread);
  const Json payload = lotse.next();
  EXPECT_EQ(payload["session_mode"].string(), "new");
  EXPECT_EQ(payload["agent_session"]["id"].string(), row);
  EXPECT_EQ(payload["agent_session"]["external_session_ref"].string(), reference);
  EXPECT_EQ(lotse.start(payload["run_id"].string(), reference).json()["agent_session_id"].string(), row);
  EXPECT_EQ(sessions_of(sam, thread).size(), 1U);
}

TEST_F(RunSessions, TestSessionSurvivesRename) {
  const std::string row = used_session(fresh_reference())["id"].string();
  ASSERT_EQ(owner.patch("/v1/threads/" + thread, R"({"title":"Another question"})").status, 200);
  EXPECT_EQ(current_session(sam, thread)["id"].string(), row);
  EXPECT_EQ(next_mode(thread), Mode("resume", row));
}

TEST_F(RunSessions, AResetMakesTheNextRunNew) {
  used_session(fresh_reference());
  ASSERT_EQ(reset(alex, thread).status, 201);
  EXPECT_EQ(next_mode(thread), Mode("new", ""));
}

TEST_F(RunSessions, TestResetDuringActiveRun) {
  const Json row = used_session(fresh_reference());
  const std::string run = triggered(alex, thread);
  lotse.accept();
  ASSERT_EQ(reset(alex, thread).status, 201);
  const auto report = lotse.report(thread, R"({"model":"example-model"})", row["version"].number() + 1);
  ASSERT_EQ(report.status, 200) << report.body;
  EXPECT_EQ(report.json()["id"].string(), row["id"].string());
  EXPECT_FALSE(report.json()["is_current"].boolean());
  EXPECT_EQ(sam.get(run_path(run)).json()["agent_session_id"].string(), row["id"].string());
  ASSERT_EQ(lotse.finish(run).status, 200);
  EXPECT_EQ(next_mode(thread), Mode("new", ""));
}

TEST_F(RunSessions, ALateReportReachesTheOldRowOnly) {
  const Json old = used_session(fresh_reference());
  triggered(alex, thread);
  lotse.accept();
  ASSERT_EQ(reset(alex, thread).status, 201);
  const auto bound = bind(alex, thread, {fresh_reference()});
  ASSERT_EQ(bound.status, 201);
  ASSERT_EQ(lotse.report(thread, R"({"model":"late"})", old["version"].number() + 1).status, 200);
  EXPECT_EQ(current_session(sam, thread).dump(), bound.json().dump());
  const Json listed = sessions_of(sam, thread).back();
  EXPECT_EQ(listed["id"].string(), old["id"].string());
  EXPECT_EQ(listed["model"].string(), "late");
  EXPECT_EQ(listed["end_reason"].string(), "reset") << "an ended session stays listed with its reason";
}

TEST_F(RunSessions, TestBindTakeOver_TheNextRuns) {
  const std::string reference = fresh_reference();
  used_session(reference);
  const std::string other = world.thread(world.support);
  const auto taken = bind(alex, other, {reference, "", true});
  ASSERT_EQ(taken.status, 201) << taken.body;
  EXPECT_EQ(next_mode(other), Mode("bind", taken.json()["id"].string()));
  EXPECT_EQ(next_mode(thread), Mode("new", ""));
}

TEST_F(RunSessions, ARebindCountsEarlierCostOnce) {
  const std::string reference = fresh_reference();
  imported(thread, world.lotse, reference);
  std::string expected;
  for (int i = 0; i < 3; ++i) {
    const auto bound = bind(alex, thread, {reference, expected});
    ASSERT_EQ(bound.status, 201) << bound.body;
    expected = bound.json()["id"].string();
    EXPECT_EQ(database.number("SELECT cost_baseline_micros FROM agent_sessions WHERE id = $1", {expected}), 2500);
    // What the runtime has booked since is part of the next baseline, and none of it twice.
    database.run("UPDATE agent_sessions SET cumulative_cost_micros = 100 WHERE id = $1", {expected});
    const auto again = bind(alex, thread, {reference, expected});
    ASSERT_EQ(again.status, 201) << again.body;
    expected = again.json()["id"].string();
    EXPECT_EQ(database.number("SELECT cost_baseline_micros FROM agent_sessions WHERE id = $1", {expected}), 2600);
    database.run("UPDATE agent_sessions SET cost_baseline_micros = 2500 WHERE id = $1", {expected});
  }
}

TEST_F(RunSessions, AReferenceThatIsCurrentElsewhereIsNotTaken) {
  const std::string reference = fresh_reference();
  ASSERT_EQ(bind(alex, world.thread(world.support), {reference}).status, 201);
  const std::string run = triggered(alex, thread);
  lotse.next();
  const auto start = lotse.start(run, reference);
  ASSERT_EQ(start.status, 200);
  EXPECT_FALSE(start.json().has("agent_session_id"));
  EXPECT_TRUE(sessions_of(sam, thread).empty());
  const std::string log = server().output();
  EXPECT_NE(log.find("run " + run + " of thread " + thread + " starts without a session"), std::string::npos);
  EXPECT_EQ(log.find("\"" + reference + "\""), std::string::npos) << "the log names ids, never the reference";
  EXPECT_EQ(lotse.report(thread, Object().text("external_session_ref", reference).str()).problem(),
            "conflict/session_bound_elsewhere");
  ASSERT_EQ(lotse.report(thread, Object().text("external_session_ref", fresh_reference()).str()).status, 200);
  const Json before = current_session(sam, thread);
  EXPECT_EQ(lotse.report(thread, Object().text("external_session_ref", reference).str(), 1).problem(),
            "conflict/session_bound_elsewhere");
  EXPECT_EQ(current_session(sam, thread).dump(), before.dump());
}

TEST_F(RunSessions, TestReportConcurrent) {
  triggered(alex, thread);
  lotse.accept();
  constexpr int reporters = 8;
  std::vector<Adapter> adapters;
  for (int i = 0; i < reporters; ++i)
    adapters.emplace_back(world.as(world.lotse));
  const std::string body = Object().text("external_session_ref", fresh_reference()).str();
  const auto at = [&](int i) -> Adapter& { return adapters[static_cast<std::size_t>(i)]; };
  const auto firsts = at_once(reporters, [&](int i) { return at(i).report(thread, body); });
  const auto expect_one = [&](const std::vector<Response>& answers) {
    int won = 0;
    for (const auto& answer : answers) {
      won += answer.status == 200 ? 1 : 0;
      if (answer.status == 200)
        continue;
      EXPECT_EQ(answer.status, 412) << answer.body;
      EXPECT_EQ(answer.problem(), "version_conflict");
      EXPECT_EQ(answer.json()["current"].dump(), current_session(sam, thread).dump());
    }
    EXPECT_EQ(won, 1);
  };
  expect_one(firsts);
  EXPECT_EQ(sessions_of(sam, thread).size(), 1U);
  EXPECT_EQ(events_of(database, thread).size(), 1U);
  expect_one(at_once(reporters, [&](int i) {
    return at(i).report(thread, Object().text("model", "model-" + std::to_string(i)).str(), 1);
  }));
  EXPECT_EQ(events_of(database, thread).size(), 2U);
}

TEST_F(RunSessions, TestReportRules) {
  const std::string reference = fresh_reference();
  const std::string body = Object().text("external_session_ref", reference).str();
  const auto unknown = lotse.report("01890000-0000-7000-8000-000000000000", body);
  const auto expect_nothing = [&](const Response& answer, const char* why) {
    EXPECT_EQ(answer.status, 404) << why;
    EXPECT_EQ(answer.body, unknown.body) << why;
    EXPECT_EQ(answer.uniform_headers(), unknown.uniform_headers()) << why;
  };
  expect_nothing(lotse.report(thread, body), "no active run");
  const std::string run = triggered(alex, thread);
  expect_nothing(lotse.report(thread, body), "queued");
  lotse.accept();
  Adapter builder(world.as(world.builder));
  expect_nothing(builder.report(thread, body), "another agent's run");

  EXPECT_EQ(lotse.report(thread, body, 1).problem(), "version_conflict");
  EXPECT_FALSE(lotse.report(thread, body, 1).json().has("current"));
  ASSERT_EQ(lotse.report(thread, body).status, 200);
  EXPECT_EQ(lotse.report(thread, body, 7).problem(), "version_conflict");
  ASSERT_EQ(lotse.report(thread, started, 1).status, 200);
  const auto events = events_of(database, thread).size();
  const auto unchanged = lotse.report(thread, R"({"started":false})", 2);
  EXPECT_EQ(unchanged.status, 200);
  EXPECT_TRUE(unchanged.json()["started"].boolean());
  EXPECT_EQ(unchanged.header("etag"), "\"2\"");
  EXPECT_EQ(events_of(database, thread).size(), events);
  const auto pointer = [](const Response& answer) {
    return answer.json()["errors"][std::size_t{0}]["pointer"].string();
  };
  EXPECT_EQ(pointer(lotse.report(thread, R"({"external_session_ref":"a\u0007"})", 2)), "/external_session_ref");
  EXPECT_EQ(pointer(lotse.report(thread, R"({"surprise":1})", 2)), "/surprise");

  const Headers key{{"Idempotency-Key", "report-" + reference}};
  const auto first = lotse.report(thread, R"({"model":"m-1"})", 2, key);
  ASSERT_EQ(first.status, 200);
  const auto replay = lotse.report(thread, R"({"model":"m-1"})", 2, key);
  EXPECT_EQ(replay.body, first.body);
  EXPECT_EQ(replay.header("etag"), first.header("etag"));
  EXPECT_EQ(replay.header("idempotent-replay"), "true");
  EXPECT_EQ(lotse.report(thread, R"({"model":"m-2"})", 2, key).status, 422);

  ASSERT_EQ(lotse.finish(run).status, 200);
  expect_nothing(lotse.report(thread, started, 3), "a finished run");
}

TEST_F(RunSessions, TestAG18_ImportBindingSessionMissing) {
  const std::string reference = fresh_reference();
  imported(thread, world.lotse, reference);
  const auto before = events_of(database, thread).size();
  const std::string run = triggered(alex, thread);
  const Json bound = current_session(sam, thread);
  EXPECT_EQ(bound["external_session_ref"].string(), reference);
  EXPECT_TRUE(bound["started"].boolean());
  EXPECT_EQ(bindings(thread), 1);
  EXPECT_EQ(database.number("SELECT count(*) FROM audit_log WHERE allowed AND resource_id = $1 AND actor_id = $2 "
                            "AND details::text LIKE '%' || $3 || '%'",
                            {thread, world.alex.id, reference}),
            0)
    << "the reference is in no audit entry";
  ASSERT_EQ(events_of(database, thread).size(), before + 1);
  EXPECT_EQ(events_of(database, thread).back().actor, "human/" + world.alex.id);
  const Json payload = lotse.accept();
  EXPECT_EQ(payload["session_mode"].string(), "bind");
  EXPECT_EQ(payload["agent_session"].dump(), bound.dump());

  const std::string fresh = fresh_reference();
  const std::string body =
    Object().text("external_session_ref", fresh).boolean("started", true).text("bind_failed", "session_missing").str();
  const Headers key{{"Idempotency-Key", "missing-" + fresh}};
  const auto failed = lotse.report(thread, body, 1, key);
  ASSERT_EQ(failed.status, 200) << failed.body;
  const Json row = current_session(sam, thread);
  EXPECT_EQ(failed.json().dump(), row.dump());
  EXPECT_EQ(row["external_session_ref"].string(), fresh);
  EXPECT_EQ(sam.get(run_path(run)).json()["agent_session_id"].string(), row["id"].string());
  EXPECT_EQ(state_of(sam, run), "running");
  EXPECT_EQ(sessions_of(sam, thread).at(1)["end_reason"].string(), "rebind");
  EXPECT_EQ(lotse.report(thread, body, 1, key).header("idempotent-replay"), "true");
  EXPECT_EQ(lotse.report(thread, body, 1).status, 409);
  EXPECT_EQ(lines_of(sam, thread, "agent_session.resume_failed"), 1);
  const Json line = messages_of(sam, thread).back();
  EXPECT_EQ(line["author_id"].string(), world.lotse.id);
  EXPECT_EQ(line["origin"].string(), "system");
  EXPECT_EQ(line["content_md"].string(), "");
  EXPECT_FALSE(lotse.has_next()) << "a line triggers nothing";
  ASSERT_EQ(lotse.finish(run).status, 200);
  EXPECT_EQ(next_mode(thread), Mode("resume", row["id"].string()));
}

TEST_F(RunSessions, TestFailOpenLineKeepsThreadClosed) {
  imported(thread, world.lotse, fresh_reference());
  triggered(alex, thread);
  lotse.accept();
  ASSERT_EQ(owner.post("/v1/threads/" + thread + "/close", "{}").status, 200);
  const auto changes = events_of(database, thread, "thread.changed").size();
  const std::string body =
    Object().text("external_session_ref", fresh_reference()).text("bind_failed", "session_missing").str();
  ASSERT_EQ(lotse.report(thread, body, 1).status, 200);
  EXPECT_EQ(sam.get("/v1/threads/" + thread).json()["state"].string(), "closed");
  EXPECT_EQ(lines_of(sam, thread, "agent_session.resume_failed"), 1);
  EXPECT_EQ(lines_of(sam, thread, "thread.reopened"), 0);
  EXPECT_EQ(events_of(database, thread, "thread.changed").size(), changes);
}

TEST_F(RunSessions, TestImportBindingOnce) {
  imported(thread, world.lotse, fresh_reference());
  constexpr int many = 8;
  std::vector<Client> clients;
  for (int i = 0; i < many; ++i)
    clients.push_back(world.as(world.alex));
  const auto answers =
    at_once(many, [&](int i) { return trigger(clients[static_cast<std::size_t>(i)], thread).status; });
  EXPECT_EQ(std::count(answers.begin(), answers.end(), 201), 1);
  EXPECT_EQ(bindings(thread), 1);
  EXPECT_EQ(sessions_of(sam, thread).size(), 2U);
  ASSERT_EQ(lotse.finish(lotse.accept()["run_id"].string()).status, 200);
  ASSERT_EQ(reset(alex, thread).status, 201);
  EXPECT_EQ(next_mode(thread), Mode("new", "")) << "after a reset an import never binds again";
  EXPECT_EQ(bindings(thread), 1);

  // Two threads with the same reference: one is bound, the other begins anew.
  const std::string shared = fresh_reference();
  const std::string threads[] = {world.thread(world.support), world.thread(world.support)};
  for (const auto& one : threads)
    imported(one, world.lotse, shared);
  at_once(2, [&](int i) { return trigger(clients[static_cast<std::size_t>(i)], threads[i]).status; });
  std::multiset<std::string> modes;
  for (int i = 0; i < 2; ++i)
    modes.insert(lotse.next()["session_mode"].string());
  EXPECT_EQ(modes, (std::multiset<std::string>{"bind", "new"}));
  EXPECT_EQ(bindings(threads[0]) + bindings(threads[1]), 1);

  const std::string former = world.thread(world.support);
  imported(former, world.scout, fresh_reference());
  EXPECT_EQ(next_mode(former), Mode("new", "")) << "an import of an agent that does not work here never binds";
  EXPECT_EQ(bindings(former), 0);
}

TEST_F(RunSessions, TestAgentChanged) {
  const std::string main = world.support.main_thread;
  triggered(alex, main);
  Json run = lotse.accept(fresh_reference());
  ASSERT_EQ(lotse.finish(run["run_id"].string()).status, 200);
  const std::string row = current_session(sam, main)["id"].string();
  const Actor next = world.person("agent", "Next", R"({"tool_class":"container","billing_mode":"shared"})");
  ASSERT_EQ(
    owner.patch("/v1/channels/" + world.support.channel, Object().text("operator_agent_id", next.id).str()).status,
    200);
  const auto before = events_of(database, main).size();
  triggered(alex, main);
  const Json payload = Adapter(world.as(next)).next();
  EXPECT_EQ(payload["session_mode"].string(), "new");
  EXPECT_FALSE(payload.has("agent_session"));
  EXPECT_EQ(payload["agent_id"].string(), next.id);
  EXPECT_EQ(sessions_of(sam, main).front()["id"].string(), row);
  EXPECT_EQ(sessions_of(sam, main).front()["end_reason"].string(), "agent_changed");
  EXPECT_EQ(events_of(database, main).size(), before + 1);
}

TEST_F(RunSessions, TestGuestRunHasNoSession) {
  const Actor guest = world.person("agent", "Guest", R"({"tool_class":"container","billing_mode":"shared"})");
  const std::string invite = Object().text("agent_id", guest.id).str();
  const std::string members = invite.substr(1, invite.size() - 2);
  EXPECT_EQ(trigger(alex, thread, members).problem(), "agent_invocation_denied/agent_not_reachable")
    << "who may not read a thread is no guest of it";
  world.grant("threads", thread, guest, "read");
  const std::string run = triggered(alex, thread, members);
  Adapter adapter(world.as(guest));
  const Json payload = adapter.next();
  EXPECT_EQ(payload["kind"].string(), "guest");
  EXPECT_FALSE(payload.has("session_mode"));
  EXPECT_FALSE(payload.has("agent_session"));
  const auto start = adapter.start(run, fresh_reference());
  ASSERT_EQ(start.status, 200);
  EXPECT_FALSE(start.json().has("agent_session_id"));
  EXPECT_TRUE(sessions_of(sam, thread).empty());
  EXPECT_EQ(adapter.report(thread, Object().text("external_session_ref", fresh_reference()).str()).status, 404);
  EXPECT_EQ(adapter.finish(run).status, 200);
}

TEST_F(RunSessions, TestSessionEventsAndPayloadSchemas) {
  // Everything that changes a session, once; the answers are held against the contract as they come in.
  imported(thread, world.lotse, fresh_reference());
  const std::string run = triggered(alex, thread);
  lotse.accept();
  const std::string missing =
    Object().text("external_session_ref", fresh_reference()).text("bind_failed", "session_missing").str();
  ASSERT_EQ(lotse.report(thread, missing, 1).status, 200);
  ASSERT_EQ(lotse.report(thread, started, 1).status, 200);
  ASSERT_EQ(lotse.operate(run, "messages", R"({"content_md":"Done."})").status, 201);
  ASSERT_EQ(lotse.finish(run).status, 200);
  ASSERT_EQ(reset(alex, thread).status, 201);
  ASSERT_EQ(bind(alex, thread, {fresh_reference()}).status, 201);

  std::map<std::string, int> types;
  const auto page = sam.get("/v1/events?limit=200&thread_id=" + thread, {{"Accept", "application/json"}});
  ASSERT_EQ(page.status, 200) << page.body;
  EXPECT_EQ(page.body.find("null"), std::string::npos);
  for (const auto& event : page.json()["items"].items()) {
    ++types[event["type"].string()];
    EXPECT_EQ(event["scope"]["thread_id"].string(), thread);
    if (event["type"].string() != "agent_session.changed")
      continue;
    EXPECT_EQ(event["resource"]["kind"].string(), "thread");
    EXPECT_EQ(event["resource"]["id"].string(), thread);
    EXPECT_FALSE(event["resource"].has("version"));
    EXPECT_EQ(event["payload"].names(), (std::vector<std::string>{"agent_session", "thread_id"}));
  }
  EXPECT_EQ(types["agent_session.changed"], 7);
  EXPECT_EQ(types["message.created"], 3);
  EXPECT_GE(types["run.changed"], 4);
}

} // namespace
} // namespace cleat::test
