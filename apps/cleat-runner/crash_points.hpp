#pragma once

#include <cstdint>

namespace cleat::runner {

/// The places between the steps of everything durable at which the Runner of the tests can be told to die (see
/// crash_points.cpp, which knows their names).
enum class CrashPoint : std::uint8_t {
  // A start, and what it shares with a stop.
  before_journal,
  after_journal_accepted,
  after_body,
  before_exec,
  after_exec,
  after_journal_started,
  before_result,
  // What an agent says and is told.
  after_relay_journal,
  after_relay_done,
  after_journal_input,
  after_input,
  // The end of an agent.
  before_end,
  after_journal_ended,
  // A status, an attempt, an enrolment, and what a crash has left.
  after_status,
  after_attempt,
  after_enrolment,
  before_recovery,
  after_recovery,
};

/// A place at which the Runner of the tests kills itself when CLEAT_RUNNER_CRASH_AT names it, or stands still there
/// once until SIGCONT when CLEAT_RUNNER_STOP_AT does. In the product this does nothing, and the names of the points are
/// not in it.
void crash_point(CrashPoint point);

} // namespace cleat::runner
