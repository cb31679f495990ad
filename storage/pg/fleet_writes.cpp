#include "storage/pg/fleet_writes.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <variant>

#include "storage/fleet_order.hpp"
#include "storage/pg/fleet_params.hpp"
#include "storage/pg/fleet_rows.hpp"
#include "storage/pg/result.hpp"

namespace cleat::storage::pg {
namespace {

/// What a batch decides about.
struct Concerned {
  std::set<Id> accounts;
  std::set<Id> runners;
  std::set<Id> enrolled;
  std::set<std::string> containers;

  void operator()(const fleet::UpdateAccount& write) { accounts.insert(write.row.id); }
  void operator()(const fleet::UpdateRunner& write) { runners.insert(write.row.id); }
  void operator()(const fleet::Enrol& write) {
    runners.insert(write.row.id);
    enrolled.insert(write.row.id);
  }
  void operator()(const fleet::UpdateContainer& write) { containers.insert(write.row.name); }
  void operator()(const fleet::DeleteContainer& write) { containers.insert(write.name); }
  void operator()(const fleet::InsertAttempt& write) { containers.insert(write.row.container_name); }
  void operator()(const fleet::EndAttempts& write) { containers.insert(write.container_name); }
  template <class Other>
  void operator()(const Other&) {}
};

Concerned concerned(std::span<const Decision* const> decisions) {
  Concerned all;
  for (const Decision* decision : decisions)
    for (const RowWrite& row : decision->rows)
      if (const auto* write = std::get_if<fleet::Write>(&row))
        std::visit(all, *write);
  return all;
}

template <class Names>
Params names_of(const Names& names) {
  return Params().array(names, [](const auto& name) { return std::string_view(name); });
}

/// The rows alone, as the makers of parameters take them.
template <class Writes>
auto rows_of(const Writes& writes) {
  std::vector<decltype(&writes.front().write->row)> rows;
  std::ranges::transform(writes, std::back_inserter(rows), [](const auto& item) { return &item.write->row; });
  return rows;
}

/// A line of a transcript by its place.
using LineKey = std::pair<std::string, std::int64_t>;

template <class Key>
Key next_key(RowReader& in) {
  if constexpr (std::is_same_v<Key, LineKey>) {
    auto session_id = in.next<std::string>();
    return {std::move(session_id), in.next<std::int64_t>()};
  } else {
    return in.next<Key>();
  }
}

} // namespace

FleetWrites::FleetWrites(std::span<const Decision* const> decisions, Pipeline& pipeline, Refuse refuse)
  : decisions_(decisions), pipeline_(pipeline), refuse_(std::move(refuse)) {}

template <class Write>
std::vector<FleetWrites::Owned<Write>> FleetWrites::collect() const {
  std::vector<Owned<Write>> writes;
  for (std::size_t i = 0; i < decisions_.size(); ++i)
    for (const auto* write : writes_of<Write>(*decisions_[i]))
      writes.push_back({i, write});
  return writes;
}

template <class Key, class Write, class KeyOf>
void FleetWrites::add_set(const Statement& statement, const Params& params, const std::vector<Owned<Write>>& writes,
                          KeyOf key, CommitOutcome otherwise) {
  pipeline_.add(statement, params, [this, writes, key, otherwise](const Result& result) {
    if (static_cast<std::size_t>(result.rows()) == writes.size())
      return;
    std::set<Key> written;
    for (int i = 0; i < result.rows(); ++i) {
      RowReader in(result, i);
      written.insert(next_key<Key>(in));
    }
    for (const auto& item : writes)
      if (!written.contains(key(*item.write)))
        refuse_(item.decision, otherwise);
  });
}

void FleetWrites::add_owner_locks() {
  const Concerned all = concerned(decisions_);
  if (!all.accounts.empty())
    pipeline_.add(statements::lock_accounts, Params().array(all.accounts, std::identity{}));
  if (!all.runners.empty())
    pipeline_.add(statements::lock_runners, Params().array(all.runners, std::identity{}));
}

void FleetWrites::add_container_locks() {
  const Concerned all = concerned(decisions_);
  if (all.containers.empty() && all.enrolled.empty())
    return;
  Params params = names_of(all.containers);
  params.array(all.enrolled, std::identity{});
  pipeline_.add(statements::lock_containers, params);
}

void FleetWrites::add_row(std::size_t decision, const fleet::Write& write) {
  for (const FleetStatement& item : statements_of(write))
    pipeline_.add(item.statement, item.params,
                  [this, decision, expected = item.expected, otherwise = item.otherwise](const Result& result) {
                    if (expected && result.affected() != *expected)
                      refuse_(decision, otherwise);
                  });
}

void FleetWrites::add_sets() {
  add_container_updates();
  add_operation_updates(false);
  add_binding_updates(false);
  add_attempts();
  add_operation_updates(true);
  add_operations();
  add_binding_updates(true);
  add_bindings();
  add_transcripts();
  add_orphans();
}

void FleetWrites::add_container_updates() {
  const auto updates = collect<fleet::UpdateContainer>();
  if (!updates.empty())
    add_set<Id>(
      statements::update_containers, update_containers_params(rows_of(updates)), updates,
      [](const auto& write) { return write.row.id; }, CommitOutcome::stale);
}

void FleetWrites::add_operation_updates(bool in_flight) {
  auto updates = collect<fleet::UpdateOperation>();
  std::erase_if(updates, [&](const auto& item) { return item.write->row.in_flight() != in_flight; });
  if (!updates.empty())
    add_set<Id>(
      statements::update_operations, update_operations_params(rows_of(updates)), updates,
      [](const auto& write) { return write.row.id; }, CommitOutcome::stale);
}

void FleetWrites::add_binding_updates(bool live) {
  auto updates = collect<fleet::UpdateBinding>();
  std::erase_if(updates, [&](const auto& item) { return (item.write->row.state == BindingState::live) != live; });
  if (!updates.empty())
    add_set<std::string>(
      statements::update_bindings, update_bindings_params(rows_of(updates)), updates,
      [](const auto& write) { return write.row.session_id; }, CommitOutcome::stale);
}

void FleetWrites::add_attempts() {
  const auto ended = collect<fleet::EndAttempts>();
  const auto inserts = collect<fleet::InsertAttempt>();
  std::set<std::string> suspended;
  for (const auto& item : ended)
    suspended.insert(item.write->container_name);
  std::set<std::string> names = suspended;
  for (const auto& item : inserts)
    names.insert(item.write->row.container_name);
  for (const auto& item : collect<fleet::DeleteContainer>())
    names.insert(item.write->name);
  if (!names.empty())
    pipeline_.add(statements::end_attempts, names_of(names));
  if (!suspended.empty())
    pipeline_.add(statements::suspend_bindings, names_of(suspended));
  add_removals();
  if (!inserts.empty())
    add_set<Id>(
      statements::insert_attempts, insert_attempts_params(rows_of(inserts)), inserts,
      [](const auto& write) { return write.row.id; }, CommitOutcome::lost_race);
}

void FleetWrites::add_removals() {
  const auto removed = collect<fleet::DeleteContainer>();
  if (removed.empty())
    return;
  Params params;
  params.array(removed, [](const auto& item) { return std::string_view(item.write->name); });
  params.array(removed, [](const auto& item) { return item.write->version; });
  add_set<std::string>(
    statements::delete_containers, params, removed, [](const auto& write) { return write.name; }, CommitOutcome::stale);
}

void FleetWrites::add_operations() {
  const auto inserts = collect<fleet::InsertOperation>();
  if (!inserts.empty())
    add_set<Id>(
      statements::insert_operations, insert_operations_params(rows_of(inserts)), inserts,
      [](const auto& write) { return write.row.id; }, CommitOutcome::lost_race);
}

void FleetWrites::add_bindings() {
  const auto inserts = collect<fleet::InsertBinding>();
  if (!inserts.empty())
    add_set<std::string>(
      statements::insert_bindings, insert_bindings_params(rows_of(inserts)), inserts,
      [](const auto& write) { return write.row.session_id; }, CommitOutcome::lost_race);
}

void FleetWrites::add_transcripts() {
  std::vector<Owned<TranscriptLine>> lines;
  std::vector<const TranscriptLine*> rows;
  for (const auto& item : collect<fleet::AppendTranscript>())
    for (const TranscriptLine& line : item.write->lines) {
      lines.push_back({item.decision, &line});
      rows.push_back(&line);
    }
  if (!lines.empty())
    add_set<LineKey>(
      statements::insert_transcripts, insert_transcripts_params(rows), lines,
      [](const TranscriptLine& line) { return LineKey(line.session_id, line.seq); }, CommitOutcome::lost_race);
}

void FleetWrites::add_orphans() {
  const auto inserts = collect<fleet::InsertOrphan>();
  if (!inserts.empty())
    add_set<Id>(
      statements::insert_orphans, insert_orphans_params(rows_of(inserts)), inserts,
      [](const auto& write) { return write.row.id; }, CommitOutcome::lost_race);
}

} // namespace cleat::storage::pg
