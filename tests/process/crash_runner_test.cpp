/// The crash matrix of the Runner (spec 06 section 2): it dies at every named point of starts, relays, input and stops,
/// and afterwards no agent runs twice, nothing that an agent said is lost or doubled, and the container is free.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/process/check.hpp"
#include "tests/process/crash_matrix.hpp"
#include "tests/process/fleet.hpp"
#include "tests/process/suite.hpp"

namespace cleat::test {
namespace {

using Clock = std::chrono::steady_clock;

/// Counts its processes in a file, then does what `echo_agent` does.
const std::string counting_agent = std::string("echo $$ >> pids; ") + echo_agent;

/// A server for all cases; each has a Runner and a container of its own.
struct Yard {
  std::string url = shared_cluster().createdb(fresh_database_name());
  Server server{{url,
                 {"--set", "runner.ask_after_ms=100", "--set", "runner.watch_ms=20", "--set", "nodes.heartbeat_ms=100",
                  "--set", "runner.heartbeat_ms=200", "--set", "runner.reconnect_grace_s=60"}}};
  World world{server};
};

/// What a case works with.
struct Stage {
  explicit Stage(Yard& yard_of) : yard(yard_of), workshop(owner, yard_of.world.alex) {
    RunnerOptions options;
    options.agent = counting_agent;
    options.crashing = true;
    options.toml = "[server_connection]\nbackoff_max_ms = 200\n";
    runner = std::make_unique<RunnerProcess>(yard.server.runner_address(), workshop, options);
    await_container(alex, workshop.box(), "idle");
  }
  /// A session that has said its first line.
  void live() {
    session = live_session(alex, workshop.box());
    await_line(alex, session, "out: ready");
  }
  /// How many processes agents of this container ever were.
  [[nodiscard]] std::int64_t processes() const {
    const std::string text = read_file(runner->folder() / workshop.box() / "pids");
    return std::ranges::count(text, '\n');
  }

  Yard& yard;
  Client owner = yard.server.client(yard.world.owner.token);
  Client alex = yard.server.client(yard.world.alex.token);
  Workshop workshop;
  std::unique_ptr<RunnerProcess> runner;
  std::string session = {};
};

void begin_start(Stage& stage) {
  stage.alex.send("POST", container_path(stage.workshop.box()) + "/agent-sessions", "{}");
}

/// A flow: what comes before, and what makes the Runner come by the point.
struct Flow {
  std::function<void(Stage&)> prepare;
  std::function<void(Stage&)> act;
};

const std::map<std::string, Flow> flows{
  {"start", {[](Stage&) {}, begin_start}},
  {"say",
   {[](Stage& stage) { stage.live(); },
    [](Stage& stage) { EXPECT_EQ(say_to_agent(stage.alex, stage.session, "hello").status, 202); }}},
  {"stop",
   {[](Stage& stage) { stage.live(); },
    [](Stage& stage) {
      stage.yard.server.client(stage.yard.world.alex.token)
        .send("POST", session_path(stage.session) + "/stop", "{}", {{"Idempotency-Key", stage.session}});
    }}},
  {"resume",
   {[](Stage& stage) {
      stage.live();
      EXPECT_EQ(stop_agent(stage.alex, stage.session).status, 200);
    },
    [](Stage& stage) { resume_agent(stage.alex, stage.workshop.box(), stage.session); }}},
};

const std::vector<Case> cases{
  {"start", "before_journal"},
  {"start", "before_journal:2"},
  {"start", "after_journal_accepted"},
  {"start", "before_exec"},
  {"start", "after_exec"},
  {"start", "after_journal_started"},
  {"start", "before_result"},
  {"start", "after_relay_journal"},
  {"start", "after_relay_done"},
  {"say", "after_journal_input"},
  {"say", "after_input"},
  {"say", "after_relay_journal"},
  {"say", "after_relay_done"},
  {"say", "before_journal"},
  {"stop", "before_journal"},
  {"stop", "before_end"},
  {"stop", "after_journal_accepted"},
  {"stop", "after_journal_ended"},
  {"stop", "before_result"},
  {"stop", "after_relay_journal"},
  {"resume", "after_body"},
  {"resume", "after_journal_started"},
};

std::vector<std::string> points() {
  // The last ones have tests of their own below.
  std::vector<std::string> all{"after_status", "after_attempt", "after_enrolment", "before_recovery", "after_recovery"};
  for (const auto& one : cases)
    all.push_back(one.second);
  return all;
}

const bool are_crossed = cross(crossed_by_runner(), points());

/// Waits until no operation of the container is in flight any more.
void await_rest(Stage& stage) {
  Sql database(stage.yard.url);
  const auto deadline = Clock::now() + std::chrono::seconds{30};
  const std::string in_flight = "SELECT count(*) FROM session_operations WHERE state IN ('reserved', 'dispatched') AND "
                                "container_name = '" +
                                stage.workshop.box() + "'";
  while (database.number(in_flight) > 0 && Clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds{10}); // recovery announces nothing
  EXPECT_EQ(database.number(in_flight), 0) << stage.runner->output();
}

/// The Runner is back: nothing of the old lifetime is left, what was said is there once, and the container works.
void expect_sound_afterwards(Stage& stage) {
  await_container(stage.alex, stage.workshop.box(), "idle");
  await_rest(stage);
  EXPECT_EQ(stage.runner->agents(), 0) << "agents end with their Runner";
  const auto before = stage.processes();
  EXPECT_LE(before, 2) << "one agent a start at most";
  const std::string next = live_session_for_certain(stage.alex, stage.workshop.box());
  await_line(stage.alex, next, "out: ready");
  EXPECT_EQ(stage.runner->agents(), 1);
  EXPECT_EQ(stage.processes(), before + 1);
  if (!stage.session.empty()) {
    const auto lines = transcript_of(stage.alex, stage.session);
    EXPECT_LE(std::ranges::count(lines, "out: said: hello"), 1);
    EXPECT_LE(std::ranges::count(lines, "in: hello"), 1);
  }
  expect_sound(stage.yard.url);
}

class CrashOfTheRunner : public testing::TestWithParam<Case> {
protected:
  static void SetUpTestSuite() { yard_ = std::make_unique<Yard>(); }
  static void TearDownTestSuite() { yard_.reset(); }

  inline static std::unique_ptr<Yard> yard_;
};

TEST_P(CrashOfTheRunner, LeavesOneAgentAtMost) {
  Stage stage(*yard_);
  const Flow& flow = flows.at(GetParam().first);
  flow.prepare(stage);
  stage.runner->die_at(GetParam().second);
  std::jthread acting([&] { flow.act(stage); });
  stage.runner->await_death();
  stage.runner->start();
  acting.join();
  expect_sound_afterwards(stage);
}

INSTANTIATE_TEST_SUITE_P(AtEachPoint, CrashOfTheRunner, testing::ValuesIn(cases),
                         [](const auto& one) { return one.param.first + "_" + point_name(one.param.second); });

/// The second crash comes while the first one is being cleared up.
TEST_F(CrashOfTheRunner, WhileItClearsUpAfterAnother) {
  for (const char* point : {"before_recovery", "after_recovery"}) {
    Stage stage(*yard_);
    stage.live();
    stage.runner->kill();
    stage.runner->die_at(point);
    stage.runner->start();
    stage.runner->await_death();
    stage.runner->start();
    expect_sound_afterwards(stage);
  }
}

/// It dies as soon as a server that has come back has taken it again.
TEST_F(CrashOfTheRunner, WhenItHasEnrolledAgain) {
  Stage stage(*yard_);
  stage.live();
  yard_->server.kill();
  stage.runner->die_at("after_enrolment");
  yard_->server.start();
  stage.runner->await_death();
  stage.alex = yard_->server.client(yard_->world.alex.token);
  stage.runner->start();
  expect_sound_afterwards(stage);
}

/// The server asks what became of a start, because it died itself, and the Runner dies once it has looked.
TEST_F(CrashOfTheRunner, WhenItHasBeenAskedWhatBecameOfAStart) {
  Stage stage(*yard_);
  stage.runner->process().signal(SIGSTOP);
  begin_start(stage);
  yard_->server.kill();
  stage.runner->die_at("after_status");
  yard_->server.start();
  stage.runner->process().signal(SIGCONT);
  stage.runner->await_death();
  stage.alex = yard_->server.client(yard_->world.alex.token);
  stage.runner->start();
  expect_sound_afterwards(stage);
}

} // namespace

/// A new attempt is issued for a container that was closed, and the Runner dies before it says so.
TEST(CrashOfTheRunnerAtAnAttempt, LeavesItToTheNext) {
  const std::string url = shared_cluster().createdb(fresh_database_name());
  Server server{{url,
                 {"--set", "retention.deadline_s=3", "--set", "runner.watch_ms=20", "--set", "runner.ask_after_ms=100",
                  "--set", "runner.stop_timeout_s=1"}}};
  World world(server);
  Client owner = world.as(world.owner);
  Client alex = world.as(world.alex);
  const Workshop workshop(owner, world.alex);
  RunnerOptions options;
  options.stop_at = "after_journal_accepted";
  options.crashing = true;
  RunnerProcess runner(server.runner_address(), workshop, options);
  await_container(alex, workshop.box(), "idle");
  ASSERT_EQ(start_agent(alex, workshop.box()).status, 202);
  runner.wait_for_standstill();
  Sql database(url);
  const auto deadline = Clock::now() + std::chrono::seconds{20};
  while (database.number("SELECT count(*) FROM orphan_diagnostics") == 0 && Clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds{10}); // the deadline announces nothing but this
  runner.die_at("after_attempt");
  runner.process().signal(SIGCONT);
  const std::string path = "/v1/orphan-diagnostics/" + database.value("SELECT id FROM orphan_diagnostics") + "/resolve";
  std::jthread resolving([&] { server.client(world.owner.token).send("POST", path, "{}"); });
  runner.await_death();
  runner.start();
  resolving.join();
  await_container(alex, workshop.box(), "idle");
  Response resolved = owner.post(path, "{}");
  EXPECT_EQ(resolved.status, 200) << resolved.body;
  live_session_for_certain(alex, workshop.box());
  EXPECT_EQ(runner.agents(), 1);
  EXPECT_EQ(database.number("SELECT count(*) FROM audit_log WHERE action = 'orphan.resolve'"), 1);
  expect_sound(url);
}

} // namespace cleat::test
