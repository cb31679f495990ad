/// The rows of provisioning in the memory twin: what guards them, and which indexes and foreign keys they meet.
#include <algorithm>

#include "storage/memory_change.hpp"
#include "storage/memory_tables.hpp"

namespace cleat::storage {

namespace {

/// Whether `table` holds the version that `row` was made from.
template <class Table, class Row>
bool follows(const Table& table, const Row& row) {
  const auto found = table.find(row.id);
  return found != table.end() && found->second.version == row.version - 1;
}

CommitOutcome committed_if(bool inserted) {
  return inserted ? CommitOutcome::committed : CommitOutcome::lost_race;
}

} // namespace

bool MemoryTables::row_stands(const UpdatePrincipal& item) const {
  return follows(principals_, item.row);
}

bool MemoryTables::row_stands(const UpdateSpace& item) const {
  return follows(spaces_, item.row);
}

bool MemoryTables::row_stands(const UpdateChannel& item) const {
  return follows(channels_, item.row);
}

bool MemoryTables::row_stands(const UpdateThread& item) const {
  return follows(threads_, item.row);
}

bool MemoryTables::row_stands(const RevokeToken& item) const {
  const auto found = tokens_.find(item.id);
  return found != tokens_.end() && !found->second.revoked_at;
}

bool MemoryTables::row_stands(const RaiseSpaceFacts& item) const {
  return spaces_.contains(item.space_id);
}

bool MemoryTables::principal_exists(const std::optional<Id>& id) const {
  return !id || principals_.contains(*id);
}

CommitOutcome MemoryTables::write(Change& change, const InsertPrincipal& item) {
  if (item.row.agent && !principal_exists(item.row.agent->holder_id))
    return CommitOutcome::failed;
  const bool second_owner = item.row.instance_owner && std::ranges::any_of(principals_, [](const auto& other) {
                              return other.second.instance_owner;
                            });
  return committed_if(!second_owner && change.insert(principals_, item.row.id, item.row));
}

CommitOutcome MemoryTables::write(Change& change, const UpdatePrincipal& item) {
  if (item.row.agent && !principal_exists(item.row.agent->holder_id))
    return CommitOutcome::failed;
  change.put(principals_, item.row.id, item.row);
  return CommitOutcome::committed;
}

CommitOutcome MemoryTables::write(Change& change, const InsertToken& item) {
  if (!principal_exists(item.row.principal_id))
    return CommitOutcome::failed;
  const bool digest_taken =
    std::ranges::any_of(tokens_, [&](const auto& other) { return other.second.digest == item.row.digest; });
  return committed_if(!digest_taken && change.insert(tokens_, item.row.id, item.row));
}

CommitOutcome MemoryTables::write(Change& change, const RevokeToken& item) {
  Token row = tokens_.at(item.id);
  row.revoked_at = item.revoked_at;
  change.put(tokens_, item.id, std::move(row));
  return CommitOutcome::committed;
}

CommitOutcome MemoryTables::write(Change& change, const InsertSpace& item) {
  if (!principal_exists(item.row.owner_id))
    return CommitOutcome::failed;
  return committed_if(change.insert(spaces_, item.row.id, item.row));
}

CommitOutcome MemoryTables::write(Change& change, const UpdateSpace& item) {
  // The version of the facts has a write of its own, `RaiseSpaceFacts`; a new name must not set it back.
  Space row = item.row;
  row.facts_version = spaces_.at(row.id).facts_version;
  change.put(spaces_, row.id, row);
  return CommitOutcome::committed;
}

CommitOutcome MemoryTables::write(Change& change, const InsertChannel& item) {
  if (!spaces_.contains(item.row.space_id) || !principal_exists(item.row.operator_agent_id))
    return CommitOutcome::failed;
  return committed_if(change.insert(channels_, item.row.id, item.row));
}

CommitOutcome MemoryTables::write(Change& change, const UpdateChannel& item) {
  if (!principal_exists(item.row.operator_agent_id))
    return CommitOutcome::failed;
  change.put(channels_, item.row.id, item.row);
  return CommitOutcome::committed;
}

CommitOutcome MemoryTables::write(Change& change, const InsertThread& item) {
  if (!channels_.contains(item.row.channel_id) || !principal_exists(item.row.operator_agent_id))
    return CommitOutcome::failed;
  const bool second_main =
    item.row.kind == ThreadKind::main && std::ranges::any_of(threads_, [&](const auto& other) {
      return other.second.kind == ThreadKind::main && other.second.channel_id == item.row.channel_id;
    });
  return committed_if(!second_main && change.insert(threads_, item.row.id, item.row));
}

CommitOutcome MemoryTables::write(Change& change, const UpdateThread& item) {
  if (!principal_exists(item.row.operator_agent_id))
    return CommitOutcome::failed;
  change.put(threads_, item.row.id, item.row);
  return CommitOutcome::committed;
}

CommitOutcome MemoryTables::write(Change& change, const SetGrant& item) {
  const GrantKey key{item.row.resource_id, item.row.principal_id};
  if (item.row.level == Level::none) {
    change.erase(grants_, key);
    return CommitOutcome::committed;
  }
  if (!spaces_.contains(item.row.space_id) || !principal_exists(item.row.principal_id))
    return CommitOutcome::failed;
  // A resource never moves, so of a grant that is there only the level changes.
  Grant row = grants_.contains(key) ? grants_.at(key) : item.row;
  row.level = item.row.level;
  change.put(grants_, key, row);
  return CommitOutcome::committed;
}

CommitOutcome MemoryTables::write(Change& change, const RaiseSpaceFacts& item) {
  Space row = spaces_.at(item.space_id);
  ++row.facts_version;
  change.put(spaces_, item.space_id, row);
  return CommitOutcome::committed;
}

} // namespace cleat::storage
