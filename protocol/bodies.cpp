#include "protocol/bodies.hpp"

#include <charconv>

#include "base/limits.hpp"
#include "protocol/bodies_parts.hpp"

namespace cleat::bodies {
namespace {

constexpr std::string_view reference_member = "external_session_ref";

std::optional<std::string> reference(ObjectReader& in, std::size_t max_bytes) {
  return checked(in, reference_member,
                 [&](std::string_view text) { return validate::external_session_ref(text, max_bytes); });
}

std::string required_reference(ObjectReader& in, std::size_t max_bytes) {
  in.require(reference_member);
  return reference(in, max_bytes).value_or("");
}

std::string required_content(ObjectReader& in, std::size_t max_bytes) {
  return required(in, "content_md", [&](std::string_view text) { return validate::content(text, max_bytes); });
}

/// A member that takes one of two words; absent is the first. Whether it is the second.
bool second_of(ObjectReader& in, std::string_view member, std::string_view first, std::string_view second) {
  const auto text = in.string(member);
  if (text && *text != first && *text != second)
    in.error(member, FieldCode::unknown_value);
  return text == second;
}

std::optional<AgentPatch> agent(ObjectReader& in) {
  AgentPatch patch;
  const bool present = in.object("agent", [&](ObjectReader& members) {
    patch.tool_class = members.enumeration<ToolClass>("tool_class");
    patch.billing_mode = members.enumeration<BillingMode>("billing_mode");
    patch.holder_id = members.id("holder_id");
    patch.enabled = members.boolean("enabled");
    patch.reachable = members.boolean("reachable");
    patch.default_model = checked(members, "default_model", validate::model);
  });
  return present ? std::optional(patch) : std::nullopt;
}

void read_import_item(ObjectReader& in, std::size_t session_ref_max_bytes, ImportItem& item) {
  in.require("agent_id");
  in.require("created_at");
  in.require("ended_at");
  item.agent_id = in.id("agent_id").value_or(Id{});
  item.external_session_ref = required_reference(in, session_ref_max_bytes);
  item.model = checked(in, "model", validate::model);
  item.currency = checked(in, "currency", validate::currency);
  item.cost_baseline_micros = in.integer("cost_baseline_micros").value_or(0);
  const auto created_at = in.time("created_at");
  const auto ended_at = in.time("ended_at");
  if (item.cost_baseline_micros < 0)
    in.error("cost_baseline_micros", FieldCode::out_of_range);
  if (created_at && ended_at && *ended_at < *created_at)
    in.error("ended_at", FieldCode::out_of_range);
  item.created_at = created_at.value_or(Timestamp{});
  item.ended_at = ended_at.value_or(Timestamp{});
}

} // namespace

Result<ResetBody> reset(std::string_view body) {
  return read<ResetBody>(body, Body::optional, [](ObjectReader& in, ResetBody& out) {
    out.expected_current_session_id = in.id("expected_current_session_id");
  });
}

Result<BindBody> bind(std::string_view body, std::size_t session_ref_max_bytes) {
  return read<BindBody>(body, Body::required, [&](ObjectReader& in, BindBody& out) {
    out.external_session_ref = required_reference(in, session_ref_max_bytes);
    out.expected_current_session_id = in.id("expected_current_session_id");
    out.take_over = in.boolean("take_over").value_or(false);
  });
}

Result<ImportBody> import_sessions(std::string_view body, std::size_t session_ref_max_bytes, std::size_t max_items) {
  return read<ImportBody>(body, Body::required, [&](ObjectReader& in, ImportBody& out) {
    in.require("items");
    const auto count = in.objects("items", max_items, [&](ObjectReader& members) {
      read_import_item(members, session_ref_max_bytes, out.items.emplace_back());
    });
    if (count == std::size_t{0})
      in.error("items", FieldCode::too_short);
  });
}

Result<TriggerBody> trigger(std::string_view body, std::size_t message_max_bytes) {
  return read<TriggerBody>(body, Body::required, [&](ObjectReader& in, TriggerBody& out) {
    out.content_md = required_content(in, message_max_bytes);
    out.agent_id = in.id("agent_id");
    out.when_active = second_of(in, "when_active", "reject", "enqueue") ? WhenActive::enqueue : WhenActive::reject;
  });
}

Result<StartBody> start(std::string_view body, std::size_t session_ref_max_bytes) {
  return read<StartBody>(body, Body::optional, [&](ObjectReader& in, StartBody& out) {
    out.external_session_ref = reference(in, session_ref_max_bytes);
    out.model = checked(in, "model", validate::model);
  });
}

Result<FinishBody> finish(std::string_view body) {
  return read<FinishBody>(body, Body::required, [](ObjectReader& in, FinishBody& out) {
    in.require("outcome");
    out.succeeded = !second_of(in, "outcome", "succeeded", "failed");
    out.code = checked(in, "code", validate::failure_code);
    out.detail = checked(in, "detail", [](std::string_view text) {
      return validate::content(text, static_cast<std::size_t>(limits::failure_detail_max_bytes));
    });
    for (const std::string_view member : {"code", "detail"})
      if (out.succeeded && in.has(member))
        in.error(member, FieldCode::not_applicable);
  });
}

Result<PostBody> post(std::string_view body, std::size_t message_max_bytes) {
  return read<PostBody>(body, Body::required, [&](ObjectReader& in, PostBody& out) {
    out.content_md = required_content(in, message_max_bytes);
  });
}

Result<ReportBody> report(std::string_view body, std::size_t session_ref_max_bytes) {
  return read<ReportBody>(body, Body::optional, [&](ObjectReader& in, ReportBody& out) {
    out.external_session_ref = reference(in, session_ref_max_bytes);
    out.model = checked(in, "model", validate::model);
    out.started = in.boolean("started").value_or(false);
    out.bind_failed = in.has("bind_failed");
    if (const auto why = in.string("bind_failed"); why && *why != "session_missing")
      in.error("bind_failed", FieldCode::unknown_value);
    if (out.bind_failed)
      in.require(reference_member);
  });
}

Result<SpaceBody> space(std::string_view body) {
  return read<SpaceBody>(body, Body::required,
                         [](ObjectReader& in, SpaceBody& out) { out.name = required_name(in, "name"); });
}

Result<SpacePatch> space_patch(std::string_view body) {
  return read<SpacePatch>(body, Body::required,
                          [](ObjectReader& in, SpacePatch& out) { out.name = checked(in, "name", validate::name); });
}

Result<ChannelBody> channel(std::string_view body) {
  return read<ChannelBody>(body, Body::required, [](ObjectReader& in, ChannelBody& out) {
    out.name = required_name(in, "name");
    out.operator_agent_id = in.id("operator_agent_id");
    out.mode = in.enumeration<ChannelMode>("mode").value_or(ChannelMode::open);
  });
}

Result<ChannelPatch> channel_patch(std::string_view body) {
  return read<ChannelPatch>(body, Body::required, [](ObjectReader& in, ChannelPatch& out) {
    out.name = checked(in, "name", validate::name);
    out.mode = in.enumeration<ChannelMode>("mode");
    out.operator_agent_id = in.id("operator_agent_id");
  });
}

Result<ThreadBody> thread(std::string_view body) {
  return read<ThreadBody>(body, Body::required, [](ObjectReader& in, ThreadBody& out) {
    out.title = required_name(in, "title");
    out.operator_agent_id = in.id("operator_agent_id");
  });
}

Result<ThreadPatch> thread_patch(std::string_view body) {
  return read<ThreadPatch>(body, Body::required, [](ObjectReader& in, ThreadPatch& out) {
    out.title = checked(in, "title", validate::name);
    out.operator_agent_id = in.id("operator_agent_id");
  });
}

Result<PrincipalBody> principal(std::string_view body) {
  return read<PrincipalBody>(body, Body::required, [](ObjectReader& in, PrincipalBody& out) {
    in.require("kind");
    out.kind = in.enumeration<PrincipalKind>("kind").value_or(PrincipalKind::human);
    out.name = required_name(in, "name");
    out.agent = agent(in);
    if (out.kind == PrincipalKind::agent)
      in.require("agent");
    else if (out.agent)
      in.error("agent", FieldCode::not_applicable);
  });
}

Result<PrincipalPatch> principal_patch(std::string_view body) {
  return read<PrincipalPatch>(body, Body::required, [](ObjectReader& in, PrincipalPatch& out) {
    out.name = checked(in, "name", validate::name);
    out.agent = agent(in);
  });
}

Result<TokenBody> token(std::string_view body) {
  return read<TokenBody>(body, Body::required, [](ObjectReader& in, TokenBody& out) {
    out.label = required_name(in, "label");
    out.expires_at = in.time("expires_at");
  });
}

Result<GrantBody> grant(std::string_view body) {
  return read<GrantBody>(body, Body::required, [](ObjectReader& in, GrantBody& out) {
    in.require("level");
    out.level = in.enumeration<Level>("level").value_or(Level::read);
  });
}

Result<std::monostate> empty(std::string_view body) {
  return read<std::monostate>(body, Body::optional, [](ObjectReader&, std::monostate&) {});
}

Result<PageRange> page_range(const std::optional<std::string>& limit, const std::optional<std::string>& cursor) {
  PageRange range{limits::page_default, std::nullopt};
  if (limit) {
    const char* const end = limit->data() + limit->size();
    const auto [stop, error] = std::from_chars(limit->data(), end, range.limit);
    if (error != std::errc{} || stop != end || range.limit < 1 || range.limit > limits::page_max)
      return refuse({{"/limit", FieldCode::out_of_range}});
  }
  if (cursor) {
    range.after = Id::parse(*cursor);
    if (!range.after)
      return refuse(Code::invalid_cursor);
  }
  return range;
}

} // namespace cleat::bodies
