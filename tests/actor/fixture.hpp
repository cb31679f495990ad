#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <gtest/gtest.h>

#include "actors/dependencies.hpp"
#include "actors/interfaces.hpp"
#include "storage/memory.hpp"
#include "tests/pg/world.hpp"
#include "tests/unit/gate.hpp"

namespace cleat::test {

/// A clock that tests move.
class ManualClock final : public Clock {
public:
  [[nodiscard]] Timestamp now() const override { return now_; }
  void advance(std::chrono::microseconds span) { now_ += span; }

private:
  Timestamp now_ = at(1'000'000);
};

/// Ids as `Ids` makes them, until it is told to fail once: an owner that throws.
class FailingIds final : public IdSource {
public:
  Id next(Timestamp now) override;
  void fail_next() { fail_ = true; }

private:
  Ids ids_;
  bool fail_ = false;
};

/// Actors on CAF's deterministic scheduler over the memory twin: nothing runs until `run`, and then in one order.
class ActorTest : public testing::Test {
public:
  explicit ActorTest(actors::ActorOptions options = {});
  ~ActorTest() override;

  /// Sends a command from a caller of its own. Nothing happens before `run`; an owner that dies instead of
  /// answering shows as `outcome_unknown`.
  std::shared_ptr<std::optional<Answer>> send(const ResetSession& command);
  std::shared_ptr<std::optional<Answer>> send(const BindSession& command);
  std::shared_ptr<std::optional<Answer>> send(const ImportSessions& command);
  std::shared_ptr<std::optional<Answer>> send(const TriggerRun& command);
  std::shared_ptr<std::optional<Answer>> send(const ReportSession& command);
  std::shared_ptr<std::optional<Answer>> send(const RunCommand& command);
  std::shared_ptr<std::optional<Answer>> send(const DirectoryCommand& command);
  std::shared_ptr<std::optional<Answer>> send(const ListSessions& command);

  /// Runs everything that can run.
  void run() { scheduler().run(); }

  /// Sends, runs and gives the answer.
  template <class Command>
  Answer ask(const Command& command) {
    const auto answer = send(command);
    run();
    if (!*answer)
      throw std::runtime_error("the command was not answered");
    return **answer;
  }

  /// Who asks, with an Idempotency-Key when `key` is not empty.
  static RequestContext by(const Principal& actor, const std::string& key = {}, std::uint8_t fingerprint = 1);

  BindSession bind(const Principal& actor, const Thread& thread, const std::string& reference,
                   const std::optional<Id>& expected = std::nullopt, const std::string& key = {});
  ResetSession reset(const Principal& actor, const Thread& thread, const std::string& key = {});
  TriggerRun trigger(const Principal& actor, const Thread& thread, WhenActive when_active = WhenActive::reject);

  /// Waits for more behind a position of the event log, or of an agent's events; the answer is set once the herald has
  /// given it.
  std::shared_ptr<std::optional<LogMoved>> await(const AwaitLog& question);

  /// Lets time pass for actors and for the database.
  void advance(std::chrono::milliseconds span);

  /// The current session of a thread, as the database has it.
  std::optional<AgentSession> current(const Thread& thread) const;

  caf::scheduler::test_coordinator& scheduler();

  World world;
  std::shared_ptr<storage::MemoryTables> tables = std::make_shared<storage::MemoryTables>();
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::shared_ptr<FailingIds> ids = std::make_shared<FailingIds>();
  std::shared_ptr<release::Gate> gate = open_gate();
  std::shared_ptr<Metrics> metrics = std::make_shared<Metrics>();

private:
  struct Config : caf::actor_system_config {
    Config();
  };
  Config config_;

public:
  caf::actor_system system;
  actors::DependenciesPtr deps;
  actors::registry_actor registry;
  actors::directory_actor directory;
  actors::herald_actor herald;
  actors::lease_watcher_actor lease_watcher;
};

/// The status of an answer, 0 and a failed expectation when it is a refusal.
int status_of(const Answer& answer);

/// The refusal of an answer. Expects one.
Refusal refusal_of(const Answer& answer);

} // namespace cleat::test
