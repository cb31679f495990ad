/// Containers, operations, bindings, transcripts and orphans in the memory twin: what is written in sets.
#include <algorithm>
#include <set>
#include <tuple>
#include <variant>

#include "storage/fleet_order.hpp"
#include "storage/memory_change.hpp"
#include "storage/memory_fleet.hpp"

namespace cleat::storage {

namespace {

bool is_session_id(const std::string& text) {
  return text.size() == 64 &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_session_id(const std::optional<std::string>& text) {
  return !text || is_session_id(*text);
}

/// The CHECK constraints of `session_operations`.
bool is_sound(const Operation& row) {
  const bool is_fresh = row.kind == OperationKind::fresh;
  const bool is_stop = row.kind == OperationKind::stop;
  const bool ids_fit = row.relay_request_id.has_value() == is_fresh && row.fresh_session_id.has_value() == is_fresh &&
                       row.resume_session_id.has_value() == (row.kind == OperationKind::resume) &&
                       row.stop_session_id.has_value() == is_stop && !(is_stop && row.handle_digest);
  if (!ids_fit || !is_session_id(row.fresh_session_id) || !is_session_id(row.resume_session_id) ||
      !is_session_id(row.stop_session_id))
    return false;
  const bool is_promoted = row.state == OperationState::promoted;
  const bool result_fits = row.session_id ? is_promoted && *row.session_id == row.subject() : !is_promoted || is_stop;
  return result_fits && row.finished_at.has_value() == !row.in_flight() &&
         row.failure.has_value() == (row.state == OperationState::failed) &&
         (row.cleanup != Cleanup::claimed || row.cleanup_deadline) && row.dispatch >= 1 && row.version >= 1 &&
         row.enrollment_revision >= 0;
}

/// The CHECK constraints of `session_bindings`.
bool is_sound(const Binding& row) {
  return is_session_id(row.session_id) && row.released_at.has_value() == (row.state == BindingState::released) &&
         row.relayed_through >= 0 && row.transcript_through >= 0 && row.input_through >= 0 && row.version >= 1;
}

/// The CHECK constraints of `session_transcripts`.
bool is_sound(const TranscriptLine& row) {
  return row.seq >= 1 && (!row.exit_code || row.line.empty());
}

auto identity_of(const Operation& row) {
  return std::tie(row.account_id, row.actor_id, row.runner_id, row.container_name, row.container_attempt_id);
}

auto identity_of(const Binding& row) {
  return std::tie(row.account_id, row.actor_id, row.container_name);
}

/// Whether the row in the table is the one that `row` was made from.
template <class Table, class Key, class Row>
bool follows_as_the_same(const Table& table, const Key& key, const Row& row) {
  const auto found = table.find(key);
  return found != table.end() && found->second.version == row.version - 1 &&
         identity_of(found->second) == identity_of(row);
}

/// What an operation is never changes.
Operation with_origin(Operation row, const Operation& before) {
  row.kind = before.kind;
  row.relay_request_id = before.relay_request_id;
  row.fresh_session_id = before.fresh_session_id;
  row.resume_session_id = before.resume_session_id;
  row.stop_session_id = before.stop_session_id;
  row.caller_request_id = before.caller_request_id;
  row.enrollment_revision = before.enrollment_revision;
  row.created_at = before.created_at;
  return row;
}

template <class Value>
bool same(const std::optional<Value>& left, const std::optional<Value>& right) {
  return left && left == right;
}

} // namespace

void MemoryFleet::write_sets(MemoryChange& change, const Decision& decision, MemoryVerdict& verdict) {
  const auto step = [&](auto&& work) {
    if (verdict.aborted())
      return;
    verdict.next_statement();
    work();
  };
  step([&] { update_containers(change, decision, verdict); });
  step([&] { update_operations(change, decision, false, verdict); });
  step([&] { update_bindings(change, decision, false, verdict); });
  step([&] { change_attempts(change, decision, verdict); });
  step([&] { update_operations(change, decision, true, verdict); });
  step([&] { insert_operations(change, decision, verdict); });
  step([&] { update_bindings(change, decision, true, verdict); });
  step([&] { insert_bindings(change, decision, verdict); });
  step([&] { append_transcripts(change, decision, verdict); });
  step([&] { insert_orphans(change, decision, verdict); });
}

void MemoryFleet::update_containers(MemoryChange& change, const Decision& decision, MemoryVerdict& verdict) {
  for (const auto* update : writes_of<fleet::UpdateContainer>(decision)) {
    const auto found = rows_.containers.find(update->row.name);
    if (found == rows_.containers.end() || found->second.id != update->row.id ||
        found->second.version != update->row.version - 1) {
      verdict.refuse(CommitOutcome::stale);
      continue;
    }
    Container row = found->second;
    row.attempt_id = update->row.attempt_id;
    row.version = update->row.version;
    change.put(rows_.containers, row.name, row);
  }
}

void MemoryFleet::update_operations(MemoryChange& change, const Decision& decision, bool in_flight,
                                    MemoryVerdict& verdict) {
  for (const auto* update : writes_of<fleet::UpdateOperation>(decision)) {
    if (update->row.in_flight() != in_flight)
      continue;
    if (!follows_as_the_same(rows_.operations, update->row.id, update->row)) {
      verdict.refuse(CommitOutcome::stale);
      continue;
    }
    const Operation row = with_origin(update->row, rows_.operations.at(update->row.id));
    if (!is_sound(row))
      return verdict.abort(CommitOutcome::failed);
    if (meets_another(row))
      return verdict.abort(CommitOutcome::lost_race);
    change.put(rows_.operations, row.id, row);
  }
}

void MemoryFleet::insert_operations(MemoryChange& change, const Decision& decision, MemoryVerdict& verdict) {
  for (const auto* insert : writes_of<fleet::InsertOperation>(decision)) {
    if (!is_sound(insert->row))
      return verdict.abort(CommitOutcome::failed);
    if (meets_another(insert->row) || !change.insert(rows_.operations, insert->row.id, insert->row))
      verdict.refuse(CommitOutcome::lost_race);
    else if (!has_owners(insert->row))
      return verdict.abort(CommitOutcome::failed);
  }
}

void MemoryFleet::update_bindings(MemoryChange& change, const Decision& decision, bool live, MemoryVerdict& verdict) {
  for (const auto* update : writes_of<fleet::UpdateBinding>(decision)) {
    if ((update->row.state == BindingState::live) != live)
      continue;
    if (!follows_as_the_same(rows_.bindings, update->row.session_id, update->row)) {
      verdict.refuse(CommitOutcome::stale);
      continue;
    }
    Binding row = update->row;
    row.created_at = rows_.bindings.at(row.session_id).created_at;
    if (!is_sound(row))
      return verdict.abort(CommitOutcome::failed);
    if (meets_another(row))
      return verdict.abort(CommitOutcome::lost_race);
    if (!has_owners(row))
      return verdict.abort(CommitOutcome::failed);
    change.put(rows_.bindings, row.session_id, row);
  }
}

void MemoryFleet::insert_bindings(MemoryChange& change, const Decision& decision, MemoryVerdict& verdict) {
  for (const auto* insert : writes_of<fleet::InsertBinding>(decision)) {
    if (!is_sound(insert->row))
      return verdict.abort(CommitOutcome::failed);
    if (meets_another(insert->row) || !change.insert(rows_.bindings, insert->row.session_id, insert->row))
      verdict.refuse(CommitOutcome::lost_race);
    else if (!has_owners(insert->row))
      return verdict.abort(CommitOutcome::failed);
  }
}

void MemoryFleet::change_attempts(MemoryChange& change, const Decision& decision, MemoryVerdict& verdict) {
  const auto end = [&](const std::string& name) {
    end_attempts(change, [&](const ContainerAttempt& attempt) { return attempt.container_name == name; });
  };
  for (const auto* item : writes_of<fleet::EndAttempts>(decision)) {
    end(item->container_name);
    suspend(change, [&](const Binding& binding) { return binding.container_name == item->container_name; });
  }
  for (const auto* item : writes_of<fleet::DeleteContainer>(decision)) {
    end(item->name);
    delete_container(change, *item, verdict);
  }
  std::vector<ContainerAttempt> issued;
  for (const auto* item : writes_of<fleet::InsertAttempt>(decision)) {
    end(item->row.container_name);
    issued.push_back(item->row);
  }
  verdict.next_statement();
  insert_attempts(change, issued, verdict);
}

void MemoryFleet::delete_container(MemoryChange& change, const fleet::DeleteContainer& item, MemoryVerdict& verdict) {
  const auto found = rows_.containers.find(item.name);
  if (found == rows_.containers.end() || found->second.version != item.version)
    return verdict.refuse(CommitOutcome::stale);
  change.erase(rows_.containers, item.name);
}

void MemoryFleet::append_transcripts(MemoryChange& change, const Decision& decision, MemoryVerdict& verdict) {
  for (const auto* append : writes_of<fleet::AppendTranscript>(decision))
    for (const TranscriptLine& line : append->lines) {
      if (!is_sound(line))
        return verdict.abort(CommitOutcome::failed);
      verdict.refuse_unless(change.insert(rows_.transcripts, {line.session_id, line.seq}, line),
                            CommitOutcome::lost_race);
    }
}

void MemoryFleet::insert_orphans(MemoryChange& change, const Decision& decision, MemoryVerdict& verdict) {
  for (const auto* insert : writes_of<fleet::InsertOrphan>(decision)) {
    const Orphan& row = insert->row;
    if (row.resolved_by && !row.resolved_at)
      return verdict.abort(CommitOutcome::failed);
    if (!change.insert(rows_.orphans, row.id, row))
      verdict.refuse(CommitOutcome::lost_race);
    else if (!has_owners(row) || (row.resolved_by && !principals_.contains(*row.resolved_by)))
      return verdict.abort(CommitOutcome::failed);
  }
}

void MemoryFleet::end_attempts(MemoryChange& change, const std::function<bool(const ContainerAttempt&)>& concerned) {
  for (auto& [id, attempt] : std::map(rows_.attempts)) {
    if (!attempt.current || !concerned(attempt))
      continue;
    attempt.current = false;
    change.put(rows_.attempts, id, attempt);
  }
}

void MemoryFleet::suspend(MemoryChange& change, const std::function<bool(const Binding&)>& concerned) {
  for (auto& [session_id, binding] : std::map(rows_.bindings)) {
    if (binding.state != BindingState::live || !concerned(binding))
      continue;
    binding.state = BindingState::suspended;
    ++binding.version;
    change.put(rows_.bindings, session_id, binding);
  }
}

void MemoryFleet::insert_attempts(MemoryChange& change, const std::vector<ContainerAttempt>& rows,
                                  MemoryVerdict& verdict) {
  for (const ContainerAttempt& row : rows) {
    const bool second = row.current && std::ranges::any_of(rows_.attempts, [&](const auto& item) {
                          return item.second.current && item.second.container_name == row.container_name;
                        });
    if (second || !change.insert(rows_.attempts, row.id, row))
      verdict.refuse(CommitOutcome::lost_race);
    else if (!rows_.runners.contains(row.runner_id))
      return verdict.abort(CommitOutcome::failed);
  }
}

bool MemoryFleet::meets_another(const Operation& row) const {
  return std::ranges::any_of(rows_.operations, [&](const auto& item) {
    const Operation& other = item.second;
    if (other.id == row.id)
      return false;
    if (same(other.relay_request_id, row.relay_request_id) || same(other.fresh_session_id, row.fresh_session_id) ||
        same(other.handle_digest, row.handle_digest))
      return true;
    if (!other.in_flight() || !row.in_flight())
      return false;
    if (row.kind == OperationKind::stop || other.kind == OperationKind::stop)
      return same(other.stop_session_id, row.stop_session_id);
    return other.container_name == row.container_name && other.container_attempt_id == row.container_attempt_id;
  });
}

bool MemoryFleet::meets_another(const Binding& row) const {
  return row.state == BindingState::live && std::ranges::any_of(rows_.bindings, [&](const auto& item) {
           const Binding& other = item.second;
           return other.session_id != row.session_id && other.state == BindingState::live &&
                  other.container_name == row.container_name;
         });
}

} // namespace cleat::storage
