/// Starts and resumes (spec 04 sections 4 and 5).
#include <utility>

#include "actors/rules/runner/parts.hpp"
#include "actors/rules/runner/session_id.hpp"

namespace cleat::rules::container {
namespace {

/// What a reroute must not overlook: an agent of the account that runs, or an operation that may still start one.
std::optional<Refusal> check_reroute(const ContainerFacts& facts, const RuleContext& context) {
  const auto& moved = facts.reroute_of;
  if (!moved || moved->account_id != facts.account->id || moved->actor_id != context.actor().id)
    return Refusal{Code::not_found};
  if (facts.account_is_live || moved->in_flight())
    return Refusal{Code::already_running};
  return std::nullopt;
}

/// Whether the named session may be resumed, before the Runner hears of it.
std::optional<Refusal> check_resume(const ContainerFacts& facts) {
  if (!facts.binding || !matches(*facts.binding, facts))
    return Refusal{Code::not_found};
  return std::nullopt;
}

/// Whether the container can take an operation now.
std::optional<Refusal> check_container(const ContainerFacts& facts, const RuleContext& context) {
  if (!context.gate_is_open)
    return Refusal{Code::not_ready, Reason::release_gate};
  if (!facts.connected())
    return Refusal{Code::runner_unavailable};
  if (!facts.container->attempt_id)
    return facts.orphans.empty() ? Refusal{Code::runner_unavailable}
                                 : Refusal{Code::conflict, Reason::container_closed};
  if (facts.live || is_busy(facts))
    return Refusal{Code::already_running};
  return std::nullopt;
}

Operation reserve(const ContainerFacts& facts, const StartSession& command, const Handle& handle,
                  const RuleContext& context) {
  Operation row;
  row.id = context.new_id();
  if (command.body->resume_session_id) {
    row.kind = OperationKind::resume;
    row.resume_session_id = command.body->resume_session_id;
  } else {
    row.relay_request_id = context.new_id();
    row.fresh_session_id = derive_session_id(*row.relay_request_id);
  }
  row.handle_digest = handle.digest;
  row.caller_request_id = command.caller_request_id;
  row.account_id = facts.account->id;
  row.actor_id = context.actor().id;
  row.runner_id = facts.runner->id;
  row.container_name = facts.container->name;
  row.container_attempt_id = *facts.container->attempt_id;
  row.enrollment_revision = facts.runner->enrollment_revision;
  row.journal_id = facts.runner->journal_id;
  row.created_at = context.now;
  row.dispatched_at = context.now;
  return row;
}

} // namespace

Result<Begun> start(const ContainerFacts& facts, const StartSession& command, const Handle& handle,
                    const RuleContext& context) {
  if (!acts_for(context.actor(), facts))
    return unknown();
  if (!command.body)
    return because(command.body.error());
  if (command.body->resume_session_id)
    if (auto refusal = check_resume(facts))
      return because(std::move(*refusal));
  if (command.body->reroute_of)
    if (auto refusal = check_reroute(facts, context))
      return because(std::move(*refusal));
  if (auto refusal = check_container(facts, context))
    return because(std::move(*refusal));

  Begun begun;
  begun.operation = reserve(facts, command, handle, context);
  // Who acts for the account must still be who asked.
  begun.decision.guards.push_back({GuardedRow::account, facts.account->id, facts.account->version});
  touch(begun.decision, facts);
  begun.decision.rows.emplace_back(fleet::InsertOperation{begun.operation});
  const bool resumes = begun.operation.kind == OperationKind::resume;
  record(begun.decision, resumes ? "agent_session.resume" : "agent_session.start", begun.operation, facts, context);
  // What is kept under an Idempotency-Key is the operation alone: a replay gets a handle of its own, and none is ever
  // stored in clear (spec 04 section 4).
  finish(begun.decision, {202, begun.operation.id.str(), std::nullopt, false}, context);
  return begun;
}

Result<Decision> start_again(const ContainerFacts& facts, const Handle& handle, const RuleContext& context) {
  auto known = look_up(facts, context);
  if (!known)
    return because(std::move(known.error()));
  Decision decision;
  decision.guards.push_back({GuardedRow::account, facts.account->id, facts.account->version});
  touch(decision, facts);
  Operation row = std::move(known->operation);
  row.handle_digest = handle.digest;
  update(decision, std::move(row));
  return decision;
}

} // namespace cleat::rules::container
