#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace cleat::http {

/// One thread a job, made on demand and kept for the next one for a while. A job beyond the limit is run by the
/// caller: nothing is ever queued behind a busy thread (spec 02, invariant 7).
class ThreadPool {
public:
  /// At most `max_threads` at once; one that had nothing to do for `idle` ends.
  ThreadPool(std::size_t max_threads, std::chrono::milliseconds idle) : max_threads_(max_threads), idle_(idle) {}

  ~ThreadPool() { stop(); }

  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Runs `job` on a thread of its own or, when there is none left, here and now.
  void run(std::function<void()> job);

  /// Waits for every job and ends every thread. Nothing may be run afterwards.
  void stop();

  /// How many threads there are.
  [[nodiscard]] std::size_t size() const;

private:
  struct Worker {
    std::thread thread;
    bool finished = false;
  };

  /// Hands `job` to an idle or a new thread; leaves it alone and returns false when the limit is reached.
  bool hand_over(std::function<void()>& job);
  void work(Worker& self);
  /// Joins the threads that have ended.
  void reap();

  const std::size_t max_threads_;
  const std::chrono::milliseconds idle_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  std::list<Worker> workers_;
  /// Threads that wait for a job or are about to.
  std::size_t waiting_ = 0;
  bool stopping_ = false;
};

} // namespace cleat::http
