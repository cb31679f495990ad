#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace cleat::cleatd {

/// Signals as requests to the process. Made before every other thread, because threads inherit that these signals are
/// blocked. The first SIGINT or SIGTERM asks for an orderly stop, the second one ends the process at once: what was
/// acknowledged is durable, and an embedded PostgreSQL is adopted by the next start. SIGHUP asks to read again what is
/// read from files: certificates and release manifests.
class Signals {
public:
  /// What somebody wants.
  enum class Request { stop, reload };

  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// Whether a stop was asked for.
  [[nodiscard]] bool stop_requested() const { return stop_requested_; }

  /// Waits for the next request. A stop comes before a reload, and stays; reloads that came together are one.
  Request wait();

private:
  void listen();

  std::atomic<bool> stop_requested_ = false;
  std::atomic<bool> closing_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool reload_requested_ = false;
  std::thread listener_;
};

} // namespace cleat::cleatd
