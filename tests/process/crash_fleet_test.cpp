/// The crash matrix of containers (spec 06 section 2): the server dies at every named point of starts, stops, resumes,
/// retries and input, and afterwards there is one agent at most and every client has the truth.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
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

/// Spans that are long enough on a loaded machine, and short enough to wait for.
const std::vector<std::string> quick{"--set", "runner.ask_after_ms=100", "--set", "runner.watch_ms=20",
                                     "--set", "nodes.heartbeat_ms=100",  "--set", "nodes.timeout_s=2",
                                     "--set", "runner.heartbeat_ms=200", "--set", "runner.reconnect_grace_s=60"};

/// A server that crashes, a Runner that does not, and one container, for all cases.
struct Yard {
  Yard()
    : server({url, quick, {}, {}, {}, true}), world(server), owner(world.as(world.owner)), workshop(owner, world.alex) {
    RunnerOptions options;
    options.toml = "[server_connection]\nbackoff_max_ms = 200\n";
    runner = std::make_unique<RunnerProcess>(server.runner_address(), workshop, options);
  }

  [[nodiscard]] Client alex() { return server.client(world.alex.token); }
  [[nodiscard]] const std::string& box() const { return workshop.box(); }
  [[nodiscard]] std::string sessions() const { return container_path(box()) + "/agent-sessions"; }
  [[nodiscard]] std::filesystem::path folder() const { return runner->folder() / box(); }

  Request start(const std::string& body = "{}") {
    Request request = keyed(world.alex.token, sessions(), body, {{"Prefer", "wait=20"}});
    request.same_bytes = false;
    return request;
  }

  std::string url = shared_cluster().createdb(fresh_database_name());
  Server server;
  World world;
  Client owner;
  Workshop workshop;
  std::unique_ptr<RunnerProcess> runner;
  /// What a case prepares.
  std::string session = {};
  std::string handle = {};
};

/// Waits until no operation is in flight any more.
void await_rest(Yard& yard) {
  Sql database(yard.url);
  const auto deadline = Clock::now() + std::chrono::seconds{30};
  const std::string in_flight = "SELECT count(*) FROM session_operations WHERE state IN ('reserved', 'dispatched')";
  while (database.number(in_flight) > 0 && Clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds{10}); // recovery announces nothing
  EXPECT_EQ(database.number(in_flight), 0) << yard.server.output() << yard.runner->output();
}

/// Ends whatever lives in the container. As long as a server that has died counts as the one that holds the Runner, a
/// stop is answered 503, which says to ask again.
void clear(Yard& yard) {
  Client alex = yard.alex();
  const auto deadline = Clock::now() + std::chrono::seconds{30};
  for (;;) {
    const Json container = alex.get(container_path(yard.box())).json();
    if (container["state"].string() == "idle" || Clock::now() > deadline)
      return;
    if (container.has("session_id"))
      stop_agent(alex, container["session_id"].string());
    std::this_thread::sleep_for(std::chrono::milliseconds{10}); // a container's state is read
  }
}

struct Flow {
  std::function<std::vector<Request>(Yard&)> prepare;
  std::function<void(Yard&, const std::vector<Request>&)> verify;
};

/// A start that the server wrote down and never sent has failed, and says that it may be tried again: so does its
/// client.
void retry_what_was_never_sent(Yard& yard, const std::string& handle) {
  Client alex = yard.alex();
  const auto deadline = Clock::now() + std::chrono::seconds{30};
  while (look_up(alex, handle).json()["state"].string() != "promoted" && Clock::now() < deadline) {
    const Json known = look_up(alex, handle, 5).json();
    if (known["state"].string() != "failed")
      continue;
    EXPECT_EQ(known["failure"]["code"].string(), "not_dispatched");
    const auto again = retry(alex, handle);
    EXPECT_TRUE(again.status == 200 || again.status == 503 || again.problem() == "already_running") << again.body;
  }
}

void expect_one_agent(Yard& yard, const std::vector<Request>& requests) {
  Client alex = yard.alex();
  const Json answer = requests.back().answer->json();
  retry_what_was_never_sent(yard, answer.has("retry_handle") ? answer["retry_handle"].string() : yard.handle);
  const Json container = await_container(alex, yard.box(), "live");
  EXPECT_EQ(yard.runner->agents(), 1);
  if (answer.has("session_id")) {
    EXPECT_EQ(answer["session_id"].string(), container["session_id"].string());
  }
}

void expect_no_agent(Yard& yard, const std::vector<Request>& /*requests*/) {
  Client alex = yard.alex();
  await_container(alex, yard.box(), "idle");
  EXPECT_EQ(yard.runner->agents(), 0);
}

Flow start_flow() {
  return {[](Yard& yard) { return std::vector{yard.start()}; }, expect_one_agent};
}

Flow stop_flow() {
  return {[](Yard& yard) {
            Client alex = yard.alex();
            yard.session = live_session_for_certain(alex, yard.box());
            // Recovery ends a stop that its client does not wait for any more, and 404 is what a session that was
            // stopped is from then on (spec 04 section 5).
            Request request = keyed(yard.world.alex.token, session_path(yard.session) + "/stop");
            request.or_else = 404;
            return std::vector{request};
          },
          expect_no_agent};
}

Flow resume_flow() {
  return {[](Yard& yard) {
            Client alex = yard.alex();
            yard.session = live_session_for_certain(alex, yard.box());
            await_line(alex, yard.session, "out: ready");
            EXPECT_EQ(stop_agent(alex, yard.session).status, 200);
            return std::vector{yard.start(Object().text("resume_session_id", yard.session).str())};
          },
          expect_one_agent};
}

Flow retry_flow() {
  return {[](Yard& yard) {
            std::filesystem::rename(yard.folder(), yard.folder().string() + "-away");
            Client alex = yard.alex();
            yard.handle = start_agent(alex, yard.box()).json()["retry_handle"].string();
            EXPECT_EQ(look_up(alex, yard.handle, 20).json()["state"].string(), "failed");
            std::filesystem::rename(yard.folder().string() + "-away", yard.folder());
            Request request{yard.world.alex.token, "/v1/agent-session-operations/retry",
                            Object().text("retry_handle", yard.handle).str()};
            request.same_bytes = false; // a retry has no answer of its own, it joins what is under way
            return std::vector{request};
          },
          expect_one_agent};
}

Flow input_flow() {
  return {[](Yard& yard) {
            Client alex = yard.alex();
            yard.session = live_session_for_certain(alex, yard.box());
            await_line(alex, yard.session, "out: ready");
            return std::vector{
              keyed(yard.world.alex.token, session_path(yard.session) + "/input", R"({"line":"hello"})")};
          },
          [](Yard& yard, const std::vector<Request>&) {
            Client alex = yard.alex();
            await_line(alex, yard.session, "out: said: hello");
            EXPECT_EQ(transcript_of(alex, yard.session),
                      (std::vector<std::string>{"out: ready", "in: hello", "out: said: hello"}));
            EXPECT_EQ(yard.runner->agents(), 1);
          }};
}

Flow exit_flow() {
  return {
    [](Yard& yard) {
      Client alex = yard.alex();
      yard.session = live_session_for_certain(alex, yard.box());
      await_line(alex, yard.session, "out: ready");
      return std::vector{keyed(yard.world.alex.token, session_path(yard.session) + "/input", R"({"line":"exit"})")};
    },
    [](Yard& yard, const std::vector<Request>& requests) {
      expect_no_agent(yard, requests);
      Sql database(yard.url);
      EXPECT_EQ(database.number("SELECT count(*) FROM session_transcripts WHERE session_id = $1 AND exit_code = 7",
                                {yard.session}),
                1);
    }};
}

const std::map<std::string, std::function<Flow()>> flows{{"start", start_flow},   {"stop", stop_flow},
                                                         {"resume", resume_flow}, {"retry", retry_flow},
                                                         {"input", input_flow},   {"exit", exit_flow}};

/// The first commit of a start or stop writes it down, the second notes that it was accepted, the third ends it.
std::vector<Case> cases() {
  std::map<std::string, std::vector<std::string>> points{
    {"start",
     {"container_decided", "container_committed", "container_answered", "container_told", "report_received",
      "report_received:2", "commit_prepared", "commit_prepared:2", "commit_prepared:3", "commit_done", "commit_done:2",
      "commit_done:3", "container_told:3", "answer_made"}},
    {"stop", {"commit_prepared", "commit_done", "commit_done:2", "container_told", "report_received:2"}},
    {"resume", {"resume_body_made", "commit_done", "commit_prepared:3", "commit_done:3"}},
    {"retry", {"commit_done", "container_told"}},
    {"input", {"commit_prepared", "commit_done", "commit_done:2", "container_told"}},
    {"exit", {"commit_prepared:2", "commit_done:2"}},
  };
  if (is_long_matrix())
    for (auto& [flow, some] : points)
      for (const char* step : {"container_decided", "container_committed", "container_answered", "container_told",
                               "commit_prepared", "commit_done"})
        for (const char* times : {"", ":2"})
          if (std::ranges::find(some, std::string(step) + times) == some.end())
            some.push_back(std::string(step) + times);
  std::vector<Case> all;
  for (const auto& [flow, some] : points)
    for (const auto& point : some)
      all.emplace_back(flow, point);
  return all;
}

const bool are_crossed = cross_all(crossed_by_server(), cases());

class CrashOfContainers : public testing::TestWithParam<Case> {
protected:
  static void SetUpTestSuite() { yard_ = std::make_unique<Yard>(); }
  static void TearDownTestSuite() { yard_.reset(); }

  inline static std::unique_ptr<Yard> yard_;
};

TEST_P(CrashOfContainers, LeavesTheTruth) {
  Yard& yard = *yard_;
  {
    Client alex = yard.alex();
    await_container(alex, yard.box(), "idle");
  }
  const Flow flow = flows.at(GetParam().first)();
  auto requests = flow.prepare(yard);
  yard.server.die_at(GetParam().second);
  send_all(yard.server, requests);
  yard.server.await_death();
  yard.server.start();
  send_all_again(yard.server, requests);
  await_rest(yard);
  flow.verify(yard, requests);
  expect_sound(yard.url);
  clear(yard);
}

INSTANTIATE_TEST_SUITE_P(AtEachPoint, CrashOfContainers, testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.first + "_" + point_name(one.param.second); });

/// What happens without a request: a server that comes up, and a Runner that finds it.
const std::vector<std::string> arrivals{"node_beaten", "runner_decided", "runner_committed", "input_sent_again"};
const bool arrivals_are_crossed = cross(crossed_by_server(), arrivals);

class CrashAtArrival : public testing::TestWithParam<std::string> {
protected:
  static void SetUpTestSuite() { yard_ = std::make_unique<Yard>(); }
  static void TearDownTestSuite() { yard_.reset(); }

  inline static std::unique_ptr<Yard> yard_;
};

TEST_P(CrashAtArrival, LeavesTheAgentWhereItWas) {
  Yard& yard = *yard_;
  Client alex = yard.alex();
  const std::string session = live_session_for_certain(alex, yard.box());
  yard.server.kill();
  yard.server.start_until_death(GetParam());
  yard.server.start();
  alex = yard.alex();
  await_container(alex, yard.box(), "live");
  EXPECT_EQ(yard.runner->agents(), 1);
  while (say_to_agent(alex, session, "hello").status == 503)
    std::this_thread::sleep_for(std::chrono::milliseconds{10}); // as Retry-After says
  await_line(alex, session, "out: said: hello");
  expect_sound(yard.url);
  clear(yard);
}

INSTANTIATE_TEST_SUITE_P(AtEachPoint, CrashAtArrival, testing::ValuesIn(arrivals),
                         [](const auto& one) { return one.param; });

} // namespace
} // namespace cleat::test
