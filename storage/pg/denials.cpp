#include "storage/pg/denials.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

namespace cleat::storage::pg {
namespace {

/// What makes two denials equal: everything but their time inside the window. Lengths stand before texts, so that
/// no two different denials look the same.
Digest key_of(const RecordDenial& denial) {
  const AuditEntry& entry = denial.entry;
  const auto second = std::chrono::floor<std::chrono::seconds>(entry.time).time_since_epoch().count();
  const std::int64_t window_s = std::max<std::int64_t>(denial.window_s, 1);
  std::string text = entry.actor_id.str() + entry.resource_id.str();
  for (const std::string_view part : {entry.action, entry.resource_kind, entry.reason})
    text.append(std::to_string(part.size())).append(1, ':').append(part);
  text.append(std::to_string(window_s)).append(1, ':').append(std::to_string(second / window_s));
  return sha256(text);
}

} // namespace

void DenialCounts::add(const RecordDenial& denial) {
  const auto [entry, is_new] = entries_.try_emplace(key_of(denial), denial.entry);
  if (!is_new)
    entry->second.count += denial.entry.count;
}

Params DenialCounts::params() const {
  std::vector<const AuditEntry*> rows;
  for (const auto& [key, entry] : entries_)
    rows.push_back(&entry);
  Params params;
  add_audit_columns(params, rows);
  params.array(entries_, [](const auto& item) { return item.first; });
  return params;
}

void add_audit_columns(Params& params, const std::vector<const AuditEntry*>& rows) {
  params.array(rows, [](const auto* row) { return row->id; });
  params.array(rows, [](const auto* row) { return row->time; });
  params.array(rows, [](const auto* row) { return row->actor_id; });
  params.array(rows, [](const auto* row) { return std::string_view(row->action); });
  params.array(rows, [](const auto* row) { return row->allowed; });
  params.array(rows, [](const auto* row) { return std::string_view(row->resource_kind); });
  params.array(rows, [](const auto* row) { return row->resource_id; });
  params.array(rows, [](const auto* row) { return std::string_view(row->reason); });
  params.array(rows, [](const auto* row) { return row->count; });
  params.array(rows, [](const auto* row) { return std::string_view(row->details); });
}

} // namespace cleat::storage::pg
