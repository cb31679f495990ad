#include "protocol/render.hpp"

#include <type_traits>

#include "protocol/json_writer.hpp"
#include "protocol/render_fleet.hpp"

namespace cleat::render {
namespace {

using fleet_rows::write;

void write(json::Writer& out, const AgentSession& row) {
  out.begin_object()
    .member("id", row.id)
    .member("thread_id", row.thread_id)
    .member("agent_id", row.agent_id)
    .member("external_session_ref", row.external_session_ref)
    .member("is_current", row.is_current())
    .member("started", row.started)
    .member("model", row.model);
  out.key("cost")
    .begin_object()
    .member("amount_micros", row.cumulative_cost_micros)
    .member("currency", row.currency)
    .member("is_estimate", row.cost_is_estimate)
    .end_object();
  out.member("created_at", row.created_at).member("ended_at", row.ended_at);
  if (row.end_reason)
    out.member("end_reason", to_string(*row.end_reason));
  out.member("version", row.version).end_object();
}

void write(json::Writer& out, const Space& row) {
  out.begin_object()
    .member("id", row.id)
    .member("name", row.name)
    .member("owner_id", row.owner_id)
    .member("created_at", row.created_at)
    .member("version", row.version)
    .end_object();
}

void write(json::Writer& out, const Channel& row) {
  out.begin_object()
    .member("id", row.id)
    .member("space_id", row.space_id)
    .member("name", row.name)
    .member("mode", to_string(row.mode))
    .member("operator_agent_id", row.operator_agent_id)
    .member("main_thread_id", row.main_thread_id)
    .member("created_at", row.created_at)
    .member("version", row.version)
    .end_object();
}

void write(json::Writer& out, const Thread& row) {
  out.begin_object()
    .member("id", row.id)
    .member("space_id", row.space_id)
    .member("channel_id", row.channel_id)
    .member("kind", to_string(row.kind))
    .member("title", row.title)
    .member("state", to_string(row.state))
    .member("operator_agent_id", row.operator_agent_id)
    .member("created_at", row.created_at)
    .member("version", row.version)
    .end_object();
}

void write_members(json::Writer& out, const Principal& row) {
  out.member("id", row.id).member("kind", to_string(row.kind)).member("name", row.name);
  if (row.agent) {
    out.key("agent")
      .begin_object()
      .member("tool_class", to_string(row.agent->tool_class))
      .member("billing_mode", to_string(row.agent->billing_mode))
      .member("holder_id", row.agent->holder_id)
      .member("enabled", row.agent->enabled)
      .member("reachable", row.agent->reachable)
      .member("default_model", row.agent->default_model)
      .end_object();
  }
  out.member("created_at", row.created_at).member("version", row.version);
}

void write(json::Writer& out, const Principal& row) {
  out.begin_object();
  write_members(out, row);
  out.end_object();
}

void write_token(json::Writer& out, const Token& row, std::string_view secret) {
  out.begin_object()
    .member("id", row.id)
    .member("principal_id", row.principal_id)
    .member("label", row.label)
    .member("created_at", row.created_at)
    .member("expires_at", row.expires_at)
    .member("revoked_at", row.revoked_at);
  if (!secret.empty())
    out.member("token", secret);
  out.end_object();
}

void write(json::Writer& out, const Token& row) {
  write_token(out, row, {});
}

void write(json::Writer& out, const Grant& row) {
  out.begin_object().member("principal_id", row.principal_id).member("level", to_string(row.level)).end_object();
}

void write(json::Writer& out, const AuditEntry& row) {
  out.begin_object()
    .member("id", row.id)
    .member("time", row.time)
    .member("actor_id", row.actor_id)
    .member("action", row.action)
    .member("outcome", row.allowed ? "allow" : "deny");
  out.key("resource").begin_object().member("kind", row.resource_kind).member("id", row.resource_id).end_object();
  if (!row.reason.empty())
    out.member("reason", row.reason);
  out.member("count", row.count).raw_member("details", row.details).end_object();
}

void write(json::Writer& out, const Run& row) {
  out.begin_object()
    .member("id", row.id)
    .member("thread_id", row.thread_id)
    .member("agent_id", row.agent_id)
    .member("kind", to_string(row.kind))
    .member("state", to_string(row.state))
    .member("triggered_by", row.triggered_by)
    .member("message_id", row.message_id)
    .member("agent_session_id", row.agent_session_id);
  if (row.failure) {
    out.key("failure")
      .begin_object()
      .member("code", row.failure->code)
      .member("detail", row.failure->detail)
      .end_object();
  }
  out.member("created_at", row.created_at)
    .member("started_at", row.started_at)
    .member("finished_at", row.finished_at)
    .member("lease_expires_at", row.lease_expires_at)
    .member("version", row.version)
    .end_object();
}

void write(json::Writer& out, const Message& row) {
  out.begin_object()
    .member("id", row.id)
    .member("thread_id", row.thread_id)
    .member("author_id", row.author_id)
    .member("kind", to_string(row.kind))
    .member("origin", to_string(row.origin))
    .member("content_md", row.content_md);
  if (row.system_code)
    out.member("system_code", to_string(*row.system_code));
  out.member("run_id", row.run_id).member("created_at", row.created_at).end_object();
}

template <class Row>
std::string one(const Row& row) {
  json::Writer out;
  write(out, row);
  return out.str();
}

/// The id that a list is paged by.
template <class Row>
Id key_of(const Row& row) {
  return row.id;
}
Id key_of(const AccountSecret& row) {
  return row.account_id;
}
Id key_of(const RunnerRow& row) {
  return row.runner.id;
}
Id key_of(const ContainerRow& row) {
  return row.container.id;
}
Id key_of(const Grant& row) {
  return row.resource_id;
}

/// `next_cursor`, when there are more rows than were asked for.
template <class Row>
std::optional<std::string> next_cursor(const std::vector<Row>& rows, std::int64_t limit) {
  if (static_cast<std::int64_t>(rows.size()) <= limit || limit < 1)
    return std::nullopt;
  return key_of(rows[static_cast<std::size_t>(limit) - 1]).str();
}

/// How many of the rows belong on the page.
template <class Row>
std::size_t on_page(const std::vector<Row>& rows, std::int64_t limit) {
  return std::min(rows.size(), static_cast<std::size_t>(limit));
}

} // namespace

std::string session(const AgentSession& row) {
  return one(row);
}

std::string sessions(const std::vector<AgentSession>& rows) {
  json::Writer out;
  out.begin_object().key("items").begin_array();
  for (const AgentSession& row : rows)
    write(out, row);
  out.end_array().end_object();
  return out.str();
}

std::string imported(const std::vector<AgentSession>& rows, std::int64_t newly_written) {
  json::Writer out;
  out.begin_object().key("items").begin_array();
  for (const AgentSession& row : rows)
    write(out, row);
  out.end_array().member("imported", newly_written).end_object();
  return out.str();
}

std::string space(const Space& row) {
  return one(row);
}
std::string channel(const Channel& row) {
  return one(row);
}
std::string thread(const Thread& row) {
  return one(row);
}
std::string principal(const Principal& row) {
  return one(row);
}
std::string token(const Token& row, std::string_view secret) {
  json::Writer out;
  write_token(out, row, secret);
  return out.str();
}
std::string grant(const Grant& row) {
  return one(row);
}

std::string run(const Run& row) {
  return one(row);
}
std::string message(const Message& row) {
  return one(row);
}

std::string invocation(const Run& run, const Message& message, const SessionDecision& decision) {
  json::Writer out;
  out.begin_object()
    .member("run_id", run.id)
    .member("thread_id", run.thread_id)
    .member("agent_id", run.agent_id)
    .member("kind", to_string(run.kind))
    .member("triggered_by", run.triggered_by)
    .raw_member("message", one(message));
  if (decision.mode)
    out.member("session_mode", to_string(*decision.mode));
  if (decision.session)
    out.raw_member("agent_session", one(*decision.session));
  out.end_object();
  return out.str();
}

std::string event(std::int64_t seq, const Event& row) {
  json::Writer out;
  out.begin_object().member("seq", seq).member("id", row.id).member("type", row.type).member("time", row.time);
  out.key("scope")
    .begin_object()
    .member("space_id", row.space_id)
    .member("channel_id", row.channel_id)
    .member("thread_id", row.thread_id)
    .end_object();
  out.key("resource")
    .begin_object()
    .member("kind", row.resource_kind)
    .member("id", row.resource_id)
    .member("version", row.resource_version)
    .end_object();
  out.key("actor").begin_object().member("kind", to_string(row.actor_kind)).member("id", row.actor_id).end_object();
  out.raw_member("payload", row.payload).end_object();
  return out.str();
}

std::string agent_event(std::int64_t seq, const AgentEvent& row) {
  json::Writer out;
  out.begin_object()
    .member("seq", seq)
    .member("type", row.type)
    .member("time", row.time)
    .raw_member("payload", row.payload)
    .end_object();
  return out.str();
}

std::string log_page(const LogItems& items) {
  json::Writer out;
  out.begin_object().key("items").begin_array();
  for (const LogItem& item : items.items)
    out.raw(item.json);
  out.end_array().member("next_after", items.next_after).end_object();
  return out.str();
}

std::string me(const Principal& row, const std::vector<Grant>& grants, std::int64_t limit) {
  json::Writer out;
  out.begin_object();
  write_members(out, row);
  out.member("owner", row.instance_owner);
  out.key("grants").begin_object().key("items").begin_array();
  for (std::size_t i = 0; i < on_page(grants, limit); ++i) {
    const Grant& grant = grants[i];
    out.begin_object()
      .member("scope", to_string(grant.scope))
      .member("resource_id", grant.resource_id)
      .member("level", to_string(grant.level))
      .end_object();
  }
  out.end_array().member("next_cursor", next_cursor(grants, limit)).end_object().end_object();
  return out.str();
}

std::string page(const PageRows& rows, std::int64_t limit, const std::optional<Id>& viewer) {
  json::Writer out;
  out.begin_object().key("items").begin_array();
  const auto write_row = [&](const auto& row) {
    if constexpr (std::is_same_v<std::decay_t<decltype(row)>, ContainerRow>)
      fleet_rows::write_container(out, row, viewer);
    else
      write(out, row);
  };
  std::visit(
    [&](const auto& list) {
      for (std::size_t i = 0; i < on_page(list, limit); ++i)
        write_row(list[i]);
      out.end_array().member("next_cursor", next_cursor(list, limit));
    },
    rows);
  out.end_object();
  return out.str();
}

std::string session_changed(const AgentSession& row) {
  json::Writer out;
  out.begin_object().member("thread_id", row.thread_id).raw_member("agent_session", session(row)).end_object();
  return out.str();
}

std::string wrapped(std::string_view member, std::string_view json) {
  json::Writer out;
  out.begin_object().raw_member(member, json).end_object();
  return out.str();
}

std::string problem(const Refusal& refusal) {
  const ProblemInfo info = problem_info(refusal.code);
  const std::string_view reason_words = reason_detail(refusal.reason);
  json::Writer out;
  out.begin_object()
    .member("type", "urn:cleat:problem:" + std::string(to_string(refusal.code)))
    .member("title", info.title)
    .member("status", static_cast<std::int64_t>(info.status))
    .member("detail", reason_words.empty() ? info.detail : reason_words)
    .member("code", to_string(refusal.code));
  if (refusal.reason != Reason::none)
    out.member("reason", to_string(refusal.reason));
  if (!refusal.errors.empty()) {
    out.key("errors").begin_array();
    for (const FieldError& error : refusal.errors)
      out.begin_object().member("pointer", error.pointer).member("code", to_string(error.code)).end_object();
    out.end_array();
  }
  if (!refusal.current.empty())
    out.raw_member("current", refusal.current);
  out.end_object();
  return out.str();
}

std::string details(const std::vector<Detail>& members) {
  json::Writer out;
  out.begin_object();
  for (const Detail& detail : members) {
    if (detail.is_bool)
      out.member(detail.name, detail.value == "true");
    else
      out.member(detail.name, detail.value);
  }
  out.end_object();
  return out.str();
}

} // namespace cleat::render
