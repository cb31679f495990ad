/// What a retry handle selects (spec 04 section 6).
#include <utility>

#include "actors/rules/runner/parts.hpp"

namespace cleat::rules::container {
namespace {

/// Whether the span of a finished operation is over, whether or not it has been collected.
bool is_expired(const Operation& operation, const RuleContext& context) {
  if (!operation.finished_at)
    return false;
  const bool kept_long = operation.state == OperationState::failed;
  const auto span = kept_long ? context.options.operation_failed_s : context.options.operation_promoted_s;
  return *operation.finished_at + std::chrono::seconds(span) <= context.now;
}

/// A failure that may be tried again turns terminal with the deadline, whether or not that has been written down.
bool may_be_retried(const Operation& operation, const RuleContext& context) {
  return operation.failure && operation.failure->failure_class == FailureClass::retryable &&
         *operation.finished_at + std::chrono::seconds(context.options.operation_deadline_s) > context.now;
}

} // namespace

Result<Joined> look_up(const ContainerFacts& facts, const RuleContext& context) {
  const auto& operation = facts.operation;
  const bool is_known =
    operation && acts_for(context.actor(), facts) && operation->actor_id == context.actor().id &&
    operation->account_id == facts.account->id && operation->container_name == facts.container->name &&
    facts.container->attempt_id == operation->container_attempt_id && !is_expired(*operation, context);
  if (!is_known)
    return unknown();
  return Joined{*operation};
}

Result<std::variant<Begun, Joined>> retry(const ContainerFacts& facts, const RuleContext& context) {
  auto known = look_up(facts, context);
  if (!known)
    return because(std::move(known.error()));
  Operation& operation = known->operation;
  if (operation.state != OperationState::failed)
    return std::variant<Begun, Joined>(std::move(*known));
  if (!may_be_retried(operation, context))
    return refuse(Code::conflict, Reason::not_retryable);
  if (!context.gate_is_open)
    return refuse(Code::not_ready, Reason::release_gate);
  if (!facts.connected())
    return refuse(Code::runner_unavailable);
  if (facts.live || is_busy(facts))
    return refuse(Code::already_running);

  operation.state = OperationState::reserved;
  operation.failure.reset();
  operation.finished_at.reset();
  operation.dispatch += 1;
  operation.dispatched_at = context.now;
  operation.journal_id = facts.runner->journal_id;
  Begun begun;
  begun.decision.guards.push_back({GuardedRow::account, facts.account->id, facts.account->version});
  touch(begun.decision, facts);
  update(begun.decision, operation);
  operation.version += 1;
  begun.operation = operation;
  record(begun.decision, "agent_session.retry", operation, facts, context);
  return std::variant<Begun, Joined>(std::move(begun));
}

} // namespace cleat::rules::container
