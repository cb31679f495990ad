#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/cleat-load/connections.hpp"
#include "apps/cleat-load/database.hpp"
#include "apps/cleat-load/histogram.hpp"
#include "apps/cleat-load/options.hpp"
#include "apps/cleat-load/play.hpp"
#include "apps/cleat-load/target.hpp"

namespace cleat::load {

/// CPU time that each party used so far, or while something was measured; `nullopt` where a process is unknown.
struct CpuTimes {
  std::optional<std::chrono::microseconds> server;
  std::optional<std::chrono::microseconds> postgres;
  std::optional<std::chrono::microseconds> load;
  /// All Runners that were started for the scenario.
  std::optional<std::chrono::microseconds> runner;
};

/// What a scenario came to.
struct Result {
  Scenario scenario{};
  /// How long was measured.
  std::chrono::microseconds span{0};
  /// Latencies of the measured answers, by kind.
  std::map<Kind, Histogram> latencies;
  /// CPU used while measuring.
  CpuTimes cpu;
  /// Resident memory of the server in bytes, once the world was made and afterwards.
  std::optional<std::int64_t> server_memory_before;
  std::optional<std::int64_t> server_memory;
  /// All answers that were checked, those of the warm-up included.
  std::uint64_t checked = 0;
  Findings findings;
  /// Empty when no database was given.
  std::vector<Comparison> database;

  /// Whether every answer and the database were as they must be.
  [[nodiscard]] bool right() const;

  /// Answers of a kind in a second.
  [[nodiscard]] std::int64_t per_second(Kind kind) const;
};

/// Makes a world, plays one scenario in it and checks what is left. Progress goes to standard error once a second.
/// Throws `std::runtime_error` when the server cannot be worked with.
Result run_scenario(Scenario scenario, const Options& options, const Target& target);

} // namespace cleat::load
