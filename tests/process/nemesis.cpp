#include "tests/process/nemesis.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <thread>

#include "tests/support/sql.hpp"

namespace cleat::test {
namespace {

/// Spans that fit into a history of some seconds.
const std::vector<std::string> quick{"--set", "database.connect_timeout_s=3",
                                     "--set", "database.statement_timeout_s=4",
                                     "--set", "database.resolve_timeout_s=5",
                                     "--set", "database.request_timeout_s=12",
                                     "--set", "runs.lease_s=600",
                                     "--set", "log.level=warn",
                                     "--set", "runner.ask_after_ms=200",
                                     "--set", "runner.watch_ms=50",
                                     "--set", "nodes.heartbeat_ms=100",
                                     "--set", "nodes.timeout_s=1",
                                     "--set", "runner.heartbeat_ms=200",
                                     "--set", "runner.timeout_s=5",
                                     "--set", "runner.reconnect_grace_s=60"};

ServerOptions through_network(const CuttingProxy& network) {
  return {"postgresql:///cleat?host=" + network.folder().string() + "&user=cleat", quick};
}

} // namespace

std::map<std::string, int> Nemesis::strikes_;

Stage::Stage()
  : first(through_network(first_network)),
    second(through_network(second_network)),
    whereabouts({first.endpoint(), second.endpoint()}) {}

void Nemesis::strike() {
  static constexpr std::array<Fault, 10> faults{{
    {"kill -9 of a server", &Nemesis::kill_a_server},
    {"kill -9 of PostgreSQL", &Nemesis::kill_the_database},
    {"terminated backends", &Nemesis::terminate_backends},
    {"stopped server", &Nemesis::pause_a_server},
    {"stopped backend", &Nemesis::pause_a_backend},
    {"lost COMMIT", &Nemesis::lose_a_commit},
    {"lost answer to a COMMIT", &Nemesis::lose_the_answer_to_a_commit},
    {"cut connections", &Nemesis::cut_a_network},
    {"silent connections", &Nemesis::silence_a_network},
    {"slow connections", &Nemesis::slow_a_network},
  }};
  const Fault& fault = faults.at(std::uniform_int_distribution<std::size_t>(0, faults.size() - 1)(random_));
  ++strikes_[fault.name];
  (this->*fault.act)();
}

void Nemesis::last(int least_ms, int most_ms) {
  std::this_thread::sleep_for(
    std::chrono::milliseconds(std::uniform_int_distribution<int>(least_ms, most_ms)(random_)));
}

void Nemesis::kill_a_server() {
  const std::size_t victim = some_server();
  stage_.server(victim).kill();
  stage_.server(victim).start();
  stage_.whereabouts.move(victim, stage_.server(victim).endpoint());
}

void Nemesis::kill_the_database() {
  stage_.cluster.kill();
  last(0, 200);
  stage_.cluster.start();
}

void Nemesis::terminate_backends() {
  Sql(stage_.url())
    .run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'cleat' AND pid <> pg_backend_pid()");
}

void Nemesis::pause_a_server() {
  Child& process = stage_.server(some_server()).process();
  process.signal(SIGSTOP);
  last(200, 1800);
  process.signal(SIGCONT);
}

void Nemesis::pause_a_backend() {
  Sql database(stage_.url());
  const auto busy = database.run("SELECT pid FROM pg_stat_activity WHERE datname = 'cleat' AND pid <> pg_backend_pid() "
                                 "ORDER BY state_change DESC LIMIT 3");
  if (busy.empty())
    return;
  const auto index = std::uniform_int_distribution<std::size_t>(0, busy.size() - 1)(random_);
  const pid_t victim = std::stoi(busy[index].front().value());
  ::kill(victim, SIGSTOP);
  last(100, 700);
  ::kill(victim, SIGCONT);
}

void Nemesis::lose_a_commit() {
  stage_.network(some_server()).cut_next_commit(Loss::request);
  last(50, 300);
}

void Nemesis::lose_the_answer_to_a_commit() {
  stage_.network(some_server()).cut_next_commit(Loss::answer);
  last(50, 300);
}

void Nemesis::cut_a_network() {
  stage_.network(some_server()).cut_all();
  last(50, 300);
}

void Nemesis::silence_a_network() {
  CuttingProxy& network = stage_.network(some_server());
  network.hold(true);
  last(200, 1500);
  if (std::uniform_int_distribution<int>(0, 1)(random_) == 0)
    network.cut_all();
  network.hold(false);
}

void Nemesis::slow_a_network() {
  CuttingProxy& network = stage_.network(some_server());
  network.delay(std::chrono::milliseconds(std::uniform_int_distribution<int>(1, 20)(random_)));
  last(300, 900);
  network.delay(std::chrono::milliseconds{0});
}

} // namespace cleat::test
