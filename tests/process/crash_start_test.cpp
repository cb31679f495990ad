/// The crash matrix of starts and of what a server does by itself (spec 06 section 2): first starts, migrations, logs,
/// overdue runs, and rows that have outlived their span.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/process/adapter.hpp"
#include "tests/process/check.hpp"
#include "tests/process/crash_matrix.hpp"
#include "tests/process/fleet.hpp"
#include "tests/process/suite.hpp"

namespace cleat::test {
namespace {

using Clock = std::chrono::steady_clock;

/// The points of a first start over a database that is there already.
const std::vector<std::string> first_starts{
  "migrations_locked",    "migration_run",       "migration_run:3",       "migration_recorded",
  "migration_recorded:5", "migration_committed", "migration_committed:4", "migration_committed:5",
  "owner_prepared",       "owner_committed",     "file_drafted",          "file_drafted:2",
  "file_drafted:3",       "file_named",          "file_named:2",          "file_named:3"};
/// And of one that brings its own.
const std::vector<std::string> embedded_starts{"cluster_made", "cluster_named", "postgres_started", "database_made"};

const bool starts_are_crossed = cross(crossed_by_server(), first_starts) && cross(crossed_by_server(), embedded_starts);

/// Whether the server is there, once, with an owner whose token works, whatever happened before.
void expect_first_start_done(Server& server, const std::string& url) {
  World world(server);
  Client alex = world.as(world.alex);
  EXPECT_EQ(bind(alex, world.thread(world.support), {fresh_reference()}).status, 201);
  Sql database(url);
  EXPECT_EQ(database.number("SELECT count(*) FROM principals WHERE instance_owner"), 1);
  EXPECT_EQ(database.number("SELECT count(*) FROM tokens t JOIN principals p ON p.id = t.principal_id WHERE "
                            "p.instance_owner"),
            1);
  for (const auto& entry : std::filesystem::directory_iterator(server.data()))
    EXPECT_FALSE(entry.path().filename().string().ends_with(".new")) << entry.path() << " is left of a write";
  expect_sound(url);
}

class CrashOfAFirstStart : public testing::TestWithParam<std::string> {};

TEST_P(CrashOfAFirstStart, IsGoneOnWith) {
  const std::string url = shared_cluster().createdb(fresh_database_name());
  ServerOptions options{url};
  options.crashing = true;
  options.first_start_dies_at = GetParam();
  Server server(options);
  server.start();
  expect_first_start_done(server, url);
}

INSTANTIATE_TEST_SUITE_P(AtEachPoint, CrashOfAFirstStart, testing::ValuesIn(first_starts),
                         [](const auto& one) { return point_name(one.param); });

class CrashOfAnEmbeddedStart : public testing::TestWithParam<std::string> {};

TEST_P(CrashOfAnEmbeddedStart, IsGoneOnWith) {
  ServerOptions options;
  options.crashing = true;
  options.first_start_dies_at = GetParam();
  Server server(options);
  server.start();
  expect_first_start_done(server, "host=" + (server.data() / "postgres-socket").string() + " user=cleat dbname=cleat");
}

INSTANTIATE_TEST_SUITE_P(AtEachPoint, CrashOfAnEmbeddedStart, testing::ValuesIn(embedded_starts),
                         [](const auto& one) { return point_name(one.param); });

/// A server that crashes, over a database of its own.
class CrashInTheBackground : public testing::Test {
protected:
  void serve(std::vector<std::string> settings) {
    ServerOptions options{url_};
    for (const auto& setting : settings) {
      options.arguments.emplace_back("--set");
      options.arguments.push_back(setting);
    }
    options.crashing = true;
    server_ = std::make_unique<Server>(options);
    world_ = std::make_unique<World>(*server_);
  }
  void die_and_come_back(const std::string& point) {
    server_->die_at(point);
    server_->await_death();
    server_->start();
    world_->move_to(server_->endpoint());
  }
  /// Waits for what nobody announces.
  void await(const std::string& what) {
    const auto deadline = Clock::now() + std::chrono::seconds{30};
    while (database_.number(what) == 0 && Clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    EXPECT_GT(database_.number(what), 0) << what;
  }

  const std::string url_ = shared_cluster().createdb(fresh_database_name());
  std::unique_ptr<Server> server_;
  std::unique_ptr<World> world_;
  Sql database_{url_};
};

const bool background_is_crossed =
  cross(crossed_by_server(), {"log_read", "log_advanced", "garbage_found", "garbage_removed"});

TEST_F(CrashInTheBackground, ReadersOfTheLogsMissNothing) {
  serve({});
  std::vector<std::string> told;
  std::vector<std::string> made;
  std::int64_t cursor = 0;
  const auto poll = [&](Client& client, const char* patience) {
    return client.send("GET", "/v1/agent/events?after=" + std::to_string(cursor) + "&wait_s=" + patience);
  };
  for (const char* point : {"log_read", "log_advanced", "log_read:2", "log_advanced:3"}) {
    server_->die_at(point);
    Client before = world_->as(world_->lotse);
    while (poll(before, "1")) // what is there is read first, and then waited for
      ;
    server_->await_death();
    server_->start();
    world_->move_to(server_->endpoint());
    Client alex = world_->as(world_->alex);
    made.push_back(triggered(alex, world_->thread(world_->support)));
    Client after = world_->as(world_->lotse);
    const Json page = poll(after, "5")->json();
    cursor = page["next_after"].number();
    for (const Json& item : page["items"].items())
      told.push_back(item["payload"]["run_id"].string());
  }
  EXPECT_EQ(told, made) << "each invocation once, in order";
  expect_sound(url_);
}

TEST_F(CrashInTheBackground, RunsThatAreOverdueAreFailedOnce) {
  for (const char* point : {"thread_decided", "commit_prepared", "commit_done", "thread_committed"}) {
    if (!server_)
      serve({"runs.queued_timeout_s=1", "runs.watch_ms=20"});
    Client alex = world_->as(world_->alex);
    const std::string thread = world_->thread(world_->support);
    const std::string first = triggered(alex, thread);
    const std::string second = triggered(alex, thread, R"("when_active":"enqueue")");
    die_and_come_back(point);
    await("SELECT count(*) FROM runs WHERE id = '" + first + "' AND failure_code = 'not_accepted'");
    await("SELECT count(*) FROM runs WHERE id = '" + second + "' AND state <> 'held'");
  }
  expect_sound(url_);
}

TEST_F(CrashInTheBackground, WhatHasOutlivedItsSpanGoesAndNothingElse) {
  serve({"idempotency.retention_s=60", "retention.sweep_ms=20", "retention.promoted_s=1", "runner.watch_ms=20"});
  Client owner = world_->as(world_->owner);
  const Workshop workshop(owner, world_->alex);
  RunnerProcess runner(server_->runner_address(), workshop);
  for (const char* point : {"garbage_found", "garbage_removed"}) {
    Client alex = world_->as(world_->alex);
    const std::string stopped = live_session(alex, workshop.box());
    EXPECT_EQ(stop_agent(alex, stopped).status, 200);
    live_session(alex, workshop.box());
    die_and_come_back(point);
    await("SELECT count(*) FROM (SELECT 1) o WHERE NOT EXISTS (SELECT 1 FROM session_operations WHERE kind = 'stop')");
    expect_sound(url_);
    alex = world_->as(world_->alex);
    const auto live = await_container(alex, workshop.box(), "live")["session_id"].string();
    while (stop_agent(alex, live).status == 503)
      std::this_thread::sleep_for(std::chrono::milliseconds{10}); // as Retry-After says
  }
}

TEST_F(CrashInTheBackground, ADenialIsCountedWhateverHappens) {
  serve({});
  const std::string thread = world_->thread(world_->support);
  for (const char* point : {"commit_prepared", "commit_done"}) {
    std::vector<Request> refused{{world_->sam.token, sessions_path(thread) + "/reset"}};
    refused.front().expected = 403;
    server_->die_at(point);
    send_all(*server_, refused);
    server_->await_death();
    server_->start();
    send_all_again(*server_, refused);
  }
  EXPECT_EQ(database_.number("SELECT count(*) FROM audit_log WHERE NOT allowed AND action = 'agent_session.reset'"), 1);
  expect_sound(url_);
}

/// What nobody can tell about becomes an orphan once, whoever notices it, and its container is opened again once.
TEST_F(CrashInTheBackground, AnOperationThatIsGivenUpBecomesOneOrphan) {
  for (const char* point : {"commit_prepared", "commit_done"}) {
    SCOPED_TRACE(point);
    if (!server_)
      serve({"retention.deadline_s=3", "runner.watch_ms=20", "runner.ask_after_ms=100", "nodes.heartbeat_ms=100",
             "nodes.timeout_s=2", "runner.heartbeat_ms=200"});
    Client owner = world_->as(world_->owner);
    Client alex = world_->as(world_->alex);
    const Workshop workshop(owner, world_->alex);
    RunnerOptions options;
    options.stop_at = "after_journal_accepted";
    RunnerProcess runner(server_->runner_address(), workshop, options);
    await_container(alex, workshop.box(), "idle");
    ASSERT_EQ(start_agent(alex, workshop.box()).status, 202);
    runner.wait_for_standstill();
    die_and_come_back(point);
    const std::string of_it = "orphan_diagnostics WHERE container_name = '" + workshop.box() + "'";
    await("SELECT count(*) FROM " + of_it);
    runner.process().signal(SIGCONT);
    await("SELECT count(*) FROM runners WHERE id = '" + workshop.runner + "' AND epoch > 1");
    owner = world_->as(world_->owner);
    const std::string path = "/v1/orphan-diagnostics/" + database_.value("SELECT id FROM " + of_it) + "/resolve";
    std::vector<Request> resolve{keyed(world_->owner.token, path)};
    server_->die_at("commit_done");
    send_all(*server_, resolve);
    server_->await_death();
    server_->start();
    world_->move_to(server_->endpoint());
    send_all_again(*server_, resolve);
    alex = world_->as(world_->alex);
    live_session_for_certain(alex, workshop.box());
    EXPECT_EQ(runner.agents(), 1);
    EXPECT_EQ(database_.number("SELECT count(*) FROM " + of_it), 1);
    expect_sound(url_);
  }
}

/// Every point that is built in is one that some test comes by, and the product has none.
TEST(CrashPoints, EachIsCrossedAndTheProductHasNone) {
  const auto server = crash_points_of(CLEAT_CLEATD_CRASHING, "CLEAT_SERVER_CRASH_AT");
  const auto runner = crash_points_of(CLEAT_RUNNER_CRASHING, "CLEAT_RUNNER_CRASH_AT");
  EXPECT_EQ(std::set<std::string>(server.begin(), server.end()), crossed_by_server());
  EXPECT_EQ(std::set<std::string>(runner.begin(), runner.end()), crossed_by_runner());
  // Without what is there for debuggers, which know every name of the source.
  const TemporaryFolder folder;
  const auto stripped = [&](const std::string& program) {
    const std::string copy = folder.path() / "program";
    EXPECT_EQ(std::system(("strip -o " + copy + " " + program).c_str()), 0); // NOLINT(concurrency-mt-unsafe)
    return read_file(copy);
  };
  const std::string zero(1, '\0');
  for (const auto& [product, crashing, points, variable] :
       {std::tuple(CLEAT_CLEATD, CLEAT_CLEATD_CRASHING, server, "CLEAT_SERVER_CRASH"),
        {CLEAT_RUNNER, CLEAT_RUNNER_CRASHING, runner, "CLEAT_RUNNER_CRASH"}}) {
    const std::string program = stripped(product);
    const std::string other = stripped(crashing);
    for (const auto& point : points) {
      EXPECT_EQ(program.find(zero + point + zero), std::string::npos) << product << " has the point " << point;
      EXPECT_NE(other.find(zero + point + zero), std::string::npos) << point;
    }
    EXPECT_EQ(program.find(std::string(variable)), std::string::npos) << product << " knows how to crash";
    EXPECT_EQ(program.find("crash point "), std::string::npos) << product << " knows how to crash";
  }
}

} // namespace
} // namespace cleat::test
