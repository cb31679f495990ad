/// Recorded histories of threads (spec 06 section 2): clients that race, processes that die, and a checker that asks
/// whether one order of single steps explains every answer.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "tests/process/adapter.hpp"
#include "tests/process/crowd.hpp"
#include "tests/process/nemesis.hpp"
#include "tests/process/world.hpp"

namespace cleat::test {
namespace {

using linear::SessionAnswer;
using linear::SessionOperation;
using linear::SessionOutcome;
using linear::SessionRow;
using linear::SessionVerb;

using Clock = std::chrono::steady_clock;

std::int64_t from_environment(const char* name, std::int64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoll(text);
}

/// Threads that share references, and who works on them.
struct Group {
  std::vector<std::string> threads;
  std::vector<std::string> references;
  int people = 0;
  /// The thread whose run an adapter reports about; empty: there is none.
  std::string reported = {};
};

/// Clients of one kind at one group.
class Worker {
public:
  Worker(const Group& group, Recorder& recorder, Caller caller)
    : group_(group), recorder_(recorder), caller_(std::move(caller)) {}

  /// Works until `ends`; `step` is one operation.
  void run(const std::atomic<bool>& ends, void (Worker::*step)()) {
    while (!ends) {
      (this->*step)();
      // People think for a moment. Without it a history would be thousands of lines of the same.
      std::this_thread::sleep_for(std::chrono::milliseconds(caller_.below(12)));
    }
  }

  /// What a human does: looks, binds what may be elsewhere, starts over.
  void human_step() {
    SessionOperation operation;
    operation.thread = group_.threads[caller_.below(group_.threads.size())];
    // Where an adapter reports, people mostly look on: what they have ended stays ended, and nothing races any more.
    const bool looks_on = !group_.reported.empty() && caller_.chance(95);
    const std::size_t lot = looks_on ? 9 : caller_.below(10);
    if (lot < 5) {
      operation.verb = SessionVerb::bind;
      operation.reference = some_reference();
      operation.take_over = caller_.chance(60);
      operation.expected = believed(operation.thread);
    } else if (lot < 7) {
      operation.verb = SessionVerb::reset;
      if (caller_.chance(70))
        operation.expected = believed(operation.thread);
    }
    learn(operation, caller_.perform(operation, recorder_));
  }

  /// What an adapter does: reports about the session of its run.
  void adapter_step() {
    SessionOperation operation;
    operation.verb = SessionVerb::report;
    operation.thread = group_.reported;
    if (caller_.chance(90))
      operation.if_match = version_;
    const std::size_t lot = caller_.below(10);
    if (lot < 5 || !operation.if_match)
      operation.reference = some_reference();
    if (lot > 3)
      operation.model = "model-" + std::to_string(caller_.below(3));
    operation.started = caller_.chance(30);
    operation.bind_failed = !operation.reference.empty() && caller_.chance(5);
    const auto answer = caller_.perform(operation, recorder_);
    if (answer && !answer->rows.empty())
      version_ = answer->rows.front().version;
    else if (answer && answer->outcome == SessionOutcome::version_conflict)
      version_.reset();
  }

private:
  std::string some_reference() { return group_.references[caller_.below(group_.references.size())]; }

  std::optional<std::string> believed(const std::string& thread) {
    const auto found = believed_.find(thread);
    return found == believed_.end() || found->second.empty() ? std::nullopt : std::optional(found->second);
  }

  void learn(const SessionOperation& operation, const std::optional<SessionAnswer>& answer) {
    if (answer && answer->outcome == SessionOutcome::done && operation.verb != SessionVerb::report) {
      std::string current;
      for (const SessionRow& row : answer->rows)
        if (row.standing == linear::Standing::current)
          current = row.id;
      believed_[operation.thread] = current;
      return;
    }
    SessionOperation look;
    look.thread = operation.thread;
    if (const auto seen = caller_.perform(look, recorder_))
      learn(look, seen);
  }

  const Group& group_;
  Recorder& recorder_;
  Caller caller_;
  std::map<std::string, std::string> believed_;
  std::optional<std::int64_t> version_;
};

/// The people and the groups of one history.
class Scene {
public:
  /// Makes everything anew; throws when a server refuses a step.
  Scene(const Server& server, Recorder& recorder, std::uint64_t seed) : world(server) {
    const std::string name = "history-" + std::to_string(seed);
    groups = {group(name + "-a", 1, 4), group(name + "-b", 2, 3), group(name + "-c", 3, 3)};
    for (const char* reported : {"-d", "-e", "-f"}) {
      groups.push_back(group(name + reported, 1, 2));
      begin_run(server, groups.back(), recorder, (seed + groups.size()) % 2 == 0);
    }
  }

  World world;
  std::vector<Group> groups;

private:
  /// Threads that share two references.
  Group group(const std::string& name, int threads, int people) {
    Group made{{}, {name + "-0", name + "-1"}, people};
    for (int i = 0; i < threads; ++i)
      made.threads.push_back(world.thread(world.support));
    return made;
  }

  /// Begins a run in the group's last thread, with or without a session.
  void begin_run(const Server& server, Group& where, Recorder& recorder, bool with_reference) const {
    where.reported = where.threads.back();
    Client alex = server.client(world.alex.token);
    Adapter lotse(server.client(world.lotse.token));
    const std::string run = triggered(alex, where.reported);
    SessionOperation start;
    start.verb = SessionVerb::start;
    start.thread = where.reported;
    start.reference = with_reference ? where.references.front() : "";
    start.number = recorder.number();
    const linear::Moment invoked = moment_now();
    if (lotse.start(run, start.reference).status != 200)
      throw std::runtime_error("a run does not start");
    recorder.add({start, invoked, moment_now()});
  }
};

class Histories : public testing::Test {
protected:
  static void SetUpTestSuite() { stage_ = std::make_unique<Stage>(); }
  static void TearDownTestSuite() { stage_.reset(); }

  static Stage& stage() { return *stage_; }

  /// Plays one history and judges it.
  static void play(std::uint64_t seed);

  inline static int histories_ = 0;
  inline static std::size_t operations_ = 0;
  inline static std::size_t lost_ = 0;
  inline static std::size_t parts_ = 0;

private:
  static void work(const Scene& scene, Recorder& recorder, std::uint64_t seed);
  static void judge(const linear::SessionHistory& history, std::uint64_t seed);

  inline static std::unique_ptr<Stage> stage_;
};

void Histories::play(std::uint64_t seed) {
  // After the faults of the history before, a server may say for a moment that its database is away.
  const auto deadline = Clock::now() + std::chrono::minutes{2};
  std::unique_ptr<Recorder> recorder;
  std::unique_ptr<Scene> scene;
  while (!scene) {
    try {
      recorder = std::make_unique<Recorder>();
      scene = std::make_unique<Scene>(stage().first, *recorder, seed);
    } catch (const std::exception&) {
      if (Clock::now() > deadline)
        throw;
      std::this_thread::sleep_for(std::chrono::milliseconds{100}); // nobody announces that it is back
    }
  }
  work(*scene, *recorder, seed);
  judge(recorder->history(), seed);
}

void Histories::work(const Scene& scene, Recorder& recorder, std::uint64_t seed) {
  const World& world = scene.world;
  std::atomic<bool> ends = false;
  std::vector<std::jthread> threads;
  std::mutex mutex;
  std::vector<std::string> failures;
  const auto employ = [&](const Group& group, const Actor& actor, void (Worker::*step)()) {
    const std::size_t number = threads.size();
    threads.emplace_back([&, number, token = actor.token, step] {
      try {
        Worker(group, recorder, Caller(stage().whereabouts, number, token, seed * 1000 + number)).run(ends, step);
      } catch (const std::exception& error) {
        const std::lock_guard lock(mutex);
        failures.emplace_back(error.what());
      }
    });
  };
  for (const Group& group : scene.groups) {
    for (int i = 0; i < group.people; ++i)
      employ(group, world.alex, &Worker::human_step);
    for (int i = 0; i < 2 && !group.reported.empty(); ++i)
      employ(group, world.lotse, &Worker::adapter_step);
  }
  Nemesis nemesis(stage(), seed);
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{150}); // work in peace between two faults
    nemesis.strike();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds{150});
  ends = true;
  threads.clear();
  for (const std::string& failure : failures)
    ADD_FAILURE() << failure;
  // In the end everybody looks, so that whatever was acknowledged and is gone is missed.
  Caller last(stage().whereabouts, 0, world.alex.token, seed);
  for (const Group& group : scene.groups)
    for (const std::string& thread : group.threads) {
      SessionOperation look;
      look.thread = thread;
      last.perform_for_certain(look, recorder);
    }
}

void Histories::judge(const linear::SessionHistory& history, std::uint64_t seed) {
  ++histories_;
  operations_ += history.size();
  for (const auto& one : history)
    lost_ += one.is_pending() ? 1 : 0;
  for (const auto& part : linear::parts_of(history)) {
    ++parts_;
    const auto verdict = linear::check<linear::SessionModel>(part, {});
    EXPECT_EQ(verdict.answered, linear::Answered::linearizable)
      << "seed " << seed << ", " << verdict.steps << " steps. " << linear::explain(part)
      << "Play it again (faults and callers are the same, the machine is not): CLEAT_HISTORIES_SEED=" << seed
      << " CLEAT_HISTORIES_SECONDS=1 cleat_process_tests --gtest_filter='Histories.*'";
  }
}

TEST_F(Histories, OfThreadsAreLinearizable) {
  const auto deadline = Clock::now() + std::chrono::seconds(from_environment("CLEAT_HISTORIES_SECONDS", 20));
  auto seed = static_cast<std::uint64_t>(from_environment("CLEAT_HISTORIES_SEED", 1));
  do {
    play(seed++);
  } while (Clock::now() < deadline && !HasFailure());
  std::cout << histories_ << " histories in " << parts_ << " parts, " << operations_ << " operations, " << lost_
            << " without an answer\n";
  for (const auto& [name, count] : Nemesis::strikes())
    std::cout << "  " << count << " x " << name << "\n";
}

} // namespace
} // namespace cleat::test
