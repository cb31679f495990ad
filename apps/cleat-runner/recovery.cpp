#include "apps/cleat-runner/recovery.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include "apps/cleat-runner/crash_points.hpp"
#include "apps/cleat-runner/dispatch.hpp"
#include "apps/cleat-runner/process_table.hpp"
#include "base/limits.hpp"
#include "base/log.hpp"

extern "C" { // glibc 2.36 forgot to say so in its header
#include <sys/pidfd.h>
}

namespace cleat::runner {
namespace {

/// Agents die with their Runner, by SIGKILL.
constexpr std::int64_t killed = 128 + SIGKILL;

/// Whether the process is one of an operation's agent: the one that the journal knows, one of its session, or one
/// that was given this session and this state folder. A number alone proves nothing, because numbers are used again.
bool belongs(const ProcessInfo& info, const OperationRow& row, const StateFolder& state) {
  if (row.pid != 0 && info.pid == row.pid)
    return info.start == row.process_start;
  const auto session_id = environment_of(info.pid, "CLEAT_SESSION_ID");
  const auto secrets = environment_of(info.pid, "CLEAT_SECRETS");
  return session_id == row.session_id && secrets && secrets->starts_with(state.path() + "/");
}

std::vector<ProcessInfo> leftovers(const std::vector<OperationRow>& rows, const StateFolder& state) {
  std::vector<ProcessInfo> found;
  for (const auto& info : all_processes())
    for (const auto& row : rows)
      if (row.kind != RowKind::stop && info.pid != ::getpid() && belongs(info, row, state)) {
        found.push_back(info);
        break;
      }
  return found;
}

/// Kills a process and waits until it is gone.
void end_process(const ProcessInfo& info) {
  const Descriptor process(::pidfd_open(info.pid, 0));
  if (!process && errno == ESRCH)
    return;
  const auto still = process_info(info.pid);
  if (!still || still->start != info.start)
    return; // the number is somebody else's by now
  // All of the agent's process group, when this is its first process.
  ::kill(info.group == info.pid ? -info.pid : info.pid, SIGKILL);
  pollfd ended{process.get(), POLLIN, 0};
  if (::poll(&ended, 1, static_cast<int>(limits::runner_kill_timeout_s * 1000)) != 1)
    throw std::runtime_error("a process of an agent (" + std::to_string(info.pid) +
                             ") was left by a crash and cannot be ended. End it and start the Runner again.");
}

void write_down(Journal& journal, Relays& relays, OperationRow row, Timestamp now) {
  if (row.kind == RowKind::stop) {
    row.state = RowState::stopped; // what it was to end is gone
  } else if (row.state == RowState::started) {
    relays.ended_by_crash(row, killed, now);
    row.state = RowState::exited;
    row.exit_code = killed;
    row.said_through = relays.said_through(row.key);
  } else {
    row.state = RowState::failed;
    row.failure = failed(true, failure::runner_restarted, "the Runner ended before the agent had started");
  }
  journal.put(row, std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count());
}

} // namespace

void end_leftovers(Journal& journal, Relays& relays, const StateFolder& state, Timestamp now) {
  const auto rows = journal.unfinished();
  if (rows.empty())
    return;
  log::get().warn("{} operations had not ended when the Runner did; what is left of them is ended", rows.size());
  // A process that is about to die may still make another.
  for (auto found = leftovers(rows, state); !found.empty(); found = leftovers(rows, state))
    for (const auto& info : found)
      end_process(info);
  crash_point(CrashPoint::before_recovery);
  for (const auto& row : rows)
    write_down(journal, relays, row, now);
  journal.commit();
  crash_point(CrashPoint::after_recovery);
}

} // namespace cleat::runner
