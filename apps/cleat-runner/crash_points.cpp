#include "apps/cleat-runner/crash_points.hpp"

#ifdef CLEAT_CRASH_POINTS
#include <array>

#include "base/crashing.hpp"
#endif

namespace cleat::runner {

#ifdef CLEAT_CRASH_POINTS
namespace {

/// The name of every `CrashPoint`, in their order.
constexpr std::array<std::string_view, 18> names{
  "before_journal",      "after_journal_accepted", "after_body",    "before_exec",
  "after_exec",          "after_journal_started",  "before_result", "after_relay_journal",
  "after_relay_done",    "after_journal_input",    "after_input",   "before_end",
  "after_journal_ended", "after_status",           "after_attempt", "after_enrolment",
  "before_recovery",     "after_recovery",
};
static_assert(names.size() == static_cast<std::size_t>(CrashPoint::after_recovery) + 1);

// Made before `main`.
Crashing crashing("CLEAT_RUNNER", names);

} // namespace

void crash_point(CrashPoint point) {
  crashing.pass(static_cast<std::size_t>(point));
}
#else
void crash_point(CrashPoint /*point*/) {}
#endif

} // namespace cleat::runner
