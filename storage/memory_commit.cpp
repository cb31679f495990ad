/// How the memory twin commits: what PostgreSQL's statements write, and what its guards, unique indexes, foreign keys
/// and checks refuse.
#include <algorithm>
#include <array>
#include <chrono>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/limits.hpp"
#include "storage/memory_change.hpp"
#include "storage/memory_tables.hpp"

namespace cleat::storage {

namespace {

/// The CHECK constraints of `agent_sessions`.
bool session_is_sound(const AgentSession& row) {
  const auto is_capital = [](char letter) { return letter >= 'A' && letter <= 'Z'; };
  const auto bytes = std::ssize(row.external_session_ref);
  return row.ended_at.has_value() == row.end_reason.has_value() && row.cost_baseline_micros >= 0 && row.version >= 1 &&
         bytes >= 1 && bytes <= limits::session_ref_ceiling_bytes && row.currency.size() == 3 &&
         std::ranges::all_of(row.currency, is_capital);
}

/// The CHECK constraints of `runs`.
bool run_is_sound(const Run& row) {
  const bool is_leased = row.state == RunState::running || row.state == RunState::waiting_input;
  const bool is_final =
    row.state == RunState::succeeded || row.state == RunState::failed || row.state == RunState::cancelled;
  const bool ended_early = row.state == RunState::failed || row.state == RunState::cancelled;
  const bool was_queued = row.state != RunState::held;
  return (ended_early || row.queued_at.has_value() == was_queued) && row.lease_expires_at.has_value() == is_leased &&
         row.failure.has_value() == (row.state == RunState::failed) && row.finished_at.has_value() == is_final &&
         row.version >= 1;
}

/// The CHECK constraints of `messages`.
bool message_is_sound(const Message& row) {
  if (row.kind == MessageKind::system)
    return row.origin == MessageOrigin::system && row.content_md.empty() && row.system_code.has_value();
  return row.origin != MessageOrigin::system && !row.system_code;
}

template <class Table>
std::int64_t next_seq(const Table& table) {
  return table.empty() ? 1 : table.rbegin()->first + 1;
}

} // namespace

CommitOutcome MemoryTables::apply(const Decision& decision) {
  constexpr std::array steps{
    &MemoryTables::use_key,      &MemoryTables::take_turn,       &MemoryTables::check_guards,
    &MemoryTables::end_sessions, &MemoryTables::update_sessions, &MemoryTables::insert_sessions,
    &MemoryTables::write_rows,   &MemoryTables::write_fleet,     &MemoryTables::insert_messages,
    &MemoryTables::update_runs,  &MemoryTables::insert_runs,     &MemoryTables::append_logs};
  Change change;
  Verdict verdict;
  for (const auto step : steps) {
    verdict.next_statement();
    (this->*step)(change, decision, verdict);
    if (verdict.aborted())
      break;
  }
  if (verdict.outcome() == CommitOutcome::committed) {
    change.keep();
    ++commits_;
  }
  return verdict.outcome();
}

void MemoryTables::use_key(Change& change, const Decision& decision, Verdict& verdict) {
  if (!decision.idempotency)
    return;
  const auto& key = decision.idempotency->key;
  verdict.refuse_unless(change.insert(idempotency_, {key.principal_id, key.key}, *decision.idempotency),
                        CommitOutcome::key_used);
}

void MemoryTables::take_turn(Change& change, const Decision& decision, Verdict& verdict) {
  if (!decision.turn)
    return;
  const Id& thread = decision.turn->thread_id;
  if (threads_.contains(thread) && turn_of(thread) == decision.turn->expected)
    change.put(turns_, thread, decision.turn->expected + 1);
  else
    verdict.refuse(CommitOutcome::stale);
}

void MemoryTables::check_guards(Change&, const Decision& decision, Verdict& verdict) {
  const auto check = [&](const auto& guards) {
    for (const auto& guard : guards)
      verdict.refuse_unless(holds(guard), CommitOutcome::stale);
  };
  check(decision.guards);
  check(decision.reference_guards);
  check(decision.current_guards);
}

void MemoryTables::end_sessions(Change& change, const Decision& decision, Verdict& verdict) {
  for (const auto& end : decision.ends) {
    if (!holds(end)) {
      verdict.refuse(CommitOutcome::stale);
      continue;
    }
    AgentSession row = sessions_.at(end.id);
    row.ended_at = end.ended_at;
    row.end_reason = end.reason;
    ++row.version;
    change.put(sessions_, end.id, std::move(row));
  }
}

void MemoryTables::update_sessions(Change& change, const Decision& decision, Verdict& verdict) {
  for (const auto& update : decision.session_updates) {
    if (!holds(update)) {
      verdict.refuse(CommitOutcome::stale);
      continue;
    }
    AgentSession row = sessions_.at(update.row.id);
    row.external_session_ref = update.row.external_session_ref;
    row.model = update.row.model;
    row.started = update.row.started;
    row.version = update.row.version;
    if (!session_is_sound(row))
      return verdict.abort(CommitOutcome::failed);
    if (meets_another(row))
      return verdict.abort(CommitOutcome::lost_race);
    change.put(sessions_, row.id, std::move(row));
  }
}

void MemoryTables::insert_sessions(Change& change, const Decision& decision, Verdict& verdict) {
  for (const auto& row : decision.sessions) {
    if (!session_is_sound(row) || row.cumulative_cost_micros != 0)
      return verdict.abort(CommitOutcome::failed);
    if (meets_another(row) || !change.insert(sessions_, row.id, row))
      verdict.refuse(CommitOutcome::lost_race);
    else if (!threads_.contains(row.thread_id) || !principals_.contains(row.agent_id))
      return verdict.abort(CommitOutcome::failed);
  }
}

void MemoryTables::write_rows(Change& change, const Decision& decision, Verdict& verdict) {
  for (const auto& row : decision.rows) {
    verdict.next_statement();
    if (const auto* write = std::get_if<fleet::Write>(&row))
      fleet_.write_row(change, *write, verdict);
    else
      write_row(change, row, verdict);
    if (verdict.aborted())
      return;
  }
}

void MemoryTables::write_row(Change& change, const RowWrite& row, Verdict& verdict) {
  if (!holds(row))
    return verdict.refuse(CommitOutcome::stale);
  const auto outcome = std::visit(
    [&](const auto& item) {
      if constexpr (std::is_same_v<std::decay_t<decltype(item)>, fleet::Write>)
        return CommitOutcome::failed; // those have a way of their own
      else
        return write(change, item);
    },
    row);
  if (outcome == CommitOutcome::failed)
    return verdict.abort(outcome);
  verdict.refuse_unless(outcome == CommitOutcome::committed, outcome);
}

void MemoryTables::write_fleet(Change& change, const Decision& decision, Verdict& verdict) {
  fleet_.write_sets(change, decision, verdict);
}

void MemoryTables::insert_messages(Change& change, const Decision& decision, Verdict& verdict) {
  for (const auto& row : decision.messages) {
    if (!message_is_sound(row))
      return verdict.abort(CommitOutcome::failed);
    if (!change.insert(messages_, row.id, row))
      verdict.refuse(CommitOutcome::lost_race);
    else if (!threads_.contains(row.thread_id) || !principals_.contains(row.author_id) ||
             (row.run_id && !runs_.contains(*row.run_id)))
      return verdict.abort(CommitOutcome::failed);
  }
}

void MemoryTables::update_runs(Change& change, const Decision& decision, Verdict& verdict) {
  // What ends comes before what begins, as in PostgreSQL, so that one decision can release a held run.
  for (const bool becoming_active : {false, true}) {
    verdict.next_statement();
    for (const auto& update : decision.run_updates)
      if (update.row.is_active() == becoming_active && !verdict.aborted())
        update_run(change, update, verdict);
  }
}

void MemoryTables::update_run(Change& change, const UpdateRun& update, Verdict& verdict) {
  if (!holds(update))
    return verdict.refuse(CommitOutcome::stale);
  const Run& before = runs_.at(update.row.id);
  Run row = update.row;
  row.agent_id = before.agent_id;
  row.triggered_by = before.triggered_by;
  row.message_id = before.message_id;
  row.created_at = before.created_at;
  if (!run_is_sound(row))
    return verdict.abort(CommitOutcome::failed);
  if (meets_another(row))
    return verdict.abort(CommitOutcome::lost_race);
  if (row.agent_session_id && !sessions_.contains(*row.agent_session_id))
    return verdict.abort(CommitOutcome::failed);
  change.put(runs_, row.id, std::move(row));
}

void MemoryTables::insert_runs(Change& change, const Decision& decision, Verdict& verdict) {
  for (const auto& row : decision.runs) {
    if (!run_is_sound(row))
      return verdict.abort(CommitOutcome::failed);
    if (meets_another(row) || !change.insert(runs_, row.id, row))
      verdict.refuse(CommitOutcome::lost_race);
    else if (!threads_.contains(row.thread_id) || !principals_.contains(row.agent_id) ||
             !principals_.contains(row.triggered_by) || !messages_.contains(row.message_id) ||
             (row.agent_session_id && !sessions_.contains(*row.agent_session_id)))
      return verdict.abort(CommitOutcome::failed);
  }
}

void MemoryTables::append_logs(Change& change, const Decision& decision, Verdict& verdict) {
  for (const auto& event : decision.events)
    change.put(events_, next_seq(events_), event);
  for (const auto& event : decision.agent_events)
    change.put(agent_events_, next_seq(agent_events_), event);
  for (const auto& entry : decision.audit)
    verdict.refuse_unless(change.insert(audit_, entry.id, entry), CommitOutcome::lost_race);
  verdict.next_statement();
  for (const auto& denial : decision.denials)
    if (count_denial(change, denial.entry, denial.window_s) != CommitOutcome::committed)
      return verdict.abort(CommitOutcome::lost_race);
}

bool MemoryTables::holds(const VersionGuard& guard) const {
  const auto version_is = [&](const auto& table, auto member) {
    const auto found = table.find(guard.id);
    return found != table.end() && found->second.*member == guard.version;
  };
  switch (guard.row) {
    case GuardedRow::space_facts:
      return version_is(spaces_, &Space::facts_version);
    case GuardedRow::space:
      return version_is(spaces_, &Space::version);
    case GuardedRow::channel:
      return version_is(channels_, &Channel::version);
    case GuardedRow::thread:
      return version_is(threads_, &Thread::version);
    case GuardedRow::principal:
      return version_is(principals_, &Principal::version);
    case GuardedRow::account:
      return version_is(fleet_.rows().accounts, &Account::version);
    case GuardedRow::runner:
      return version_is(fleet_.rows().runners, &Runner::version);
  }
  return false;
}

bool MemoryTables::holds(const ReferenceGuard& guard) const {
  const auto newest = newest_of_reference(guard.agent_id, guard.external_session_ref);
  return guard.newest_session_id ? newest && newest->id == *guard.newest_session_id : !newest;
}

bool MemoryTables::holds(const CurrentGuard& guard) const {
  const auto current = current_of_thread(guard.thread_id);
  return guard.session_id ? current && current->id == *guard.session_id && current->version == guard.version : !current;
}

bool MemoryTables::holds(const EndSession& end) const {
  const auto found = sessions_.find(end.id);
  return found != sessions_.end() && found->second.is_current() && found->second.version == end.expected_version &&
         found->second.thread_id == end.thread_id;
}

bool MemoryTables::holds(const UpdateSession& update) const {
  const auto found = sessions_.find(update.row.id);
  return found != sessions_.end() && found->second.version == update.row.version - 1 &&
         found->second.thread_id == update.row.thread_id;
}

bool MemoryTables::holds(const UpdateRun& update) const {
  const auto found = runs_.find(update.row.id);
  if (found == runs_.end() || found->second.version != update.row.version - 1 || found->second.state != update.from ||
      found->second.thread_id != update.row.thread_id)
    return false;
  const Run& run = found->second;
  switch (update.expiry) {
    case RunExpiry::none:
      return true;
    case RunExpiry::lease:
      return run.lease_expires_at && *run.lease_expires_at <= clock_->now();
    case RunExpiry::queued:
      return run.queued_at && *run.queued_at <= clock_->now() - std::chrono::seconds{update.queued_timeout_s};
  }
  return false;
}

bool MemoryTables::holds(const RowWrite& write) const {
  return std::visit([this](const auto& item) { return row_stands(item); }, write);
}

bool MemoryTables::meets_another(const AgentSession& row) const {
  return std::ranges::any_of(sessions_, [&](const auto& item) {
    const AgentSession& other = item.second;
    if (other.id == row.id)
      return false;
    const bool same_reference =
      other.agent_id == row.agent_id && other.external_session_ref == row.external_session_ref;
    if (row.is_current() && other.is_current() && (same_reference || other.thread_id == row.thread_id))
      return true;
    return row.end_reason == EndReason::import && other.end_reason == EndReason::import && same_reference &&
           other.thread_id == row.thread_id && other.created_at == row.created_at;
  });
}

bool MemoryTables::meets_another(const Run& row) const {
  const auto active = row.is_active() ? active_run(row.thread_id) : std::nullopt;
  return active && active->id != row.id;
}

std::int64_t MemoryTables::turn_of(const Id& thread_id) const {
  const auto found = turns_.find(thread_id);
  return found == turns_.end() ? 1 : found->second;
}

} // namespace cleat::storage
