#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

namespace cleat {

/// The metrics of a process, by name. One object is made at start and passed along; labels hold codes and
/// names of ours alone, never anything that a client sent (spec 06 section 3).
struct Metrics {
  Metrics();

  prometheus::Registry registry;

  // HTTP
  prometheus::Family<prometheus::Counter>& http_requests;  ///< by `operation` and `status`
  prometheus::Family<prometheus::Histogram>& http_seconds; ///< by `operation`
  prometheus::Gauge& http_connections;

  // Actors
  prometheus::Gauge& threads_active;
  prometheus::Gauge& containers_active;
  prometheus::Counter& owner_crashes;
  prometheus::Family<prometheus::Counter>& decisions; ///< by `outcome`
  prometheus::Counter& revalidations;
  prometheus::Counter& denials;

  // Runners
  prometheus::Gauge& orphans_open; ///< alert on anything above 0: nobody can tell what these agents do
  prometheus::Gauge& operations_in_flight;
  prometheus::Gauge& runners_connected; ///< to any server
  prometheus::Gauge& release_gate_open; ///< 1 or 0; alert on 0: no agent can be started

  // Storage
  prometheus::Counter& commit_batches;
  prometheus::Histogram& commit_batch_size;
  prometheus::Histogram& commit_seconds;
  prometheus::Histogram& load_seconds;
  prometheus::Counter& database_reconnects;
  prometheus::Gauge& database_up;
  prometheus::Counter& database_restarts; ///< of the embedded server, by us

  /// Everything in Prometheus' text format.
  [[nodiscard]] std::string render() const;
};

} // namespace cleat
