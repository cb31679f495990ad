#include "protocol/render_fleet.hpp"

#include <algorithm>

#include "protocol/validate.hpp"

namespace cleat::render {
namespace {

/// The public state of an operation: whoever waits for it need not know how far it has come on its way.
std::string_view state_of(const Operation& row) {
  return row.in_flight() ? "in_flight" : to_string(row.state);
}

/// Agents and Runners may write any bytes; JSON is UTF-8. U+FFFD is what stands for the rest.
std::string as_text(std::string_view bytes) {
  return validate::replace_invalid_utf8(bytes, "\xef\xbf\xbd");
}

/// State and result; the session id is public once the operation is promoted, and not before.
void write_outcome(json::Writer& out, const Operation& row) {
  out.member("state", state_of(row));
  if (row.state == OperationState::promoted)
    out.member("session_id", row.session_id);
  if (row.failure) {
    out.key("failure")
      .begin_object()
      .member("class", to_string(row.failure->failure_class))
      .member("code", row.failure->code)
      .end_object();
  }
}

/// The operation in flight under the current attempt. One of an earlier attempt stands in nobody's way.
const Operation* under_way(const ContainerRow& row) {
  const auto found = std::find_if(row.open.begin(), row.open.end(), [&](const Operation& operation) {
    return operation.in_flight() && operation.container_attempt_id == row.container.attempt_id;
  });
  return found == row.open.end() ? nullptr : &*found;
}

std::string_view state_of(const ContainerRow& row, const Operation* operation) {
  if (!row.connected)
    return "offline";
  if (operation != nullptr)
    return operation->kind == OperationKind::stop ? "stopping" : "starting";
  return row.live ? "live" : "idle";
}

void write_token(json::Writer& out, const RunnerToken& row, std::string_view secret) {
  out.begin_object()
    .member("id", row.id)
    .member("runner_id", row.runner_id)
    .member("label", row.label)
    .member("created_at", row.created_at)
    .member("expires_at", row.expires_at)
    .member("revoked_at", row.revoked_at);
  if (!secret.empty())
    out.member("token", secret);
  out.end_object();
}

template <class Row>
std::string one(const Row& row) {
  json::Writer out;
  fleet_rows::write(out, row);
  return out.str();
}

} // namespace

namespace fleet_rows {

void write(json::Writer& out, const Account& row) {
  out.begin_object()
    .member("id", row.id)
    .member("name", row.name)
    .member("actor_id", row.actor_id)
    .member("created_at", row.created_at)
    .member("version", row.version)
    .end_object();
}

void write(json::Writer& out, const AccountSecret& row) {
  out.begin_object().member("name", row.name).member("updated_at", row.updated_at).end_object();
}

void write(json::Writer& out, const RunnerRow& row) {
  const Runner& runner = row.runner;
  out.begin_object()
    .member("id", runner.id)
    .member("name", runner.name)
    .member("state", row.connected ? "connected" : "disconnected");
  // 0 is no enrolment yet.
  if (runner.enrollment_revision > 0)
    out.member("enrollment_revision", runner.enrollment_revision);
  if (row.connected)
    out.member("connected_at", runner.connected_at);
  out.member("created_at", runner.created_at).end_object();
}

void write(json::Writer& out, const RunnerToken& row) {
  write_token(out, row, {});
}

void write(json::Writer& out, const Orphan& row) {
  const auto reported = row.reported_session_id ? std::optional(as_text(*row.reported_session_id)) : std::nullopt;
  out.begin_object()
    .member("id", row.id)
    .member("reason", row.reason)
    .member("operation_id", row.operation_id)
    .member("account_id", row.account_id)
    .member("actor_id", row.actor_id)
    .member("runner_id", row.runner_id)
    .member("container", row.container_name)
    .member("container_attempt_id", row.container_attempt_id)
    .member("expected_session_id", row.expected_session_id)
    .member("reported_session_id", reported)
    .member("opened_at", row.opened_at)
    .member("resolved_at", row.resolved_at)
    .member("resolved_by", row.resolved_by)
    .end_object();
}

void write_container(json::Writer& out, const ContainerRow& row, const std::optional<Id>& viewer) {
  const Operation* const operation = under_way(row);
  out.begin_object()
    .member("name", row.container.name)
    .member("account_id", row.container.account_id)
    .member("runner_id", row.container.runner_id)
    .member("state", state_of(row, operation));
  if (row.live && viewer && row.account.actor_id == viewer)
    out.member("session_id", row.live->session_id);
  if (operation != nullptr) {
    out.key("operation")
      .begin_object()
      .member("state", state_of(*operation))
      .member("kind", to_string(operation->kind))
      .end_object();
  }
  out.end_object();
}

} // namespace fleet_rows

std::string start(const Operation& row, std::string_view retry_handle) {
  json::Writer out;
  out.begin_object();
  write_outcome(out, row);
  out.member("retry_handle", retry_handle).end_object();
  return out.str();
}

std::string operation(const Operation& row) {
  json::Writer out;
  out.begin_object();
  write_outcome(out, row);
  out.end_object();
  return out.str();
}

std::string stopped(std::string_view session_id) {
  json::Writer out;
  out.begin_object().member("session_id", session_id).member("state", to_string(BindingState::released)).end_object();
  return out.str();
}

std::string input_accepted(std::string_view session_id, std::int64_t seq) {
  json::Writer out;
  out.begin_object().member("session_id", session_id).member("seq", seq).end_object();
  return out.str();
}

std::string transcript_line(const TranscriptLine& row) {
  json::Writer out;
  out.begin_object()
    .member("seq", row.seq)
    .member("time", row.time)
    .member("direction", to_string(row.direction))
    .member("line", as_text(row.line))
    .member("exit_code", row.exit_code)
    .end_object();
  return out.str();
}

std::string orphan(const Orphan& row) {
  return one(row);
}

std::string account(const Account& row) {
  return one(row);
}

std::string runner(const RunnerRow& row) {
  return one(row);
}

std::string secret(const AccountSecret& row) {
  return one(row);
}

std::string runner_token(const RunnerToken& row, std::string_view secret) {
  json::Writer out;
  write_token(out, row, secret);
  return out.str();
}

std::string container(const ContainerRow& row, const std::optional<Id>& viewer) {
  json::Writer out;
  fleet_rows::write_container(out, row, viewer);
  return out.str();
}

} // namespace cleat::render
