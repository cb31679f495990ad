/// Runs and messages in the memory twin: what is decided on, and what lists show.
#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include "storage/memory_tables.hpp"

namespace cleat::storage {

RunLocated MemoryTables::find(const LocateRun& question) const {
  const std::lock_guard lock(mutex_);
  if (unavailable_)
    return {ReadStatus::unavailable, std::nullopt, std::nullopt};
  const auto found = runs_.find(question.run_id);
  if (found == runs_.end())
    return {};
  return {ReadStatus::ok, found->second.thread_id, found->second.agent_id};
}

OverdueRuns MemoryTables::find(const FindOverdueRuns& question) const {
  const std::lock_guard lock(mutex_);
  if (unavailable_)
    return {ReadStatus::unavailable, {}};
  std::vector<std::pair<Timestamp, Id>> overdue;
  for (const auto& [id, run] : runs_) {
    const auto moment = due(run, question.queued_timeout_s);
    if (moment && *moment <= clock_->now())
      overdue.emplace_back(*moment, id);
  }
  std::ranges::sort(overdue);
  OverdueRuns answer;
  for (const auto& [moment, id] : overdue)
    if (std::ssize(answer.runs) < question.limit)
      answer.runs.push_back({id, runs_.at(id).thread_id, principals_.at(runs_.at(id).agent_id)});
  return answer;
}

/// When the server may fail a run by itself.
std::optional<Timestamp> MemoryTables::due(const Run& run, std::int64_t queued_timeout_s) const {
  if (run.state == RunState::queued)
    return *run.queued_at + std::chrono::seconds{queued_timeout_s};
  return run.lease_expires_at;
}

std::optional<Run> MemoryTables::active_run(const Id& thread_id) const {
  for (const auto& [id, run] : runs_)
    if (run.thread_id == thread_id && run.is_active())
      return run;
  return std::nullopt;
}

RunFacts MemoryTables::run_facts(const ThreadFacts& facts) const {
  RunFacts answer;
  answer.now = clock_->now();
  answer.turn = turn_of(facts.thread.id);
  answer.active = active_run(facts.thread.id);
  if (answer.active && answer.active->agent_session_id)
    answer.active_session = sessions_.at(*answer.active->agent_session_id);
  for (const auto& [id, run] : runs_) {
    if (run.thread_id == facts.thread.id && run.state == RunState::held)
      answer.held.push_back(held_run(facts, run));
    if (facts.current && run.agent_session_id == facts.current->id)
      answer.current_used = true;
  }
  // Ids of one millisecond are in no order.
  std::ranges::stable_sort(answer.held, {}, [](const HeldRun& held) { return held.run.created_at; });
  answer.import_row = import_row(facts);
  if (const auto& row = answer.import_row)
    answer.import_reference_current = current_of_reference(row->agent_id, row->external_session_ref).has_value();
  return answer;
}

HeldRun MemoryTables::held_run(const ThreadFacts& facts, const Run& run) const {
  const auto level = [&](const Id& principal) { return level_of(principal, facts.space, facts.channel, facts.thread); };
  return {run,
          principals_.at(run.triggered_by),
          level(run.triggered_by),
          principals_.at(run.agent_id),
          level(run.agent_id),
          messages_.at(run.message_id)};
}

std::optional<AgentSession> MemoryTables::import_row(const ThreadFacts& facts) const {
  const auto rows = newest_first(facts.thread.id);
  const bool only_imports =
    std::ranges::all_of(rows, [](const AgentSession& row) { return row.end_reason == EndReason::import; });
  const auto newest = std::ranges::find_if(
    rows, [&](const AgentSession& row) { return facts.operator_agent && row.agent_id == facts.operator_agent->id; });
  return only_imports && newest != rows.end() ? std::optional(*newest) : std::nullopt;
}

std::optional<AgentSession> MemoryTables::ended_here(const Id& thread_id, const Id& agent_id,
                                                     const std::string& reference) const {
  const auto moment = [](const AgentSession& row) { return std::tie(*row.ended_at, row.id); };
  std::optional<AgentSession> last;
  for (const auto& [id, row] : sessions_)
    if (row.thread_id == thread_id && row.agent_id == agent_id && row.external_session_ref == reference &&
        row.ended_at && row.end_reason != EndReason::import && (!last || moment(*last) < moment(row)))
      last = row;
  return last;
}

std::vector<Run> MemoryTables::runs_of(const Id& thread_id) const {
  const std::lock_guard lock(mutex_);
  std::vector<Run> rows;
  for (const auto& [id, run] : runs_)
    if (run.thread_id == thread_id)
      rows.push_back(run);
  return rows;
}

std::vector<Message> MemoryTables::messages_of(const Id& thread_id) const {
  const std::lock_guard lock(mutex_);
  std::vector<Message> rows;
  for (const auto& [id, message] : messages_)
    if (message.thread_id == thread_id)
      rows.push_back(message);
  return rows;
}

} // namespace cleat::storage
