/// The schema as the migrations make it, and what the migrator refuses.
#include <span>
#include <thread>

#include <gtest/gtest.h>

#include "storage/migrator.hpp"
#include "tests/pg/databases.hpp"
#include "tests/support/cluster.hpp"
#include "tests/support/sql.hpp"

namespace cleat::test {

namespace {

// Ids are written out, so that the statements of a test can be read as they stand.
constexpr const char* alex = "01900000-0000-7000-8000-000000000001";
constexpr const char* lotse = "01900000-0000-7000-8000-000000000002";
constexpr const char* thread_1 = "01900000-0000-7000-8000-000000000011";
constexpr const char* thread_2 = "01900000-0000-7000-8000-000000000012";

constexpr const char* unique_violation = "23505";
constexpr const char* check_violation = "23514";
constexpr const char* foreign_key_violation = "23503";

/// A migrated database with a person, an agent and a channel of two threads.
class AgentSessions : public testing::Test {
protected:
  void SetUp() override {
    sql_.script(R"(
      BEGIN;
      INSERT INTO principals (id, kind, name, instance_owner, created_at)
        VALUES ('01900000-0000-7000-8000-000000000001', 'human', 'Alex', true, now());
      INSERT INTO principals (id, kind, name, created_at, tool_class, billing_mode, enabled, reachable)
        VALUES ('01900000-0000-7000-8000-000000000002', 'agent', 'Lotse', now(), 'container', 'shared', true, true);
      INSERT INTO spaces (id, name, owner_id, created_at)
        VALUES ('01900000-0000-7000-8000-000000000003', 'Example', '01900000-0000-7000-8000-000000000001', now());
      INSERT INTO channels (id, space_id, name, mode, main_thread_id, created_at)
        VALUES ('01900000-0000-7000-8000-000000000004', '01900000-0000-7000-8000-000000000003', 'Support', 'open',
                '01900000-0000-7000-8000-000000000011', now());
      INSERT INTO threads (id, space_id, channel_id, kind, title, state, created_at)
        VALUES ('01900000-0000-7000-8000-000000000011', '01900000-0000-7000-8000-000000000003',
                '01900000-0000-7000-8000-000000000004', 'main', 'Main', 'open', now()),
               ('01900000-0000-7000-8000-000000000012', '01900000-0000-7000-8000-000000000003',
                '01900000-0000-7000-8000-000000000004', 'thread', 'Other', 'open', now());
      COMMIT)");
  }

  /// Inserts a row; `ended` rows have the reason given.
  std::string session(const char* thread, const char* reference, bool is_current,
                      const Sql::Value& end_reason = std::nullopt) {
    return sql_.value("INSERT INTO agent_sessions (id, thread_id, agent_id, external_session_ref, is_current, started,"
                      " currency, created_at, ended_at, end_reason)"
                      " VALUES (gen_random_uuid(), $1, $2, $3, $4::boolean, true, 'EUR', now(),"
                      " CASE WHEN $5::text IS NULL THEN NULL ELSE now() END, $5) RETURNING id",
                      {thread, lotse, reference, is_current ? "true" : "false", end_reason});
  }

  void system_line(const Sql::Value& code, const char* origin = "system", const char* content = "") {
    sql_.run("INSERT INTO messages (id, thread_id, author_id, kind, origin, content_md, system_code, created_at)"
             " VALUES (gen_random_uuid(), $1, $2, 'system', $3, $4, $5, now())",
             {thread_1, lotse, origin, content, code});
  }

  std::string message(const char* kind, const char* origin, const char* content) {
    return sql_.value("INSERT INTO messages (id, thread_id, author_id, kind, origin, content_md, created_at)"
                      " VALUES (gen_random_uuid(), $1, $2, $3, $4, $5, now()) RETURNING id",
                      {thread_1, alex, kind, origin, content});
  }

  /// A run with the columns that its state demands.
  std::string run(const char* thread, const char* state, const Sql::Value& session_id) {
    return sql_.value(
      "INSERT INTO runs (id, thread_id, agent_id, kind, state, triggered_by, message_id, agent_session_id, created_at,"
      " queued_at, lease_expires_at, finished_at, failure_code)"
      " SELECT gen_random_uuid(), $1, $2, 'operator', q.state, $4, $5, $6, now(),"
      " CASE WHEN q.state <> 'held' THEN now() END,"
      " CASE WHEN q.state IN ('running', 'waiting_input') THEN now() END,"
      " CASE WHEN q.state IN ('succeeded', 'failed', 'cancelled') THEN now() END,"
      " CASE WHEN q.state = 'failed' THEN 'agent_error' END"
      " FROM (SELECT $3::text AS state) q RETURNING id",
      {thread, lotse, state, alex, message("message", "human", "Hello"), session_id});
  }

  std::string plan_of(const std::string& statement) {
    std::string plan;
    for (const auto& row : sql_.run("EXPLAIN " + statement))
      plan += row.at(0).value() + "\n";
    return plan;
  }

  /// The state (and constraint) that a statement fails with; empty when it passes.
  template <class Statement>
  static std::string refusal(Statement statement) {
    try {
      statement();
    } catch (const SqlError& error) {
      return error.constraint.empty() ? error.sqlstate : error.sqlstate + " " + error.constraint;
    }
    return "";
  }

  static std::string with(const char* state, const char* constraint) { return std::string(state) + " " + constraint; }

  LeasedDatabase database_;
  Sql sql_{database_.url()};
};

class Migrator : public testing::Test {
protected:
  /// What `migrate` says when it refuses.
  std::string refusal(std::span<const storage::Migration> migrations = storage::embedded_migrations()) {
    try {
      storage::migrate(options_for(url_), migrations);
    } catch (const storage::MigrationError& error) {
      return error.what();
    }
    return "";
  }

  /// The program's own migrations and one more.
  static std::vector<storage::Migration> with_one_more(std::string_view name, std::string_view sql) {
    const auto own = storage::embedded_migrations();
    std::vector<storage::Migration> migrations(own.begin(), own.end());
    migrations.push_back({migrations.back().version + 1, name, sql});
    return migrations;
  }

  std::string url_ = shared_cluster().createdb(fresh_database_name());
};

} // namespace

TEST_F(AgentSessions, TestMigration_AgentSessions) {
  session(thread_1, "ref-1", true);
  EXPECT_EQ(refusal([&] { session(thread_1, "ref-2", true); }), with(unique_violation, "agent_sessions_one_current"));
  EXPECT_EQ(refusal([&] { session(thread_2, "ref-1", true); }),
            with(unique_violation, "agent_sessions_reference_current"));
  EXPECT_EQ(refusal([&] { session(thread_2, "ref-1", false, "reset"); }), "")
    << "ended in one thread and current in another";

  EXPECT_EQ(refusal([&] { session(thread_2, "ref-3", false); }), with(check_violation, "agent_sessions_is_current"));
  EXPECT_EQ(refusal([&] { session(thread_2, "ref-3", true, "reset"); }),
            with(check_violation, "agent_sessions_is_current"));
  EXPECT_EQ(refusal([&] { session(thread_2, "ref-3", false, "tired"); }),
            with(check_violation, "agent_sessions_end_reason"));
  for (const char* reason : {"reset", "rebind", "import", "agent_changed"})
    EXPECT_EQ(refusal([&] { session(thread_2, reason, false, reason); }), "");

  const auto session_id = session(thread_2, "ref-4", true);
  const auto run_id = run(thread_2, "running", session_id);
  sql_.run("DELETE FROM agent_sessions WHERE id = $1", {session_id});
  EXPECT_EQ(sql_.run("SELECT agent_session_id FROM runs WHERE id = $1", {run_id}).at(0).at(0), std::nullopt);
}

TEST_F(AgentSessions, TestMigration_SystemCodeResumeFailed) {
  EXPECT_EQ(refusal([&] { system_line("agent_session.resume_failed"); }), "");
  EXPECT_EQ(refusal([&] { system_line("thread.reopened"); }), "");
  EXPECT_EQ(refusal([&] { system_line("agent_session.unknown"); }), with(check_violation, "messages_system_code"));
  EXPECT_EQ(refusal([&] { system_line("thread.reopened", "agent"); }), with(check_violation, "messages_system_line"));
  EXPECT_EQ(refusal([&] { system_line("thread.reopened", "system", "text"); }),
            with(check_violation, "messages_system_line"));
  EXPECT_EQ(sql_.value("SELECT convalidated FROM pg_constraint"
                       " WHERE conname = 'messages_system_code' AND conrelid = 'messages'::regclass"),
            "t");
}

TEST_F(AgentSessions, TheEndOfARowRaisesItsVersion) {
  const auto id = session(thread_1, "ref-1", true);
  const auto end = [&](const char* version) {
    return refusal([&] {
      sql_.run("UPDATE agent_sessions SET is_current = false, ended_at = now(), end_reason = 'reset',"
               " version = $2::bigint WHERE id = $1",
               {id, version});
    });
  };
  EXPECT_EQ(end("1").substr(0, 5), check_violation);
  EXPECT_EQ(end("2"), "");
}

TEST_F(AgentSessions, ANewRowHasNoCost) {
  EXPECT_EQ(refusal([&] {
              sql_.run("INSERT INTO agent_sessions (id, thread_id, agent_id, external_session_ref, is_current, started,"
                       " currency, created_at, cumulative_cost_micros)"
                       " VALUES (gen_random_uuid(), $1, $2, 'ref-1', true, true, 'EUR', now(), 1)",
                       {thread_1, lotse});
            }).substr(0, 5),
            check_violation);
}

TEST_F(AgentSessions, AnEntryOfTheIndexFitsIntoABTreePage) {
  // The longest reference that configuration can allow, and random enough not to be compressed.
  const auto longest = sql_.value("SELECT substr(string_agg(md5(n::text), ''), 1, 2600) FROM generate_series(1, 90) n");
  EXPECT_EQ(refusal([&] { session(thread_1, longest.c_str(), true); }), "");
  EXPECT_EQ(refusal([&] { session(thread_2, (longest + "x").c_str(), true); }).substr(0, 5), check_violation);
}

TEST_F(AgentSessions, ThreadsAndAgentsWithSessionsStay) {
  session(thread_2, "ref-1", false, "reset");
  EXPECT_EQ(refusal([&] { sql_.run("DELETE FROM threads WHERE id = $1", {thread_2}); }).substr(0, 5),
            foreign_key_violation);
  EXPECT_EQ(refusal([&] { sql_.run("DELETE FROM principals WHERE id = $1", {lotse}); }).substr(0, 5),
            foreign_key_violation);
}

TEST_F(AgentSessions, AThreadHasOneActiveRun) {
  for (const char* state : {"held", "succeeded", "failed", "cancelled", "queued"})
    EXPECT_EQ(refusal([&] { run(thread_1, state, std::nullopt); }), "") << state;
  for (const char* state : {"queued", "running", "waiting_input"})
    EXPECT_EQ(refusal([&] { run(thread_1, state, std::nullopt); }), with(unique_violation, "runs_one_active")) << state;
  EXPECT_EQ(refusal([&] { run(thread_2, "running", std::nullopt); }), "");
}

TEST_F(AgentSessions, ARunLooksAsItsStateDemands) {
  const std::vector<std::string> states = {"held",      "queued", "running",  "waiting_input",
                                           "succeeded", "failed", "cancelled"};
  const auto refused = [&](const std::string& change, const char* constraint) {
    std::vector<std::string> by;
    for (const auto& state : states) {
      const auto id = run(thread_1, state.c_str(), std::nullopt);
      const auto said = refusal([&] { sql_.run("UPDATE runs SET " + change + " WHERE id = $1", {id}); });
      EXPECT_TRUE(said.empty() || said == with(check_violation, constraint)) << said;
      if (!said.empty())
        by.push_back(state);
      sql_.run("DELETE FROM runs WHERE id = $1", {id});
    }
    return by;
  };
  using States = std::vector<std::string>;
  EXPECT_EQ(refused("queued_at = NULL", "runs_queued_at"), (States{"queued", "running", "waiting_input", "succeeded"}));
  EXPECT_EQ(refused("queued_at = now()", "runs_queued_at"), (States{"held"}));
  EXPECT_EQ(refused("lease_expires_at = NULL", "runs_lease"), (States{"running", "waiting_input"}));
  EXPECT_EQ(refused("lease_expires_at = now()", "runs_lease"),
            (States{"held", "queued", "succeeded", "failed", "cancelled"}));
  EXPECT_EQ(refused("failure_code = NULL", "runs_failure"), (States{"failed"}));
  EXPECT_EQ(refused("failure_code = 'agent_error'", "runs_failure"),
            (States{"held", "queued", "running", "waiting_input", "succeeded", "cancelled"}));
  EXPECT_EQ(refused("failure_detail = 'It broke'", "runs_failure"),
            (States{"held", "queued", "running", "waiting_input", "succeeded", "cancelled"}));
  EXPECT_EQ(refused("finished_at = NULL", "runs_finished_at"), (States{"succeeded", "failed", "cancelled"}));
  EXPECT_EQ(refused("finished_at = now()", "runs_finished_at"), (States{"held", "queued", "running", "waiting_input"}));
}

TEST_F(AgentSessions, AThreadStartsWithItsFirstTurn) {
  EXPECT_EQ(sql_.number("SELECT runs_version FROM threads WHERE id = $1", {thread_1}), 1);
  EXPECT_EQ(refusal([&] { sql_.run("UPDATE threads SET runs_version = 0 WHERE id = $1", {thread_1}); }).substr(0, 5),
            check_violation);
}

TEST_F(AgentSessions, TheHistoryIsReadFromItsIndex) {
  sql_.run("INSERT INTO agent_sessions (id, thread_id, agent_id, external_session_ref, is_current, started, currency,"
           " created_at, ended_at, end_reason)"
           " SELECT gen_random_uuid(), $1, $2, 'ref-' || n, false, true, 'EUR', now() - n * interval '1 minute', now(),"
           " 'rebind' FROM generate_series(1, 3000) n",
           {thread_1, lotse});
  sql_.script("ANALYZE agent_sessions");
  const auto history = plan_of("SELECT * FROM agent_sessions WHERE thread_id = '" + std::string(thread_1) +
                               "' ORDER BY created_at DESC, id DESC LIMIT 1");
  EXPECT_NE(history.find("agent_sessions_history"), std::string::npos) << history;
  const auto newest = plan_of("SELECT * FROM agent_sessions WHERE agent_id = '" + std::string(lotse) +
                              "' AND external_session_ref = 'ref-7' ORDER BY created_at DESC, id DESC LIMIT 1");
  EXPECT_NE(newest.find("agent_sessions_reference_newest"), std::string::npos) << newest;
  EXPECT_EQ(newest.find("Sort"), std::string::npos) << newest;
}

TEST_F(AgentSessions, WhatRunsAreWatchedByHasItsIndex) {
  const auto message_id = message("message", "human", "Hello");
  sql_.script("INSERT INTO threads SELECT gen_random_uuid(), space_id, channel_id, 'thread', title, state, NULL, now()"
              " FROM threads, generate_series(1, 600) WHERE kind = 'thread'");
  sql_.run("INSERT INTO runs (id, thread_id, agent_id, kind, state, triggered_by, message_id, created_at, queued_at,"
           " lease_expires_at)"
           " SELECT gen_random_uuid(), t.id, $1, 'operator', q.state, $2, $3, now(),"
           " CASE WHEN q.state <> 'held' THEN now() END,"
           " CASE WHEN q.state = 'running' THEN now() + interval '1 hour' END"
           " FROM (SELECT id, row_number() OVER () AS n FROM threads) t"
           " CROSS JOIN LATERAL (SELECT (ARRAY['running', 'queued', 'held'])[t.n % 3 + 1] AS state) q",
           {lotse, alex, message_id});
  sql_.run("INSERT INTO agent_events (agent_id, type, time, payload)"
           " SELECT ('01900000-0000-7000-8000-' || lpad((n % 50)::text, 12, '0'))::uuid, 'x', now(), '{}'"
           " FROM generate_series(1, 3000) n");
  sql_.script("ANALYZE runs; ANALYZE agent_events");
  const auto uses = [&](const std::string& statement, const std::string& index) {
    const auto plan = plan_of(statement);
    EXPECT_NE(plan.find(index), std::string::npos) << plan;
  };
  uses("SELECT * FROM runs WHERE state IN ('running', 'waiting_input') AND lease_expires_at <= now()"
       " ORDER BY lease_expires_at LIMIT 10",
       "runs_leases");
  uses(
    "SELECT * FROM runs WHERE state = 'queued' AND queued_at <= now() - interval '1 hour' ORDER BY queued_at LIMIT 10",
    "runs_waiting_for_an_agent");
  uses("SELECT * FROM runs WHERE state = 'held' AND thread_id = '" + std::string(thread_1) + "' ORDER BY id",
       "runs_held");
  const std::string agent = "'" + std::string(lotse) + "'::uuid";
  uses("SELECT * FROM agent_events WHERE (agent_id, seq) > (" + agent + ", 5) AND (agent_id, seq) <= (" + agent +
         ", 9000) ORDER BY agent_id, seq LIMIT 10",
       "agent_events_of_agent");
}

TEST_F(Migrator, ASecondRunDoesNothing) {
  ASSERT_EQ(refusal(), "");
  Sql sql(url_);
  const auto before = sql.run("SELECT * FROM schema_migrations ORDER BY version");
  EXPECT_GE(before.size(), 3U);
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(sql.run("SELECT * FROM schema_migrations ORDER BY version"), before);
}

TEST_F(Migrator, AChangedMigrationIsRefused) {
  ASSERT_EQ(refusal(), "");
  Sql(url_).script("UPDATE schema_migrations SET checksum = sha256('edited') WHERE version = 2");
  EXPECT_NE(refusal().find("V002"), std::string::npos) << refusal();
}

TEST_F(Migrator, AMissingEarlierMigrationIsRefused) {
  ASSERT_EQ(refusal(), "");
  Sql(url_).script("DELETE FROM schema_migrations WHERE version = 2");
  EXPECT_NE(refusal().find("V002"), std::string::npos) << refusal();
}

TEST_F(Migrator, ANewerDatabaseIsRefused) {
  ASSERT_EQ(refusal(), "");
  Sql(url_).script(
    "INSERT INTO schema_migrations (version, name, checksum) VALUES (999, 'V999__later.sql', sha256('later'))");
  EXPECT_NE(refusal().find("V999"), std::string::npos) << refusal();
}

TEST_F(Migrator, ALaterMigrationIsAddedToWhatIsThere) {
  const auto first = storage::migrate(options_for(url_));
  EXPECT_EQ(first.applied.size(), storage::embedded_migrations().size());
  const auto more = with_one_more("V900__more.sql", "CREATE TABLE more (id bigint)");
  const auto second = storage::migrate(options_for(url_), more);
  EXPECT_EQ(second.applied, std::vector{more.back().version});
  EXPECT_EQ(second.version, more.back().version);
  EXPECT_EQ(Sql(url_).number("SELECT count(*) FROM more"), 0);
}

TEST_F(Migrator, AMigrationThatFailsLeavesNothingOfItself) {
  const auto bad = with_one_more("V900__bad.sql", "CREATE TABLE half (id bigint); SELECT 1 / 0");
  EXPECT_NE(refusal(bad).find("V900"), std::string::npos) << refusal(bad);
  EXPECT_EQ(Sql(url_).value("SELECT to_regclass('half') IS NULL"), "t");
  EXPECT_EQ(refusal(), "") << "the ones before it are there, and good";
}

TEST_F(Migrator, ServersThatStartAtOnceMigrateOnce) {
  std::vector<std::string> refusals(4);
  std::vector<std::thread> servers;
  for (auto& said : refusals)
    servers.emplace_back([this, &said] { said = refusal(); });
  for (auto& server : servers)
    server.join();
  EXPECT_EQ(refusals, std::vector<std::string>(4));
  EXPECT_EQ(Sql(url_).number("SELECT count(*) - count(DISTINCT version) FROM schema_migrations"), 0);
}

TEST_F(Migrator, ADatabaseThatIsAwayIsNamed) {
  url_ = shared_cluster().url("no_such_database");
  EXPECT_NE(refusal(), "");
}

} // namespace cleat::test
