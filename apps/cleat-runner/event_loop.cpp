#include "apps/cleat-runner/event_loop.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <system_error>

#include <sys/epoll.h>
#include <unistd.h>

namespace cleat::runner {
namespace {

constexpr int events_a_round = 256;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

} // namespace

void Descriptor::reset() {
  if (number_ >= 0)
    ::close(number_);
  number_ = -1;
}

EventLoop::EventLoop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_)
    fail("epoll_create1");
}

void EventLoop::watch(int descriptor, std::uint32_t events, Handler handler) {
  const auto number = ++last_number_;
  epoll_event event{};
  event.events = events;
  event.data.u64 = number;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0)
    fail("epoll_ctl");
  numbers_[descriptor] = number;
  watches_[number] = std::make_shared<Watch>(Watch{descriptor, std::move(handler)});
}

void EventLoop::change(int descriptor, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = numbers_.at(descriptor);
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, descriptor, &event) != 0)
    fail("epoll_ctl");
}

void EventLoop::unwatch(int descriptor) {
  const auto found = numbers_.find(descriptor);
  if (found == numbers_.end())
    return;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
  watches_.erase(found->second);
  numbers_.erase(found);
}

EventLoop::TimerId EventLoop::after(Duration delay, std::function<void()> action) {
  const auto due = std::chrono::steady_clock::now() + delay;
  const auto timer = ++last_timer_;
  timers_.emplace(std::pair{due, timer}, std::move(action));
  due_.emplace(timer, due);
  return timer;
}

void EventLoop::cancel(TimerId timer) {
  const auto found = due_.find(timer);
  if (found == due_.end())
    return;
  timers_.erase({found->second, timer});
  due_.erase(found);
}

int EventLoop::patience() const {
  if (timers_.empty())
    return -1;
  const auto rest = timers_.begin()->first.first - std::chrono::steady_clock::now();
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(rest).count();
  return static_cast<int>(std::clamp<std::int64_t>(ms, 0, std::numeric_limits<int>::max()));
}

void EventLoop::run_timers() {
  const auto now = std::chrono::steady_clock::now();
  while (running_ && !timers_.empty() && timers_.begin()->first.first <= now) {
    auto node = timers_.extract(timers_.begin());
    due_.erase(node.key().second);
    node.mapped()();
  }
}

int EventLoop::run(const std::function<void()>& settle) {
  running_ = true;
  std::array<epoll_event, events_a_round> events{};
  settle();
  while (running_) {
    const int count = ::epoll_wait(epoll_.get(), events.data(), events_a_round, patience());
    if (count < 0 && errno != EINTR)
      fail("epoll_wait");
    for (int i = 0; i < count && running_; ++i) {
      const auto found = watches_.find(events.at(static_cast<std::size_t>(i)).data.u64);
      if (found == watches_.end())
        continue;
      const auto watch = found->second; // the handler may take its watch back
      watch->handler(events.at(static_cast<std::size_t>(i)).events);
    }
    run_timers();
    settle();
  }
  return result_;
}

void EventLoop::stop(int result) {
  running_ = false;
  result_ = result;
}

} // namespace cleat::runner
