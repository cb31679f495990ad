#include "storage/pg/fleet_records.hpp"

#include <string>
#include <utility>

#include "storage/pg/records.hpp"

namespace cleat::storage::pg {

// Members are assigned one by one: the order of the statements here is the order of the columns.

Account read_account(RowReader& in) {
  Account row;
  row.id = in.next<Id>();
  row.name = in.next<std::string>();
  row.actor_id = in.next<std::optional<Id>>();
  row.created_at = in.next<Timestamp>();
  row.version = in.next<std::int64_t>();
  return row;
}

AccountSecret read_account_secret(RowReader& in) {
  AccountSecret row;
  row.account_id = in.next<Id>();
  row.name = in.next<std::string>();
  row.sealed = in.next<std::string>();
  row.updated_at = in.next<Timestamp>();
  return row;
}

Runner read_runner(RowReader& in) {
  Runner row;
  row.id = in.next<Id>();
  row.name = in.next<std::string>();
  row.created_at = in.next<Timestamp>();
  row.version = in.next<std::int64_t>();
  row.enrollment_revision = in.next<std::int64_t>();
  row.enrollment_secret = in.next<std::optional<Digest>>();
  row.journal_id = in.next<std::optional<Id>>();
  row.epoch = in.next<std::int64_t>();
  row.node_id = in.next<std::optional<Id>>();
  row.connected_at = in.next<std::optional<Timestamp>>();
  row.disconnected_at = in.next<std::optional<Timestamp>>();
  return row;
}

RunnerToken read_runner_token(RowReader& in) {
  RunnerToken row;
  row.id = in.next<Id>();
  row.runner_id = in.next<Id>();
  row.label = in.next<std::string>();
  row.digest = in.next<Digest>();
  row.created_at = in.next<Timestamp>();
  row.expires_at = in.next<std::optional<Timestamp>>();
  row.revoked_at = in.next<std::optional<Timestamp>>();
  return row;
}

Container read_container(RowReader& in) {
  Container row;
  row.id = in.next<Id>();
  row.name = in.next<std::string>();
  row.account_id = in.next<Id>();
  row.runner_id = in.next<Id>();
  row.attempt_id = in.next<std::optional<Id>>();
  row.created_at = in.next<Timestamp>();
  row.version = in.next<std::int64_t>();
  return row;
}

Operation read_operation(RowReader& in) {
  Operation row;
  row.id = in.next<Id>();
  row.kind = in.next_name<OperationKind>();
  row.relay_request_id = in.next<std::optional<Id>>();
  row.fresh_session_id = in.next<std::optional<std::string>>();
  row.resume_session_id = in.next<std::optional<std::string>>();
  row.stop_session_id = in.next<std::optional<std::string>>();
  row.handle_digest = in.next<std::optional<Digest>>();
  row.caller_request_id = in.next<std::optional<std::string>>();
  row.account_id = in.next<Id>();
  row.actor_id = in.next<Id>();
  row.runner_id = in.next<Id>();
  row.container_name = in.next<std::string>();
  row.container_attempt_id = in.next<Id>();
  row.enrollment_revision = in.next<std::int64_t>();
  row.journal_id = in.next<std::optional<Id>>();
  row.state = in.next_name<OperationState>();
  row.dispatch = in.next<std::int64_t>();
  row.reconciling = in.next<bool>();
  const auto failure_class = in.next_optional_name<FailureClass>();
  auto code = in.next<std::optional<std::string>>();
  if (failure_class && code)
    row.failure = OperationFailure{*failure_class, std::move(*code)};
  row.session_id = in.next<std::optional<std::string>>();
  row.cleanup = in.next_name<Cleanup>();
  row.cleanup_deadline = in.next<std::optional<Timestamp>>();
  row.created_at = in.next<Timestamp>();
  row.dispatched_at = in.next<Timestamp>();
  row.finished_at = in.next<std::optional<Timestamp>>();
  row.version = in.next<std::int64_t>();
  return row;
}

Binding read_binding(RowReader& in) {
  Binding row;
  row.session_id = in.next<std::string>();
  row.account_id = in.next<Id>();
  row.actor_id = in.next<Id>();
  row.runner_id = in.next<Id>();
  row.container_name = in.next<std::string>();
  row.container_attempt_id = in.next<Id>();
  row.operation_id = in.next<Id>();
  row.state = in.next_name<BindingState>();
  row.relayed_through = in.next<std::int64_t>();
  row.transcript_through = in.next<std::int64_t>();
  row.input_through = in.next<std::int64_t>();
  row.created_at = in.next<Timestamp>();
  row.released_at = in.next<std::optional<Timestamp>>();
  row.version = in.next<std::int64_t>();
  return row;
}

TranscriptLine read_transcript_line(RowReader& in) {
  TranscriptLine row;
  row.session_id = in.next<std::string>();
  row.seq = in.next<std::int64_t>();
  row.time = in.next<Timestamp>();
  row.direction = in.next_name<Direction>();
  row.line = in.next<std::string>();
  row.exit_code = in.next<std::optional<std::int64_t>>();
  return row;
}

Orphan read_orphan(RowReader& in) {
  Orphan row;
  row.id = in.next<Id>();
  row.reason = in.next<std::string>();
  row.operation_id = in.next<Id>();
  row.account_id = in.next<Id>();
  row.actor_id = in.next<Id>();
  row.runner_id = in.next<Id>();
  row.container_name = in.next<std::string>();
  row.container_attempt_id = in.next<Id>();
  row.expected_session_id = in.next<std::optional<std::string>>();
  row.reported_session_id = in.next<std::optional<std::string>>();
  row.opened_at = in.next<Timestamp>();
  row.resolved_at = in.next<std::optional<Timestamp>>();
  row.resolved_by = in.next<std::optional<Id>>();
  row.version = in.next<std::int64_t>();
  return row;
}

Node read_node(RowReader& in) {
  Node row;
  row.id = in.next<Id>();
  row.address = in.next<std::string>();
  row.heartbeat_at = in.next<Timestamp>();
  return row;
}

RunnerRow read_runner_row(RowReader& in) {
  RunnerRow row;
  row.runner = read_runner(in);
  row.connected = in.next<bool>();
  return row;
}

void read_container_facts(RowReader& in, ContainerFacts& facts) {
  facts.container = read_optional(in, container_columns, read_container);
  facts.account = read_optional(in, account_columns, read_account);
  facts.runner = read_optional(in, runner_columns, read_runner);
  facts.node = read_optional(in, node_columns, read_node);
  facts.live = read_optional(in, binding_columns, read_binding);
  facts.account_is_live = in.next<bool>();
}

std::vector<ContainerRow> read_container_rows(const Result& result) {
  std::vector<ContainerRow> rows;
  for (int i = 0; i < result.rows(); ++i) {
    RowReader in(result, i);
    ContainerRow row;
    row.container = read_container(in);
    row.account = read_account(in);
    row.connected = in.next<bool>();
    row.live = read_optional(in, binding_columns, read_binding);
    auto operation = read_optional(in, operation_columns, read_operation);
    if (rows.empty() || rows.back().container.id != row.container.id)
      rows.push_back(std::move(row));
    if (operation)
      rows.back().open.push_back(std::move(*operation));
  }
  return rows;
}

} // namespace cleat::storage::pg
