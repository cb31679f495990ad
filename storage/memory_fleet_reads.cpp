/// What the memory twin answers to questions about Runners, containers and sessions.
#include <algorithm>
#include <chrono>
#include <set>
#include <tuple>
#include <utility>

#include "storage/memory_fleet.hpp"

namespace cleat::storage {

namespace {

template <class Table, class Key>
std::optional<typename Table::mapped_type> row_of(const Table& table, const std::optional<Key>& key) {
  const auto found = key ? table.find(*key) : table.end();
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

/// The rows of a table that are wanted, in the order of their keys.
template <class Table, class Wanted>
std::vector<typename Table::mapped_type> rows_where(const Table& table, const Wanted& wanted) {
  std::vector<typename Table::mapped_type> rows;
  for (const auto& [key, row] : table)
    if (wanted(row))
      rows.push_back(row);
  return rows;
}

/// Takes what is behind one row more than a page away.
template <class Rows>
Rows cut(Rows rows, std::int64_t limit) {
  if (std::ssize(rows) > limit + 1)
    rows.resize(static_cast<std::size_t>(limit + 1));
  return rows;
}

bool is_behind(const Id& id, const PageRange& range) {
  return !range.after || id > *range.after;
}

} // namespace

std::vector<TranscriptLine> FleetRows::transcript_of(const std::string& session_id) const {
  return rows_where(transcripts, [&](const TranscriptLine& row) { return row.session_id == session_id; });
}

std::vector<ContainerAttempt> FleetRows::attempts_of(const std::string& container_name) const {
  return rows_where(attempts, [&](const ContainerAttempt& row) { return row.container_name == container_name; });
}

std::vector<Operation> FleetRows::operations_of(const std::string& container_name) const {
  return rows_where(operations, [&](const Operation& row) { return row.container_name == container_name; });
}

std::optional<Binding> FleetRows::live_of(const std::string& container_name) const {
  for (const auto& [session_id, row] : bindings)
    if (row.state == BindingState::live && row.container_name == container_name)
      return row;
  return std::nullopt;
}

std::optional<Node> MemoryFleet::node_of(const Runner& runner, std::int64_t node_timeout_s, Timestamp now) const {
  const auto node = row_of(rows_.nodes, runner.node_id);
  return node && node->heartbeat_at >= now - std::chrono::seconds{node_timeout_s} ? node : std::nullopt;
}

std::optional<Operation> MemoryFleet::operation_by(const std::optional<Digest>& handle,
                                                   const std::optional<Id>& id) const {
  if (!handle)
    return row_of(rows_.operations, id);
  const auto found = rows_where(rows_.operations, [&](const Operation& row) { return row.handle_digest == handle; });
  return found.empty() ? std::nullopt : std::optional(found.front());
}

std::vector<Operation> MemoryFleet::in_flight_of(const std::string& container_name) const {
  return rows_where(rows_.operations,
                    [&](const Operation& row) { return row.container_name == container_name && row.in_flight(); });
}

ContainerFacts MemoryFleet::load(const LoadContainer& question, Timestamp now) const {
  ContainerFacts facts;
  facts.container = row_of(rows_.containers, std::optional(question.name));
  if (facts.container) {
    facts.account = rows_.accounts.at(facts.container->account_id);
    facts.runner = rows_.runners.at(facts.container->runner_id);
    facts.node = node_of(*facts.runner, question.node_timeout_s, now);
    facts.account_is_live = std::ranges::any_of(rows_.bindings, [&](const auto& item) {
      return item.second.state == BindingState::live && item.second.account_id == facts.account->id;
    });
  }
  facts.open = rows_where(rows_.operations, [&](const Operation& row) {
    return row.container_name == question.name && (row.in_flight() || row.cleanup == Cleanup::claimed);
  });
  facts.live = rows_.live_of(question.name);
  facts.orphans = rows_where(
    rows_.orphans, [&](const Orphan& row) { return row.container_name == question.name && !row.resolved_at; });
  facts.operation = operation_by(question.handle, question.operation_id);
  facts.binding = row_of(rows_.bindings, question.session_id);
  if (question.reroute_of)
    facts.reroute_of = operation_by(question.reroute_of, std::nullopt);
  if (facts.binding && question.secret_name)
    facts.secret = row_of(rows_.secrets, std::optional(std::pair(facts.binding->account_id, *question.secret_name)));
  facts.orphan = row_of(rows_.orphans, question.orphan_id);
  return facts;
}

std::optional<std::string> MemoryFleet::find(const LocateContainer& question) const {
  if (const auto row = operation_by(question.handle, question.operation_id))
    return row->container_name;
  if (const auto row = row_of(rows_.bindings, question.session_id))
    return row->container_name;
  if (const auto row = row_of(rows_.orphans, question.orphan_id))
    return row->container_name;
  return std::nullopt;
}

EnrolmentFacts MemoryFleet::load(const LoadEnrolment& question) const {
  EnrolmentFacts facts;
  if (!question.runner_id) {
    const auto tokens =
      rows_where(rows_.runner_tokens, [&](const RunnerToken& row) { return row.digest == question.token; });
    if (tokens.empty())
      return facts;
    facts.token = tokens.front();
  }
  facts.runner = row_of(rows_.runners, facts.token ? std::optional(facts.token->runner_id) : question.runner_id);
  if (!facts.runner)
    return facts;
  facts.node = row_of(rows_.nodes, facts.runner->node_id);
  facts.containers =
    rows_where(rows_.containers, [&](const Container& row) { return row.runner_id == facts.runner->id; });
  return facts;
}

std::vector<HeldRunner> MemoryFleet::beat(const BeatNode& question, Timestamp now) {
  Node node = question.node;
  node.heartbeat_at = now;
  rows_.nodes.insert_or_assign(node.id, node);
  std::vector<HeldRunner> held;
  for (const auto& [id, runner] : rows_.runners)
    if (runner.node_id == node.id)
      held.push_back({id, runner.epoch});
  return held;
}

/// Whether the principal who asks may read the transcript (spec 04 section 3).
bool MemoryFleet::may_read(const Binding& binding, const FindTranscript& question) const {
  if (!question.principal_id)
    return true;
  const Id& principal = *question.principal_id;
  const auto container = row_of(rows_.containers, std::optional(binding.container_name));
  const bool is_open = binding.state == BindingState::live || question.lifetime == binding.operation_id;
  return is_open && binding.actor_id == principal && rows_.accounts.at(binding.account_id).actor_id == principal &&
         container && container->account_id == binding.account_id &&
         container->attempt_id == binding.container_attempt_id;
}

TranscriptFound MemoryFleet::find(const FindTranscript& question) const {
  TranscriptFound found;
  const auto binding = row_of(rows_.bindings, std::optional(question.session_id));
  if (!binding || !may_read(*binding, question))
    return found;
  found.visible = true;
  found.live = binding->state == BindingState::live;
  found.lifetime = binding->operation_id;
  found.through = binding->transcript_through;
  for (auto line = rows_.transcripts.upper_bound({question.session_id, question.after});
       line != rows_.transcripts.end() && line->first.first == question.session_id; ++line)
    if (std::ssize(found.lines) < question.limit && (!question.only_input || line->second.direction == Direction::in))
      found.lines.push_back(line->second);
  return found;
}

void MemoryFleet::add_facts(const LoadDirectory& question, Timestamp now, DirectoryFacts& facts) const {
  facts.container = row_of(rows_.containers, question.container_name);
  const auto named = [&](const std::optional<Id>& id, Id Container::*member) {
    return id || !facts.container ? id : std::optional(*facts.container.*member);
  };
  facts.account = row_of(rows_.accounts, named(question.account_id, &Container::account_id));
  facts.runner = row_of(rows_.runners, named(question.runner_id, &Container::runner_id));
  facts.runner_token = row_of(rows_.runner_tokens, question.runner_token_id);
  facts.orphan = row_of(rows_.orphans, question.orphan_id);
  if (question.account_id && question.secret_name)
    facts.secret = row_of(rows_.secrets, std::optional(std::pair(*question.account_id, *question.secret_name)));
  facts.connected = facts.runner && node_of(*facts.runner, question.node_timeout_s, now);
  if (!facts.container)
    return;
  facts.live = rows_.live_of(facts.container->name);
  facts.open = in_flight_of(facts.container->name);
}

std::vector<Account> MemoryFleet::read(const AccountsPage& page) const {
  return cut(rows_where(rows_.accounts, [&](const Account& row) { return is_behind(row.id, page.range); }),
             page.range.limit);
}

std::vector<AccountSecret> MemoryFleet::read(const SecretsPage& page) const {
  return cut(rows_where(rows_.secrets, [&](const AccountSecret& row) { return row.account_id == page.account_id; }),
             page.limit);
}

std::vector<RunnerRow> MemoryFleet::read(const RunnersPage& page, std::int64_t node_timeout_s, Timestamp now) const {
  std::vector<RunnerRow> rows;
  for (const auto& [id, row] : rows_.runners)
    if (is_behind(id, page.range))
      rows.push_back({row, node_of(row, node_timeout_s, now).has_value()});
  return cut(std::move(rows), page.range.limit);
}

std::vector<RunnerToken> MemoryFleet::read(const RunnerTokensPage& page) const {
  return cut(rows_where(rows_.runner_tokens,
                        [&](const RunnerToken& row) {
                          return row.runner_id == page.runner_id && is_behind(row.id, page.range);
                        }),
             page.range.limit);
}

std::vector<ContainerRow> MemoryFleet::read(const ContainersPage& page, std::int64_t node_timeout_s,
                                            Timestamp now) const {
  std::vector<ContainerRow> rows;
  for (const auto& [name, row] : rows_.containers) {
    const Account& account = rows_.accounts.at(row.account_id);
    if (!is_behind(row.id, page.range) || (page.visible_to && account.actor_id != page.visible_to))
      continue;
    const bool connected = node_of(rows_.runners.at(row.runner_id), node_timeout_s, now).has_value();
    rows.push_back({row, account, connected, rows_.live_of(name), in_flight_of(name)});
  }
  std::ranges::sort(rows, {}, [](const ContainerRow& row) { return row.container.id; });
  return cut(std::move(rows), page.range.limit);
}

std::vector<Orphan> MemoryFleet::read(const OrphansPage& page) const {
  auto rows = rows_where(rows_.orphans, [&](const Orphan& row) {
    return (!page.range.after || row.id < *page.range.after) &&
           (!page.resolved || row.resolved_at.has_value() == *page.resolved);
  });
  std::ranges::reverse(rows);
  return cut(std::move(rows), page.range.limit);
}

} // namespace cleat::storage
