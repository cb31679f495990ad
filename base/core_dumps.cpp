#include "base/core_dumps.hpp"

#include <cerrno>
#include <system_error>

#include <sys/prctl.h>

namespace cleat {
namespace {

void check(int result, const char* what) {
  if (result != 0)
    throw std::system_error(errno, std::generic_category(), what);
}

} // namespace

rlimit forbid_core_dumps() {
  rlimit before{};
  check(getrlimit(RLIMIT_CORE, &before), "the limit of core dumps cannot be read");
  rlimit none = before;
  none.rlim_cur = 0;
  check(setrlimit(RLIMIT_CORE, &none), "the limit of core dumps cannot be set");
  // The limit alone would not do: the kernel does not apply it where dumps go into a pipe.
  check(prctl(PR_SET_DUMPABLE, 0), "core dumps cannot be switched off");
  return before;
}

void allow_core_dumps(const rlimit& limit_before) {
  check(setrlimit(RLIMIT_CORE, &limit_before), "the limit of core dumps cannot be set");
  check(prctl(PR_SET_DUMPABLE, 1), "core dumps cannot be switched on");
}

} // namespace cleat
