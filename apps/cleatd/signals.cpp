#include "apps/cleatd/signals.hpp"

#include <csignal>
#include <utility>

#include <pthread.h>
#include <unistd.h>

#include "base/log.hpp"

namespace cleat::cleatd {
namespace {

sigset_t listened_to() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  return set;
}

} // namespace

Signals::Signals() {
  const auto set = listened_to();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  listener_ = std::thread([this] { listen(); });
}

Signals::~Signals() {
  closing_ = true;
  pthread_kill(listener_.native_handle(), SIGTERM);
  listener_.join();
}

Signals::Request Signals::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stop_requested_ || reload_requested_; });
  if (stop_requested_)
    return Request::stop;
  reload_requested_ = false;
  return Request::reload;
}

void Signals::listen() {
  const auto set = listened_to();
  for (;;) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0)
      continue;
    if (closing_)
      return;
    const std::lock_guard lock(mutex_);
    if (signal == SIGHUP) {
      reload_requested_ = true;
    } else if (stop_requested_.exchange(true)) {
      log::get().warn("a second signal: ending at once");
      _exit(128 + signal);
    } else {
      log::get().info("stopping; a second signal ends at once");
    }
    changed_.notify_all();
  }
}

} // namespace cleat::cleatd
