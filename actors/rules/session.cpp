#include "actors/rules/session.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "actors/rules/authorize.hpp"
#include "actors/rules/records.hpp"
#include "actors/rules/session_parts.hpp"
#include "protocol/render.hpp"

namespace cleat::rules {
namespace {

/// Whether the caller's expectation of the current session holds; absent means "I expect none" (spec 03 section 5).
bool expectation_holds(const std::optional<AgentSession>& current, const std::optional<Id>& expected) {
  return current ? expected == current->id : !expected;
}

/// The other thread in which the reference is current, if there is one.
const OtherThread* other_thread(const ThreadFacts& facts, const std::optional<ReferenceFacts>& reference) {
  if (!reference || !reference->current || reference->current->thread_id == facts.thread.id)
    return nullptr;
  return reference->current_thread ? &*reference->current_thread : nullptr;
}

/// A reference that is current nowhere but has a history is a conversation; who binds it opens it, so they must be
/// allowed to read the thread it was last in.
std::optional<Refusal> may_open(const ThreadFacts& facts, const std::optional<ReferenceFacts>& reference) {
  if (!reference || reference->current || !reference->newest || reference->newest->thread_id == facts.thread.id)
    return std::nullopt;
  const Level level = reference->newest_thread ? reference->newest_thread->level : Level::none;
  return level < Level::read ? std::optional(Refusal{Code::not_found}) : std::nullopt;
}

/// Rights on the thread, on the thread that a take-over would touch, and on the reference's history.
std::optional<Refusal> may_bind(const ThreadView& thread, const std::optional<ReferenceFacts>& reference,
                                const Principal& actor) {
  const auto& agent = thread.facts.operator_agent;
  if (auto refusal = may_switch_session(actor, agent, thread.facts, thread.level))
    return refusal;
  if (const OtherThread* other = other_thread(thread.facts, reference))
    return may_switch_session(actor, agent, other->facts, other->level);
  return may_open(thread.facts, reference);
}

AgentSession bound_row(const ThreadFacts& facts, const ReferenceFacts& reference, Timestamp at,
                       const RuleContext& context) {
  CostBaseline baseline = cost_baseline(reference.newest, context.options.default_currency);
  AgentSession row = new_session(facts, facts.operator_agent->id, reference.external_session_ref, at, context);
  row.started = true;
  row.cost_baseline_micros = baseline.micros;
  row.currency = std::move(baseline.currency);
  return row;
}

Decision bind_decision(const ThreadFacts& facts, const ReferenceFacts& reference, const OtherThread* other,
                       const RuleContext& context) {
  const Timestamp at = moment_after(facts, reference.newest, context.now);
  Decision decision;
  guard_rights(decision, facts.space);
  guard_agent(decision, *facts.operator_agent);
  if (reference.newest_thread)
    guard_rights(decision, reference.newest_thread->facts.space);
  decision.reference_guards.push_back({reference.agent_id, reference.external_session_ref,
                                       reference.newest ? std::optional(reference.newest->id) : std::nullopt});
  std::vector<Ending> endings;
  if (facts.current)
    endings.push_back({*facts.current, &facts.thread});
  if (other) {
    guard_rights(decision, other->facts.space);
    endings.push_back({*reference.current, &other->facts.thread});
  }
  end_rows(decision, std::move(endings), at, EndReason::rebind, context);
  const AgentSession bound = bound_row(facts, reference, at, context);
  insert_session(decision, bound, facts.thread, context);
  audit_binding(decision, {bound, facts.current, other ? &*reference.current : nullptr}, context);
  finish(decision, {201, render::session(bound), bound.version, false}, context);
  return decision;
}

/// Whether an import row stands for this item already (the unique index of spec 03 section 12).
bool same_import(const AgentSession& row, const ImportItem& item) {
  return row.end_reason == EndReason::import && row.agent_id == item.agent_id &&
         row.external_session_ref == item.external_session_ref && row.created_at == item.created_at;
}

AgentSession imported_row(const ThreadFacts& facts, const ImportItem& item, const RuleContext& context) {
  AgentSession row = new_session(facts, item.agent_id, item.external_session_ref, item.created_at, context);
  row.started = true;
  row.model = item.model;
  row.cost_baseline_micros = item.cost_baseline_micros;
  row.currency = item.currency.value_or(row.currency);
  row.ended_at = item.ended_at;
  row.end_reason = EndReason::import;
  return row;
}

/// What only the server can see to be wrong with the items: agents that do not exist, sessions of the future.
std::vector<FieldError> import_errors(const std::vector<ImportItem>& items,
                                      const std::vector<std::optional<Principal>>& named, Timestamp now) {
  std::vector<FieldError> errors;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string pointer = "/items/" + std::to_string(i);
    const bool is_agent = i < named.size() && named[i] && named[i]->kind == PrincipalKind::agent;
    if (!is_agent)
      errors.push_back({pointer + "/agent_id", FieldCode::unknown_reference});
    if (items[i].created_at > now)
      errors.push_back({pointer + "/created_at", FieldCode::out_of_range});
    if (items[i].ended_at > now)
      errors.push_back({pointer + "/ended_at", FieldCode::out_of_range});
  }
  return errors;
}

} // namespace

AgentSession ended(AgentSession row, Timestamp at, EndReason reason) {
  if (!row.is_current())
    return row;
  row.ended_at = at;
  row.end_reason = reason;
  row.version += 1;
  return row;
}

CostBaseline cost_baseline(const std::optional<AgentSession>& newest, const std::string& default_currency) {
  if (!newest)
    return {0, default_currency};
  return {newest->cost_baseline_micros + newest->cumulative_cost_micros, newest->currency};
}

Result<Decision> reset(const ThreadView& thread, const ResetSession& command, const RuleContext& context) {
  const ThreadFacts& facts = thread.facts;
  if (auto refusal = may_switch_session(context.actor(), facts.operator_agent, facts, thread.level))
    return tl::unexpected<Refusal>(std::move(*refusal));
  if (!command.body)
    return tl::unexpected<Refusal>(command.body.error());
  if (!facts.current)
    return refuse(Code::conflict, Reason::no_current_session);
  const auto& expected = command.body->expected_current_session_id;
  if (expected && *expected != facts.current->id)
    return refuse(Code::conflict, Reason::session_changed);

  Decision decision;
  guard_rights(decision, facts.space);
  guard_agent(decision, *facts.operator_agent);
  end_rows(decision, {{*facts.current, &facts.thread}}, context.now, EndReason::reset, context);
  const AgentSession row = ended(*facts.current, decision.ends.front().ended_at, EndReason::reset);
  finish(decision, {201, render::session(row), row.version, false}, context);
  return decision;
}

Result<Decision> bind(const ThreadView& thread, const std::optional<ReferenceFacts>& reference,
                      const BindSession& command, const RuleContext& context) {
  if (auto refusal = may_bind(thread, reference, context.actor()))
    return tl::unexpected<Refusal>(std::move(*refusal));
  if (!command.body)
    return tl::unexpected<Refusal>(command.body.error());
  assert(reference && "a valid body and an operator give a reference");
  const OtherThread* other = other_thread(thread.facts, reference);
  if (other && !command.body->take_over)
    return refuse(Code::conflict, Reason::session_bound_elsewhere);
  if (!expectation_holds(thread.facts.current, command.body->expected_current_session_id))
    return refuse(Code::conflict, Reason::session_changed);
  return bind_decision(thread.facts, *reference, other, context);
}

Result<Decision> import_sessions(const ThreadView& thread, const std::vector<AgentSession>& sessions,
                                 const std::vector<std::optional<Principal>>& named, const ImportSessions& command,
                                 const RuleContext& context) {
  if (auto refusal = require_level(thread.level, Level::manage))
    return tl::unexpected<Refusal>(std::move(*refusal));
  if (!command.body)
    return tl::unexpected<Refusal>(command.body.error());
  auto errors = import_errors(command.body->items, named, context.now);
  if (!errors.empty())
    return refuse(std::move(errors));

  Decision decision;
  guard_rights(decision, thread.facts.space);
  std::vector<AgentSession> rows;
  for (const ImportItem& item : command.body->items) {
    const auto matches = [&](const AgentSession& row) { return same_import(row, item); };
    auto known = std::find_if(sessions.begin(), sessions.end(), matches);
    if (known != sessions.end()) {
      rows.push_back(*known);
      continue;
    }
    known = std::find_if(decision.sessions.begin(), decision.sessions.end(), matches);
    if (known != decision.sessions.end()) {
      rows.push_back(*known);
      continue;
    }
    rows.push_back(imported_row(thread.facts, item, context));
    insert_session(decision, rows.back(), thread.facts.thread, context);
  }
  const auto count = static_cast<std::int64_t>(decision.sessions.size());
  if (count > 0)
    decision.audit.push_back(allow_entry("agent_session.import", {"thread", thread.facts.thread.id}, context,
                                         render::details({{"imported", std::to_string(count)}})));
  finish(decision, {201, render::imported(rows, count), std::nullopt, false}, context);
  return decision;
}

Result<Reply> list(const ThreadView& thread, const std::vector<AgentSession>& sessions) {
  if (auto refusal = require_level(thread.level, Level::read))
    return tl::unexpected<Refusal>(std::move(*refusal));
  return Reply{200, render::sessions(sessions), std::nullopt, false};
}

void adopt(ThreadFacts& facts, const Decision& decision) {
  for (const EndSession& end : decision.ends)
    if (facts.current && facts.current->id == end.id)
      facts.current.reset();
  for (const UpdateSession& update : decision.session_updates)
    if (facts.current && facts.current->id == update.row.id)
      facts.current = update.row;
  for (const AgentSession& row : decision.sessions) {
    if (row.thread_id != facts.thread.id)
      continue;
    if (row.is_current())
      facts.current = row;
    facts.newest_session_at = std::max(facts.newest_session_at.value_or(row.created_at), row.created_at);
  }
  for (const RowWrite& write : decision.rows)
    if (const auto* const update = std::get_if<UpdateThread>(&write); update && update->row.id == facts.thread.id)
      facts.thread = update->row;
}

} // namespace cleat::rules
