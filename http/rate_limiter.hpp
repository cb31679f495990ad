#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "http/buckets.hpp"
#include "http/options.hpp"

namespace cleat::http {

/// Which budget of its principal a request draws on (spec 05).
enum class RateClass { read, trigger, agent_runtime, admin };

/// The class's name in the `RateLimit` fields.
std::string_view to_string(RateClass rate);

/// A bucket of tokens for each principal and class: every request takes one, so many a second are added, and
/// `rate.burst_s` seconds' worth fit in. Forgets principals whose buckets are full, which is the same as knowing them.
/// Thread safe.
class RateLimiter {
public:
  /// What a request is told about its budget.
  struct Verdict {
    RateClass rate{};
    bool granted = true;
    std::int64_t quota = 0;     ///< tokens of a full bucket
    std::int64_t window_s = 0;  ///< in which an empty bucket fills
    std::int64_t remaining = 0; ///< whole tokens left
    std::int64_t reset_s = 0;   ///< until the bucket is full again

    /// The fields `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers (structured fields).
    [[nodiscard]] std::string policy() const;
    [[nodiscard]] std::string state() const;

    bool operator==(const Verdict&) const = default;
  };

  RateLimiter(std::shared_ptr<const Clock> clock, const RateLimits& limits);

  /// Takes a token of the principal's bucket for this class. Nothing when the class has no limit. Who is not granted
  /// one finds one within a second, because rates are whole tokens a second.
  std::optional<Verdict> take(const Id& principal, RateClass rate);

  /// How many principals are remembered.
  [[nodiscard]] std::size_t size() const { return buckets_.size(); }

private:
  static constexpr std::size_t classes = 4;

  const std::shared_ptr<const Clock> clock_;
  const std::array<std::int64_t, classes> per_s_;
  const std::int64_t burst_s_;
  Buckets<Id, classes> buckets_;
};

} // namespace cleat::http
