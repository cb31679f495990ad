#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "actors/rules/context.hpp"
#include "base/problem.hpp"
#include "protocol/decision.hpp"
#include "protocol/resources.hpp"

/// Events and audit entries, each made in one place (spec 03 sections 5 and 11).
namespace cleat::rules {

/// `agent_session.changed` of a row: resource its own thread, without version, in the thread's scope.
Event session_event(const AgentSession& row, const Thread& thread, const RuleContext& context);

/// `space.changed`, `channel.changed`, `thread.changed`: the resource as it is now, with its version.
Event space_event(const Space& row, const RuleContext& context);
Event channel_event(const Channel& row, const RuleContext& context);
Event thread_event(const Thread& row, const RuleContext& context);

/// `run.changed` and `message.created`, in the scope of their thread.
Event run_event(const Run& row, const Thread& thread, const RuleContext& context);
Event message_event(const Message& row, const Thread& thread, const RuleContext& context);

/// What an action is done to.
struct AuditResource {
  std::string_view kind;
  Id id;
};

/// An entry for an action that was done.
AuditEntry allow_entry(std::string_view action, AuditResource resource, const RuleContext& context,
                       std::string details = "{}");

/// An entry for an action that was denied; `reason` is the refusal's reason, else its code.
AuditEntry deny_entry(std::string_view action, AuditResource resource, const Refusal& refusal,
                      const RuleContext& context);

} // namespace cleat::rules
