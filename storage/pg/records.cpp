#include "storage/pg/records.hpp"

#include <string>
#include <utility>

namespace cleat::storage::pg {

// Members are assigned one by one: the order of the statements here is the order of the columns.

Thread read_thread(RowReader& in) {
  Thread row;
  row.id = in.next<Id>();
  row.space_id = in.next<Id>();
  row.channel_id = in.next<Id>();
  row.kind = in.next_name<ThreadKind>();
  row.title = in.next<std::string>();
  row.state = in.next_name<ThreadState>();
  row.operator_agent_id = in.next<std::optional<Id>>();
  row.created_at = in.next<Timestamp>();
  row.version = in.next<std::int64_t>();
  return row;
}

Channel read_channel(RowReader& in) {
  Channel row;
  row.id = in.next<Id>();
  row.space_id = in.next<Id>();
  row.name = in.next<std::string>();
  row.mode = in.next_name<ChannelMode>();
  row.operator_agent_id = in.next<std::optional<Id>>();
  row.main_thread_id = in.next<Id>();
  row.created_at = in.next<Timestamp>();
  row.version = in.next<std::int64_t>();
  return row;
}

Space read_space(RowReader& in) {
  Space row;
  row.id = in.next<Id>();
  row.name = in.next<std::string>();
  row.owner_id = in.next<Id>();
  row.created_at = in.next<Timestamp>();
  row.version = in.next<std::int64_t>();
  row.facts_version = in.next<std::int64_t>();
  return row;
}

Principal read_principal(RowReader& in) {
  Principal row;
  row.id = in.next<Id>();
  row.kind = in.next_name<PrincipalKind>();
  row.name = in.next<std::string>();
  row.instance_owner = in.next<bool>();
  row.created_at = in.next<Timestamp>();
  row.version = in.next<std::int64_t>();
  if (row.kind != PrincipalKind::agent) {
    in.skip(6);
    return row;
  }
  AgentProfile& agent = row.agent.emplace();
  agent.tool_class = in.next_name<ToolClass>();
  agent.billing_mode = in.next_name<BillingMode>();
  agent.holder_id = in.next<std::optional<Id>>();
  agent.enabled = in.next<bool>();
  agent.reachable = in.next<bool>();
  agent.default_model = in.next<std::optional<std::string>>();
  return row;
}

Token read_token(RowReader& in) {
  Token row;
  row.id = in.next<Id>();
  row.principal_id = in.next<Id>();
  row.label = in.next<std::string>();
  row.digest = in.next<Digest>();
  row.created_at = in.next<Timestamp>();
  row.expires_at = in.next<std::optional<Timestamp>>();
  row.revoked_at = in.next<std::optional<Timestamp>>();
  return row;
}

Grant read_grant(RowReader& in) {
  Grant row;
  row.scope = in.next_name<ScopeKind>();
  row.resource_id = in.next<Id>();
  row.space_id = in.next<Id>();
  row.principal_id = in.next<Id>();
  row.level = in.next_name<Level>();
  return row;
}

AgentSession read_session(RowReader& in) {
  AgentSession row;
  row.id = in.next<Id>();
  row.thread_id = in.next<Id>();
  row.agent_id = in.next<Id>();
  row.external_session_ref = in.next<std::string>();
  row.started = in.next<bool>();
  row.model = in.next<std::optional<std::string>>();
  row.cost_baseline_micros = in.next<std::int64_t>();
  row.cumulative_cost_micros = in.next<std::int64_t>();
  row.cost_is_estimate = in.next<bool>();
  row.currency = in.next<std::string>();
  row.created_at = in.next<Timestamp>();
  row.ended_at = in.next<std::optional<Timestamp>>();
  row.end_reason = in.next_optional_name<EndReason>();
  row.version = in.next<std::int64_t>();
  return row;
}

Run read_run(RowReader& in) {
  Run row;
  row.id = in.next<Id>();
  row.thread_id = in.next<Id>();
  row.agent_id = in.next<Id>();
  row.kind = in.next_name<RunKind>();
  row.state = in.next_name<RunState>();
  row.triggered_by = in.next<Id>();
  row.message_id = in.next<Id>();
  row.agent_session_id = in.next<std::optional<Id>>();
  row.bind_failed = in.next<bool>();
  auto code = in.next<std::optional<std::string>>();
  auto detail = in.next<std::optional<std::string>>();
  if (code)
    row.failure = RunFailure{std::move(*code), std::move(detail)};
  row.created_at = in.next<Timestamp>();
  row.queued_at = in.next<std::optional<Timestamp>>();
  row.started_at = in.next<std::optional<Timestamp>>();
  row.finished_at = in.next<std::optional<Timestamp>>();
  row.lease_expires_at = in.next<std::optional<Timestamp>>();
  row.version = in.next<std::int64_t>();
  return row;
}

Message read_message(RowReader& in) {
  Message row;
  row.id = in.next<Id>();
  row.thread_id = in.next<Id>();
  row.author_id = in.next<Id>();
  row.kind = in.next_name<MessageKind>();
  row.origin = in.next_name<MessageOrigin>();
  row.content_md = in.next<std::string>();
  row.system_code = in.next_optional_name<SystemCode>();
  row.run_id = in.next<std::optional<Id>>();
  row.created_at = in.next<Timestamp>();
  return row;
}

AuditEntry read_audit_entry(RowReader& in) {
  AuditEntry row;
  row.id = in.next<Id>();
  row.time = in.next<Timestamp>();
  row.actor_id = in.next<Id>();
  row.action = in.next<std::string>();
  row.allowed = in.next<bool>();
  row.resource_kind = in.next<std::string>();
  row.resource_id = in.next<Id>();
  row.reason = in.next<std::string>();
  row.count = in.next<std::int64_t>();
  row.details = in.next<std::string>();
  return row;
}

IdempotencyRecord read_idempotency(RowReader& in) {
  IdempotencyRecord row;
  row.key.principal_id = in.next<Id>();
  row.key.key = in.next<std::string>();
  row.key.fingerprint = in.next<Digest>();
  row.reply.status = static_cast<int>(in.next<std::int64_t>());
  row.reply.body = in.next<std::string>();
  row.reply.etag = in.next<std::optional<std::int64_t>>();
  row.created_at = in.next<Timestamp>();
  row.expires_at = in.next<Timestamp>();
  return row;
}

LoggedEvent read_event(RowReader& in) {
  LoggedEvent row;
  row.seq = in.next<std::int64_t>();
  row.event.id = in.next<Id>();
  row.event.type = in.next<std::string>();
  row.event.time = in.next<Timestamp>();
  row.event.space_id = in.next<Id>();
  row.event.channel_id = in.next<std::optional<Id>>();
  row.event.thread_id = in.next<std::optional<Id>>();
  row.event.resource_kind = in.next<std::string>();
  row.event.resource_id = in.next<Id>();
  row.event.resource_version = in.next<std::optional<std::int64_t>>();
  row.event.actor_kind = in.next_name<PrincipalKind>();
  row.event.actor_id = in.next<Id>();
  row.event.payload = in.next<std::string>();
  return row;
}

LoggedAgentEvent read_agent_event(RowReader& in) {
  LoggedAgentEvent row;
  row.seq = in.next<std::int64_t>();
  row.event.agent_id = in.next<Id>();
  row.event.type = in.next<std::string>();
  row.event.time = in.next<Timestamp>();
  row.event.payload = in.next<std::string>();
  return row;
}

OverdueRun read_overdue_run(RowReader& in) {
  OverdueRun row;
  row.run_id = in.next<Id>();
  row.thread_id = in.next<Id>();
  row.agent = read_principal(in);
  return row;
}

RunFacts read_run_facts(RowReader& in) {
  RunFacts facts;
  facts.now = in.next<Timestamp>();
  facts.turn = in.next<std::int64_t>();
  facts.active = read_optional(in, run_columns, read_run);
  facts.active_session = read_optional(in, session_columns, read_session);
  facts.current_used = in.next<bool>();
  facts.import_row = read_optional(in, session_columns, read_session);
  facts.import_reference_current = in.next<bool>();
  return facts;
}

HeldRun read_held_run(RowReader& in) {
  HeldRun held;
  held.run = read_run(in);
  held.triggered_by = read_principal(in);
  held.level = read_level(in);
  held.agent = read_principal(in);
  held.agent_level = read_level(in);
  held.message = read_message(in);
  return held;
}

ThreadFacts read_facts(RowReader& in) {
  ThreadFacts facts;
  facts.thread = read_thread(in);
  facts.channel = read_channel(in);
  facts.space = read_space(in);
  facts.operator_agent = read_optional(in, principal_columns, read_principal);
  facts.current = read_optional(in, session_columns, read_session);
  facts.newest_session_at = in.next<std::optional<Timestamp>>();
  return facts;
}

Level read_level(RowReader& in) {
  return in.next_optional_name<Level>().value_or(Level::none);
}

} // namespace cleat::storage::pg
