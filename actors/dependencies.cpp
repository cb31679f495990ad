#include "actors/dependencies.hpp"

#include <utility>

#include "protocol/validate.hpp"

namespace cleat::actors {

std::optional<std::string> ActorOptions::validate() const {
  const std::pair<const char*, std::int64_t> positive[] = {
    {"actors.idle_s", idle_s},
    {"actors.thread_queue_max", thread_queue_max},
    {"database.tx_retry_max", tx_retry_max},
    {"database.request_timeout_s", request_timeout_s},
    {"audit.deny_aggregate_window_s", deny_aggregate_window_s},
    {"idempotency.retention_s", rules.idempotency_retention_s},
    {"runs.lease_s", rules.run_lease_s},
    {"runs.queued_timeout_s", rules.run_queued_timeout_s},
    {"runs.held_max", rules.runs_held_max},
    {"runs.watch_ms", runs_watch_ms},
    {"events.watch_ms", events_watch_ms},
  };
  for (const auto& [key, value] : positive)
    if (value < 1)
      return std::string(key) + " is " + std::to_string(value) + "; set it to 1 or more";
  // An owner that is passivated must not hold a request that somebody still waits for.
  if (idle_s < request_timeout_s)
    return "actors.idle_s is " + std::to_string(idle_s) + "; set it to database.request_timeout_s (" +
           std::to_string(request_timeout_s) + ") or more";
  if (validate::currency(rules.default_currency))
    return "agent.default_currency is '" + rules.default_currency + "'; set it to three capital letters such as EUR";
  return std::nullopt;
}

} // namespace cleat::actors
