#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

namespace cleat::runner {

/// A file descriptor that closes itself.
class Descriptor {
public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }

  [[nodiscard]] int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  void reset();

private:
  int number_ = -1;
};

/// One thread's loop over descriptors and timers. Handlers run one after the other; after each round of them `settle`
/// runs, in which what they did is made durable and sent.
class EventLoop {
public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::milliseconds;
  /// Takes epoll's events.
  using Handler = std::function<void(std::uint32_t)>;
  using TimerId = std::uint64_t;

  EventLoop();

  /// Calls `handler` when the descriptor is ready for `events` (EPOLLIN, EPOLLOUT; level triggered).
  void watch(int descriptor, std::uint32_t events, Handler handler);
  void change(int descriptor, std::uint32_t events);
  void unwatch(int descriptor);

  TimerId after(Duration delay, std::function<void()> action);
  /// Takes a timer back; 0 and those that have gone off are no matter.
  void cancel(TimerId timer);

  /// Runs until `stop`; answers what `stop` was given.
  int run(const std::function<void()>& settle);
  void stop(int result);

private:
  struct Watch {
    int descriptor;
    Handler handler;
  };

  [[nodiscard]] int patience() const;
  void run_timers();

  Descriptor epoll_;
  /// By a number that is never used again, so that an event of a descriptor that was closed in the same round and
  /// opened anew meets nobody.
  std::unordered_map<std::uint64_t, std::shared_ptr<Watch>> watches_;
  std::unordered_map<int, std::uint64_t> numbers_;
  std::uint64_t last_number_ = 0;
  std::map<std::pair<TimePoint, TimerId>, std::function<void()>> timers_;
  std::unordered_map<TimerId, TimePoint> due_;
  TimerId last_timer_ = 0;
  bool running_ = false;
  int result_ = 0;
};

} // namespace cleat::runner
