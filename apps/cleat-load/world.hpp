#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/cleat-load/target.hpp"

namespace cleat::load {

/// How large a world is.
struct WorldPlan {
  /// Threads without sessions.
  std::size_t threads = 0;
  /// Threads with `sessions_of_a_listed_thread` imported sessions each.
  std::size_t listed = 0;
};

/// How long a history the scenario `list` reads (spec 06 section 1).
inline constexpr std::size_t sessions_of_a_listed_thread = 50;

/// A space of its own with everything that the load needs, made through the API.
struct World {
  /// Unique over all runs: references and idempotency keys start with it.
  std::string run;
  std::string channel;
  std::string agent;
  /// A human with `trigger` on the channel, who writes everything that is counted.
  std::string human;
  std::string human_token;
  std::vector<std::string> threads;
  /// The thread that all connections bind on at once.
  std::string contested;
  std::vector<std::string> listed;
};

/// Makes a world on `connections` connections. Throws `std::runtime_error` when the server refuses a step.
World make_world(const Target& target, const WorldPlan& plan, std::size_t connections, std::chrono::seconds patience);

} // namespace cleat::load
