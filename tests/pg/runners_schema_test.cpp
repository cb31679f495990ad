/// What the schema refuses around Runners, whoever writes (spec 04 section 2).
#include <gtest/gtest.h>

#include "tests/pg/databases.hpp"
#include "tests/support/sql.hpp"

namespace cleat::test {

namespace {

/// A migrated database with a person, an account and a Runner.
class RunnersSchema : public testing::Test {
protected:
  void SetUp() override {
    sql_.script(R"(
      INSERT INTO principals (id, kind, name, created_at)
        VALUES ('01900000-0000-7000-8000-000000000001', 'human', 'Sam', now());
      INSERT INTO accounts (id, name, created_at) VALUES ('01900000-0000-7000-8000-000000000002', 'Example', now());
      INSERT INTO runners (id, name, created_at) VALUES ('01900000-0000-7000-8000-000000000003', 'Example', now());
    )");
  }

  /// Inserts a sound row of `table` with `changes`, a JSON object, in it. Answers the constraint that refuses it, or
  /// the error's state where it has no name; nothing when it passes.
  std::string insert(const std::string& table, const std::string& row, const std::string& changes = "{}") {
    try {
      sql_.run("INSERT INTO " + table + " SELECT * FROM jsonb_populate_record(NULL::" + table + ", " + owners + " || " +
                 row + " || $1::jsonb)",
               {changes});
    } catch (const SqlError& error) {
      return error.constraint.empty() ? error.sqlstate : error.constraint;
    }
    return "";
  }

  std::string operation(const std::string& changes) {
    return insert("session_operations",
                  "jsonb_build_object('id', gen_random_uuid(), 'kind', 'fresh', 'relay_request_id', gen_random_uuid(),"
                  " 'fresh_session_id', md5(random()::text) || md5(random()::text), 'state', 'reserved',"
                  " 'handle_digest', '\\x' || md5(random()::text) || md5(random()::text),"
                  " 'enrollment_revision', 1, 'dispatch', 1, 'reconciling', false, 'cleanup', 'none',"
                  " 'dispatched_at', now())",
                  changes);
  }
  std::string stop(const std::string& changes) {
    return insert("session_operations",
                  "jsonb_build_object('id', gen_random_uuid(), 'kind', 'stop', 'stop_session_id', repeat('a', 64),"
                  " 'state', 'reserved', 'enrollment_revision', 1, 'dispatch', 1, 'reconciling', false,"
                  " 'cleanup', 'none', 'dispatched_at', now())",
                  changes);
  }
  std::string binding(const std::string& changes) {
    return insert("session_bindings",
                  "jsonb_build_object('session_id', md5(random()::text) || md5(random()::text),"
                  " 'operation_id', gen_random_uuid(), 'state', 'live', 'relayed_through', 0, 'transcript_through', 0,"
                  " 'input_through', 0)",
                  changes);
  }
  std::string attempt(const std::string& changes) {
    return insert("container_attempts",
                  "jsonb_build_object('id', gen_random_uuid(), 'enrollment_revision', 1, 'is_current', true)", changes);
  }
  std::string line(const std::string& changes) {
    return insert("session_transcripts",
                  "jsonb_build_object('session_id', repeat('a', 64), 'seq', 1, 'time', now(), 'direction', 'out',"
                  " 'line', '')",
                  changes);
  }
  std::string orphan(const std::string& changes) {
    return insert("orphan_diagnostics",
                  "jsonb_build_object('id', gen_random_uuid(), 'reason', 'wire_contract', 'operation_id',"
                  " gen_random_uuid(), 'opened_at', now())",
                  changes);
  }

  /// What rows around Runners have in common.
  const std::string owners =
    R"('{"account_id": "01900000-0000-7000-8000-000000000002", "actor_id": "01900000-0000-7000-8000-000000000001",
         "runner_id": "01900000-0000-7000-8000-000000000003", "container_name": "box", "version": 1,
         "container_attempt_id": "01900000-0000-7000-8000-000000000004", "created_at": "2026-01-02"}'::jsonb)";
  const std::string nobody = "\"01900000-0000-7000-8000-000000000009\"";

  LeasedDatabase database_;
  Sql sql_{database_.url()};
};

/// An object of one member.
std::string with(const std::string& name, const std::string& value) {
  return "{\"" + name + "\": " + value + "}";
}

const std::string session = "\"" + std::string(64, 'a') + "\"";
const std::string over = R"("finished_at": "2026-01-02")";

} // namespace

TEST_F(RunnersSchema, IdsAndHandlesAreUsedOnce) {
  // Failed ones, so that no other index is in the way.
  const std::string is_over = R"("state": "failed", "failure_class": "terminal", "failure_code": "x", )" + over;
  for (const auto& [column, value, index] :
       {std::tuple("id", nobody, "session_operations_pkey"),
        {"relay_request_id", nobody, "session_operations_relay"},
        {"fresh_session_id", session, "session_operations_fresh"},
        {"handle_digest", "\"\\\\x" + std::string(64, '1') + "\"", "session_operations_handle"}}) {
    const auto changes = "{" + is_over + ", \"" + column + "\": " + value + "}";
    EXPECT_EQ(operation(changes), "");
    EXPECT_EQ(operation(changes), index);
    sql_.script("TRUNCATE session_operations");
  }
}

TEST_F(RunnersSchema, AContainerHasOneStartInFlight) {
  const std::string resume = R"({"kind": "resume", "relay_request_id": null, "fresh_session_id": null,
                                 "resume_session_id": )" +
                             session + "}";
  EXPECT_EQ(operation("{}"), "");
  for (const char* state : {"\"reserved\"", "\"dispatched\""})
    EXPECT_EQ(operation(with("state", state)), "session_operations_one_start");
  EXPECT_EQ(operation(resume), "session_operations_one_start");
  EXPECT_EQ(operation(with("container_name", "\"other\"")), "");
  EXPECT_EQ(operation(with("container_attempt_id", nobody)), "");
  EXPECT_EQ(operation(R"({"state": "failed", "failure_class": "terminal", "failure_code": "x", )" + over + "}"), "");
  EXPECT_EQ(stop("{}"), "");
  EXPECT_EQ(stop(R"({"state": "dispatched", "container_name": "other"})"), "session_operations_one_stop");
  EXPECT_EQ(stop(R"({"state": "promoted", )" + over + "}"), "");
}

TEST_F(RunnersSchema, AnOperationHasTheIdsOfItsKind) {
  const std::string rule = "session_operations_kind_has_its_ids";
  for (const char* column : {"relay_request_id", "fresh_session_id"})
    EXPECT_EQ(operation(with(column, "null")), rule) << column;
  for (const char* column : {"resume_session_id", "stop_session_id"})
    EXPECT_EQ(operation(with(column, session)), rule) << column;
  EXPECT_EQ(stop(with("relay_request_id", nobody)), rule);
  EXPECT_EQ(stop(with("stop_session_id", "null")), rule);
  EXPECT_EQ(stop(with("handle_digest", "\"\\\\x" + std::string(64, '1') + "\"")), rule);
  EXPECT_EQ(operation(with("kind", "\"other\"")), "session_operations_kind_check");
  EXPECT_EQ(operation(with("fresh_session_id", "\"" + std::string(64, 'A') + "\"")),
            "session_operations_fresh_session_id_check");
  EXPECT_EQ(stop(with("stop_session_id", "\"" + std::string(63, 'a') + "\"")),
            "session_operations_stop_session_id_check");
  EXPECT_EQ(operation(with("handle_digest", "\"\\\\x11\"")), "session_operations_handle_digest_check");
}

TEST_F(RunnersSchema, AnOperationLooksAsItsStateDemands) {
  const std::string fresh = "\"fresh_session_id\": " + session;
  EXPECT_EQ(operation("{" + over + "}"), "session_operations_finished_at");
  EXPECT_EQ(operation(R"({"state": "failed", "failure_class": "terminal", "failure_code": "x"})"),
            "session_operations_finished_at");
  EXPECT_EQ(operation(R"({"state": "failed", "failure_class": "terminal", )" + over + "}"),
            "session_operations_failure");
  EXPECT_EQ(operation(R"({"state": "failed", "failure_code": "x", )" + over + "}"), "session_operations_failure");
  EXPECT_EQ(operation(R"({"failure_class": "terminal", "failure_code": "x"})"), "session_operations_failure");
  EXPECT_EQ(operation("{\"session_id\": " + session + ", " + fresh + "}"), "session_operations_result");
  EXPECT_EQ(operation(R"({"state": "promoted", )" + over + "}"), "session_operations_result");
  EXPECT_EQ(
    operation(R"({"state": "promoted", "session_id": ")" + std::string(64, 'b') + "\", " + fresh + ", " + over + "}"),
    "session_operations_result");
  EXPECT_EQ(operation(R"({"state": "promoted", "session_id": )" + session + ", " + fresh + ", " + over + "}"), "");
  EXPECT_EQ(operation(with("cleanup", "\"claimed\"")), "session_operations_cleanup");
}

TEST_F(RunnersSchema, AContainerHasOneLiveBindingAndOneCurrentAttempt) {
  EXPECT_EQ(binding("{}"), "");
  EXPECT_EQ(binding("{}"), "session_bindings_one_live");
  EXPECT_EQ(binding(with("container_name", "\"other\"")), "");
  EXPECT_EQ(binding(with("state", "\"suspended\"")), "");
  EXPECT_EQ(binding(R"({"state": "released", "released_at": "2026-01-02"})"), "");
  EXPECT_EQ(binding(with("state", "\"released\"")), "session_bindings_released_at");
  EXPECT_EQ(binding(R"({"state": "suspended", "released_at": "2026-01-02"})"), "session_bindings_released_at");
  EXPECT_EQ(binding(with("session_id", "\"../" + std::string(61, 'a') + "\"")), "session_bindings_session_id_check");
  EXPECT_EQ(binding(R"({"state": "suspended", "session_id": )" + session + "}"), "");
  EXPECT_EQ(binding(R"({"state": "suspended", "session_id": )" + session + "}"), "session_bindings_pkey");

  EXPECT_EQ(attempt("{}"), "");
  EXPECT_EQ(attempt("{}"), "container_attempts_one_current");
  EXPECT_EQ(attempt(with("is_current", "false")), "");
  EXPECT_EQ(attempt(with("container_name", "\"other\"")), "");
}

TEST_F(RunnersSchema, WhoIsNeverDeletedIsReferredTo) {
  for (const char* owner : {"account", "actor", "runner"}) {
    const auto changes = with(std::string(owner) + "_id", nobody);
    const auto key = [&](const std::string& table) { return table + "_" + owner + "_id_fkey"; };
    EXPECT_EQ(operation(changes), key("session_operations"));
    EXPECT_EQ(binding(changes), key("session_bindings"));
    EXPECT_EQ(orphan(changes), key("orphan_diagnostics"));
  }
  EXPECT_EQ(attempt(with("runner_id", nobody)), "container_attempts_runner_id_fkey");
  EXPECT_EQ(orphan("{\"resolved_at\": \"2026-01-02\", \"resolved_by\": " + nobody + "}"),
            "orphan_diagnostics_resolved_by_fkey");
  EXPECT_EQ(orphan(R"({"resolved_by": "01900000-0000-7000-8000-000000000001"})"), "orphan_diagnostics_resolved");
  EXPECT_EQ(sql_.number("SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND"
                        " (confrelid IN ('containers'::regclass, 'container_attempts'::regclass, 'nodes'::regclass,"
                        " 'session_operations'::regclass) OR conrelid = 'session_transcripts'::regclass)"),
            0)
    << "what may go is referred to by nothing, and a log refers to nothing";
}

TEST_F(RunnersSchema, ALineHasAPlaceOfItsOwn) {
  EXPECT_EQ(line("{}"), "");
  EXPECT_EQ(line("{}"), "session_transcripts_pkey");
  EXPECT_EQ(line(with("seq", "0")), "session_transcripts_seq_check");
  EXPECT_EQ(line(R"({"seq": 2, "direction": "both"})"), "session_transcripts_direction_check");
  EXPECT_EQ(line(R"({"seq": 2, "exit_code": 1, "line": "\\x61"})"), "session_transcripts_end_has_no_text");
  EXPECT_EQ(line(R"({"seq": 2, "exit_code": 1})"), "");
  EXPECT_EQ(sql_.number("SELECT count(*) FROM pg_indexes WHERE tablename = 'session_transcripts'"), 2)
    << "the primary key and the one of lines that wait";
}

} // namespace cleat::test
