/// Recorded histories of containers (spec 04): callers that start, resume and stop through two servers, a Runner whose
/// connection is cut and moved and which stands still, and a checker that asks whether one order explains every answer.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <thread>

#include "tests/linear/containers.hpp"
#include "tests/process/fleet.hpp"
#include "tests/process/forwarder.hpp"
#include "tests/process/nemesis.hpp"

namespace cleat::test {
namespace {

using linear::ContainerHistory;
using linear::ContainerOperation;
using linear::ContainerVerb;
using linear::Moment;
using Clock = std::chrono::steady_clock;

/// What callers of one container have seen.
class Logbook {
public:
  void add(const ContainerOperation& operation, Moment invoked, Moment returned) {
    const std::lock_guard lock(mutex_);
    history_.push_back({operation, invoked, returned});
  }
  int number() { return ++numbers_; }
  [[nodiscard]] ContainerHistory history() const {
    const std::lock_guard lock(mutex_);
    return history_;
  }

private:
  mutable std::mutex mutex_;
  ContainerHistory history_;
  std::atomic<int> numbers_ = 0;
};

/// A request as it was sent in the end, and what came of it.
struct Sent {
  std::optional<Response> answer; ///< absent when nobody said anything that counts
  Moment invoked = 0;
  Moment returned = 0;
  std::optional<Moment> lost_since; ///< an earlier sending, or this one, that may have taken effect
  std::string note;
};

/// Somebody who starts, resumes, stops and looks at one container.
class Tenant {
public:
  Tenant(std::string container, Logbook& book, const Whereabouts& servers, std::string token, std::uint64_t seed)
    : container_(std::move(container)),
      book_(book),
      servers_(servers),
      server_(seed % servers.count()),
      token_(std::move(token)),
      random_(seed) {}

  void run(const std::atomic<bool>& ends) {
    while (!ends) {
      const std::size_t lot = below(10);
      if (lot < 3)
        start(lot == 2 ? released_ : "");
      else if (lot < 5 && !believed_.empty())
        stop();
      else if (lot < 6 && !handle_.empty())
        look_up();
      else
        look();
      std::this_thread::sleep_for(std::chrono::milliseconds(below(15))); // people think for a moment
    }
  }

  /// Whether the container could be seen; a Runner that is away hides it.
  bool look() {
    const Sent sent = send("GET", container_path(container_), std::nullopt, {}, false);
    if (!sent.answer || sent.answer->status != 200)
      return false;
    const Json body = sent.answer->json();
    const std::string state = body["state"].string();
    believed_ = body.has("session_id") ? body["session_id"].string() : "";
    if (state == "offline")
      return false;
    note({ContainerVerb::look, 0, believed_, false, state, sent.note}, sent.invoked, sent.returned);
    return true;
  }

private:
  std::size_t below(std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_); }

  void note(const ContainerOperation& operation, Moment invoked, Moment returned) {
    book_.add(operation, invoked, returned);
  }

  void start(const std::string& resumed) {
    const int number = book_.number();
    Object body;
    if (!resumed.empty())
      body.text("resume_session_id", resumed);
    Headers headers{{"Idempotency-Key", container_ + "-" + std::to_string(number)}};
    if (below(2) == 0)
      headers.emplace("Prefer", "wait=1");
    Sent sent = send("POST", container_path(container_) + "/agent-sessions", body.str(), headers, true);
    const bool is_done = sent.answer && sent.answer->status / 100 == 2;
    if (sent.answer && !is_done && sent.answer->problem() != "already_running")
      throw std::runtime_error("a start was answered " + std::to_string(sent.answer->status) + " " + sent.answer->body);
    if (is_done) {
      const Moment from = sent.lost_since.value_or(sent.invoked);
      note({ContainerVerb::reserve, number, resumed, false, {}, sent.note}, from, sent.returned);
      handle_ = sent.answer->json()["retry_handle"].string();
      handle_number_ = number;
      if (sent.answer->status == 201) {
        believed_ = sent.answer->json()["session_id"].string();
        note({ContainerVerb::promoted, number, believed_, false, {}, sent.note}, from, sent.returned);
      }
      return;
    }
    if (sent.answer)
      note({ContainerVerb::reserve, number, resumed, true, {}, sent.note}, sent.invoked, sent.returned);
    if (sent.lost_since)
      note({ContainerVerb::reserve, number, resumed, false, {}, sent.note + ", lost"}, *sent.lost_since, linear::never);
  }

  void stop() {
    const int number = book_.number();
    const std::string session = believed_;
    const Headers headers{{"Idempotency-Key", container_ + "-" + std::to_string(number)}};
    const Sent sent = send("POST", session_path(session) + "/stop", "{}", headers, true);
    const int status = sent.answer ? sent.answer->status : 0;
    if (status == 200) {
      const Moment from = sent.lost_since.value_or(sent.invoked);
      note({ContainerVerb::stopping, number, session, false, {}, sent.note}, from, sent.returned);
      note({ContainerVerb::stopped, number, session, false, {}, sent.note}, from, sent.returned);
      released_ = session;
      believed_.clear();
      return;
    }
    if (status != 0 && status != 404)
      throw std::runtime_error("a stop was answered " + std::to_string(status) + " " + sent.answer->body);
    if (status == 404)
      note({ContainerVerb::stopping, number, session, true, {}, sent.note}, sent.invoked, sent.returned);
    // It may have begun, whatever was said then: a stop that could not be delivered is a stop that was reserved.
    if (sent.lost_since)
      note({ContainerVerb::stopping, number, session, false, {}, sent.note + ", lost"}, *sent.lost_since,
           linear::never);
  }

  void look_up() {
    const Sent sent =
      send("POST", "/v1/agent-session-operations/lookup", Object().text("retry_handle", handle_).str(), {}, false);
    if (!sent.answer || sent.answer->status != 200 || sent.answer->json()["state"].string() != "promoted")
      return;
    believed_ = sent.answer->json()["session_id"].string();
    note({ContainerVerb::promoted, handle_number_, believed_, false, {}, sent.note}, sent.invoked, sent.returned);
  }

  /// Sends a request until somebody says something that counts, three times at most.
  Sent send(const std::string& method, const std::string& path, const std::optional<std::string>& body,
            const Headers& headers, bool has_effect) {
    Sent sent;
    for (int sendings = 1; sendings <= 3; ++sendings) {
      Client client(servers_.of(server_), token_, std::chrono::seconds{3});
      sent.note = "server " + std::to_string(server_) + ", sending " + std::to_string(sendings);
      sent.invoked = moment_now();
      auto answer = client.send(method, path, body, headers);
      sent.returned = moment_now();
      if (answer && answer->status < 500 && answer->problem() != "idempotency_in_progress") {
        sent.answer = std::move(answer);
        return sent;
      }
      if (answer && answer->status != 503 && answer->status != 409)
        throw std::runtime_error("a caller was answered " + std::to_string(answer->status) + " " + answer->body);
      // A start that finds no Runner has reserved nothing; a stop may have.
      const bool is_start = path.starts_with("/v1/containers/");
      const std::string problem = answer ? answer->problem() : "";
      const bool is_harmless = answer ? problem == "unavailable" || problem == "overloaded" ||
                                          problem == "idempotency_in_progress" ||
                                          (is_start && problem == "runner_unavailable")
                                      : !client.may_have_arrived();
      if (has_effect && !is_harmless && !sent.lost_since)
        sent.lost_since = sent.invoked;
      server_ = (server_ + 1) % servers_.count();
      std::this_thread::sleep_for(std::chrono::milliseconds{30}); // nobody tells when a server is back
    }
    return sent;
  }

  std::string container_;
  Logbook& book_;
  const Whereabouts& servers_;
  std::size_t server_;
  std::string token_;
  std::mt19937_64 random_;
  std::string believed_;
  std::string released_;
  std::string handle_;
  int handle_number_ = 0;
};

std::int64_t from_environment(const char* name, std::int64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoll(text);
}

/// A Runner with containers of its own, behind a balancer.
struct Yard {
  Yard(Client& owner, const Actor& actor, const Server& server)
    : workshop(owner, actor, 3), balancer(server.runner_address()), runner(balancer.address(), workshop) {
    await_container(owner, workshop.box(), "idle");
  }

  Workshop workshop;
  Forwarder balancer;
  RunnerProcess runner;
};

class ContainerHistories : public testing::Test {
protected:
  /// Plays histories of containers for a while and judges them.
  void play(std::uint64_t seed, Clock::time_point deadline);
  /// Callers at every container, and harm.
  void work(Yard& yard, std::vector<Logbook>& books, std::uint64_t seed, Clock::time_point deadline);
  void strike(Yard& yard, std::mt19937_64& random, Nemesis& nemesis);
  void judge(const Logbook& book, std::uint64_t seed);

  Stage stage;
  World world{stage.first};
  std::map<std::string, int> strikes;
  int histories = 0;
  std::size_t operations = 0;
};

void ContainerHistories::strike(Yard& yard, std::mt19937_64& random, Nemesis& nemesis) {
  const auto lot = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  const auto last = [&] { std::this_thread::sleep_for(std::chrono::milliseconds(100 + lot(900))); };
  switch (lot(4)) {
    case 0:
      ++strikes["cut connection of the Runner"];
      yard.balancer.move_to(stage.first.runner_address());
      return last();
    case 1:
      ++strikes["Runner at the other server"];
      yard.balancer.move_to(stage.second.runner_address());
      last();
      return yard.balancer.move_to(stage.first.runner_address());
    case 2:
      ++strikes["stopped Runner"];
      yard.runner.process().signal(SIGSTOP);
      last();
      return yard.runner.process().signal(SIGCONT);
    default:
      return nemesis.strike();
  }
}

void ContainerHistories::work(Yard& yard, std::vector<Logbook>& books, std::uint64_t seed, Clock::time_point deadline) {
  std::atomic<bool> ends = false;
  std::mutex mutex;
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < books.size(); ++i)
    for (std::uint64_t who = 0; who < 3; ++who)
      threads.emplace_back([&, i, who] {
        try {
          Tenant(yard.workshop.containers[i], books[i], stage.whereabouts, world.alex.token, seed * 100 + i * 10 + who)
            .run(ends);
        } catch (const std::exception& error) {
          const std::lock_guard lock(mutex);
          ADD_FAILURE() << error.what();
        }
      });
  std::mt19937_64 random(seed);
  Nemesis nemesis(stage, seed);
  while (Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds{200}); // work in peace between two faults
    strike(yard, random, nemesis);
  }
  ends = true;
}

void ContainerHistories::judge(const Logbook& book, std::uint64_t seed) {
  const ContainerHistory history = book.history();
  operations += history.size();
  ++histories;
  const auto verdict = linear::check<linear::ContainerModel>(history, {});
  EXPECT_EQ(verdict.answered, linear::Answered::linearizable)
    << "seed " << seed << ", " << verdict.steps << " steps. " << linear::explain(history)
    << "Play it again (faults and callers are the same, the machine is not): CLEAT_HISTORIES_SEED=" << seed
    << " cleat_process_tests --gtest_filter='ContainerHistories.*'";
}

void ContainerHistories::play(std::uint64_t seed, Clock::time_point deadline) {
  // After the faults of the histories before, a server may say for a moment that its database is away.
  const auto patience = Clock::now() + std::chrono::minutes{2};
  std::unique_ptr<Yard> yard;
  while (!yard) {
    try {
      Client owner = stage.first.client(world.owner.token);
      yard = std::make_unique<Yard>(owner, world.alex, stage.first);
    } catch (const std::exception&) {
      if (Clock::now() > patience)
        throw;
      std::this_thread::sleep_for(std::chrono::milliseconds{100}); // nobody announces that it is back
    }
  }
  std::vector<Logbook> books(yard->workshop.containers.size());
  work(*yard, books, seed, deadline);
  // In the end everybody looks, once the Runner is there again.
  for (std::size_t i = 0; i < books.size(); ++i) {
    Tenant last(yard->workshop.containers[i], books[i], stage.whereabouts, world.alex.token, seed);
    const auto end = Clock::now() + std::chrono::minutes{2};
    while (!last.look())
      ASSERT_LT(Clock::now(), end) << "the container is not seen again";
  }
  for (const Logbook& book : books)
    judge(book, seed);
}

TEST_F(ContainerHistories, AreLinearizable) {
  // The work of a checker grows with the length of a history, so the long mode plays more of them and not longer ones.
  constexpr std::chrono::seconds length{10};
  const auto end = Clock::now() + std::chrono::seconds(from_environment("CLEAT_HISTORIES_SECONDS", 10));
  auto seed = static_cast<std::uint64_t>(from_environment("CLEAT_HISTORIES_SEED", 1));
  do {
    play(seed++, std::min(end, Clock::now() + length));
  } while (Clock::now() < end && !HasFailure());
  std::cout << histories << " histories of containers, " << operations << " moments\n";
  for (const auto& [name, count] : strikes)
    std::cout << "  " << count << " x " << name << "\n";
  for (const auto& [name, count] : Nemesis::strikes())
    std::cout << "  " << count << " x " << name << " (with those of threads, if any were played)\n";
}

} // namespace
} // namespace cleat::test
