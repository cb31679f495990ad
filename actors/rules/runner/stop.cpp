/// Stops, input, removal, and the end of diagnostics (spec 04 sections 5 and 8).
#include <algorithm>
#include <utility>

#include "actors/rules/authorize.hpp"
#include "actors/rules/records.hpp"
#include "actors/rules/runner/parts.hpp"
#include "protocol/render.hpp"
#include "protocol/render_fleet.hpp"

namespace cleat::rules::container {
namespace {

/// The stop of this session that is under way.
const Operation* stop_under_way(const ContainerFacts& facts, const std::string& session_id) {
  const auto found = std::ranges::find_if(facts.open, [&](const Operation& operation) {
    return operation.kind == OperationKind::stop && operation.stop_session_id == session_id && operation.in_flight();
  });
  return found == facts.open.end() ? nullptr : &*found;
}

/// Begins or joins the stop of a live binding.
Result<std::variant<Begun, Joined>> stop_binding(const ContainerFacts& facts, const Binding& binding,
                                                 const RuleContext& context) {
  if (!facts.connected())
    return refuse(Code::runner_unavailable);
  if (const Operation* const known = stop_under_way(facts, binding.session_id))
    return std::variant<Begun, Joined>(Joined{*known});
  Operation like;
  like.account_id = binding.account_id;
  like.actor_id = binding.actor_id;
  like.runner_id = binding.runner_id;
  like.container_name = binding.container_name;
  // The server fills the attempt in, from the binding.
  like.container_attempt_id = binding.container_attempt_id;
  Begun begun;
  begun.operation = new_stop(like, binding.session_id, facts, context.now, context.new_id());
  touch(begun.decision, facts);
  begun.decision.rows.emplace_back(fleet::InsertOperation{begun.operation});
  record(begun.decision, "agent_session.stop", begun.operation, facts, context);
  return std::variant<Begun, Joined>(std::move(begun));
}

} // namespace

Result<std::variant<Begun, Joined>> stop(const ContainerFacts& facts, const RuleContext& context) {
  const auto& binding = facts.binding;
  if (!binding || binding->actor_id != context.actor().id || !is_live(*binding, facts))
    return unknown();
  return stop_binding(facts, *binding, context);
}

bool was_of(const Id& actor, const ContainerFacts& facts) {
  return facts.binding && facts.binding->actor_id == actor && matches(*facts.binding, facts);
}

Result<Typed> input(const ContainerFacts& facts, const InputBody& body, const RuleContext& context) {
  const auto& binding = facts.binding;
  if (!binding || binding->actor_id != context.actor().id || !is_live(*binding, facts))
    return unknown();
  if (!facts.connected())
    return refuse(Code::runner_unavailable);
  Typed typed;
  Binding row = *binding;
  row.version += 1;
  row.transcript_through += 1;
  typed.line = {row.session_id, row.transcript_through, context.now, Direction::in, body.line, std::nullopt};
  typed.decision.guards.push_back({GuardedRow::account, facts.account->id, facts.account->version});
  typed.decision.rows.emplace_back(fleet::UpdateBinding{row});
  typed.decision.rows.emplace_back(fleet::AppendTranscript{{typed.line}});
  finish(typed.decision, {202, render::input_accepted(row.session_id, typed.line.seq), std::nullopt, false}, context);
  return typed;
}

Result<std::variant<Begun, Joined, Decision>> remove(const ContainerFacts& facts, const RuleContext& context) {
  if (!facts.container || (!context.actor().instance_owner && !acts_for(context.actor(), facts)))
    return unknown();
  if (auto refusal = require_instance_owner(context.actor()))
    return because(std::move(*refusal));
  if (!facts.container->attempt_id && !facts.orphans.empty())
    return refuse(Code::conflict, Reason::container_closed);
  if (facts.live) {
    auto step = stop_binding(facts, *facts.live, context);
    if (!step)
      return because(std::move(step.error()));
    return std::visit([](auto&& one) { return std::variant<Begun, Joined, Decision>(std::move(one)); },
                      std::move(*step));
  }
  if (is_busy(facts))
    return refuse(Code::already_running);
  Decision decision;
  decision.rows.emplace_back(fleet::DeleteContainer{facts.container->name, facts.container->version});
  decision.audit.push_back(allow_entry("container.remove", {"container", facts.container->id}, context));
  finish(decision, {204, "", std::nullopt, false}, context);
  return std::variant<Begun, Joined, Decision>(std::move(decision));
}

Result<std::variant<AskForAttempt, Decision, Reply>>
resolve(const ContainerFacts& facts, const std::optional<Id>& attempt, const RuleContext& context) {
  using Step = std::variant<AskForAttempt, Decision, Reply>;
  if (auto refusal = require_instance_owner(context.actor()))
    return because(std::move(*refusal));
  if (!facts.orphan)
    return unknown();
  if (facts.orphan->resolved_at)
    return Step(Reply{200, render::orphan(*facts.orphan), std::nullopt, false});
  const bool is_closed = facts.container && !facts.container->attempt_id;
  if (is_closed && !facts.connected())
    return refuse(Code::runner_unavailable);
  if (is_closed && !attempt)
    return Step(AskForAttempt{});

  Decision decision;
  Orphan row = *facts.orphan;
  row.resolved_at = context.now;
  row.resolved_by = context.actor().id;
  row.version += 1;
  decision.rows.emplace_back(fleet::UpdateOrphan{row});
  if (is_closed) {
    Container opened = *facts.container;
    opened.attempt_id = attempt;
    opened.version += 1;
    decision.rows.emplace_back(fleet::UpdateContainer{opened});
    decision.rows.emplace_back(fleet::InsertAttempt{
      {*attempt, opened.name, opened.runner_id, facts.runner->enrollment_revision, true, context.now}});
  }
  decision.audit.push_back(allow_entry("orphan.resolve", {"orphan_diagnostic", row.id}, context));
  finish(decision, {200, render::orphan(row), std::nullopt, false}, context);
  return Step(std::move(decision));
}

} // namespace cleat::rules::container
