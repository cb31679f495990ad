#include "actors/rules/records.hpp"

#include <chrono>
#include <utility>

#include "protocol/render.hpp"

namespace cleat::rules {
namespace {

Event event(std::string_view type, const Id& space_id, AuditResource resource, const RuleContext& context) {
  Event made;
  made.id = context.new_id();
  made.type = type;
  made.time = context.now;
  made.space_id = space_id;
  made.resource_kind = resource.kind;
  made.resource_id = resource.id;
  made.actor_kind = context.actor().kind;
  made.actor_id = context.actor().id;
  return made;
}

/// In the scope of a thread.
Event event_in(const Thread& thread, std::string_view type, AuditResource resource, const RuleContext& context) {
  Event made = event(type, thread.space_id, resource, context);
  made.channel_id = thread.channel_id;
  made.thread_id = thread.id;
  return made;
}

AuditEntry entry(std::string_view action, AuditResource resource, const RuleContext& context) {
  AuditEntry made;
  made.id = context.new_id();
  made.time = context.now;
  made.actor_id = context.actor().id;
  made.action = action;
  made.resource_kind = resource.kind;
  made.resource_id = resource.id;
  return made;
}

} // namespace

void finish(Decision& decision, Reply reply, const RuleContext& context) {
  Reply stored = reply;
  finish_with_secret(decision, std::move(reply), std::move(stored), context);
}

void finish_with_secret(Decision& decision, Reply reply, Reply stored, const RuleContext& context) {
  decision.reply = std::move(reply);
  if (!context.request.idempotency)
    return;
  decision.idempotency = IdempotencyRecord{*context.request.idempotency, std::move(stored), context.now,
                                           context.now + std::chrono::seconds(context.options.idempotency_retention_s)};
}

Event session_event(const AgentSession& row, const Thread& thread, const RuleContext& context) {
  Event made = event_in(thread, "agent_session.changed", {"thread", thread.id}, context);
  made.payload = render::session_changed(row);
  return made;
}

Event space_event(const Space& row, const RuleContext& context) {
  Event made = event("space.changed", row.id, {"space", row.id}, context);
  made.resource_version = row.version;
  made.payload = render::wrapped("space", render::space(row));
  return made;
}

Event channel_event(const Channel& row, const RuleContext& context) {
  Event made = event("channel.changed", row.space_id, {"channel", row.id}, context);
  made.channel_id = row.id;
  made.resource_version = row.version;
  made.payload = render::wrapped("channel", render::channel(row));
  return made;
}

Event thread_event(const Thread& row, const RuleContext& context) {
  Event made = event_in(row, "thread.changed", {"thread", row.id}, context);
  made.resource_version = row.version;
  made.payload = render::wrapped("thread", render::thread(row));
  return made;
}

Event run_event(const Run& row, const Thread& thread, const RuleContext& context) {
  Event made = event_in(thread, "run.changed", {"run", row.id}, context);
  made.resource_version = row.version;
  made.payload = render::wrapped("run", render::run(row));
  return made;
}

Event message_event(const Message& row, const Thread& thread, const RuleContext& context) {
  Event made = event_in(thread, "message.created", {"message", row.id}, context);
  made.payload = render::wrapped("message", render::message(row));
  return made;
}

AuditEntry allow_entry(std::string_view action, AuditResource resource, const RuleContext& context,
                       std::string details) {
  AuditEntry made = entry(action, resource, context);
  made.details = std::move(details);
  return made;
}

AuditEntry deny_entry(std::string_view action, AuditResource resource, const Refusal& refusal,
                      const RuleContext& context) {
  AuditEntry made = entry(action, resource, context);
  made.allowed = false;
  made.reason = refusal.reason == Reason::none ? to_string(refusal.code) : to_string(refusal.reason);
  return made;
}

} // namespace cleat::rules
