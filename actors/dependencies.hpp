#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "actors/rules/context.hpp"
#include "base/ids.hpp"
#include "base/limits.hpp"
#include "base/metrics.hpp"
#include "base/time.hpp"
#include "storage/interface.hpp"

namespace cleat::actors {

/// What actors need of the configuration.
struct ActorOptions {
  rules::RuleOptions rules;
  std::int64_t idle_s = limits::actor_idle_s;                             ///< actors.idle_s
  std::int64_t thread_queue_max = limits::thread_queue_max;               ///< actors.thread_queue_max
  std::int64_t tx_retry_max = limits::tx_retry_max;                       ///< database.tx_retry_max
  std::int64_t request_timeout_s = limits::request_timeout_s;             ///< database.request_timeout_s
  std::int64_t deny_aggregate_window_s = limits::deny_aggregate_window_s; ///< audit.deny_aggregate_window_s
  std::int64_t runs_watch_ms = limits::run_watch_ms;                      ///< runs.watch_ms
  std::int64_t events_watch_ms = limits::events_watch_ms;                 ///< events.watch_ms

  /// The first thing that is wrong, as a sentence that names the key and the fix; nothing when all is well.
  [[nodiscard]] std::optional<std::string> validate() const;
};

/// What every actor of this room works with. Shared and never changed after start.
struct Dependencies {
  storage::Store store;
  std::shared_ptr<const Clock> clock;
  std::shared_ptr<IdSource> ids;
  std::shared_ptr<Metrics> metrics;
  ActorOptions options;
};

using DependenciesPtr = std::shared_ptr<const Dependencies>;

} // namespace cleat::actors
