#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <string>

#include "base/metrics.hpp"

namespace cleat::http {

/// Counts the answers of one operation. A counter is looked up once per status and then remembered, because looking it
/// up costs more than the counting. Thread safe.
class Meter {
public:
  Meter(Metrics& metrics, std::string operation);

  /// One more answer with this status, after this time.
  void count(int status, std::chrono::steady_clock::duration time);

private:
  static constexpr int first_status = 100;
  static constexpr int statuses = 500;

  Metrics& metrics_;
  const std::string operation_;
  prometheus::Histogram& seconds_;
  std::array<std::atomic<prometheus::Counter*>, statuses> by_status_{};
};

} // namespace cleat::http
