/// Rows around Runners that are written alone in the memory twin: what guards them, and which indexes and foreign keys
/// they meet.
#include <algorithm>
#include <map>
#include <variant>

#include "base/limits.hpp"
#include "storage/fleet_order.hpp"
#include "storage/memory_change.hpp"
#include "storage/memory_fleet.hpp"

namespace cleat::storage {

namespace {

/// Replaces a row that has the version before; else the decision is stale.
template <class Table, class Key, class Row>
bool follows(const Table& table, const Key& key, const Row& row) {
  const auto found = table.find(key);
  return found != table.end() && found->second.version == row.version - 1;
}

} // namespace

void MemoryFleet::write_row(MemoryChange& change, const fleet::Write& write, MemoryVerdict& verdict) {
  if (is_written_alone(write))
    std::visit([&](const auto& item) { this->write(change, item, verdict); }, write);
}

void MemoryFleet::write(MemoryChange& change, const fleet::InsertAccount& item, MemoryVerdict& verdict) {
  if (item.row.actor_id && !principals_.contains(*item.row.actor_id))
    return verdict.abort(CommitOutcome::failed);
  verdict.refuse_unless(change.insert(rows_.accounts, item.row.id, item.row), CommitOutcome::lost_race);
}

void MemoryFleet::write(MemoryChange& change, const fleet::UpdateAccount& item, MemoryVerdict& verdict) {
  if (!follows(rows_.accounts, item.row.id, item.row))
    return verdict.refuse(CommitOutcome::stale);
  if (item.row.actor_id && !principals_.contains(*item.row.actor_id))
    return verdict.abort(CommitOutcome::failed);
  Account row = item.row;
  row.created_at = rows_.accounts.at(row.id).created_at;
  change.put(rows_.accounts, row.id, row);
}

void MemoryFleet::write(MemoryChange& change, const fleet::PutSecret& item, MemoryVerdict& verdict) {
  if (!rows_.accounts.contains(item.row.account_id))
    return verdict.abort(CommitOutcome::failed);
  change.put(rows_.secrets, {item.row.account_id, item.row.name}, item.row);
}

void MemoryFleet::write(MemoryChange& change, const fleet::DeleteSecret& item, MemoryVerdict& verdict) {
  if (!rows_.secrets.contains({item.account_id, item.name}))
    return verdict.refuse(CommitOutcome::stale);
  change.erase(rows_.secrets, {item.account_id, item.name});
}

void MemoryFleet::write(MemoryChange& change, const fleet::InsertRunner& item, MemoryVerdict& verdict) {
  verdict.refuse_unless(change.insert(rows_.runners, item.row.id, item.row), CommitOutcome::lost_race);
}

void MemoryFleet::write(MemoryChange& change, const fleet::UpdateRunner& item, MemoryVerdict& verdict) {
  if (!follows(rows_.runners, item.row.id, item.row))
    return verdict.refuse(CommitOutcome::stale);
  Runner row = item.row;
  row.created_at = rows_.runners.at(row.id).created_at;
  change.put(rows_.runners, row.id, row);
}

void MemoryFleet::write(MemoryChange& change, const fleet::InsertRunnerToken& item, MemoryVerdict& verdict) {
  const bool digest_taken =
    std::ranges::any_of(rows_.runner_tokens, [&](const auto& other) { return other.second.digest == item.row.digest; });
  if (digest_taken || rows_.runner_tokens.contains(item.row.id))
    return verdict.refuse(CommitOutcome::lost_race);
  if (!rows_.runners.contains(item.row.runner_id))
    return verdict.abort(CommitOutcome::failed);
  change.insert(rows_.runner_tokens, item.row.id, item.row);
}

void MemoryFleet::write(MemoryChange& change, const fleet::RevokeRunnerToken& item, MemoryVerdict& verdict) {
  const auto found = rows_.runner_tokens.find(item.id);
  if (found == rows_.runner_tokens.end() || found->second.revoked_at)
    return verdict.refuse(CommitOutcome::stale);
  RunnerToken row = found->second;
  row.revoked_at = item.revoked_at;
  change.put(rows_.runner_tokens, item.id, row);
}

void MemoryFleet::write(MemoryChange& change, const fleet::Enrol& item, MemoryVerdict& verdict) {
  write(change, fleet::UpdateRunner{item.row}, verdict);
  const Id& runner = item.row.id;
  end_attempts(change, [&](const ContainerAttempt& attempt) { return attempt.runner_id == runner; });
  suspend(change, [&](const Binding& binding) { return binding.runner_id == runner; });
  verdict.next_statement();
  insert_attempts(change, item.attempts, verdict);
  if (verdict.aborted())
    return;
  std::map<std::string, Id> issued;
  for (const ContainerAttempt& attempt : item.attempts)
    issued.emplace(attempt.container_name, attempt.id);
  std::size_t taken = 0;
  for (auto& [name, container] : std::map(rows_.containers)) {
    if (container.runner_id != runner)
      continue;
    const auto attempt = issued.find(name);
    container.attempt_id = attempt == issued.end() ? std::nullopt : std::optional(attempt->second);
    ++container.version;
    taken += container.attempt_id ? 1 : 0;
    change.put(rows_.containers, name, container);
  }
  // A container that came or went since tells that the enrolment was decided on other containers.
  verdict.refuse_unless(taken == item.attempts.size(), CommitOutcome::stale);
}

void MemoryFleet::write(MemoryChange& change, const fleet::InsertContainer& item, MemoryVerdict& verdict) {
  const Container& row = item.row;
  const auto bytes = std::ssize(row.name);
  if (bytes < 1 || bytes > limits::container_name_max_bytes)
    return verdict.abort(CommitOutcome::failed);
  const bool id_taken =
    std::ranges::any_of(rows_.containers, [&](const auto& other) { return other.second.id == row.id; });
  if (id_taken || rows_.containers.contains(row.name))
    return verdict.refuse(CommitOutcome::lost_race);
  if (!rows_.accounts.contains(row.account_id) || !rows_.runners.contains(row.runner_id))
    return verdict.abort(CommitOutcome::failed);
  change.insert(rows_.containers, row.name, row);
}

void MemoryFleet::write(MemoryChange& change, const fleet::UpdateOrphan& item, MemoryVerdict& verdict) {
  if (!follows(rows_.orphans, item.row.id, item.row))
    return verdict.refuse(CommitOutcome::stale);
  Orphan row = rows_.orphans.at(item.row.id);
  row.resolved_at = item.row.resolved_at;
  row.resolved_by = item.row.resolved_by;
  row.version = item.row.version;
  if ((row.resolved_by && !row.resolved_at) || (row.resolved_by && !principals_.contains(*row.resolved_by)))
    return verdict.abort(CommitOutcome::failed);
  change.put(rows_.orphans, row.id, row);
}

} // namespace cleat::storage
