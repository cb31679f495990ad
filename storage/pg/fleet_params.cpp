#include "storage/pg/fleet_params.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace cleat::storage::pg {
namespace {

using Text = std::optional<std::string_view>;

Text text_of(const std::optional<std::string>& text) {
  return text ? Text(*text) : Text();
}

Text class_of(const Operation& row) {
  return row.failure ? Text(to_string(row.failure->failure_class)) : Text();
}

Text code_of(const Operation& row) {
  return row.failure ? Text(row.failure->code) : Text();
}

std::optional<Bytes> reported_by(const Orphan& row) {
  return row.reported_session_id ? std::optional(Bytes{*row.reported_session_id}) : std::nullopt;
}

} // namespace

Params update_containers_params(const std::vector<const Container*>& rows) {
  Params params;
  params.array(rows, [](const auto* row) { return std::string_view(row->name); });
  params.array(rows, [](const auto* row) { return row->id; });
  params.array(rows, [](const auto* row) { return row->attempt_id; });
  params.array(rows, [](const auto* row) { return row->version; });
  return params;
}

Params insert_operations_params(const std::vector<const Operation*>& rows) {
  Params params;
  params.array(rows, [](const auto* row) { return row->id; });
  params.array(rows, [](const auto* row) { return to_string(row->kind); });
  params.array(rows, [](const auto* row) { return row->relay_request_id; });
  params.array(rows, [](const auto* row) { return text_of(row->fresh_session_id); });
  params.array(rows, [](const auto* row) { return text_of(row->resume_session_id); });
  params.array(rows, [](const auto* row) { return text_of(row->stop_session_id); });
  params.array(rows, [](const auto* row) { return row->handle_digest; });
  params.array(rows, [](const auto* row) { return text_of(row->caller_request_id); });
  params.array(rows, [](const auto* row) { return row->account_id; });
  params.array(rows, [](const auto* row) { return row->actor_id; });
  params.array(rows, [](const auto* row) { return row->runner_id; });
  params.array(rows, [](const auto* row) { return std::string_view(row->container_name); });
  params.array(rows, [](const auto* row) { return row->container_attempt_id; });
  params.array(rows, [](const auto* row) { return row->enrollment_revision; });
  params.array(rows, [](const auto* row) { return row->journal_id; });
  params.array(rows, [](const auto* row) { return to_string(row->state); });
  params.array(rows, [](const auto* row) { return row->dispatch; });
  params.array(rows, [](const auto* row) { return row->reconciling; });
  params.array(rows, [](const auto* row) { return class_of(*row); });
  params.array(rows, [](const auto* row) { return code_of(*row); });
  params.array(rows, [](const auto* row) { return text_of(row->session_id); });
  params.array(rows, [](const auto* row) { return to_string(row->cleanup); });
  params.array(rows, [](const auto* row) { return row->cleanup_deadline; });
  params.array(rows, [](const auto* row) { return row->created_at; });
  params.array(rows, [](const auto* row) { return row->dispatched_at; });
  params.array(rows, [](const auto* row) { return row->finished_at; });
  params.array(rows, [](const auto* row) { return row->version; });
  return params;
}

Params update_operations_params(const std::vector<const Operation*>& rows) {
  Params params;
  params.array(rows, [](const auto* row) { return row->id; });
  params.array(rows, [](const auto* row) { return row->account_id; });
  params.array(rows, [](const auto* row) { return row->actor_id; });
  params.array(rows, [](const auto* row) { return row->runner_id; });
  params.array(rows, [](const auto* row) { return std::string_view(row->container_name); });
  params.array(rows, [](const auto* row) { return row->container_attempt_id; });
  params.array(rows, [](const auto* row) { return row->handle_digest; });
  params.array(rows, [](const auto* row) { return row->journal_id; });
  params.array(rows, [](const auto* row) { return to_string(row->state); });
  params.array(rows, [](const auto* row) { return row->dispatch; });
  params.array(rows, [](const auto* row) { return row->reconciling; });
  params.array(rows, [](const auto* row) { return class_of(*row); });
  params.array(rows, [](const auto* row) { return code_of(*row); });
  params.array(rows, [](const auto* row) { return text_of(row->session_id); });
  params.array(rows, [](const auto* row) { return to_string(row->cleanup); });
  params.array(rows, [](const auto* row) { return row->cleanup_deadline; });
  params.array(rows, [](const auto* row) { return row->dispatched_at; });
  params.array(rows, [](const auto* row) { return row->finished_at; });
  params.array(rows, [](const auto* row) { return row->version; });
  return params;
}

Params insert_bindings_params(const std::vector<const Binding*>& rows) {
  Params params;
  params.array(rows, [](const auto* row) { return std::string_view(row->session_id); });
  params.array(rows, [](const auto* row) { return row->account_id; });
  params.array(rows, [](const auto* row) { return row->actor_id; });
  params.array(rows, [](const auto* row) { return row->runner_id; });
  params.array(rows, [](const auto* row) { return std::string_view(row->container_name); });
  params.array(rows, [](const auto* row) { return row->container_attempt_id; });
  params.array(rows, [](const auto* row) { return row->operation_id; });
  params.array(rows, [](const auto* row) { return to_string(row->state); });
  params.array(rows, [](const auto* row) { return row->relayed_through; });
  params.array(rows, [](const auto* row) { return row->transcript_through; });
  params.array(rows, [](const auto* row) { return row->input_through; });
  params.array(rows, [](const auto* row) { return row->created_at; });
  params.array(rows, [](const auto* row) { return row->released_at; });
  params.array(rows, [](const auto* row) { return row->version; });
  return params;
}

Params update_bindings_params(const std::vector<const Binding*>& rows) {
  Params params;
  params.array(rows, [](const auto* row) { return std::string_view(row->session_id); });
  params.array(rows, [](const auto* row) { return row->account_id; });
  params.array(rows, [](const auto* row) { return row->actor_id; });
  params.array(rows, [](const auto* row) { return row->runner_id; });
  params.array(rows, [](const auto* row) { return std::string_view(row->container_name); });
  params.array(rows, [](const auto* row) { return row->container_attempt_id; });
  params.array(rows, [](const auto* row) { return row->operation_id; });
  params.array(rows, [](const auto* row) { return to_string(row->state); });
  params.array(rows, [](const auto* row) { return row->relayed_through; });
  params.array(rows, [](const auto* row) { return row->transcript_through; });
  params.array(rows, [](const auto* row) { return row->input_through; });
  params.array(rows, [](const auto* row) { return row->released_at; });
  params.array(rows, [](const auto* row) { return row->version; });
  return params;
}

Params insert_transcripts_params(const std::vector<const TranscriptLine*>& rows) {
  Params params;
  params.array(rows, [](const auto* row) { return std::string_view(row->session_id); });
  params.array(rows, [](const auto* row) { return row->seq; });
  params.array(rows, [](const auto* row) { return row->time; });
  params.array(rows, [](const auto* row) { return to_string(row->direction); });
  params.array(rows, [](const auto* row) { return Bytes{row->line}; });
  params.array(rows, [](const auto* row) { return row->exit_code; });
  return params;
}

Params insert_orphans_params(const std::vector<const Orphan*>& rows) {
  Params params;
  params.array(rows, [](const auto* row) { return row->id; });
  params.array(rows, [](const auto* row) { return std::string_view(row->reason); });
  params.array(rows, [](const auto* row) { return row->operation_id; });
  params.array(rows, [](const auto* row) { return row->account_id; });
  params.array(rows, [](const auto* row) { return row->actor_id; });
  params.array(rows, [](const auto* row) { return row->runner_id; });
  params.array(rows, [](const auto* row) { return std::string_view(row->container_name); });
  params.array(rows, [](const auto* row) { return row->container_attempt_id; });
  params.array(rows, [](const auto* row) { return text_of(row->expected_session_id); });
  params.array(rows, [](const auto* row) { return reported_by(*row); });
  params.array(rows, [](const auto* row) { return row->opened_at; });
  params.array(rows, [](const auto* row) { return row->resolved_at; });
  params.array(rows, [](const auto* row) { return row->resolved_by; });
  params.array(rows, [](const auto* row) { return row->version; });
  return params;
}

} // namespace cleat::storage::pg
