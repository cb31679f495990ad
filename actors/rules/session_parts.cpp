#include "actors/rules/session_parts.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "actors/rules/records.hpp"
#include "actors/rules/session.hpp"
#include "protocol/render.hpp"

namespace cleat::rules {
namespace {

constexpr std::chrono::microseconds tick{1};

void add_guard(Decision& decision, const VersionGuard& guard) {
  if (std::find(decision.guards.begin(), decision.guards.end(), guard) == decision.guards.end())
    decision.guards.push_back(guard);
}

} // namespace

void guard_rights(Decision& decision, const Space& space) {
  add_guard(decision, {GuardedRow::space_facts, space.id, space.facts_version});
}

void guard_agent(Decision& decision, const Principal& agent) {
  add_guard(decision, {GuardedRow::principal, agent.id, agent.version});
}

void guard_current(Decision& decision, const ThreadFacts& facts) {
  const auto& current = facts.current;
  decision.current_guards.push_back(
    {facts.thread.id, current ? std::optional(current->id) : std::nullopt, current ? current->version : 0});
}

void end_rows(Decision& decision, std::vector<Ending> endings, Timestamp at, EndReason reason,
              const RuleContext& context) {
  std::sort(endings.begin(), endings.end(), [](const Ending& a, const Ending& b) { return a.row.id < b.row.id; });
  for (const Ending& ending : endings) {
    const Timestamp ended_at = std::max(at, ending.row.created_at);
    decision.ends.push_back({ending.row.id, ending.row.thread_id, ending.row.version, ended_at, reason});
    decision.events.push_back(session_event(ended(ending.row, ended_at, reason), *ending.thread, context));
  }
}

Timestamp moment_after(const ThreadFacts& facts, const std::optional<AgentSession>& newest, Timestamp now) {
  if (facts.newest_session_at)
    now = std::max(now, *facts.newest_session_at + tick);
  if (newest)
    now = std::max(now, newest->created_at + tick);
  return now;
}

AgentSession new_session(const ThreadFacts& facts, const Id& agent_id, std::string reference, Timestamp at,
                         const RuleContext& context) {
  AgentSession row;
  row.id = context.new_id();
  row.thread_id = facts.thread.id;
  row.agent_id = agent_id;
  row.external_session_ref = std::move(reference);
  row.currency = context.options.default_currency;
  row.created_at = at;
  return row;
}

void insert_session(Decision& decision, const AgentSession& row, const Thread& thread, const RuleContext& context) {
  decision.sessions.push_back(row);
  decision.events.push_back(session_event(row, thread, context));
}

void audit_binding(Decision& decision, const Binding& binding, const RuleContext& context) {
  std::vector<render::Detail> members{{"session_id", binding.bound.id.str()}};
  if (binding.ended_row)
    members.push_back({"ended_session_id", binding.ended_row->id.str()});
  if (binding.taken_over) {
    members.push_back({"taken_over_session_id", binding.taken_over->id.str()});
    members.push_back({"taken_over_thread_id", binding.taken_over->thread_id.str()});
  }
  members.push_back({"take_over", binding.taken_over ? "true" : "false", true});
  members.push_back({"cause", binding.cause});
  decision.audit.push_back(
    allow_entry("agent_session.bind", {"thread", binding.bound.thread_id}, context, render::details(members)));
}

} // namespace cleat::rules
