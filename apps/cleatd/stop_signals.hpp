#pragma once

#include <atomic>
#include <thread>

namespace cleat::cleatd {

/// SIGINT and SIGTERM as a request to stop. Made before every other thread, because threads inherit that these
/// signals are blocked. The first one asks for an orderly stop, the second one ends the process at once: what was
/// acknowledged is durable, and an embedded PostgreSQL is adopted by the next start.
class StopSignals {
public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Whether a stop was asked for.
  [[nodiscard]] bool requested() const { return requested_; }

  /// Waits until a stop is asked for.
  void wait() const { requested_.wait(false); }

private:
  void listen();

  std::atomic<bool> requested_ = false;
  std::atomic<bool> closing_ = false;
  std::thread listener_;
};

} // namespace cleat::cleatd
