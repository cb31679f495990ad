#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <unordered_map>

#include "base/time.hpp"

namespace cleat::http {

/// A bucket of tokens, seen from its rim: how many a full one has more, and when that was so.
struct Bucket {
  double missing = 0;
  Timestamp at;

  /// How many are missing at `now`, when so many a second are added. A clock that was set back adds nothing and takes
  /// nothing away.
  [[nodiscard]] double missing_at(Timestamp now, double per_s) const {
    const auto elapsed = std::max(now - at, Timestamp::duration(0));
    return std::max(missing - std::chrono::duration<double>(elapsed).count() * per_s, 0.0);
  }
};

/// Buckets of tokens by key, `count` of them for each, every one with a speed of its own. Forgets keys whose buckets
/// are full, which is the same as knowing them, and knows a bounded number. Thread safe.
template <class Key, std::size_t count>
class Buckets {
public:
  /// `per_s` tokens a second are added. About `max_keys` keys are remembered.
  Buckets(const std::array<double, count>& per_s, std::size_t max_keys)
    : per_s_(per_s), max_per_shard_(std::max<std::size_t>(max_keys / shards, 1)) {}

  /// Calls `use` with how many tokens the key's bucket misses now, and keeps what it makes of that.
  template <class Use>
  void change(const Key& key, std::size_t index, Timestamp now, const Use& use) {
    auto& shard = shard_of(key);
    const std::lock_guard lock(shard.mutex);
    if (shard.keys.size() >= max_per_shard_ && !shard.keys.contains(key))
      make_room(shard, now);
    auto& bucket = shard.keys[key].at(index);
    bucket = {bucket.missing_at(now, per_s_.at(index)), now};
    use(bucket.missing);
  }

  /// How many tokens the key's bucket misses now. Remembers nothing.
  [[nodiscard]] double missing(const Key& key, std::size_t index, Timestamp now) const {
    const auto& shard = shard_of(key);
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.keys.find(key);
    return found == shard.keys.end() ? 0 : found->second.at(index).missing_at(now, per_s_.at(index));
  }

  /// How many keys are remembered.
  [[nodiscard]] std::size_t size() const {
    std::size_t sum = 0;
    for (const auto& shard : shards_) {
      const std::lock_guard lock(shard.mutex);
      sum += shard.keys.size();
    }
    return sum;
  }

private:
  static constexpr std::size_t shards = 16;

  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<Key, std::array<Bucket, count>> keys;
  };

  Shard& shard_of(const Key& key) { return shards_.at(std::hash<Key>()(key) % shards); }
  const Shard& shard_of(const Key& key) const { return shards_.at(std::hash<Key>()(key) % shards); }

  void make_room(Shard& shard, Timestamp now) const {
    std::erase_if(shard.keys, [&](const auto& entry) {
      for (std::size_t index = 0; index < count; ++index)
        if (entry.second.at(index).missing_at(now, per_s_.at(index)) > 0)
          return false;
      return true;
    });
    // Whoever is forgotten has a full bucket the next time: the price of a bound.
    if (shard.keys.size() >= max_per_shard_)
      shard.keys.erase(shard.keys.begin());
  }

  const std::array<double, count> per_s_;
  const std::size_t max_per_shard_;
  std::array<Shard, shards> shards_;
};

} // namespace cleat::http
