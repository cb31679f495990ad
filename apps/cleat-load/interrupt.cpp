#include "apps/cleat-load/interrupt.hpp"

#include <csignal>
#include <stdexcept>

namespace cleat::load {
namespace {

volatile std::sig_atomic_t interrupted = 0;

} // namespace

void remember_interrupts() {
  struct sigaction action {};
  // Without SA_RESTART, so that whoever waits for the kernel wakes up and looks.
  action.sa_handler = [](int) { interrupted = 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void throw_if_interrupted() {
  if (interrupted != 0)
    throw std::runtime_error("The run was interrupted.");
}

} // namespace cleat::load
