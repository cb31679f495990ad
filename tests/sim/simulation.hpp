#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include "actors/dependencies.hpp"
#include "actors/interfaces.hpp"
#include "tests/pg/world.hpp"
#include "tests/sim/chaos.hpp"
#include "tests/sim/judge.hpp"

namespace cleat::sim {

/// A clock that jumps when it is told to.
class JumpingClock final : public Clock {
public:
  [[nodiscard]] Timestamp now() const override { return now_; }
  void jump(std::chrono::microseconds span) { now_ += span; }

private:
  Timestamp now_ = test::at(1'000'000'000);
};

/// One schedule: two servers over one database that misbehaves, and clients that want everything at once. The seed
/// decides who runs next, what goes wrong, what is asked for and how the clock goes.
class Simulation {
public:
  Simulation(caf::actor_system& system, std::uint64_t seed);
  ~Simulation();

  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Plays it, and answers what was wrong; empty when nothing was.
  std::vector<std::string> play();

  /// Every request with its answer, a line each.
  [[nodiscard]] std::string history() const;

  [[nodiscard]] std::size_t requests() const { return requests_.size(); }
  [[nodiscard]] std::size_t commits() const { return chaos_->committed().size(); }

private:
  struct Server {
    actors::registry_actor registry;
    storage::Store store;
  };

  caf::scheduler::test_coordinator& scheduler();
  std::size_t draw(std::size_t below) { return random_() % below; }
  const Thread& any_thread() { return world_.threads.at(draw(2)); }
  const Principal& anybody();
  std::string any_reference() { return std::string(1, static_cast<char>('a' + draw(3))); }

  RequestContext by(const Principal& actor);
  Command any_command();
  Command any_session_command(const Thread& thread);
  Command any_run_command(const Thread& thread);
  void send(Command command);
  /// One thing happens: an actor runs, the database works, time goes by, or somebody asks for something.
  void step();
  void run_an_actor();
  void let_time_pass();
  /// Everything that is under way comes to an end, without further trouble.
  void settle();
  void drain();
  void check_tables(std::vector<std::string>& wrong);
  /// A new row sorts behind the one that it ends, whatever the clocks said.
  void check_order(std::vector<std::string>& wrong);
  /// The world before the first request: with earlier sessions, so that imports and cost baselines matter.
  std::vector<Decision> provision();

  caf::actor_system& system_;
  std::mt19937_64 random_;
  test::World world_{2};
  std::shared_ptr<JumpingClock> clock_ = std::make_shared<JumpingClock>();
  std::vector<Decision> provision_;
  std::shared_ptr<storage::MemoryTables> tables_ = std::make_shared<storage::MemoryTables>();
  std::shared_ptr<Chaos> chaos_;
  std::vector<Server> servers_;
  /// Pointers, because answers come while the list grows.
  std::vector<std::shared_ptr<Request>> requests_;
  std::size_t keys_ = 0;
};

} // namespace cleat::sim
