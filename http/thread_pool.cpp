#include "http/thread_pool.hpp"

#include <iterator>
#include <system_error>

#include "base/log.hpp"

namespace cleat::http {

void ThreadPool::run(std::function<void()> job) {
  if (!hand_over(job))
    job();
}

bool ThreadPool::hand_over(std::function<void()>& job) {
  const std::lock_guard lock(mutex_);
  reap();
  if (jobs_.size() < waiting_) {
    jobs_.push_back(std::move(job));
    wake_.notify_one();
    return true;
  }
  if (workers_.size() >= max_threads_)
    return false;
  auto& worker = workers_.emplace_back();
  try {
    worker.thread = std::thread(&ThreadPool::work, this, std::ref(worker));
  } catch (const std::system_error& error) {
    workers_.pop_back();
    log::get().warn("no thread for a connection: {}", error.what());
    return false;
  }
  ++waiting_;
  jobs_.push_back(std::move(job));
  return true;
}

void ThreadPool::work(Worker& self) {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait_for(lock, idle_, [this] { return !jobs_.empty() || stopping_; });
    --waiting_;
    if (jobs_.empty())
      break;
    {
      const auto job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
    }
    lock.lock();
    ++waiting_;
  }
  self.finished = true;
}

void ThreadPool::reap() {
  for (auto worker = workers_.begin(); worker != workers_.end();) {
    const auto next = std::next(worker);
    if (worker->finished) {
      worker->thread.join();
      workers_.erase(worker);
    }
    worker = next;
  }
}

void ThreadPool::stop() {
  std::list<Worker> left;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
    left.swap(workers_);
  }
  for (auto& worker : left)
    worker.thread.join();
}

std::size_t ThreadPool::size() const {
  const std::lock_guard lock(mutex_);
  return workers_.size();
}

} // namespace cleat::http
