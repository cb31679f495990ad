#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/ids.hpp"
#include "base/time.hpp"
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
  [[nodiscard]] std::size_t size() const;

private:
  static constexpr std::size_t classes = 4;
  static constexpr std::size_t shards = 16;

  struct Bucket {
    double missing = 0; ///< tokens that a full bucket has more
    Timestamp at;       ///< when that was so
  };
  using Buckets = std::array<Bucket, classes>;
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<Id, Buckets> principals;
  };

  [[nodiscard]] double missing(const Bucket& bucket, std::size_t rate, Timestamp now) const;
  void make_room(Shard& shard, Timestamp now) const;

  const std::shared_ptr<const Clock> clock_;
  const std::array<std::int64_t, classes> per_s_;
  const std::int64_t burst_s_;
  const std::size_t max_per_shard_;
  std::array<Shard, shards> shards_;
};

} // namespace cleat::http
