#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include "apps/cleat-runner/event_loop.hpp"
#include "apps/cleat-runner/launch.hpp"

namespace cleat::runner {

/// A child process in a session and a process group of its own. It dies with the Runner. It has a clean environment and
/// no descriptors but its three streams.
struct Process {
  pid_t pid = 0;
  std::int64_t start = 0; ///< clock ticks from the machine's start
  Descriptor ended;       ///< becomes readable when the process ends
  Descriptor input;       ///< ours are non-blocking
  Descriptor output;
  Descriptor errors;
  /// Ends without a word once the program has been executed, else says what failed; see `exec_failure`.
  Descriptor execution;
};

/// Forks. Throws `LaunchError` when the machine allows no further process; whether the program could be executed is
/// told by `execution`.
Process spawn(const Launch& launch);

/// What `execution` says once it is readable: why the program was not executed, or nothing.
std::optional<std::string> exec_failure(const Descriptor& execution);

} // namespace cleat::runner
