/// `cleatd check`: a sound database breaks no invariant, and each invariant finds what it is about.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/process/adapter.hpp"
#include "tests/process/check.hpp"
#include "tests/process/fleet.hpp"
#include "tests/process/suite.hpp"

namespace cleat::test {
namespace {

/// A row that is spoilt: the invariant that has to say so, and the SQL that spoils it. What the schema forbids is
/// allowed first.
struct Spoilt {
  std::string invariant;
  std::string sql;
};

/// Rows of threads and their runs. `s` names a current session, `r` a run, as the statements say.
std::vector<Spoilt> spoilt_conversations() {
  const std::string current = "(SELECT id FROM agent_sessions WHERE is_current ORDER BY id LIMIT 1)";
  const std::string other = "(SELECT id FROM agent_sessions WHERE is_current ORDER BY id OFFSET 1 LIMIT 1)";
  const std::string active = "(SELECT id FROM runs WHERE state = 'running' ORDER BY id LIMIT 1)";
  const std::string done = "(SELECT id FROM runs WHERE state = 'succeeded' ORDER BY id LIMIT 1)";
  return {
    {"sessions_one_current_in_thread", "DROP INDEX agent_sessions_one_current; UPDATE agent_sessions SET thread_id = "
                                       "(SELECT thread_id FROM agent_sessions WHERE id = " +
                                         current + ") WHERE id = " + other},
    {"sessions_reference_current_once", "DROP INDEX agent_sessions_reference_current; UPDATE agent_sessions SET "
                                        "(external_session_ref, agent_id) = (SELECT "
                                        "external_session_ref, agent_id FROM agent_sessions WHERE id = " +
                                          current + ") WHERE id = " + other},
    {"sessions_current_or_ended", "ALTER TABLE agent_sessions DROP CONSTRAINT agent_sessions_is_current; UPDATE "
                                  "agent_sessions SET is_current = false WHERE id = " +
                                    current},
    {"sessions_events_whole", "DELETE FROM events WHERE payload -> 'agent_session' ->> 'id' = " + current + "::text"},
    {"sessions_events_whole", "UPDATE agent_sessions SET version = version + 1 WHERE id = " + current},
    {"sessions_last_event_shows_row", "UPDATE agent_sessions SET model = 'other' WHERE id = " + current},
    {"sessions_last_event_shows_row", "UPDATE agent_sessions SET external_session_ref = 'other' WHERE id = " + current},
    {"runs_one_active_in_thread", "DROP INDEX runs_one_active; UPDATE runs SET thread_id = (SELECT thread_id FROM runs "
                                  "WHERE state = 'running' ORDER BY id LIMIT 1) WHERE state = 'queued'"},
    {"runs_held_behind_active", "UPDATE runs SET thread_id = (SELECT t.id FROM threads t WHERE NOT EXISTS (SELECT FROM "
                                "runs r WHERE r.thread_id = t.id) LIMIT 1) WHERE state = 'held'"},
    {"runs_moments_fit_state", "UPDATE runs SET started_at = NULL WHERE id = " + active},
    {"runs_events_whole", "DELETE FROM events WHERE resource_id = " + active + " AND resource_version = 1"},
    {"runs_last_event_shows_row", "UPDATE runs SET kind = 'guest' WHERE id = " + active},
    {"runs_invoked_once", "DELETE FROM agent_events WHERE payload ->> 'run_id' = " + active + "::text"},
    {"runs_invoked_once",
     "INSERT INTO agent_events (agent_id, type, time, payload) SELECT agent_id, type, time, payload "
     "FROM agent_events ORDER BY seq LIMIT 1"},
    {"runs_session_is_theirs",
     "UPDATE runs r SET agent_session_id = (SELECT s.id FROM agent_sessions s WHERE s.thread_id <> "
     "r.thread_id LIMIT 1) WHERE r.id = " +
       active},
    {"runs_message_is_theirs",
     "UPDATE messages SET thread_id = (SELECT t.id FROM threads t WHERE t.id <> messages.thread_id "
     "LIMIT 1) WHERE id = (SELECT message_id FROM runs WHERE id = " +
       active + ")"},
    {"runs_failed_binding_told_once", "UPDATE runs SET bind_failed = true WHERE id = " + done},
    {"messages_told_once",
     "DELETE FROM events WHERE seq = (SELECT min(seq) FROM events WHERE type = 'message.created')"},
    {"places_events_whole", "UPDATE channels SET version = 2"},
    {"places_fit",
     "UPDATE threads SET space_id = (SELECT id FROM spaces ORDER BY id DESC LIMIT 1) WHERE id = (SELECT id "
     "FROM threads ORDER BY id LIMIT 1)"},
    {"grants_fit", "UPDATE grants SET resource_id = gen_random_uuid() WHERE ctid = (SELECT min(ctid) FROM grants)"},
    {"owner_is_there", "UPDATE principals SET instance_owner = false"},
    {"owner_is_there", "DELETE FROM tokens"},
    {"events_are_of_what_is_there",
     "UPDATE events SET resource_id = gen_random_uuid() WHERE seq = (SELECT min(seq) FROM "
     "events WHERE type = 'message.created')"},
    {"events_in_sequence",
     "INSERT INTO events (id, type, time, space_id, resource_kind, resource_id, resource_version, "
     "actor_kind, actor_id, payload) SELECT id, type, time, space_id, resource_kind, resource_id, "
     "resource_version, actor_kind, actor_id, payload FROM events ORDER BY seq LIMIT 1"},
    {"events_in_sequence", "SELECT setval('events_seq_seq', 1)"},
    {"audit_binds_once", "DELETE FROM runs; DELETE FROM agent_sessions WHERE id = " + current},
    {"audit_binds_once", "UPDATE audit_log SET details = (details::jsonb || jsonb_build_object('ended_session_id', " +
                           current +
                           "))::json WHERE id = (SELECT min(id::text)::uuid FROM audit_log WHERE action = "
                           "'agent_session.bind')"},
    {"audit_imports_counted", "DELETE FROM audit_log WHERE action = 'agent_session.import'"},
    {"audit_changes_once", "DELETE FROM audit_log WHERE action = 'channel.create'"},
    {"audit_changes_once", "DELETE FROM audit_log WHERE action = 'account.subscribe'"},
    {"audit_changes_once", "DELETE FROM audit_log WHERE action = 'thread.create'"},
    {"idempotency_effect_is_there", "DELETE FROM runs; DELETE FROM messages; DELETE FROM agent_sessions"},
  };
}

/// Rows around Runners.
std::vector<Spoilt> spoilt_fleets() {
  const std::string live = "(SELECT session_id FROM session_bindings WHERE state = 'live')";
  const std::string begun = "(SELECT operation_id FROM session_bindings WHERE state = 'live')";
  return {
    {"containers_attempt_is_current", "UPDATE containers SET attempt_id = gen_random_uuid()"},
    {"containers_attempt_is_current", "DELETE FROM containers"},
    {"containers_one_current_attempt",
     "DROP INDEX container_attempts_one_current; INSERT INTO container_attempts SELECT "
     "gen_random_uuid(), container_name, runner_id, enrollment_revision, true, "
     "created_at FROM container_attempts WHERE is_current"},
    {"bindings_one_live_in_container",
     "DROP INDEX session_bindings_one_live; UPDATE session_bindings SET state = 'live', released_at = NULL, "
     "container_name = (SELECT container_name FROM session_bindings WHERE state = 'live')"},
    {"bindings_live_is_current", "UPDATE session_bindings SET container_attempt_id = gen_random_uuid()"},
    {"bindings_live_is_current", "DELETE FROM session_operations WHERE id = " + begun},
    {"bindings_released_at_an_end", "ALTER TABLE session_bindings DROP CONSTRAINT session_bindings_released_at; UPDATE "
                                    "session_bindings SET released_at = now() WHERE state = 'live'"},
    {"operations_one_start_in_container",
     "UPDATE session_operations SET state = 'reserved', finished_at = NULL, session_id = NULL WHERE id = " + begun},
    {"operations_one_start_in_container",
     "DROP INDEX session_operations_one_start; UPDATE session_operations SET state = "
     "'reserved', finished_at = NULL, session_id = NULL, failure_class = NULL, failure_code = NULL, container_name = "
     "'x', container_attempt_id = (SELECT id FROM container_attempts LIMIT 1) WHERE kind = 'fresh'"},
    {"operations_one_stop_of_session",
     "DROP INDEX session_operations_one_stop; UPDATE session_operations SET state = 'reserved', finished_at = NULL, "
     "session_id = NULL, stop_session_id = " +
       live + " WHERE kind = 'stop'"},
    {"operations_ids_minted_once",
     "DROP INDEX session_operations_handle; UPDATE session_operations SET handle_digest = "
     "sha256('x') WHERE kind <> 'stop'"},
    {"operations_ids_minted_once",
     "UPDATE session_operations SET relay_request_id = gen_random_uuid() WHERE id = (SELECT "
     "min(id::text)::uuid FROM session_operations WHERE kind = 'fresh')"},
    {"operations_settled_one_way", "ALTER TABLE session_operations DROP CONSTRAINT session_operations_failure; UPDATE "
                                   "session_operations SET failure_code = 'x' WHERE state = 'promoted'"},
    {"operations_settled_one_way", "ALTER TABLE session_operations DROP CONSTRAINT session_operations_result; UPDATE "
                                   "session_operations SET session_id = NULL WHERE kind = 'stop'"},
    {"operations_promoted_is_bound", "DELETE FROM session_bindings WHERE session_id = " + live},
    {"operations_promoted_is_bound",
     "ALTER TABLE session_operations DROP CONSTRAINT session_operations_result; UPDATE session_operations SET state = "
     "'failed', failure_class = 'terminal', failure_code = 'x' WHERE id = " +
       begun},
    {"operations_stopped_is_released",
     "DROP INDEX session_bindings_one_live; UPDATE session_bindings SET state = 'live', "
     "released_at = NULL WHERE state = 'released'"},
    {"orphans_have_their_operation", "UPDATE session_operations SET state = 'failed', failure_class = 'terminal', "
                                     "failure_code = 'deadline_exceeded', session_id = NULL WHERE kind = 'stop'"},
    {"orphans_have_their_operation",
     "INSERT INTO orphan_diagnostics (id, reason, operation_id, account_id, actor_id, runner_id, container_name, "
     "container_attempt_id, opened_at) SELECT gen_random_uuid(), 'x', id, account_id, actor_id, runner_id, "
     "container_name, container_attempt_id, now() FROM session_operations WHERE id = " +
       begun},
    {"transcripts_whole", "DELETE FROM session_transcripts WHERE seq = 1"},
    {"transcripts_whole", "UPDATE session_bindings SET transcript_through = transcript_through + 1"},
    {"runners_connection_is_known", "UPDATE runners SET node_id = gen_random_uuid(), connected_at = NULL"},
    {"audit_operations_once", "DELETE FROM audit_log WHERE action = 'agent_session.start'"},
    {"audit_operations_once", "UPDATE session_operations SET dispatch = dispatch + 1"},
  };
}

/// A database in which everything has happened that the invariants are about, seen by a server of its own.
class Check : public testing::Test {
protected:
  static void SetUpTestSuite() {
    url_ = shared_cluster().createdb(fresh_database_name());
    Server server({url_});
    World world(server);
    work_in_threads(world);
    work_in_containers(server, world);
    server.stop();
  }

  static void work_in_threads(World& world) {
    Client owner = world.as(world.owner);
    Client alex = world.as(world.alex);
    owner.post("/v1/spaces", R"({"name":"Second"})");
    const std::string first = world.thread(world.support);
    const std::string second = world.thread(world.support);
    const std::string third = world.thread(world.support);
    const std::string reference = fresh_reference();
    bind(alex, first, {reference}, {{"Idempotency-Key", "bind"}});
    bind(alex, second, {reference, "", true});
    bind(alex, first, {fresh_reference()});
    reset(alex, first);
    bind(alex, first, {fresh_reference()});
    import_sessions(owner, third,
                    {import_item(world.lotse, fresh_reference(), "2025-01-01T10:00:00Z", "2025-01-01T11:00:00Z")});
    Adapter lotse(world.as(world.lotse));
    triggered(alex, first);
    lotse.finish(lotse.accept()["run_id"].string());
    const std::string running = triggered(alex, first);
    lotse.accept();
    trigger(alex, first, R"("when_active":"enqueue")", {{"Idempotency-Key", "held"}});
    const auto held_on = alex.get(run_path(running)).json();
    ASSERT_EQ(held_on["state"].string(), "running");
    const std::string fails = triggered(alex, second);
    const auto invocation = lotse.accept();
    const auto version = invocation["agent_session"]["version"].number();
    ASSERT_EQ(lotse
                .report(second,
                        R"({"bind_failed":"session_missing","external_session_ref":")" + fresh_reference() + R"("})",
                        version)
                .status,
              200);
    lotse.operate(fails, "finish", R"({"outcome":"failed"})");
    triggered(alex, third);
  }

  static void work_in_containers(Server& server, World& world) {
    Client owner = world.as(world.owner);
    Client alex = world.as(world.alex);
    const Workshop workshop(owner, world.alex, 2);
    RunnerProcess runner(server.runner_address(), workshop);
    await_container(alex, workshop.containers[1], "idle");
    const std::string stopped = live_session(alex, workshop.containers[1]);
    await_line(alex, stopped, "out: ready");
    ASSERT_EQ(stop_agent(alex, stopped, {{"Idempotency-Key", "stop"}}).status, 200);
    ASSERT_EQ(resume_agent(alex, workshop.containers[1], stopped, 20).status, 201);
    ASSERT_EQ(stop_agent(alex, stopped).status, 200);
    const auto started = start_agent(alex, workshop.box(), 20, "{}", {{"Idempotency-Key", "start"}});
    ASSERT_EQ(started.status, 201) << started.body;
    const std::string session = started.json()["session_id"].string();
    say_to_agent(alex, session, "hello");
    await_line(alex, session, "out: said: hello");
    runner.kill(); // a live binding stays, as it does in a database that is looked at while all is at work
    server.kill();
  }

  static std::string url_;
};

std::string Check::url_;

/// What one invariant says, in the transaction that `database` is in.
std::size_t findings(Sql& database, const std::string& invariant) {
  return database.run(read_file(std::filesystem::path(CLEAT_INVARIANTS) / (invariant + ".sql"))).size();
}

TEST_F(Check, ASoundDatabaseBreaksNothing) {
  const auto table = run_check({"--database-url", url_});
  EXPECT_EQ(table.status, 0) << table.output;
  EXPECT_NE(table.output.find("sound   A thread has at most one current session."), std::string::npos) << table.output;
  EXPECT_EQ(table.output.find("BROKEN"), std::string::npos) << table.output;
  const auto json = run_check({"--database-url", url_, "--json"});
  EXPECT_TRUE(Json::parse(json.output)["sound"].boolean()) << json.output;
}

TEST_F(Check, EveryInvariantFindsWhatItIsAbout) {
  auto all = spoilt_conversations();
  const auto fleets = spoilt_fleets();
  all.insert(all.end(), fleets.begin(), fleets.end());
  std::map<std::string, int> found;
  for (const auto& file : std::filesystem::directory_iterator(CLEAT_INVARIANTS))
    found[file.path().stem()] = 0;
  Sql database(url_);
  for (const auto& [invariant, sql] : all) {
    database.script("BEGIN");
    EXPECT_EQ(findings(database, invariant), 0U) << invariant << " before it is spoilt";
    try {
      database.script("ALTER TABLE messages DROP CONSTRAINT messages_run; " + sql);
      EXPECT_GT(findings(database, invariant), 0U) << invariant << " does not find: " << sql;
    } catch (const SqlError& error) {
      ADD_FAILURE() << sql << ": " << error.what();
    }
    database.script("ROLLBACK");
    ++found[invariant];
  }
  for (const auto& [invariant, times] : found)
    EXPECT_GT(times, 0) << invariant << " has nothing to find in this test";
}

TEST_F(Check, WhatIsBrokenIsToldInWordsAndByTheExitStatus) {
  const std::string url = shared_cluster().createdb(fresh_database_name());
  Server server({url});
  World world(server);
  server.stop();
  Sql(url).script("UPDATE channels SET version = 7");
  const auto table = run_check({"--database-url", url});
  EXPECT_EQ(table.status, 1) << table.output;
  EXPECT_NE(table.output.find("channel " + world.support.channel + " has version 7, its events tell of 1"),
            std::string::npos)
    << table.output;
  const auto json = run_check({"--database-url", url, "--json"});
  EXPECT_EQ(json.status, 1);
  const Json report = Json::parse(json.output);
  EXPECT_FALSE(report["sound"].boolean());
  EXPECT_EQ(report["findings"][std::size_t{0}]["invariant"].string(), "audit_changes_once");
}

TEST_F(Check, WhatCannotBeLookedAtIsTold) {
  const TemporaryFolder folder;
  const auto nothing = run_check({"--data", (folder.path() / "none").string()});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_NE(nothing.output.find("--database-url"), std::string::npos) << nothing.output;
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "none")) << "a check makes nothing";
  const auto unused = run_check({"--database-url", shared_cluster().createdb(fresh_database_name())});
  EXPECT_EQ(unused.status, 2);
  EXPECT_NE(unused.output.find("never been used"), std::string::npos) << unused.output;
  EXPECT_EQ(run_check({"--nonsense"}).status, 2);
}

TEST_F(Check, TheEmbeddedDatabaseIsLookedAtWhetherItsServerRunsOrNot) {
  Server server;
  World world(server);
  const std::vector<std::string> arguments{"--data", server.data().string()};
  EXPECT_EQ(run_check(arguments).status, 0);
  server.stop();
  const auto checked = run_check(arguments);
  EXPECT_EQ(checked.status, 0) << checked.output;
  server.start();
  EXPECT_EQ(server.client("").get("/readyz").status, 200);
}

} // namespace
} // namespace cleat::test
