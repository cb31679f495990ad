/// What becomes of starts when the server, the Runner or PostgreSQL dies in the middle (spec 04 sections 7 and 8): at
/// most one binding, one public result, no agent that nobody owns, no second agent.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/process/fleet.hpp"
#include "tests/process/suite.hpp"

namespace cleat::test {
namespace {

using Clock = std::chrono::steady_clock;

/// Spans that are long enough on a loaded machine, and short enough to wait for.
const std::vector<std::string> quick{"--set", "runner.ask_after_ms=200",    "--set", "runner.watch_ms=50",
                                     "--set", "nodes.heartbeat_ms=100",     "--set", "nodes.timeout_s=2",
                                     "--set", "runner.heartbeat_ms=200",    "--set", "runner.reconnect_grace_s=60",
                                     "--set", "idempotency.retention_s=600"};

/// Stops an agent. As long as a server that has died counts as the one that holds the Runner, a stop is found
/// undelivered and answered 503, which says to ask again.
int stop_for_certain(Client& client, const std::string& session) {
  const auto deadline = Clock::now() + std::chrono::seconds{30};
  int status = stop_agent(client, session).status;
  while (status == 503 && Clock::now() < deadline)
    status = stop_agent(client, session).status;
  return status;
}

class AgentCrash : public testing::Test {
protected:
  void start_runner(const std::string& crash_at = {}, const std::string& stop_at = {}) {
    RunnerOptions options;
    options.crash_at = crash_at;
    options.stop_at = stop_at;
    runner = std::make_unique<RunnerProcess>(server.runner_address(), workshop, options);
  }

  [[nodiscard]] Client alex() { return server.client(world.alex.token); }

  /// Waits until no operation is in flight any more.
  void await_rest() {
    const auto deadline = Clock::now() + std::chrono::seconds{30};
    const std::string in_flight = "SELECT count(*) FROM session_operations WHERE state IN ('reserved', 'dispatched')";
    while (database.number(in_flight) > 0 && Clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds{10}); // recovery announces nothing
    EXPECT_EQ(database.number(in_flight), 0) << server.output() << runner->output();
  }

  /// One id, one binding, one agent, and no agent without a binding.
  void expect_sound() {
    EXPECT_EQ(database.number("SELECT count(*) - count(DISTINCT fresh_session_id) FROM session_operations "
                              "WHERE kind = 'fresh'"),
              0);
    EXPECT_LE(database.number("SELECT count(*) FROM session_bindings WHERE state = 'live'"), 1);
    EXPECT_EQ(database.number("SELECT count(*) FROM session_operations o WHERE o.kind = 'fresh' AND o.state = "
                              "'promoted' AND NOT EXISTS (SELECT FROM session_bindings b WHERE b.session_id = "
                              "o.session_id)"),
              0);
    EXPECT_EQ(runner->agents(), database.number("SELECT count(*) FROM session_bindings WHERE state = 'live'"))
      << server.output() << runner->output();
    EXPECT_EQ(database.number("SELECT count(*) FROM orphan_diagnostics"), 0);
    cleat::test::expect_sound(url);
  }

  /// Whatever happened, the container takes a start again, and has one agent then.
  void expect_usable() {
    Client client = alex();
    const auto deadline = Clock::now() + std::chrono::seconds{30};
    Response started = start_agent(client, workshop.box(), 20);
    while (started.status != 201 && started.problem() != "already_running" && Clock::now() < deadline)
      started = start_agent(client, workshop.box(), 20);
    await_rest();
    await_container(client, workshop.box(), "live");
    EXPECT_EQ(runner->agents(), 1);
    expect_sound();
  }

  const std::string url = shared_cluster().createdb(fresh_database_name());
  Server server{{url, quick}};
  World world{server};
  Sql database{url};
  Client owner = server.client(world.owner.token);
  Workshop workshop{owner, world.alex};
  std::unique_ptr<RunnerProcess> runner;
};

/// Where a Runner may die, from the first line of its journal to the result.
const std::vector<std::string> runner_points{"after_journal_accepted", "before_exec", "after_exec",
                                             "after_journal_started", "before_result"};

class RunnerCrash : public AgentCrash, public testing::WithParamInterface<std::string> {};

TEST_P(RunnerCrash, OfTheRunner) {
  start_runner(GetParam());
  Client client = alex();
  await_container(client, workshop.box(), "idle");
  const auto started = start_agent(client, workshop.box());
  ASSERT_EQ(started.status, 202) << started.body;
  EXPECT_EQ(runner->wait(), 128 + SIGKILL);
  runner->start();
  await_rest();
  await_container(client, workshop.box(), "idle");
  expect_sound();
  EXPECT_EQ(look_up(client, started.json()["retry_handle"].string()).status, 404) << "of an enrolment that is over";
  expect_usable();
}

TEST_P(RunnerCrash, OfBoth) {
  start_runner(GetParam());
  Client client = alex();
  await_container(client, workshop.box(), "idle");
  ASSERT_EQ(start_agent(client, workshop.box()).status, 202);
  EXPECT_EQ(runner->wait(), 128 + SIGKILL);
  server.kill();
  server.start();
  runner->start();
  await_rest();
  expect_sound();
  expect_usable();
}

/// The Runner stands still at the point while the server dies and comes back, then goes on.
TEST_P(RunnerCrash, OfTheServerMeanwhile) {
  start_runner({}, GetParam());
  Client client = alex();
  await_container(client, workshop.box(), "idle");
  const auto started = start_agent(client, workshop.box());
  ASSERT_EQ(started.status, 202) << started.body;
  runner->wait_for_standstill();
  server.kill();
  server.start();
  runner->process().signal(SIGCONT);
  await_rest();
  Client again = alex();
  const auto known = look_up(again, started.json()["retry_handle"].string(), 20);
  ASSERT_EQ(known.status, 200) << known.body << runner->output();
  EXPECT_EQ(known.json()["state"].string(), "promoted") << "the agent runs, so it is promoted and not started again";
  expect_sound();
  EXPECT_EQ(runner->agents(), 1);
}

INSTANTIATE_TEST_SUITE_P(AtEachStep, RunnerCrash, testing::ValuesIn(runner_points),
                         [](const auto& point) { return point.param; });

TEST_F(AgentCrash, OfTheServerAtAnyMoment) {
  start_runner();
  std::set<std::string> ids;
  for (int round = 0; round < 12; ++round) {
    Client client = alex();
    await_container(client, workshop.box(), "idle");
    std::jthread caller([&] {
      Client other = server.client(world.alex.token);
      other.send("POST", container_path(workshop.box()) + "/agent-sessions", "{}", {{"Prefer", "wait=20"}});
    });
    std::this_thread::sleep_for(std::chrono::milliseconds{round}); // to hit another step in each round
    server.kill();
    caller.join();
    server.start();
    await_rest();
    expect_sound();
    Client again = alex();
    const auto container = again.get(container_path(workshop.box())).json();
    if (container.has("session_id")) {
      EXPECT_TRUE(ids.insert(container["session_id"].string()).second) << "an id was given twice";
      await_container(again, workshop.box(), "live");
      ASSERT_EQ(stop_for_certain(again, container["session_id"].string()), 200) << server.output();
    }
  }
}

TEST_F(AgentCrash, NoLineOfATranscriptIsLostOrDoubledOverRestarts) {
  RunnerOptions options;
  options.agent = "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo \"line $i\"; [ $((i % 100)) = 0 ] && sleep 0.1; "
                  "done; read line";
  runner = std::make_unique<RunnerProcess>(server.runner_address(), workshop, options);
  Client client = alex();
  const std::string session = live_session(client, workshop.box());
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds{300}); // while it talks
    if (round % 2 == 0)
      server.kill();
    else
      server.stop();
    server.start();
  }
  Client again = alex();
  await_container(again, workshop.box(), "live");
  await_line(again, session, "out: line 2000");
  const auto lines = transcript_of(again, session);
  ASSERT_EQ(lines.size(), 2000U);
  for (std::size_t i = 0; i < lines.size(); ++i)
    ASSERT_EQ(lines[i], "out: line " + std::to_string(i + 1));
}

/// Starts and stops agents in many containers at once while everything is restarted, until there were 10,000 starts.
TEST_F(AgentCrash, TenThousandStartsGiveNoIdTwice) {
  constexpr int workers = 32;
  constexpr std::int64_t enough = 10'000;
  Workshop many(owner, world.alex, workers);
  RunnerOptions options;
  options.driver = "null";
  runner = std::make_unique<RunnerProcess>(server.runner_address(), many, options);
  std::atomic<bool> done = false;
  std::atomic<std::uint64_t> generation = 0;
  std::vector<std::vector<std::string>> ids(workers);
  std::vector<std::jthread> threads;
  for (int i = 0; i < workers; ++i)
    threads.emplace_back([&, i] {
      const auto at = static_cast<std::size_t>(i);
      while (!done) {
        const auto seen = generation.load();
        Client client = server.client(world.alex.token);
        while (!done && generation == seen) {
          const auto started =
            client.send("POST", container_path(many.containers[at]) + "/agent-sessions", "{}", {{"Prefer", "wait=10"}});
          if (!started) {
            std::this_thread::sleep_for(std::chrono::milliseconds{20}); // the server is away
            break;
          }
          const Json answer = started->json();
          const std::string running = started->status == 201 ? answer["session_id"].string() : "";
          if (!running.empty())
            ids[at].push_back(running);
          const auto container = client.send("GET", container_path(many.containers[at]));
          if (!container || container->status != 200 || !container->json().has("session_id")) {
            std::this_thread::sleep_for(
              std::chrono::milliseconds{5}); // the Runner is away, or it is being looked after
            continue;
          }
          client.send("POST", session_path(container->json()["session_id"].string()) + "/stop", "{}");
        }
      }
    });
  const std::string starts = "SELECT count(*) FROM session_operations WHERE kind = 'fresh'";
  for (std::int64_t next = 0; database.number(starts) < enough;) {
    std::this_thread::sleep_for(std::chrono::milliseconds{50}); // the load is watched, it announces nothing
    if (database.number(starts) < next)
      continue;
    next += enough / 8;
    if (next / (enough / 8) % 2 == 0) {
      runner->kill();
      runner->start();
      continue;
    }
    server.kill();
    server.start();
    ++generation;
  }
  done = true;
  threads.clear();
  await_rest();
  std::set<std::string> distinct;
  std::size_t told = 0;
  for (const auto& some : ids) {
    told += some.size();
    distinct.insert(some.begin(), some.end());
  }
  EXPECT_EQ(distinct.size(), told);
  cleat::test::expect_sound(url); // no relay id, session id or handle twice
}

TEST_F(AgentCrash, AStopIsFinishedAfterTheServersDeath) {
  start_runner();
  Client client = alex();
  const std::string session = live_session(client, workshop.box());
  std::jthread caller([&] {
    Client other = server.client(world.alex.token);
    other.send("POST", session_path(session) + "/stop", "{}");
  });
  std::this_thread::sleep_for(std::chrono::milliseconds{3});
  server.kill();
  caller.join();
  server.start();
  await_rest();
  expect_sound();
  Client again = alex();
  // Where the server died before it had written the stop down, it is asked again, as 503 says.
  const auto deadline = Clock::now() + std::chrono::seconds{30};
  while (runner->agents() == 1 && Clock::now() < deadline)
    stop_agent(again, session);
  EXPECT_EQ(runner->agents(), 0);
}

TEST(AgentCrashOfPostgres, StartsAreSoundAfterwards) {
  Server server{{"", quick}};
  World world(server);
  Client owner = server.client(world.owner.token);
  const Workshop workshop(owner, world.alex);
  RunnerProcess runner(server.runner_address(), workshop);
  Client client = server.client(world.alex.token);
  for (int round = 0; round < 4; ++round) {
    await_container(client, workshop.box(), "idle");
    std::jthread caller([&] {
      Client other = server.client(world.alex.token);
      other.send("POST", container_path(workshop.box()) + "/agent-sessions", "{}", {{"Prefer", "wait=20"}});
    });
    std::this_thread::sleep_for(std::chrono::milliseconds{2 * round});
    std::ifstream file(server.data() / "postgres" / "postmaster.pid");
    pid_t postmaster = 0;
    file >> postmaster;
    ASSERT_EQ(::kill(postmaster, SIGKILL), 0);
    caller.join();
    const auto deadline = Clock::now() + std::chrono::seconds{60};
    while (client.get("/readyz").status != 200 && Clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
    // What was reserved when PostgreSQL died may go on only now, so both sides are looked at until they agree.
    auto container = client.get(container_path(workshop.box()));
    const auto agrees = [&] {
      const auto state = container.status == 200 ? container.json()["state"].string() : "";
      return (state == "live" && runner.agents() == 1) || (state == "idle" && runner.agents() == 0);
    };
    while (!agrees() && Clock::now() < deadline)
      container = client.get(container_path(workshop.box()));
    ASSERT_TRUE(agrees()) << container.body << server.output() << runner.output();
    if (container.json().has("session_id")) {
      ASSERT_EQ(stop_for_certain(client, container.json()["session_id"].string()), 200);
    }
  }
}

} // namespace
} // namespace cleat::test
