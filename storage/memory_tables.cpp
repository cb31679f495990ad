#include "storage/memory_tables.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>
#include <variant>

#include "base/limits.hpp"
#include "storage/memory_change.hpp"

namespace cleat::storage {

namespace {

/// Everything that makes two denials equal (spec 03 section 2), as one key.
std::string denial_key(const RecordDenial& denial) {
  const auto& entry = denial.entry;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(entry.time.time_since_epoch()).count();
  std::string key = entry.actor_id.str() + entry.resource_id.str() + std::to_string(seconds / denial.window_s);
  for (const auto& part : {entry.action, entry.resource_kind, entry.reason})
    key += '\0' + part;
  return key;
}

/// The CHECK constraints of `agent_sessions` and what its triggers refuse in a new row.
bool session_is_sound(const AgentSession& row) {
  const auto is_capital = [](char letter) { return letter >= 'A' && letter <= 'Z'; };
  const auto bytes = std::ssize(row.external_session_ref);
  return row.ended_at.has_value() == row.end_reason.has_value() && row.cumulative_cost_micros == 0 &&
         row.cost_baseline_micros >= 0 && row.version >= 1 && bytes >= 1 &&
         bytes <= limits::session_ref_ceiling_bytes && row.currency.size() == 3 &&
         std::ranges::all_of(row.currency, is_capital);
}

} // namespace

CommitOutcome MemoryTables::commit(const Decision& decision) {
  const std::lock_guard lock(mutex_);
  if (!script_.empty()) {
    const ScriptedOutcome scripted = script_.front();
    script_.pop_front();
    if (scripted.commit)
      apply(decision);
    return scripted.answer;
  }
  return unavailable_ ? CommitOutcome::unavailable : apply(decision);
}

CommitOutcome MemoryTables::apply(const Decision& decision) {
  if (decision.idempotency) {
    const auto& key = decision.idempotency->key;
    if (idempotency_.contains({key.principal_id, key.key}))
      return CommitOutcome::key_used;
  }
  if (!guards_hold(decision))
    return CommitOutcome::stale;
  Change change;
  for (const auto& end : decision.ends) {
    AgentSession row = sessions_.at(end.id);
    row.ended_at = end.ended_at;
    row.end_reason = end.reason;
    ++row.version;
    change.put(sessions_, end.id, std::move(row));
  }
  for (const auto& row : decision.sessions) {
    if (const auto outcome = insert_session(change, row); outcome != CommitOutcome::committed)
      return outcome;
  }
  if (const auto outcome = insert_rows(change, decision); outcome != CommitOutcome::committed)
    return outcome;
  change.keep();
  ++commits_;
  return CommitOutcome::committed;
}

CommitOutcome MemoryTables::insert_rows(Change& change, const Decision& decision) {
  for (const auto& row : decision.rows) {
    const auto outcome = std::visit([&](const auto& item) { return write(change, item); }, row);
    if (outcome != CommitOutcome::committed)
      return outcome;
  }
  for (const auto& event : decision.events) {
    const std::int64_t seq = events_.empty() ? 1 : events_.rbegin()->first + 1;
    change.put(events_, seq, event);
  }
  for (const auto& entry : decision.audit) {
    if (!change.insert(audit_, entry.id, entry))
      return CommitOutcome::lost_race;
  }
  if (decision.idempotency) {
    const auto& key = decision.idempotency->key;
    change.put(idempotency_, {key.principal_id, key.key}, *decision.idempotency);
  }
  return CommitOutcome::committed;
}

bool MemoryTables::guards_hold(const Decision& decision) const {
  const auto hold = [this](const auto& guards) {
    return std::ranges::all_of(guards, [this](const auto& guard) { return this->holds(guard); });
  };
  return hold(decision.guards) && hold(decision.reference_guards) && hold(decision.ends) && hold(decision.rows);
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
  }
  return false;
}

bool MemoryTables::holds(const ReferenceGuard& guard) const {
  const auto newest = newest_of_reference(guard.agent_id, guard.external_session_ref);
  return guard.newest_session_id ? newest && newest->id == *guard.newest_session_id : !newest;
}

bool MemoryTables::holds(const EndSession& end) const {
  const auto found = sessions_.find(end.id);
  return found != sessions_.end() && found->second.is_current() && found->second.version == end.expected_version &&
         found->second.thread_id == end.thread_id;
}

bool MemoryTables::holds(const RowWrite& write) const {
  return std::visit([this](const auto& item) { return row_stands(item); }, write);
}

CommitOutcome MemoryTables::insert_session(Change& change, const AgentSession& row) {
  if (!session_is_sound(row) || !threads_.contains(row.thread_id) || !principals_.contains(row.agent_id))
    return CommitOutcome::failed;
  if (row.is_current() &&
      (current_of_thread(row.thread_id) || current_of_reference(row.agent_id, row.external_session_ref)))
    return CommitOutcome::lost_race;
  const auto imported_twice = [&](const auto& item) {
    const AgentSession& other = item.second;
    return row.end_reason == EndReason::import && other.end_reason == EndReason::import &&
           other.thread_id == row.thread_id && other.agent_id == row.agent_id &&
           other.external_session_ref == row.external_session_ref && other.created_at == row.created_at;
  };
  if (std::ranges::any_of(sessions_, imported_twice))
    return CommitOutcome::lost_race;
  return change.insert(sessions_, row.id, row) ? CommitOutcome::committed : CommitOutcome::lost_race;
}

CommitOutcome MemoryTables::record_denial(const RecordDenial& denial) {
  const std::lock_guard lock(mutex_);
  if (unavailable_)
    return CommitOutcome::unavailable;
  const auto [position, is_new] = denials_.try_emplace(denial_key(denial), denial.entry.id);
  if (is_new)
    return audit_.try_emplace(denial.entry.id, denial.entry).second ? CommitOutcome::committed : CommitOutcome::failed;
  audit_.at(position->second).count += denial.entry.count;
  return CommitOutcome::committed;
}

Bootstrapped MemoryTables::bootstrap(const Bootstrap& question) {
  const std::lock_guard lock(mutex_);
  if (unavailable_)
    return {ReadStatus::unavailable, false};
  if (!principals_.empty())
    return {ReadStatus::ok, false};
  principals_.emplace(question.owner.id, question.owner);
  tokens_.emplace(question.token.id, question.token);
  return {ReadStatus::ok, true};
}

GarbageCollected MemoryTables::collect(const CollectGarbage& question) {
  const std::lock_guard lock(mutex_);
  if (unavailable_)
    return {ReadStatus::unavailable, 0};
  std::int64_t removed = 0;
  for (auto record = idempotency_.begin(); record != idempotency_.end() && removed < question.limit;) {
    const bool outlived = record->second.expires_at <= question.now;
    record = outlived ? idempotency_.erase(record) : std::next(record);
    removed += outlived ? 1 : 0;
  }
  return {ReadStatus::ok, removed};
}

void MemoryTables::script(std::vector<ScriptedOutcome> outcomes) {
  const std::lock_guard lock(mutex_);
  script_.insert(script_.end(), outcomes.begin(), outcomes.end());
}

void MemoryTables::set_unavailable(bool unavailable) {
  const std::lock_guard lock(mutex_);
  unavailable_ = unavailable;
}

std::int64_t MemoryTables::commits() const {
  const std::lock_guard lock(mutex_);
  return commits_;
}

} // namespace cleat::storage
