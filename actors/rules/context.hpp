#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/limits.hpp"
#include "base/time.hpp"
#include "protocol/commands.hpp"
#include "protocol/decision.hpp"

/// Rules are pure: (facts, command, now) -> decision or refusal (spec 02). They see neither actors nor storage.
namespace cleat::rules {

/// What rules need of the configuration.
struct RuleOptions {
  /// The currency of a cost that nobody named one for (ISO 4217).
  std::string default_currency = "EUR";
  /// `idempotency.retention_s`
  std::int64_t idempotency_retention_s = limits::idempotency_retention_s;
  /// `runs.lease_s`
  std::int64_t run_lease_s = limits::run_lease_s;
  /// `runs.queued_timeout_s`
  std::int64_t run_queued_timeout_s = limits::run_queued_timeout_s;
  /// `runs.held_max`
  std::int64_t runs_held_max = limits::runs_held_max;
  /// `audit.deny_aggregate_window_s`, for denials that are found while something else is decided.
  std::int64_t deny_aggregate_window_s = limits::deny_aggregate_window_s;
  /// `retention.deadline_s`, `retention.promoted_s`, `retention.failed_s`: how long an operation may be in flight or be
  /// retried, and how long its handle is known afterwards (spec 04 section 8).
  std::int64_t operation_deadline_s = limits::retention_deadline_s;
  std::int64_t operation_promoted_s = limits::retention_promoted_s;
  std::int64_t operation_failed_s = limits::retention_failed_s;
  /// `runner.cleanup_timeout_s`
  std::int64_t cleanup_timeout_s = limits::runner_cleanup_timeout_s;
};

/// What every rule is given: who asks, when, where ids come from, and the configuration.
struct RuleContext {
  const RequestContext& request;
  Timestamp now;
  IdSource& ids;
  const RuleOptions& options;
  /// Whether the release gate lets fresh starts and resumes pass (spec 04 section 9). Who does not say so lets none.
  bool gate_is_open = false;

  [[nodiscard]] const Principal& actor() const { return *request.actor; }
  [[nodiscard]] Id new_id() const { return ids.next(now); }
};

/// The refusal, as the error side of any result.
inline tl::unexpected<Refusal> because(Refusal refusal) {
  return tl::unexpected<Refusal>(std::move(refusal));
}

/// Sets the reply, and with an Idempotency-Key its record, so that both are committed with the effect (spec 05).
void finish(Decision& decision, Reply reply, const RuleContext& context);

/// As `finish`, for an answer that shows a secret once: `stored` is the same answer without it.
void finish_with_secret(Decision& decision, Reply reply, Reply stored, const RuleContext& context);

} // namespace cleat::rules
