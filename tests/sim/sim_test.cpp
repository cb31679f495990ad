#include <cstdlib>
#include <iostream>
#include <string>

#include <caf/actor_system_config.hpp>
#include <gtest/gtest.h>

#include "base/log.hpp"
#include "tests/sim/simulation.hpp"

/// Thousands of schedules, each of its own seed. A schedule that fails prints its history and how to play it again.
namespace cleat::sim {
namespace {

struct Config : caf::actor_system_config {
  Config() {
    add_message_types<caf::id_block::cleat_storage>();
    add_message_types<caf::id_block::cleat_actors>();
    set("scheduler.policy", caf::atom("testing"));
  }
};

/// An environment variable as a number.
std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(Simulation, EveryAnswerIsTrueInEverySchedule) {
  log::init(log::Format::text, "error"); // runs that start without their session are everyday life here
  const std::uint64_t first = number_from("CLEAT_SIM_SEED", 1);
  const std::uint64_t schedules = number_from("CLEAT_SIM_SCHEDULES", 5000);
  std::size_t requests = 0;
  std::size_t commits = 0;
  int failures = 0;
  for (std::uint64_t seed = first; seed < first + schedules && failures < 3;) {
    // One system for some of them: making one costs as much as a schedule.
    Config config;
    caf::actor_system system(config);
    for (int i = 0; i < 100 && seed < first + schedules && failures < 3; ++i, ++seed) {
      Simulation simulation(system, seed);
      const auto wrong = simulation.play();
      requests += simulation.requests();
      commits += simulation.commits();
      if (wrong.empty())
        continue;
      ++failures;
      std::string text;
      for (const std::string& line : wrong)
        text += line + "\n";
      ADD_FAILURE() << text << "\nhistory (request [commits before..after]: answer)\n"
                    << simulation.history() << "\nplay it again: CLEAT_SIM_SEED=" << seed
                    << " CLEAT_SIM_SCHEDULES=1 build/release/tests/sim/cleat_sim_tests";
    }
    system.await_actors_before_shutdown(false);
  }
  EXPECT_GT(commits, schedules) << "hardly anything was done, so hardly anything was tried";
  std::cout << schedules << " schedules, " << requests << " requests, " << commits << " commits\n";
}

} // namespace
} // namespace cleat::sim
