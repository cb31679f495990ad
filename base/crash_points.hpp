#pragma once

#include <cstdint>

namespace cleat {

/// The places between the steps of everything durable at which the server of the tests can be told to die (see
/// apps/cleatd/crash_points.cpp, which knows their names).
enum class CrashPoint : std::uint8_t {
  // An answer, on its way to a client.
  answer_made,
  answer_written,
  // What an owner of a thread, the directory, an owner of a container and the hub decide.
  thread_decided,
  thread_committed,
  directory_decided,
  directory_committed,
  container_decided,
  container_committed,
  container_answered,
  container_told,
  report_received,
  resume_body_made,
  input_sent_again,
  runner_decided,
  runner_committed,
  node_beaten,
  // A transaction of the writer.
  commit_prepared,
  commit_done,
  // What readers of the logs are told.
  log_advanced,
  log_read,
  // What has outlived its span.
  garbage_found,
  garbage_removed,
  // A start.
  migrations_locked,
  migration_run,
  migration_recorded,
  migration_committed,
  owner_prepared,
  owner_committed,
  file_drafted,
  file_named,
  cluster_made,
  cluster_named,
  postgres_started,
  database_made,
};

/// A place at which the server of the tests may die. In the product this does nothing, and the names of the points are
/// not in it.
void crash_point(CrashPoint point);

} // namespace cleat
