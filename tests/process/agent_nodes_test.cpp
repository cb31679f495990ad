/// Sessions with more than one server on a database (spec 02 "More than one server").
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/process/crowd.hpp"
#include "tests/process/fleet.hpp"
#include "tests/process/forwarder.hpp"
#include "tests/process/suite.hpp"

namespace cleat::test {
namespace {

using Clock = std::chrono::steady_clock;

const std::vector<std::string> quick{"--set", "runner.ask_after_ms=200", "--set", "runner.watch_ms=50",
                                     "--set", "nodes.heartbeat_ms=100",  "--set", "nodes.timeout_s=1",
                                     "--set", "runner.heartbeat_ms=200", "--set", "runner.timeout_s=5"};

/// The Runner is at the first server, the callers at both.
class AgentNodes : public testing::Test {
protected:
  [[nodiscard]] Client at_first() { return first.client(world.alex.token); }
  [[nodiscard]] Client at_second() { return second.client(world.alex.token); }
  [[nodiscard]] const std::string& box() const { return workshop.box(); }

  void await_rest() {
    const auto deadline = Clock::now() + std::chrono::seconds{30};
    const std::string in_flight = "SELECT count(*) FROM session_operations WHERE state IN ('reserved', 'dispatched')";
    while (database.number(in_flight) > 0 && Clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds{10}); // recovery announces nothing
    EXPECT_EQ(database.number(in_flight), 0) << first.output() << second.output();
  }

  const std::string url = shared_cluster().createdb(fresh_database_name());
  Server first{{url, quick}};
  Server second{{url, quick}};
  World world{first};
  Sql database{url};
  Client owner = first.client(world.owner.token);
  Workshop workshop{owner, world.alex};
  Forwarder balancer{first.runner_address()};
  RunnerProcess runner{balancer.address(), workshop};
};

TEST_F(AgentNodes, ACommandReachesTheRunnerFromAnyServer) {
  Client client = at_second();
  const std::string session = live_session(client, box());
  EXPECT_EQ(say_to_agent(client, session, "hello").status, 202);
  await_line(client, session, "out: said: hello");
  Client other = at_first();
  await_line(other, session, "out: said: hello");
  EXPECT_EQ(stop_agent(client, session).status, 200);
  const auto resumed = resume_agent(client, box(), session, 20);
  ASSERT_EQ(resumed.status, 201) << resumed.body;
  EXPECT_EQ(runner.agents(), 1);
}

TEST_F(AgentNodes, SixtyFourCallersAtTwoServersOneOperation) {
  Client here = at_first();
  await_container(here, box(), "idle");
  for (int round = 0; round < 3; ++round) {
    const auto before = database.number("SELECT count(*) FROM session_operations WHERE kind = 'fresh'");
    const auto answers = at_once(64, [&](int i) {
      Client caller = i % 2 == 0 ? at_first() : at_second();
      return start_agent(caller, box());
    });
    const auto won = std::ranges::count_if(answers, [](const Response& one) { return one.status == 202; });
    const auto refused =
      std::ranges::count_if(answers, [](const Response& one) { return one.problem() == "already_running"; });
    EXPECT_EQ(won, 1);
    EXPECT_EQ(refused, 63);
    const std::string session = await_container(here, box(), "live")["session_id"].string();
    EXPECT_EQ(database.number("SELECT count(*) FROM session_operations WHERE kind = 'fresh'"), before + 1);
    EXPECT_EQ(runner.agents(), 1);
    ASSERT_EQ(stop_agent(here, session).status, 200);
  }
}

TEST_F(AgentNodes, ARunnerThatReconnectsElsewhereIsFoundThere) {
  Client here = at_first();
  const std::string session = live_session(here, box());
  balancer.move_to(second.runner_address());
  Client there = at_second();
  for (const std::string line : {"one", "two"}) {
    // The move takes a moment, in which a command is refused and changes nothing.
    const auto deadline = Clock::now() + std::chrono::seconds{20};
    while (say_to_agent(here, session, line).status == 503 && Clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
    await_line(there, session, "out: said: " + line);
  }
  EXPECT_EQ(runner.agents(), 1) << "it is the same agent, its enrolment goes on";
  const auto lines = transcript_of(here, session);
  EXPECT_EQ(std::ranges::count(lines, "out: said: one"), 1);
  EXPECT_EQ(std::ranges::count(lines, "out: said: two"), 1);
  EXPECT_EQ(stop_agent(here, session).status, 200);
}

TEST_F(AgentNodes, AServerThatDiesTakesNoOperationWithIt) {
  Client there = at_second();
  await_container(there, box(), "idle");
  for (int round = 0; round < 6; ++round) {
    // A start over whichever server holds the Runner, which then dies at some moment of it.
    Server& holder = round % 2 == 0 ? first : second;
    Server& other = round % 2 == 0 ? second : first;
    Client client = other.client(world.alex.token);
    await_container(client, box(), "idle");
    const auto accepted = start_agent(client, box());
    ASSERT_EQ(accepted.status, 202) << accepted.body;
    std::this_thread::sleep_for(std::chrono::milliseconds{2 * round});
    holder.kill();
    balancer.move_to(other.runner_address());
    await_rest();
    const auto known = look_up(client, accepted.json()["retry_handle"].string(), 20);
    ASSERT_EQ(known.status, 200) << known.body;
    if (known.json()["state"].string() == "promoted") {
      await_container(client, box(), "live");
      EXPECT_EQ(runner.agents(), 1);
      const std::string session = known.json()["session_id"].string();
      const auto deadline = Clock::now() + std::chrono::seconds{20};
      while (stop_agent(client, session).status == 503 && Clock::now() < deadline) {
      }
    } else {
      EXPECT_EQ(known.json()["failure"]["class"].string(), "retryable");
    }
    EXPECT_EQ(runner.agents(), 0);
    holder.start();
  }
}

TEST_F(AgentNodes, AWaitingCallerHearsWhatAnotherServerDecides) {
  Client there = at_second();
  await_container(there, box(), "idle");
  const auto started = start_agent(there, box(), 20);
  EXPECT_EQ(started.status, 201) << started.body << second.output();
}

} // namespace
} // namespace cleat::test
