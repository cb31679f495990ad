#include "actors/rules/authorize.hpp"

namespace cleat::rules {

std::optional<Refusal> require_level(Level held, Level needed) {
  if (held == Level::none)
    return Refusal{Code::not_found};
  if (held < needed)
    return Refusal{Code::forbidden, Reason::level_insufficient};
  return std::nullopt;
}

std::optional<Refusal> invoke_guard(const Principal& actor, const std::optional<Principal>& agent,
                                    const Channel& channel, const Space& space) {
  const auto denied = [](Reason reason) { return Refusal{Code::agent_invocation_denied, reason}; };
  if (actor.kind != PrincipalKind::human)
    return denied(Reason::actor_not_human);
  if (!agent || !agent->agent || !agent->agent->enabled || !agent->agent->reachable)
    return denied(Reason::agent_not_reachable);
  if (channel.mode != ChannelMode::open)
    return Refusal{Code::channel_read_only};
  const AgentProfile& profile = *agent->agent;
  if (profile.tool_class == ToolClass::host && actor.id != space.owner_id)
    return denied(Reason::tool_class_owner_only);
  if (profile.billing_mode == BillingMode::personal && profile.holder_id != actor.id)
    return denied(Reason::billing_mode_personal_not_holder);
  return std::nullopt;
}

std::optional<Refusal> may_switch_session(const Principal& actor, const std::optional<Principal>& agent,
                                          const ThreadFacts& thread, Level held) {
  if (auto refusal = require_level(held, Level::trigger))
    return refusal;
  return invoke_guard(actor, agent, thread.channel, thread.space);
}

std::optional<Refusal> require_instance_owner(const Principal& actor) {
  if (actor.instance_owner)
    return std::nullopt;
  return Refusal{Code::forbidden, Reason::owner_required};
}

bool is_denial(const Refusal& refusal, bool resource_exists) {
  switch (refusal.code) {
    case Code::forbidden:
    case Code::channel_read_only:
    case Code::agent_invocation_denied:
      return true;
    case Code::not_found:
      return resource_exists;
    default:
      return false;
  }
}

} // namespace cleat::rules
