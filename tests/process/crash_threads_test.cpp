/// The crash matrix of threads, runs and places (spec 06 section 2): the server dies at every named point of every
/// durable flow, and afterwards every client has the truth and the database is sound.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/process/adapter.hpp"
#include "tests/process/check.hpp"
#include "tests/process/crash_matrix.hpp"
#include "tests/process/suite.hpp"

namespace cleat::test {
namespace {

/// What a flow of the matrix works with: a thread of its own in a world that all of them share.
struct Stage {
  const Server& server;
  World& world;
  Sql& database;
  std::string thread = world.thread(world.support);
  std::string reference = fresh_reference();
  std::string run = {};

  Client alex = world.as(world.alex);
  Client owner = world.as(world.owner);
  Client lotse = world.as(world.lotse);

  [[nodiscard]] std::string bind_body(const std::string& more = {}) const {
    return R"({"external_session_ref":")" + reference + "\"" + more + "}";
  }
  /// Makes a run that its agent works on.
  void accept(const std::string& body = "{}") {
    run = triggered(alex, thread);
    EXPECT_EQ(lotse.post(run_path(run, "start"), body).status, 200);
  }
  std::int64_t count(const std::string& what) { return database.number("SELECT count(*) FROM " + what, {thread}); }
};

/// A flow: what happens before, whose requests have to survive, and what has to be there afterwards, once.
struct Flow {
  std::function<std::vector<Request>(Stage&)> prepare;
  std::function<void(Stage&)> verify;
};

Flow bind_flow() {
  return {
    [](Stage& s) { return std::vector{keyed(s.world.alex.token, sessions_path(s.thread) + "/bind", s.bind_body())}; },
    [](Stage& s) { EXPECT_EQ(s.count("agent_sessions WHERE thread_id = $1 AND is_current"), 1); }};
}

Flow take_over_flow() {
  return {[](Stage& s) {
            EXPECT_EQ(bind(s.alex, s.world.thread(s.world.support), {s.reference}).status, 201);
            return std::vector{
              keyed(s.world.alex.token, sessions_path(s.thread) + "/bind", s.bind_body(R"(,"take_over":true)"))};
          },
          [](Stage& s) {
            EXPECT_EQ(s.count("agent_sessions WHERE thread_id = $1 AND is_current"), 1);
            EXPECT_EQ(
              s.database.number("SELECT count(*) FROM agent_sessions WHERE external_session_ref = $1", {s.reference}),
              2);
          }};
}

Flow reset_flow() {
  return {[](Stage& s) {
            EXPECT_EQ(bind(s.alex, s.thread, {s.reference}).status, 201);
            return std::vector{keyed(s.world.alex.token, sessions_path(s.thread) + "/reset")};
          },
          [](Stage& s) { EXPECT_EQ(s.count("agent_sessions WHERE thread_id = $1 AND end_reason = 'reset'"), 1); }};
}

Flow import_flow() {
  return {[](Stage& s) {
            const auto item = import_item(s.world.lotse, s.reference, "2025-01-01T10:00:00Z", "2025-01-01T11:00:00Z");
            return std::vector{
              keyed(s.world.owner.token, sessions_path(s.thread) + "/import", R"({"items":[)" + item + "]}")};
          },
          [](Stage& s) { EXPECT_EQ(s.count("agent_sessions WHERE thread_id = $1 AND end_reason = 'import'"), 1); }};
}

Flow trigger_flow() {
  return {[](Stage& s) {
            return std::vector{
              keyed(s.world.alex.token, "/v1/threads/" + s.thread + "/runs", R"({"content_md":"Please go on."})")};
          },
          [](Stage& s) {
            EXPECT_EQ(s.count("runs WHERE thread_id = $1"), 1);
            EXPECT_EQ(s.count("messages WHERE thread_id = $1"), 1);
          }};
}

Flow hold_flow() {
  return {[](Stage& s) {
            s.accept();
            return std::vector{keyed(s.world.alex.token, "/v1/threads/" + s.thread + "/runs",
                                     R"({"content_md":"And then.","when_active":"enqueue"})")};
          },
          [](Stage& s) { EXPECT_EQ(s.count("runs WHERE thread_id = $1 AND state = 'held'"), 1); }};
}

Flow start_flow() {
  return {[](Stage& s) {
            s.run = triggered(s.alex, s.thread);
            return std::vector{keyed(s.world.lotse.token, run_path(s.run, "start"), s.bind_body())};
          },
          [](Stage& s) { EXPECT_EQ(s.count("agent_sessions WHERE thread_id = $1"), 1); }};
}

Flow report_flow() {
  return {[](Stage& s) {
            s.accept();
            return std::vector{
              keyed(s.world.lotse.token, sessions_path(s.thread) + "/report", s.bind_body(R"(,"started":true)"))};
          },
          [](Stage& s) {
            EXPECT_EQ(s.count("runs r JOIN agent_sessions s ON s.id = r.agent_session_id WHERE r.thread_id = $1"), 1);
            EXPECT_EQ(s.count("agent_sessions WHERE thread_id = $1"), 1);
          }};
}

Flow failed_binding_flow() {
  return {[](Stage& s) {
            EXPECT_EQ(bind(s.alex, s.thread, {s.reference}).status, 201);
            s.accept();
            s.reference = fresh_reference();
            return std::vector{keyed(s.world.lotse.token, sessions_path(s.thread) + "/report",
                                     s.bind_body(R"(,"bind_failed":"session_missing")"), {{"If-Match", "\"1\""}})};
          },
          [](Stage& s) {
            EXPECT_EQ(s.count("agent_sessions WHERE thread_id = $1"), 2);
            EXPECT_EQ(s.count("messages WHERE thread_id = $1 AND system_code = 'agent_session.resume_failed'"), 1);
          }};
}

Flow work_flow() {
  return {[](Stage& s) {
            s.accept();
            return std::vector{keyed(s.world.lotse.token, run_path(s.run, "messages"), R"({"content_md":"Done."})"),
                               keyed(s.world.lotse.token, run_path(s.run, "wait"), "{}"),
                               keyed(s.world.lotse.token, run_path(s.run, "resume"), "{}"),
                               keyed(s.world.lotse.token, run_path(s.run, "heartbeat"), "{}")};
          },
          [](Stage& s) {
            EXPECT_EQ(s.count("messages WHERE thread_id = $1 AND origin = 'agent'"), 1);
            EXPECT_EQ(state_of(s.alex, s.run), "running");
          }};
}

Flow finish_flow() {
  return {[](Stage& s) {
            s.accept();
            EXPECT_EQ(trigger(s.alex, s.thread, R"("when_active":"enqueue")").status, 201);
            return std::vector{keyed(s.world.lotse.token, run_path(s.run, "finish"), R"({"outcome":"succeeded"})")};
          },
          [](Stage& s) {
            EXPECT_EQ(s.count("runs WHERE thread_id = $1 AND state = 'succeeded'"), 1);
            EXPECT_EQ(s.count("runs WHERE thread_id = $1 AND state = 'queued'"), 1) << "the held one was released";
          }};
}

Flow cancel_flow() {
  return {[](Stage& s) {
            s.accept();
            return std::vector{keyed(s.world.alex.token, run_path(s.run, "cancel"))};
          },
          [](Stage& s) { EXPECT_EQ(s.count("runs WHERE thread_id = $1 AND state = 'cancelled'"), 1); }};
}

Flow places_flow() {
  return {
    [](Stage& s) {
      return std::vector{keyed(s.world.owner.token, "/v1/spaces/" + s.world.space + "/channels",
                               Object().text("name", s.reference).str())};
    },
    [](Stage& s) { EXPECT_EQ(s.database.number("SELECT count(*) FROM channels WHERE name = $1", {s.reference}), 1); }};
}

const std::map<std::string, std::function<Flow()>> flows{
  {"bind", bind_flow},     {"take_over", take_over_flow}, {"reset", reset_flow},
  {"import", import_flow}, {"trigger", trigger_flow},     {"hold", hold_flow},
  {"start", start_flow},   {"report", report_flow},       {"failed_binding", failed_binding_flow},
  {"work", work_flow},     {"finish", finish_flow},       {"cancel", cancel_flow},
  {"places", places_flow},
};

/// Around each commit of each flow; on the rest of the way, which all flows share, for some of them.
std::vector<Case> cases() {
  const std::vector<std::string> ways{"thread_decided", "thread_committed", "answer_made", "answer_written"};
  std::vector<Case> all;
  for (const auto& [flow, make] : flows) {
    for (const char* point : {"commit_prepared", "commit_done"})
      all.emplace_back(flow, point);
    const bool of_thread = flow != "places";
    if (!of_thread)
      for (const char* point : {"directory_decided", "directory_committed"})
        all.emplace_back(flow, point);
    const bool whole_way = is_long_matrix() || flow == "bind" || flow == "report" || flow == "finish";
    if (of_thread && whole_way)
      for (const auto& point : ways)
        all.emplace_back(flow, point);
  }
  for (const char* times : {":2", ":3", ":4"})
    all.emplace_back("work", std::string("commit_done") + times);
  return all;
}

const bool are_crossed = cross_all(crossed_by_server(), cases());

class CrashOfThreads : public testing::TestWithParam<Case> {
protected:
  static void SetUpTestSuite() {
    url_ = shared_cluster().createdb(fresh_database_name());
    ServerOptions options{url_};
    options.crashing = true;
    server_ = std::make_unique<Server>(options);
    world_ = std::make_unique<World>(*server_);
  }
  static void TearDownTestSuite() {
    world_.reset();
    server_.reset();
  }

  inline static std::string url_;
  inline static std::unique_ptr<Server> server_;
  inline static std::unique_ptr<World> world_;
};

TEST_P(CrashOfThreads, LeavesTheTruth) {
  Sql database(url_);
  const Flow flow = flows.at(GetParam().first)();
  world_->move_to(server_->endpoint());
  std::vector<Request> requests;
  {
    Stage before{*server_, *world_, database};
    requests = flow.prepare(before);
    server_->die_at(GetParam().second);
    send_all(*server_, requests);
    server_->await_death();
    server_->start();
    world_->move_to(server_->endpoint());
    Stage after{*server_, *world_, database, before.thread, before.reference, before.run};
    send_all_again(*server_, requests);
    flow.verify(after);
  }
  send_all_again(*server_, requests);
  expect_sound(url_);
}

INSTANTIATE_TEST_SUITE_P(AtEachPoint, CrashOfThreads, testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.first + "_" + point_name(one.param.second); });

} // namespace
} // namespace cleat::test
