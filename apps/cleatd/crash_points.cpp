#include "base/crash_points.hpp"

#include <array>

#include "base/crashing.hpp"

namespace cleat {
namespace {

/// The name of every `CrashPoint`, in their order.
constexpr std::array<std::string_view, 34> names{
  "answer_made",         "answer_written",    "thread_decided",      "thread_committed",   "directory_decided",
  "directory_committed", "container_decided", "container_committed", "container_answered", "container_told",
  "report_received",     "resume_body_made",  "input_sent_again",    "runner_decided",     "runner_committed",
  "node_beaten",         "commit_prepared",   "commit_done",         "log_advanced",       "log_read",
  "garbage_found",       "garbage_removed",   "migrations_locked",   "migration_run",      "migration_recorded",
  "migration_committed", "owner_prepared",    "owner_committed",     "file_drafted",       "file_named",
  "cluster_made",        "cluster_named",     "postgres_started",    "database_made",
};
static_assert(names.size() == static_cast<std::size_t>(CrashPoint::database_made) + 1);

// Made before `main`, while there is one thread.
Crashing crashing("CLEAT_SERVER", names);

} // namespace

void crash_point(CrashPoint point) {
  crashing.pass(static_cast<std::size_t>(point));
}

} // namespace cleat
