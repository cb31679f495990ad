#include "storage/pg/batching.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <variant>

#include "storage/pg/batch_keys.hpp"

namespace cleat::storage::pg {
namespace {

Subject subject_of(GuardedRow row) {
  switch (row) {
    case GuardedRow::space_facts:
      return Subject::space_facts;
    case GuardedRow::space:
      return Subject::space;
    case GuardedRow::channel:
      return Subject::channel;
    case GuardedRow::thread:
      return Subject::thread;
    case GuardedRow::account:
      return Subject::account;
    case GuardedRow::runner:
      return Subject::runner;
    case GuardedRow::principal:
      break;
  }
  return Subject::principal;
}

/// The key of the row that a write of provisioning changes. New rows have new ids, so they are nobody else's.
struct RowKey {
  std::uint64_t operator()(const UpdatePrincipal& write) const { return key(Subject::principal, write.row.id); }
  std::uint64_t operator()(const RevokeToken& write) const { return key(Subject::token, write.id); }
  std::uint64_t operator()(const UpdateSpace& write) const { return key(Subject::space, write.row.id); }
  std::uint64_t operator()(const UpdateChannel& write) const { return key(Subject::channel, write.row.id); }
  std::uint64_t operator()(const UpdateThread& write) const { return key(Subject::thread, write.row.id); }
  std::uint64_t operator()(const RaiseSpaceFacts& write) const { return key(Subject::space_facts, write.space_id); }
  std::uint64_t operator()(const SetGrant& write) const {
    return key(Subject::grant, write.row.resource_id, std::hash<Id>()(write.row.principal_id));
  }
  std::uint64_t operator()(const fleet::Write&) const { return 0; } // those have several, see `add_fleet_keys`
  std::uint64_t operator()(const InsertPrincipal& write) const { return key(Subject::principal, write.row.id); }
  std::uint64_t operator()(const InsertToken& write) const { return key(Subject::token, write.row.id); }
  std::uint64_t operator()(const InsertSpace& write) const { return key(Subject::space, write.row.id); }
  std::uint64_t operator()(const InsertChannel& write) const { return key(Subject::channel, write.row.id); }
  std::uint64_t operator()(const InsertThread& write) const { return key(Subject::thread, write.row.id); }
};

std::vector<std::uint64_t> writes_of(const Decision& decision) {
  std::vector<std::uint64_t> keys;
  const auto add_thread = [&keys](const Id& thread) { keys.push_back(key(Subject::sessions_of_thread, thread)); };
  const auto add_session = [&](const AgentSession& row) {
    add_thread(row.thread_id);
    keys.push_back(key(Subject::reference, row.agent_id, row.external_session_ref));
  };
  if (decision.turn)
    add_thread(decision.turn->thread_id);
  for (const CurrentGuard& guard : decision.current_guards)
    add_thread(guard.thread_id);
  for (const EndSession& end : decision.ends)
    add_thread(end.thread_id);
  for (const UpdateSession& update : decision.session_updates)
    add_session(update.row);
  for (const AgentSession& row : decision.sessions)
    add_session(row);
  for (const Message& row : decision.messages)
    add_thread(row.thread_id);
  for (const Run& row : decision.runs)
    add_thread(row.thread_id);
  for (const UpdateRun& update : decision.run_updates)
    add_thread(update.row.thread_id);
  for (const ReferenceGuard& guard : decision.reference_guards)
    keys.push_back(key(Subject::reference, guard.agent_id, guard.external_session_ref));
  for (const RowWrite& write : decision.rows)
    if (!std::holds_alternative<fleet::Write>(write))
      keys.push_back(std::visit(RowKey{}, write));
  if (decision.idempotency)
    keys.push_back(
      key(Subject::idempotency_key, decision.idempotency->key.principal_id, decision.idempotency->key.key));
  return keys;
}

std::vector<std::uint64_t> reads_of(const Decision& decision) {
  std::vector<std::uint64_t> keys;
  for (const VersionGuard& guard : decision.guards)
    keys.push_back(key(subject_of(guard.row), guard.id));
  return keys;
}

} // namespace

bool BatchChooser::take(const Decision& decision) {
  auto writes = writes_of(decision);
  auto reads = reads_of(decision);
  for (const RowWrite& row : decision.rows)
    if (const auto* write = std::get_if<fleet::Write>(&row))
      add_fleet_keys(*write, writes, reads);
  const auto is_written = [this](std::uint64_t key) { return written_.contains(key); };
  const auto is_awaited = [this](std::uint64_t key) { return awaited_.contains(key); };
  const bool fits = std::ranges::none_of(writes, is_written) && std::ranges::none_of(reads, is_written) &&
                    std::ranges::none_of(writes, is_awaited);
  written_.insert(writes.begin(), writes.end());
  if (!fits)
    awaited_.insert(reads.begin(), reads.end());
  return fits;
}

} // namespace cleat::storage::pg
