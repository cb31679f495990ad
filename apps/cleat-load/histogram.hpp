#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace cleat::load {

/// How often which latency was seen. Counts stand in buckets that are at most 1.6 % wide, so a quantile is that exact
/// whatever the range, and adding one costs a few nanoseconds.
class Histogram {
public:
  using Micros = std::chrono::microseconds;

  /// A stretch of latencies, for a picture. `from` is inside, `to` is not.
  struct Bar {
    Micros from;
    Micros to;
    std::uint64_t count = 0;
  };

  void add(std::chrono::nanoseconds latency);

  /// How many latencies were added.
  [[nodiscard]] std::uint64_t count() const { return count_; }

  /// The latency that `share` (0 to 1) of all stay at or below; zero when there are none.
  [[nodiscard]] Micros quantile(double share) const;

  /// The largest latency, exactly.
  [[nodiscard]] Micros max() const { return max_; }

  /// All counts in bars of an eighth of an octave, from the first that is not empty to the last.
  [[nodiscard]] std::vector<Bar> bars() const;

private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
  Micros max_{0};
};

} // namespace cleat::load
