#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "actors/rules/context.hpp"
#include "base/ids.hpp"
#include "base/limits.hpp"
#include "base/metrics.hpp"
#include "base/sealing.hpp"
#include "base/time.hpp"
#include "protocol/release.hpp"
#include "storage/interface.hpp"

namespace cleat::actors {

/// What the actors around Runners need of the configuration, in the units of the names.
struct FleetOptions {
  std::int64_t heartbeat_ms = limits::runner_heartbeat_ms;           ///< runner.heartbeat_ms
  std::int64_t timeout_s = limits::runner_timeout_s;                 ///< runner.timeout_s
  std::int64_t reconnect_grace_s = limits::runner_reconnect_grace_s; ///< runner.reconnect_grace_s
  std::int64_t stop_timeout_s = limits::runner_stop_timeout_s;       ///< runner.stop_timeout_s
  std::int64_t cleanup_timeout_s = limits::runner_cleanup_timeout_s; ///< runner.cleanup_timeout_s
  std::int64_t watch_ms = limits::runner_watch_ms;                   ///< runner.watch_ms
  std::int64_t ask_after_ms = limits::runner_ask_after_ms;           ///< runner.ask_after_ms
  std::int64_t max_frame_bytes = limits::runner_max_frame_bytes;     ///< runner.max_frame_bytes
  std::int64_t max_body_bytes = limits::runner_max_body_bytes;       ///< runner.max_body_bytes
  std::int64_t max_connections = limits::runner_max_connections;     ///< runner.max_connections
  std::int64_t max_unsent_bytes = limits::runner_max_unsent_bytes;   ///< runner.max_unsent_bytes
  std::int64_t max_reports = limits::runner_max_reports;             ///< runner.max_reports
  std::int64_t container_queue_max = limits::container_queue_max;    ///< actors.container_queue_max
  std::int64_t node_heartbeat_ms = limits::node_heartbeat_ms;        ///< nodes.heartbeat_ms
  std::int64_t node_timeout_s = limits::node_timeout_s;              ///< nodes.timeout_s
  /// retention.*
  storage::FleetSpans spans{limits::retention_deadline_s, limits::retention_promoted_s, limits::retention_failed_s,
                            limits::retention_orphan_s};
  /// This server, among those that work on the database.
  Node node;
  /// Opens and seals secrets; without one secrets cannot be stored or given out.
  std::shared_ptr<const MasterKey> master_key;
  /// Lets fresh starts and resumes pass, or not; without one none does.
  std::shared_ptr<const release::Gate> gate;
};

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
  std::int64_t sweep_ms = limits::retention_sweep_ms;                     ///< retention.sweep_ms

  FleetOptions fleet;

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
