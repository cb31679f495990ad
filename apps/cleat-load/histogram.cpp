#include "apps/cleat-load/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace cleat::load {
namespace {

/// Buckets of one octave; below this many microseconds a bucket is one microsecond.
constexpr std::uint64_t steps = 64;
constexpr int step_bits = 6;
static_assert(steps == 1U << step_bits);
constexpr std::size_t buckets_of_a_bar = steps / 8;

std::size_t bucket_of(std::uint64_t micros) {
  if (micros < steps)
    return micros;
  const int shift = static_cast<int>(std::bit_width(micros)) - step_bits - 1;
  return static_cast<std::size_t>(shift) * steps + (micros >> shift);
}

/// The least latency of a bucket, in microseconds.
std::uint64_t start_of(std::size_t bucket) {
  if (bucket < steps)
    return bucket;
  const std::size_t shift = bucket / steps - 1;
  return (bucket - shift * steps) << shift;
}

Histogram::Micros micros(std::uint64_t value) {
  return Histogram::Micros(static_cast<std::int64_t>(value));
}

} // namespace

void Histogram::add(std::chrono::nanoseconds latency) {
  const auto exact = std::chrono::duration_cast<Micros>(std::max(latency, std::chrono::nanoseconds{0}));
  const std::size_t bucket = bucket_of(static_cast<std::uint64_t>(exact.count()));
  if (bucket >= buckets_.size())
    buckets_.resize(bucket + 1);
  ++buckets_[bucket];
  ++count_;
  max_ = std::max(max_, exact);
}

Histogram::Micros Histogram::quantile(double share) const {
  const auto rank = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen > 0 && seen >= rank)
      return std::min(micros(start_of(bucket + 1) - 1), max_);
  }
  return Micros{0};
}

std::vector<Histogram::Bar> Histogram::bars() const {
  std::vector<Bar> bars;
  for (std::size_t first = 0; first < buckets_.size(); first += buckets_of_a_bar) {
    Bar bar{micros(start_of(first)), micros(start_of(first + buckets_of_a_bar))};
    const std::size_t end = std::min(first + buckets_of_a_bar, buckets_.size());
    for (std::size_t bucket = first; bucket < end; ++bucket)
      bar.count += buckets_[bucket];
    if (bar.count > 0 || !bars.empty())
      bars.push_back(bar);
  }
  return bars;
}

} // namespace cleat::load
