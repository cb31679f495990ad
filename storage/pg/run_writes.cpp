#include "storage/pg/run_writes.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace cleat::storage::pg {
namespace {

/// The name by which update_runs knows what must have passed; NULL where nothing has to.
std::optional<std::string_view> name_of(RunExpiry expiry) {
  switch (expiry) {
    case RunExpiry::none:
      break;
    case RunExpiry::lease:
      return "lease";
    case RunExpiry::queued:
      return "queued";
  }
  return std::nullopt;
}

std::optional<std::string_view> code_of(const Run& row) {
  return row.failure ? std::optional<std::string_view>(row.failure->code) : std::nullopt;
}

std::optional<std::string> detail_of(const Run& row) {
  return row.failure ? row.failure->detail : std::nullopt;
}

} // namespace

Params update_sessions_params(const std::vector<const UpdateSession*>& updates) {
  Params params;
  params.array(updates, [](const auto* update) { return update->row.id; });
  params.array(updates, [](const auto* update) { return update->row.thread_id; });
  params.array(updates, [](const auto* update) { return std::string_view(update->row.external_session_ref); });
  params.array(updates, [](const auto* update) { return update->row.model; });
  params.array(updates, [](const auto* update) { return update->row.started; });
  params.array(updates, [](const auto* update) { return update->row.version; });
  return params;
}

Params insert_messages_params(const std::vector<const Message*>& rows) {
  Params params;
  params.array(rows, [](const auto* row) { return row->id; });
  params.array(rows, [](const auto* row) { return row->thread_id; });
  params.array(rows, [](const auto* row) { return row->author_id; });
  params.array(rows, [](const auto* row) { return to_string(row->kind); });
  params.array(rows, [](const auto* row) { return to_string(row->origin); });
  params.array(rows, [](const auto* row) { return std::string_view(row->content_md); });
  params.array(rows, [](const auto* row) {
    return row->system_code ? std::optional(to_string(*row->system_code)) : std::nullopt;
  });
  params.array(rows, [](const auto* row) { return row->run_id; });
  params.array(rows, [](const auto* row) { return row->created_at; });
  return params;
}

Params insert_runs_params(const std::vector<const Run*>& rows) {
  Params params;
  params.array(rows, [](const auto* row) { return row->id; });
  params.array(rows, [](const auto* row) { return row->thread_id; });
  params.array(rows, [](const auto* row) { return row->agent_id; });
  params.array(rows, [](const auto* row) { return to_string(row->kind); });
  params.array(rows, [](const auto* row) { return to_string(row->state); });
  params.array(rows, [](const auto* row) { return row->triggered_by; });
  params.array(rows, [](const auto* row) { return row->message_id; });
  params.array(rows, [](const auto* row) { return row->agent_session_id; });
  params.array(rows, [](const auto* row) { return row->bind_failed; });
  params.array(rows, [](const auto* row) { return code_of(*row); });
  params.array(rows, [](const auto* row) { return detail_of(*row); });
  params.array(rows, [](const auto* row) { return row->created_at; });
  params.array(rows, [](const auto* row) { return row->queued_at; });
  params.array(rows, [](const auto* row) { return row->started_at; });
  params.array(rows, [](const auto* row) { return row->finished_at; });
  params.array(rows, [](const auto* row) { return row->lease_expires_at; });
  params.array(rows, [](const auto* row) { return row->version; });
  return params;
}

Params update_runs_params(const std::vector<const UpdateRun*>& updates) {
  Params params;
  params.array(updates, [](const auto* update) { return update->row.id; });
  params.array(updates, [](const auto* update) { return update->row.thread_id; });
  params.array(updates, [](const auto* update) { return update->row.version; });
  params.array(updates, [](const auto* update) { return to_string(update->row.state); });
  params.array(updates, [](const auto* update) { return to_string(update->from); });
  params.array(updates, [](const auto* update) { return name_of(update->expiry); });
  params.array(updates, [](const auto* update) { return update->queued_timeout_s; });
  params.array(updates, [](const auto* update) { return update->row.agent_session_id; });
  params.array(updates, [](const auto* update) { return code_of(update->row); });
  params.array(updates, [](const auto* update) { return detail_of(update->row); });
  params.array(updates, [](const auto* update) { return update->row.queued_at; });
  params.array(updates, [](const auto* update) { return update->row.started_at; });
  params.array(updates, [](const auto* update) { return update->row.finished_at; });
  params.array(updates, [](const auto* update) { return update->row.lease_expires_at; });
  params.array(updates, [](const auto* update) { return to_string(update->row.kind); });
  params.array(updates, [](const auto* update) { return update->row.bind_failed; });
  return params;
}

Params insert_agent_events_params(const std::vector<const AgentEvent*>& rows) {
  Params params;
  params.array(rows, [](const auto* row) { return row->agent_id; });
  params.array(rows, [](const auto* row) { return std::string_view(row->type); });
  params.array(rows, [](const auto* row) { return row->time; });
  params.array(rows, [](const auto* row) { return std::string_view(row->payload); });
  return params;
}

} // namespace cleat::storage::pg
