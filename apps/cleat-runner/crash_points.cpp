#include "apps/cleat-runner/crash_points.hpp"

#ifdef CLEAT_CRASH_POINTS
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <unistd.h>
#endif

namespace cleat::runner {

#ifdef CLEAT_CRASH_POINTS
void crash_point(const char* name) {
  static const char* const wanted = std::getenv("CLEAT_RUNNER_CRASH_AT");  // NOLINT(concurrency-mt-unsafe): one thread
  static const char* const standing = std::getenv("CLEAT_RUNNER_STOP_AT"); // NOLINT(concurrency-mt-unsafe): the same
  if (wanted != nullptr && std::string_view(wanted) == name)
    ::kill(::getpid(), SIGKILL);
  static bool stood = false;
  if (standing != nullptr && std::string_view(standing) == name && !std::exchange(stood, true))
    ::kill(::getpid(), SIGSTOP);
}
#else
void crash_point(const char* /*name*/) {}
#endif

} // namespace cleat::runner
