/// Operations whose time has come and rows that have outlived their span, in the memory twin (spec 04 section 8).
#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "storage/memory_fleet.hpp"

namespace cleat::storage {

namespace {

/// Nodes that have not been heard of for so long are forgotten.
constexpr std::chrono::hours node_span{24};

/// Why a container has to be looked after, the most urgent first, and since when.
using Reason = std::pair<int, Timestamp>;

/// The keys of the rows that are wanted, at most `limit`, in the order of `moment` and key.
template <class Table, class Wanted, class Moment>
std::vector<typename Table::key_type> oldest(const Table& table, std::int64_t limit, const Wanted& wanted,
                                             const Moment& moment) {
  std::vector<std::pair<Timestamp, typename Table::key_type>> found;
  for (const auto& [key, row] : table)
    if (wanted(row))
      found.emplace_back(moment(row), key);
  std::ranges::sort(found);
  std::vector<typename Table::key_type> keys;
  for (auto& item : found)
    if (std::ssize(keys) < limit)
      keys.push_back(item.second);
  return keys;
}

} // namespace

FleetWork MemoryFleet::find(const FindFleetWork& question, Timestamp now) const {
  FleetWork work;
  std::map<std::string, Reason> due;
  const auto add = [&](const Operation& row, int urgency, Timestamp moment) {
    const auto [item, is_new] = due.try_emplace(row.container_name, urgency, moment);
    if (!is_new)
      item->second = std::min(item->second, Reason(urgency, moment));
  };
  const auto late_at = question.now - std::chrono::seconds{question.deadline_s};
  const auto ask_at = question.now - std::chrono::milliseconds{question.ask_after_ms};
  for (const auto& [id, row] : rows_.operations) {
    work.in_flight += row.in_flight() ? 1 : 0;
    if (row.in_flight() && row.dispatched_at <= late_at)
      add(row, 0, row.dispatched_at);
    if (row.cleanup == Cleanup::claimed && *row.cleanup_deadline <= question.now)
      add(row, 1, *row.cleanup_deadline);
    if (row.in_flight() && row.dispatched_at <= ask_at && rows_.runners.at(row.runner_id).node_id == question.node_id)
      add(row, 2, row.dispatched_at);
  }
  std::vector<std::pair<Reason, std::string>> sorted;
  for (const auto& [name, reason] : due)
    sorted.emplace_back(reason, name);
  std::ranges::sort(sorted);
  for (auto& item : sorted)
    if (std::ssize(work.containers) < question.limit)
      work.containers.push_back(std::move(item.second));
  work.open_orphans = std::ranges::count_if(rows_.orphans, [](const auto& item) { return !item.second.resolved_at; });
  work.connected_runners = std::ranges::count_if(
    rows_.runners, [&](const auto& item) { return node_of(item.second, question.node_timeout_s, now).has_value(); });
  return work;
}

bool MemoryFleet::is_referred_to(const Operation& row) const {
  return std::ranges::any_of(rows_.bindings,
                             [&](const auto& item) {
                               return item.second.operation_id == row.id && item.second.state == BindingState::live;
                             }) ||
         std::ranges::any_of(rows_.orphans, [&](const auto& item) {
           return item.second.operation_id == row.id && !item.second.resolved_at;
         });
}

bool MemoryFleet::is_referred_to(const ContainerAttempt& row) const {
  const auto refers = [&](const auto& item) { return item.second.container_attempt_id == row.id; };
  return std::ranges::any_of(rows_.operations, refers) || std::ranges::any_of(rows_.bindings, refers) ||
         std::ranges::any_of(rows_.orphans, refers);
}

std::int64_t MemoryFleet::collect(const CollectGarbage& question, const FleetSpans& spans) {
  const auto before = [&](std::int64_t span_s) { return question.now - std::chrono::seconds{span_s}; };
  const auto finished_at = [](const Operation& row) { return *row.finished_at; };
  const auto is_retryable = [](const Operation& row) {
    return row.failure && row.failure->failure_class == FailureClass::retryable;
  };
  const auto is_over = [&](const Operation& row) {
    if (row.in_flight() || is_retryable(row))
      return false;
    return finished_at(row) <= before(row.state == OperationState::promoted ? spans.promoted_s : spans.failed_s);
  };
  const auto too_late = [&](const Operation& row) {
    return is_retryable(row) && finished_at(row) <= before(spans.deadline_s);
  };
  for (const Id& id : oldest(rows_.operations, question.limit, too_late, finished_at)) {
    rows_.operations.at(id).failure->failure_class = FailureClass::terminal;
    ++rows_.operations.at(id).version;
  }
  const auto keeps_handle = [&](const Operation& row) {
    return is_over(row) && row.handle_digest && is_referred_to(row);
  };
  for (const Id& id : oldest(rows_.operations, question.limit, keeps_handle, finished_at)) {
    rows_.operations.at(id).handle_digest.reset();
    ++rows_.operations.at(id).version;
  }
  std::int64_t removed = 0;
  const auto remove = [&](auto& table, const auto& wanted, const auto& moment) {
    for (const auto& key : oldest(table, question.limit, wanted, moment))
      removed += static_cast<std::int64_t>(table.erase(key));
  };
  remove(
    rows_.orphans, [&](const Orphan& row) { return row.resolved_at && *row.resolved_at <= before(spans.orphan_s); },
    [](const Orphan& row) { return *row.resolved_at; });
  remove(
    rows_.operations, [&](const Operation& row) { return is_over(row) && !is_referred_to(row); }, finished_at);
  remove(
    rows_.attempts,
    [&](const ContainerAttempt& row) {
      return !row.current && row.created_at <= before(spans.failed_s) && !is_referred_to(row);
    },
    [](const ContainerAttempt& row) { return row.created_at; });
  remove(
    rows_.nodes, [&](const Node& row) { return row.heartbeat_at <= question.now - node_span; },
    [](const Node& row) { return row.heartbeat_at; });
  return removed;
}

} // namespace cleat::storage
