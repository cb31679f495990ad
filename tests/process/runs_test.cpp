#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <map>
#include <thread>

#include "tests/process/adapter.hpp"
#include "tests/process/crowd.hpp"
#include "tests/process/suite.hpp"

/// The life of runs (spec 03 section 10), from outside.
namespace cleat::test {
namespace {

constexpr const char* unknown_id = "01890000-0000-7000-8000-000000000000";

class Runs : public WorldSuite {
protected:
  std::string thread = world.thread(world.support);
  Adapter lotse{world.as(world.lotse)};
};

TEST_F(Runs, FromTriggerToFinish) {
  const auto answer = trigger(alex, thread);
  ASSERT_EQ(answer.status, 201) << answer.body;
  EXPECT_EQ(answer.header("etag"), "\"1\"");
  const Json queued = answer.json();
  EXPECT_EQ(queued.names(), (std::vector<std::string>{"agent_id", "created_at", "id", "kind", "message_id", "state",
                                                      "thread_id", "triggered_by", "version"}));
  const std::string run = queued["id"].string();
  EXPECT_EQ(sam.get(run_path(run)).body, answer.body);
  lotse.accept();
  EXPECT_EQ(lotse.operate(run, "heartbeat").json()["state"].string(), "running");
  EXPECT_EQ(lotse.operate(run, "wait").json()["state"].string(), "waiting_input");
  EXPECT_EQ(lotse.operate(run, "heartbeat").json()["state"].string(), "waiting_input");
  EXPECT_EQ(lotse.operate(run, "wait").problem(), "conflict/run_state");
  EXPECT_EQ(lotse.operate(run, "resume").json()["state"].string(), "running");
  const auto posted = lotse.operate(run, "messages", R"({"content_md":"Half of it."})");
  ASSERT_EQ(posted.status, 201) << posted.body;
  EXPECT_EQ(posted.json()["run_id"].string(), run);
  const auto finished =
    lotse.operate(run, "finish", R"({"outcome":"failed","code":"no_luck","detail":"None at all."})");
  ASSERT_EQ(finished.status, 200) << finished.body;
  EXPECT_EQ(finished.json()["failure"]["code"].string(), "no_luck");
  EXPECT_FALSE(finished.json().has("lease_expires_at"));
  EXPECT_EQ(lotse.operate(run, "heartbeat").problem(), "conflict/run_state");
  EXPECT_EQ(messages_of(sam, thread).size(), 2U);
  EXPECT_EQ(sam.get("/v1/threads/" + thread + "/runs").json()["items"][std::size_t{0}].dump(),
            sam.get(run_path(run)).json().dump());
}

TEST_F(Runs, WhoSeesRunsAndMessages) {
  const std::string run = triggered(alex, thread);
  const auto unknown = robin.get(run_path(unknown_id));
  EXPECT_EQ(unknown.status, 404);
  for (const std::string& path :
       {run_path(run), "/v1/threads/" + thread + "/runs", "/v1/threads/" + thread + "/messages"}) {
    EXPECT_EQ(sam.get(path).status, 200) << path;
    const auto hidden = robin.get(path);
    EXPECT_EQ(hidden.body, unknown.body) << path;
    EXPECT_EQ(hidden.uniform_headers(), unknown.uniform_headers()) << path;
  }
  for (const char* operation : {"start", "wait", "resume", "heartbeat", "cancel"})
    EXPECT_EQ(robin.post(run_path(run, operation), "{}").body, unknown.body) << operation;
}

TEST_F(Runs, ARunBelongsToItsAgent) {
  const std::string run = triggered(alex, thread);
  Client builder = world.as(world.builder);
  EXPECT_EQ(builder.post(run_path(run, "start"), "{}").status, 404);
  world.grant("threads", thread, world.builder, "read");
  EXPECT_EQ(builder.post(run_path(run, "start"), "{}").problem(), "forbidden/not_self");
  EXPECT_EQ(alex.post(run_path(run, "start"), "{}").status, 404);
  EXPECT_EQ(lotse.start(run).status, 200);
}

TEST_F(Runs, APersonalSubscriptionIsOutOfReachOnEveryPath) {
  const std::string desk = world.thread(world.desk);
  const std::string denied = "agent_invocation_denied/billing_mode_personal_not_holder";
  EXPECT_EQ(trigger(alex, desk).problem(), denied);
  EXPECT_EQ(trigger(alex, desk, R"("when_active":"enqueue")").problem(), denied);
  const std::string run = triggered(sam, desk);
  EXPECT_EQ(alex.post(run_path(run, "cancel"), "{}").problem(), denied);
  EXPECT_EQ(trigger(alex, desk, R"("when_active":"enqueue")").problem(), denied) << "nor behind the holder's run";
  EXPECT_EQ(bind(alex, desk, {fresh_reference()}).problem(), denied);
  EXPECT_EQ(reset(alex, desk).problem(), denied);
  world.grant("threads", thread, world.scout, "read");
  EXPECT_EQ(trigger(alex, thread, "\"agent_id\":\"" + world.scout.id + "\"").problem(), denied) << "nor as a guest";
}

TEST_F(Runs, HeldRunsAreReleasedInOrder) {
  const std::string first = triggered(alex, thread);
  EXPECT_EQ(trigger(alex, thread).problem(), "conflict/run_active");
  const std::string enqueue = R"("when_active":"enqueue")";
  const std::string second = triggered(alex, thread, enqueue);
  const std::string third = triggered(owner, thread, enqueue);
  EXPECT_EQ(state_of(sam, second), "held");
  EXPECT_EQ(lotse.accept()["run_id"].string(), first);
  EXPECT_FALSE(lotse.has_next());
  ASSERT_EQ(lotse.finish(first).status, 200);
  EXPECT_EQ(lotse.next()["run_id"].string(), second);
  EXPECT_EQ(alex.post(run_path(second, "cancel"), "{}").json()["state"].string(), "cancelled");
  const Json payload = lotse.next();
  EXPECT_EQ(payload["run_id"].string(), third);
  EXPECT_EQ(payload["triggered_by"].string(), world.owner.id);
}

TEST_F(Runs, AReleaseThatIsDeniedFailsItsRun) {
  const std::string first = triggered(alex, thread);
  const std::string enqueue = R"("when_active":"enqueue")";
  const std::string lost = triggered(alex, thread, enqueue);
  const std::string next = triggered(owner, thread, enqueue);
  ASSERT_EQ(owner.del("/v1/channels/" + world.support.channel + "/grants/" + world.alex.id).status, 204);
  lotse.accept();
  ASSERT_EQ(lotse.finish(first).status, 200);
  const Json failed = owner.get(run_path(lost)).json();
  EXPECT_EQ(failed["state"].string(), "failed");
  EXPECT_EQ(failed["failure"]["code"].string(), "invocation_denied");
  EXPECT_EQ(state_of(owner, next), "queued");
  EXPECT_EQ(database.number("SELECT count(*) FROM audit_log WHERE NOT allowed AND actor_id = $1 AND action = "
                            "'run.trigger'",
                            {world.alex.id}),
            1);
}

TEST_F(Runs, ATriggerReopensAClosedThread) {
  ASSERT_EQ(owner.post("/v1/threads/" + thread + "/close", "{}").status, 200);
  triggered(alex, thread);
  EXPECT_EQ(sam.get("/v1/threads/" + thread).json()["state"].string(), "open");
  EXPECT_EQ(lines_of(sam, thread, "thread.reopened"), 1);
}

TEST_F(Runs, ATriggerThatIsSentTwiceIsOneRun) {
  const Headers key{{"Idempotency-Key", "hello"}};
  const auto first = trigger(alex, thread, {}, key);
  ASSERT_EQ(first.status, 201);
  const auto again = trigger(alex, thread, {}, key);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(again.header("idempotent-replay"), "true");
  EXPECT_EQ(messages_of(sam, thread).size(), 1U);
}

TEST_F(Runs, APollThatIsCutOffLosesNothing) {
  triggered(alex, thread);
  const Json first = lotse.next();
  Adapter restarted(world.as(world.lotse));
  EXPECT_EQ(restarted.next().dump(), first.dump()) << "the cursor is the adapter's";
}

TEST_F(Runs, OnlyAgentsPoll) {
  EXPECT_EQ(alex.get("/v1/agent/events").problem(), "forbidden/actor_not_agent");
}

/// Servers whose runs do not live long.
class ImpatientRuns : public testing::Test {
protected:
  const std::string url = shared_cluster().createdb(fresh_database_name());
  Server server{
    {url, {}, {{"CLEAT_RUNS_LEASE_S", "2"}, {"CLEAT_RUNS_QUEUED_TIMEOUT_S", "2"}, {"CLEAT_RUNS_WATCH_MS", "100"}}}};
  World world{server};
  Client alex = world.as(world.alex);
  Adapter lotse{world.as(world.lotse)};
  std::string thread = world.thread(world.support);
};

TEST_F(ImpatientRuns, AnAdapterThatDiedBlocksItsThreadForALeaseAtMost) {
  const std::string dead = triggered(alex, thread);
  lotse.accept();
  const std::string next = triggered(alex, thread, R"("when_active":"enqueue")");
  await_state(alex, dead, "failed");
  EXPECT_EQ(alex.get(run_path(dead)).json()["failure"]["code"].string(), "lease_expired");
  EXPECT_EQ(lotse.operate(dead, "heartbeat").problem(), "conflict/run_state");
  EXPECT_EQ(lotse.next()["run_id"].string(), next);
  EXPECT_EQ(lotse.start(next).status, 200) << "and the next one is free";
}

TEST_F(ImpatientRuns, ARunThatNobodyStartsFails) {
  const std::string run = triggered(alex, thread);
  await_state(alex, run, "failed");
  EXPECT_EQ(alex.get(run_path(run)).json()["failure"]["code"].string(), "not_accepted");
  EXPECT_EQ(lotse.start(run).problem(), "conflict/run_state");
}

TEST_F(ImpatientRuns, HeartbeatsKeepARunAlive) {
  const std::string run = triggered(alex, thread);
  lotse.accept();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (std::chrono::steady_clock::now() < end) {
    ASSERT_EQ(lotse.operate(run, "heartbeat").status, 200);
    std::this_thread::sleep_for(std::chrono::milliseconds(200)); // a heart beats, it does not buzz
  }
  EXPECT_EQ(lotse.finish(run).status, 200);
}

/// First triggers at once, at one server and at two.
class TriggerRace : public testing::TestWithParam<std::size_t> {};

TEST_P(TriggerRace, OneActiveRunAndOneCurrentRow) {
  constexpr int racers = 32;
  constexpr int rounds = 10;
  const std::string url = shared_cluster().createdb(fresh_database_name());
  std::vector<std::unique_ptr<Server>> servers;
  for (std::size_t i = 0; i < GetParam(); ++i)
    servers.push_back(std::make_unique<Server>(ServerOptions{url}));
  World world(servers.front()->endpoint(), servers.front()->owner_token());
  std::vector<Client> clients;
  std::vector<Adapter> adapters;
  for (std::size_t i = 0; i < racers; ++i) {
    clients.push_back(servers[i % servers.size()]->client(world.alex.token));
    adapters.emplace_back(servers[i % servers.size()]->client(world.lotse.token));
  }
  Client owner = world.as(world.owner);
  Sql database(url);
  for (int round = 0; round < rounds; ++round) {
    const std::string thread = world.thread(world.support);
    const auto item = import_item(world.lotse, fresh_reference(), "2025-01-01T10:00:00Z", "2025-01-01T11:00:00Z");
    ASSERT_EQ(import_sessions(owner, thread, {item}).status, 201);
    const auto answers = at_once(racers, [&](int i) { return trigger(clients[static_cast<std::size_t>(i)], thread); });
    std::map<std::string, int> tally;
    std::string run;
    for (const auto& answer : answers) {
      ++tally[answer.status == 201 ? "201" : answer.problem()];
      if (answer.status == 201)
        run = answer.json()["id"].string();
    }
    EXPECT_EQ(tally, (std::map<std::string, int>{{"201", 1}, {"conflict/run_active", racers - 1}}));
    EXPECT_EQ(database.number("SELECT count(*) FROM runs WHERE thread_id = $1", {thread}), 1);
    EXPECT_EQ(database.number("SELECT count(*) FROM agent_sessions WHERE thread_id = $1 AND is_current", {thread}), 1);
    // And every adapter process wants to start it.
    const auto starts = at_once(racers, [&](int i) { return adapters[static_cast<std::size_t>(i)].start(run).status; });
    EXPECT_EQ(std::count(starts.begin(), starts.end(), 200), 1);
    EXPECT_EQ(std::count(starts.begin(), starts.end(), 409), racers - 1);
  }
}

TEST_P(TriggerRace, EverybodyEnqueuesWhileRunsEnd) {
  constexpr int humans = 8;
  constexpr int each = 6;
  const std::string url = shared_cluster().createdb(fresh_database_name());
  std::vector<std::unique_ptr<Server>> servers;
  for (std::size_t i = 0; i < GetParam(); ++i)
    servers.push_back(std::make_unique<Server>(ServerOptions{url}));
  World world(servers.front()->endpoint(), servers.front()->owner_token());
  const std::string thread = world.thread(world.support);
  auto adapter = std::async(std::launch::async, [&] {
    Adapter lotse(servers.back()->client(world.lotse.token));
    for (int i = 0; i < humans * each; ++i)
      EXPECT_EQ(lotse.finish(lotse.accept()["run_id"].string()).status, 200);
  });
  at_once(humans, [&](int i) {
    Client client = servers[static_cast<std::size_t>(i) % servers.size()]->client(world.alex.token);
    for (int k = 0; k < each; ++k)
      EXPECT_EQ(trigger(client, thread, R"("when_active":"enqueue")").status, 201);
    return 0;
  });
  adapter.get();
  Sql database(url);
  EXPECT_EQ(database.number("SELECT count(*) FROM runs WHERE state = 'succeeded'"), humans * each)
    << "a run was held when nobody was left to release it";
}

std::string servers_of(const testing::TestParamInfo<std::size_t>& test) {
  return test.param == 1 ? "OneServer" : "TwoServers";
}

INSTANTIATE_TEST_SUITE_P(Servers, TriggerRace, testing::Values(1, 2), servers_of);

TEST(RunsAndCrashes, AResetSurvivesACrashAndTheNextRunIsNew) {
  Server server;
  World world(server);
  const std::string thread = world.thread(world.support);
  {
    Client alex = world.as(world.alex);
    Adapter lotse(world.as(world.lotse));
    const std::string run = triggered(alex, thread);
    lotse.accept(fresh_reference());
    ASSERT_EQ(lotse.report(thread, R"({"started":true})", 1).status, 200);
    ASSERT_EQ(lotse.finish(run).status, 200);
    ASSERT_EQ(reset(alex, thread).status, 201);
  }
  server.kill();
  server.start();
  Client alex = server.client(world.alex.token);
  const std::string run = triggered(alex, thread);
  Adapter lotse(server.client(world.lotse.token));
  Json payload = lotse.next();
  EXPECT_NE(payload["run_id"].string(), run) << "the first invocation again, for who lost its cursor";
  payload = lotse.next();
  EXPECT_EQ(payload["run_id"].string(), run);
  EXPECT_EQ(payload["session_mode"].string(), "new");
}

} // namespace
} // namespace cleat::test
