#include "http/rate_limiter.hpp"

#include <algorithm>
#include <cmath>

namespace cleat::http {
namespace {

/// Sums of fractions of a token may be this wrong.
constexpr double tolerance = 1e-6;

/// So many whole seconds that the time is over then.
std::int64_t whole_seconds(double seconds) {
  return static_cast<std::int64_t>(std::ceil(seconds - tolerance));
}

template <std::size_t count>
std::array<double, count> speeds(const std::array<std::int64_t, count>& per_s) {
  std::array<double, count> result{};
  std::ranges::transform(per_s, result.begin(), [](std::int64_t speed) { return static_cast<double>(speed); });
  return result;
}

} // namespace

std::string_view to_string(RateClass rate) {
  switch (rate) {
    case RateClass::read:
      return "read";
    case RateClass::trigger:
      return "trigger";
    case RateClass::agent_runtime:
      return "agent_runtime";
    case RateClass::admin:
      return "admin";
  }
  return "";
}

std::string RateLimiter::Verdict::policy() const {
  return '"' + std::string(to_string(rate)) + "\";q=" + std::to_string(quota) + ";w=" + std::to_string(window_s);
}

std::string RateLimiter::Verdict::state() const {
  return '"' + std::string(to_string(rate)) + "\";r=" + std::to_string(remaining) + ";t=" + std::to_string(reset_s);
}

RateLimiter::RateLimiter(std::shared_ptr<const Clock> clock, const RateLimits& limits)
  : clock_(std::move(clock)),
    per_s_{limits.read_per_s, limits.trigger_per_s, limits.agent_runtime_per_s, limits.admin_per_s},
    burst_s_(limits.burst_s),
    buckets_(speeds(per_s_), limits.max_principals) {}

std::optional<RateLimiter::Verdict> RateLimiter::take(const Id& principal, RateClass rate) {
  const auto index = static_cast<std::size_t>(rate);
  const auto per_s = per_s_.at(index);
  if (per_s == 0)
    return std::nullopt;
  Verdict verdict{rate, true, per_s * burst_s_, burst_s_, 0, 0};
  double left = 0;
  buckets_.change(principal, index, clock_->now(), [&](double& missing) {
    left = static_cast<double>(verdict.quota) - missing;
    verdict.granted = left >= 1 - tolerance;
    if (verdict.granted) {
      missing += 1;
      left = std::max(left - 1, 0.0);
    }
  });
  const auto speed = static_cast<double>(per_s);
  verdict.remaining = static_cast<std::int64_t>(left + tolerance);
  verdict.reset_s = whole_seconds((static_cast<double>(verdict.quota) - left) / speed);
  return verdict;
}

} // namespace cleat::http
