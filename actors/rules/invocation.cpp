#include "actors/rules/invocation.hpp"

#include <memory>
#include <utility>

#include "actors/rules/authorize.hpp"
#include "actors/rules/records.hpp"
#include "actors/rules/session_parts.hpp"

namespace cleat::rules {
namespace {

constexpr std::string_view invocation_denied = "invocation_denied";

/// Binds the thread's newest import (spec 03 section 6, point 3). Nothing where there is none, where the thread had a
/// session since, or where the reference is current elsewhere: then the run begins with a new session, fail open.
std::optional<AgentSession> bind_import(Decision& decision, const Conversation& conversation,
                                        const RuleContext& context) {
  const auto& [facts, runs] = conversation;
  if (facts.current || !runs.import_row || runs.import_reference_current)
    return std::nullopt;
  const AgentSession& import = *runs.import_row;
  AgentSession row =
    new_session(facts, import.agent_id, import.external_session_ref, moment_after(facts, import, context.now), context);
  row.started = true;
  row.model = import.model;
  row.cost_baseline_micros = import.cost_baseline_micros;
  row.currency = import.currency;
  insert_session(decision, row, facts.thread, context);
  audit_binding(decision, {.bound = row, .cause = "import"}, context);
  return row;
}

/// Why the human who triggered a held run may not have it released now; nothing when they may.
std::optional<Refusal> may_release(const ThreadFacts& facts, const HeldRun& held) {
  if (auto refusal = require_level(held.level, Level::trigger))
    return refusal;
  return invoke_guard(held.triggered_by, agent_of_thread(facts, held.agent, held.agent_level), facts.channel,
                      facts.space);
}

void deny_release(Decision& decision, const Conversation& conversation, const HeldRun& held, const Refusal& refusal,
                  const RuleContext& context) {
  Run failed = held.run;
  failed.state = RunState::failed;
  failed.finished_at = context.now;
  const std::string_view why = refusal.reason == Reason::none ? to_string(refusal.code) : to_string(refusal.reason);
  failed.failure = RunFailure{std::string(invocation_denied), std::string(why)};
  change_run(decision, conversation, held.run, std::move(failed), context);
  decision.denials.push_back({deny_entry("run.trigger", {"thread", held.run.thread_id}, refusal, context),
                              context.options.deny_aggregate_window_s});
}

void invoke_held(Decision& decision, const Conversation& conversation, const HeldRun& held,
                 const RuleContext& context) {
  guard_agent(decision, held.agent);
  Run queued = invoke(decision, conversation, held.run, held.message, context);
  change_run(decision, conversation, held.run, std::move(queued), context);
}

} // namespace

bool is_operator(const ThreadFacts& facts, const Id& agent_id) {
  return facts.operator_agent && facts.operator_agent->id == agent_id;
}

std::optional<Principal> agent_of_thread(const ThreadFacts& facts, const std::optional<Principal>& agent, Level held) {
  if (!agent || agent->kind != PrincipalKind::agent)
    return std::nullopt;
  return is_operator(facts, agent->id) || held >= Level::read ? agent : std::nullopt;
}

SessionMode session_mode(const std::optional<AgentSession>& session, bool used) {
  if (!session || !session->started)
    return SessionMode::new_session;
  return used ? SessionMode::resume : SessionMode::bind;
}

render::SessionDecision decide_session(Decision& decision, const Conversation& conversation, const Id& agent_id,
                                       const RuleContext& context) {
  const ThreadFacts& facts = conversation.facts;
  if (!is_operator(facts, agent_id))
    return {};
  if (facts.current && facts.current->agent_id != agent_id) {
    end_rows(decision, {{*facts.current, &facts.thread}}, context.now, EndReason::agent_changed, context);
    return {SessionMode::new_session, std::nullopt};
  }
  if (facts.current) {
    guard_current(decision, facts);
    return {session_mode(facts.current, conversation.runs.current_used), facts.current};
  }
  const auto bound = bind_import(decision, conversation, context);
  if (!bound)
    guard_current(decision, facts);
  return {session_mode(bound, false), bound};
}

Run invoke(Decision& decision, const Conversation& conversation, Run run, const Message& message,
           const RuleContext& context) {
  run.state = RunState::queued;
  run.kind = is_operator(conversation.facts, run.agent_id) ? RunKind::operator_run : RunKind::guest;
  run.queued_at = context.now;
  const auto session = decide_session(decision, conversation, run.agent_id, context);
  decision.agent_events.push_back(
    {run.agent_id, "agent.invocation", context.now, render::invocation(run, message, session)});
  return run;
}

void release_next(Decision& decision, const Conversation& conversation, const RuleContext& context) {
  for (const HeldRun& held : conversation.runs.held) {
    // The actor stays the human who triggered it, whoever makes room (spec 03 section 10).
    const RequestContext request{
      std::make_shared<const Principal>(held.triggered_by), context.request.request_id, {}, {}};
    const RuleContext in_their_name{request, context.now, context.ids, context.options};
    guard_rights(decision, conversation.facts.space);
    const auto refusal = may_release(conversation.facts, held);
    if (!refusal)
      return invoke_held(decision, conversation, held, in_their_name);
    deny_release(decision, conversation, held, *refusal, in_their_name);
  }
}

std::optional<AgentSession> ended_meanwhile(const Run& run, const ReferenceFacts& reference) {
  const auto& ended = reference.ended_here;
  return ended && run.queued_at && *ended->ended_at > *run.queued_at ? ended : std::nullopt;
}

void take_turn(Decision& decision, const Conversation& conversation) {
  decision.turn = RunTurn{conversation.facts.thread.id, conversation.runs.turn};
}

Run change_run(Decision& decision, const Conversation& conversation, const Run& before, Run after,
               const RuleContext& context) {
  after.version = before.version + 1;
  decision.run_updates.push_back({after, before.state, RunExpiry::none, 0});
  decision.events.push_back(run_event(after, conversation.facts.thread, context));
  return after;
}

Message new_message(const Thread& thread, const Id& author_id, const RuleContext& context) {
  Message row;
  row.id = context.new_id();
  row.thread_id = thread.id;
  row.author_id = author_id;
  row.created_at = context.now;
  return row;
}

Message system_line(const Thread& thread, const Id& author_id, SystemCode code, const RuleContext& context) {
  Message line = new_message(thread, author_id, context);
  line.kind = MessageKind::system;
  line.origin = MessageOrigin::system;
  line.system_code = code;
  return line;
}

void add_message(Decision& decision, const Message& row, const Thread& thread, const RuleContext& context) {
  decision.messages.push_back(row);
  decision.events.push_back(message_event(row, thread, context));
}

} // namespace cleat::rules
