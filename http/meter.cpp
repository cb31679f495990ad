#include "http/meter.hpp"

#include <algorithm>
#include <utility>

namespace cleat::http {
namespace {

/// Seconds from a tenth of a millisecond to ten seconds.
const prometheus::Histogram::BucketBoundaries boundaries{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                         0.05,   0.1,     0.25,   0.5,   1,      2.5,   5,    10};

} // namespace

Meter::Meter(Metrics& metrics, std::string operation)
  : metrics_(metrics),
    operation_(std::move(operation)),
    seconds_(metrics.http_seconds.Add({{"operation", operation_}}, boundaries)) {}

void Meter::count(int status, std::chrono::steady_clock::duration time) {
  auto& remembered = by_status_.at(static_cast<std::size_t>(std::clamp(status - first_status, 0, statuses - 1)));
  auto* counter = remembered.load(std::memory_order_acquire);
  if (counter == nullptr) {
    counter = &metrics_.http_requests.Add({{"operation", operation_}, {"status", std::to_string(status)}});
    remembered.store(counter, std::memory_order_release);
  }
  counter->Increment();
  seconds_.Observe(std::chrono::duration<double>(time).count());
}

} // namespace cleat::http
