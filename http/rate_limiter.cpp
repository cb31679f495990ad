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
    max_per_shard_(std::max<std::size_t>(limits.max_principals / shards, 1)) {}

std::optional<RateLimiter::Verdict> RateLimiter::take(const Id& principal, RateClass rate) {
  const auto index = static_cast<std::size_t>(rate);
  const auto per_s = per_s_.at(index);
  if (per_s == 0)
    return std::nullopt;
  Verdict verdict{rate, true, per_s * burst_s_, burst_s_, 0, 0};
  const auto now = clock_->now();
  auto& shard = shards_.at(std::hash<Id>()(principal) % shards);
  double left = 0;
  {
    const std::lock_guard lock(shard.mutex);
    if (shard.principals.size() >= max_per_shard_ && !shard.principals.contains(principal))
      make_room(shard, now);
    auto& bucket = shard.principals[principal].at(index);
    bucket = {missing(bucket, index, now), now};
    left = static_cast<double>(verdict.quota) - bucket.missing;
    verdict.granted = left >= 1 - tolerance;
    if (verdict.granted) {
      bucket.missing += 1;
      left = std::max(left - 1, 0.0);
    }
  }
  const auto speed = static_cast<double>(per_s);
  verdict.remaining = static_cast<std::int64_t>(left + tolerance);
  verdict.reset_s = whole_seconds((static_cast<double>(verdict.quota) - left) / speed);
  return verdict;
}

std::size_t RateLimiter::size() const {
  std::size_t sum = 0;
  for (const auto& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    sum += shard.principals.size();
  }
  return sum;
}

double RateLimiter::missing(const Bucket& bucket, std::size_t rate, Timestamp now) const {
  // A clock that was set back adds nothing and takes nothing away.
  const auto elapsed = std::max(now - bucket.at, Timestamp::duration(0));
  const auto added = std::chrono::duration<double>(elapsed).count() * static_cast<double>(per_s_.at(rate));
  return std::max(bucket.missing - added, 0.0);
}

void RateLimiter::make_room(Shard& shard, Timestamp now) const {
  std::erase_if(shard.principals, [&](const auto& entry) {
    for (std::size_t rate = 0; rate < classes; ++rate)
      if (missing(entry.second.at(rate), rate, now) > 0)
        return false;
    return true;
  });
  // Whoever is forgotten has a full bucket the next time: the price of a bound.
  if (shard.principals.size() >= max_per_shard_)
    shard.principals.erase(shard.principals.begin());
}

} // namespace cleat::http
