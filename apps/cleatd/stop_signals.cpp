#include "apps/cleatd/stop_signals.hpp"

#include <csignal>

#include <pthread.h>
#include <unistd.h>

#include "base/log.hpp"

namespace cleat::cleatd {
namespace {

sigset_t stop_set() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

} // namespace

StopSignals::StopSignals() {
  const auto set = stop_set();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  listener_ = std::thread([this] { listen(); });
}

StopSignals::~StopSignals() {
  closing_ = true;
  pthread_kill(listener_.native_handle(), SIGTERM);
  listener_.join();
}

void StopSignals::listen() {
  const auto set = stop_set();
  for (;;) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0)
      continue;
    if (closing_)
      return;
    if (requested_.exchange(true)) {
      log::get().warn("a second signal: ending at once");
      _exit(128 + signal);
    }
    log::get().info("stopping; a second signal ends at once");
    requested_.notify_all();
  }
}

} // namespace cleat::cleatd
