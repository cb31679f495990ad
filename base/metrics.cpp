#include "base/metrics.hpp"

#include <prometheus/text_serializer.h>

namespace cleat {
namespace {

template <class Builder>
auto& family(Builder builder, prometheus::Registry& registry, const char* name, const char* help) {
  return builder.Name(name).Help(help).Register(registry);
}

prometheus::Counter& counter(prometheus::Registry& registry, const char* name, const char* help) {
  return family(prometheus::BuildCounter(), registry, name, help).Add({});
}

prometheus::Gauge& gauge(prometheus::Registry& registry, const char* name, const char* help) {
  return family(prometheus::BuildGauge(), registry, name, help).Add({});
}

/// Seconds from a tenth of a millisecond to ten seconds.
prometheus::Histogram::BucketBoundaries seconds() {
  return {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
}

prometheus::Histogram& histogram(prometheus::Registry& registry, const char* name, const char* help,
                                 const prometheus::Histogram::BucketBoundaries& bounds) {
  return family(prometheus::BuildHistogram(), registry, name, help).Add({}, bounds);
}

} // namespace

Metrics::Metrics()
  : http_requests(family(prometheus::BuildCounter(), registry, "cleat_http_requests_total", "Answered requests.")),
    http_seconds(family(prometheus::BuildHistogram(), registry, "cleat_http_request_seconds",
                        "Time from the parsed request to the rendered answer.")),
    http_connections(gauge(registry, "cleat_http_connections", "Open connections.")),
    threads_active(gauge(registry, "cleat_thread_owners", "Thread owners in memory.")),
    containers_active(gauge(registry, "cleat_container_owners", "Container owners in memory.")),
    owner_crashes(counter(registry, "cleat_owner_crashes_total", "Owners that died of an exception.")),
    decisions(family(prometheus::BuildCounter(), registry, "cleat_decisions_total", "Decisions by commit outcome.")),
    revalidations(counter(registry, "cleat_revalidations_total", "Loads made so that a refusal is true.")),
    denials(counter(registry, "cleat_denials_total", "Denied actions, all of them in the audit log.")),
    orphans_open(gauge(registry, "cleat_orphans_open", "Unresolved orphan diagnostics; alert on anything above 0.")),
    operations_in_flight(gauge(registry, "cleat_operations_in_flight", "Starts, resumes and stops under way.")),
    runners_connected(gauge(registry, "cleat_runners_connected", "Runners connected to any server.")),
    release_gate_open(gauge(registry, "cleat_release_gate_open",
                            "Whether fresh starts may pass: 1, or 0; alert on 0, no agent can be started then.")),
    commit_batches(counter(registry, "cleat_commit_batches_total", "Transactions of the writer.")),
    commit_batch_size(
      histogram(registry, "cleat_commit_batch_size", "Decisions a transaction.", {1, 2, 4, 8, 16, 32, 64, 128, 256})),
    commit_seconds(histogram(registry, "cleat_commit_seconds", "Time of a transaction of the writer.", seconds())),
    load_seconds(histogram(registry, "cleat_load_seconds", "Time of a batch of the loader.", seconds())),
    database_reconnects(counter(registry, "cleat_database_reconnects_total", "Connections made anew.")),
    database_up(gauge(registry, "cleat_database_up", "1 when the last use of the database worked.")),
    database_restarts(
      counter(registry, "cleat_embedded_postgres_restarts_total", "Restarts of the private PostgreSQL.")) {}

std::string Metrics::render() const {
  return prometheus::TextSerializer().Serialize(registry.Collect());
}

} // namespace cleat
