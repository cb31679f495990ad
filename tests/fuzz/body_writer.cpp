#include "tests/fuzz/body_writer.hpp"

#include "protocol/json_writer.hpp"

namespace cleat::fuzz {
namespace {

/// An object with what `fill` writes into it.
template <class Fill>
std::string object(Fill fill) {
  json::Writer writer;
  writer.begin_object();
  fill(writer);
  writer.end_object();
  return writer.str();
}

template <class E>
void put_word(json::Writer& writer, std::string_view member, const std::optional<E>& value) {
  if (value)
    writer.member(member, to_string(*value));
}

void put_agent(json::Writer& writer, const std::optional<AgentPatch>& agent) {
  if (!agent)
    return;
  writer.key("agent").begin_object();
  put_word(writer, "tool_class", agent->tool_class);
  put_word(writer, "billing_mode", agent->billing_mode);
  writer.member("holder_id", agent->holder_id).member("enabled", agent->enabled);
  writer.member("reachable", agent->reachable).member("default_model", agent->default_model);
  writer.end_object();
}

void put_item(json::Writer& writer, const ImportItem& item) {
  writer.begin_object().member("agent_id", item.agent_id).member("external_session_ref", item.external_session_ref);
  writer.member("model", item.model).member("cost_baseline_micros", item.cost_baseline_micros);
  writer.member("currency", item.currency);
  writer.member("created_at", item.created_at).member("ended_at", item.ended_at).end_object();
}

} // namespace

std::string write_body(const ResetBody& body) {
  return object([&](auto& out) { out.member("expected_current_session_id", body.expected_current_session_id); });
}

std::string write_body(const BindBody& body) {
  return object([&](auto& out) {
    out.member("external_session_ref", body.external_session_ref).member("take_over", body.take_over);
    out.member("expected_current_session_id", body.expected_current_session_id);
  });
}

std::string write_body(const ImportBody& body) {
  return object([&](auto& out) {
    out.key("items").begin_array();
    for (const auto& item : body.items)
      put_item(out, item);
    out.end_array();
  });
}

std::string write_body(const TriggerBody& body) {
  return object([&](auto& out) {
    out.member("content_md", body.content_md).member("agent_id", body.agent_id);
    out.member("when_active", body.when_active == WhenActive::enqueue ? "enqueue" : "reject");
  });
}

std::string write_body(const StartBody& body) {
  return object(
    [&](auto& out) { out.member("external_session_ref", body.external_session_ref).member("model", body.model); });
}

std::string write_body(const FinishBody& body) {
  return object([&](auto& out) {
    out.member("outcome", body.succeeded ? "succeeded" : "failed").member("code", body.code);
    out.member("detail", body.detail);
  });
}

std::string write_body(const PostBody& body) {
  return object([&](auto& out) { out.member("content_md", body.content_md); });
}

std::string write_body(const ReportBody& body) {
  return object([&](auto& out) {
    out.member("external_session_ref", body.external_session_ref).member("model", body.model);
    out.member("started", body.started);
    if (body.bind_failed)
      out.member("bind_failed", "session_missing");
  });
}

std::string write_body(const SpaceBody& body) {
  return object([&](auto& out) { out.member("name", body.name); });
}

std::string write_body(const SpacePatch& body) {
  return object([&](auto& out) { out.member("name", body.name); });
}

std::string write_body(const ChannelBody& body) {
  return object([&](auto& out) {
    out.member("name", body.name).member("operator_agent_id", body.operator_agent_id);
    out.member("mode", to_string(body.mode));
  });
}

std::string write_body(const ChannelPatch& body) {
  return object([&](auto& out) {
    out.member("name", body.name).member("operator_agent_id", body.operator_agent_id);
    put_word(out, "mode", body.mode);
  });
}

std::string write_body(const ThreadBody& body) {
  return object(
    [&](auto& out) { out.member("title", body.title).member("operator_agent_id", body.operator_agent_id); });
}

std::string write_body(const ThreadPatch& body) {
  return object(
    [&](auto& out) { out.member("title", body.title).member("operator_agent_id", body.operator_agent_id); });
}

std::string write_body(const PrincipalBody& body) {
  return object([&](auto& out) {
    out.member("kind", to_string(body.kind)).member("name", body.name);
    put_agent(out, body.agent);
  });
}

std::string write_body(const PrincipalPatch& body) {
  return object([&](auto& out) {
    out.member("name", body.name);
    put_agent(out, body.agent);
  });
}

std::string write_body(const TokenBody& body) {
  return object([&](auto& out) { out.member("label", body.label).member("expires_at", body.expires_at); });
}

std::string write_body(const GrantBody& body) {
  return object([&](auto& out) { out.member("level", to_string(body.level)); });
}

std::string write_body(const NameBody& body) {
  return object([&](auto& out) { out.member("name", body.name); });
}

std::string write_body(const SubscriberBody& body) {
  return object([&](auto& out) { out.member("principal_id", body.principal_id); });
}

std::string write_body(const SecretBody& body) {
  return object([&](auto& out) { out.member("value", body.value); });
}

std::string write_body(const RunnerTokenBody& body) {
  return object([&](auto& out) { out.member("label", body.label).member("expires_at", body.expires_at); });
}

std::string write_body(const ContainerBody& body) {
  return object([&](auto& out) {
    out.member("name", body.name).member("account_id", body.account_id).member("runner_id", body.runner_id);
  });
}

std::string write_body(const StartSessionBody& body) {
  return object(
    [&](auto& out) { out.member("resume_session_id", body.resume_session_id).member("reroute_of", body.reroute_of); });
}

std::string write_body(const HandleBody& body) {
  return object([&](auto& out) {
    out.member("retry_handle", body.retry_handle);
    // Retries take no wait, and lookups none that is absent.
    if (body.wait_s != 0)
      out.member("wait_s", body.wait_s);
  });
}

std::string write_body(const InputBody& body) {
  return object([&](auto& out) { out.member("line", body.line); });
}

std::string write_body(std::monostate /*body*/) {
  return "{}";
}

} // namespace cleat::fuzz
