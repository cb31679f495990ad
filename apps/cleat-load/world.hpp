#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/cleat-load/target.hpp"

namespace cleat::load {

/// How large a world is.
struct WorldPlan {
  /// Threads without current sessions.
  std::size_t threads = 0;
  /// Imported sessions in each of these.
  std::size_t history = 0;
  /// Threads with `sessions_of_a_listed_thread` imported sessions each.
  std::size_t listed = 0;
  /// Threads with a run that its agent works on.
  std::size_t reported = 0;
  /// Containers, and the Runners that they are spread over.
  std::size_t containers = 0;
  std::size_t runners = 0;
};

/// How long a history the scenario `list` reads (spec 06 section 1).
inline constexpr std::size_t sessions_of_a_listed_thread = 50;

/// A run that its agent works on, and the session that it began.
struct ReportedRun {
  std::string thread;
  std::string run;
  std::string session;
  std::string reference;
};

/// A Runner as the server knows it.
struct RunnerEntry {
  std::string token;
  /// Names of its containers.
  std::vector<std::string> containers;
};

/// A space of its own with everything that the load needs, made through the API.
struct World {
  /// Unique over all runs: references and idempotency keys start with it.
  std::string run;
  std::string channel;
  std::string agent;
  std::string agent_token;
  /// A human with `trigger` on the channel, who writes everything that is counted and is the account's actor.
  std::string human;
  std::string human_token;
  std::vector<std::string> threads;
  /// The thread that all connections bind on at once.
  std::string contested;
  std::vector<std::string> listed;
  std::vector<ReportedRun> reported;
  /// Sessions that were imported into all threads.
  std::int64_t imported = 0;
  /// Empty when there are no containers.
  std::string account;
  std::vector<RunnerEntry> runners;
};

/// A prefix that no other run has.
std::string new_run();

/// Makes a world on `connections` connections. Throws `std::runtime_error` when the server refuses a step.
World make_world(const Target& target, const WorldPlan& plan, std::size_t connections, std::chrono::seconds patience);

/// Finishes the runs, so that their leases do not run out while something else is measured.
void finish_runs(const Target& target, const World& world, std::size_t connections, std::chrono::seconds patience);

} // namespace cleat::load
