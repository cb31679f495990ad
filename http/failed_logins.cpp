#include "http/failed_logins.hpp"

#include <algorithm>
#include <cmath>

namespace cleat::http {
namespace {

/// Sums of fractions of a token may be this wrong.
constexpr double tolerance = 1e-6;
constexpr double minute_s = 60;

prometheus::Counter& counter(Metrics& metrics, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(metrics.registry).Add({});
}

} // namespace

FailedLogins::FailedLogins(std::shared_ptr<const Clock> clock, const AuthLimits& limits, Metrics& metrics)
  : clock_(std::move(clock)),
    limits_(limits),
    per_s_(static_cast<double>(limits.failures_per_minute) / minute_s),
    buckets_({per_s_}, limits.max_addresses),
    failed_(counter(metrics, "cleat_auth_failures_total", "Tokens that were looked up in vain.")),
    refused_(counter(metrics, "cleat_auth_refused_total",
                     "Tokens that were not looked up, because too many from their address were wrong.")) {}

bool FailedLogins::is_exhausted(ClientAddress client) const {
  return wait_s(client) > 0;
}

std::int64_t FailedLogins::wait_s(ClientAddress client) const {
  if (limits_.failures_per_minute == 0)
    return 0;
  const auto left = static_cast<double>(limits_.burst) - buckets_.missing(client, 0, clock_->now());
  if (left >= 1 - tolerance)
    return 0;
  return std::max(static_cast<std::int64_t>(std::ceil((1 - left) / per_s_ - tolerance)), std::int64_t{1});
}

void FailedLogins::count(ClientAddress client) {
  failed_.Increment();
  if (limits_.failures_per_minute == 0)
    return;
  // Look-ups that run at the same time may fail together and take more than there is. That is owed, so that many
  // connections find no more than one does; but never more than a minute pays back.
  const auto most = static_cast<double>(limits_.burst + limits_.failures_per_minute);
  buckets_.change(client, 0, clock_->now(), [most](double& missing) { missing = std::min(missing + 1, most); });
}

} // namespace cleat::http
