/// What callers ask of a container's owner, and how they are answered.
#include <algorithm>
#include <chrono>
#include <utility>

#include "actors/container.hpp"
#include "actors/rules/authorize.hpp"
#include "actors/rules/records.hpp"
#include "actors/rules/runner/parts.hpp"
#include "protocol/render_fleet.hpp"

namespace cleat::actors {
namespace {

namespace rule = rules::container;

/// The name of a command in the audit log.
std::string_view action_of(const ContainerCommand& command) {
  if (const auto* const start = std::get_if<StartSession>(&command))
    return start->body && start->body->resume_session_id ? "agent_session.resume" : "agent_session.start";
  if (const auto* const follow = std::get_if<FollowHandle>(&command))
    return follow->retry ? "agent_session.retry" : "agent_session.look_up";
  if (std::holds_alternative<StopSession>(command))
    return "agent_session.stop";
  if (std::holds_alternative<SendInput>(command))
    return "agent_session.input";
  return std::holds_alternative<RemoveContainer>(command) ? "container.remove" : "orphan.resolve";
}

/// What a failed stop tells those who wait for it.
Refusal refusal_of_stop(const Operation& operation) {
  if (operation.failure->code == rule::failure::wire_contract)
    return {Code::internal};
  const bool again = operation.failure->failure_class == FailureClass::retryable;
  return {again ? Code::runner_unavailable : Code::conflict};
}

/// The answer of a start whose operation is as it is.
Answer answer_of_start(const Operation& operation, const rule::Handle& handle, bool replay) {
  if (operation.failure && operation.failure->code == rule::failure::wire_contract)
    return Answer{cleat::refuse(Code::internal)};
  const int status = operation.state == OperationState::promoted ? 201 : 202;
  return Answer{Reply{status, render::start(operation, handle.text), std::nullopt, replay}};
}

/// Whether a body that is wrong is what there is to say: behind the rights, and before the state of anything.
template <class Step, class Body>
bool is_told_its_body(const Step& step, const Body& body) {
  return !body && (step || step.error().code != Code::not_found);
}

} // namespace

RequestContext& ContainerState::context_of(ContainerCommand& command) {
  return std::visit([](auto& one) -> RequestContext& { return one.context; }, command);
}

void ContainerState::ask_for(const Call& call, storage::LoadContainer& question) {
  question.operation_id = call.earlier;
  if (const auto* const start = std::get_if<StartSession>(&call.command)) {
    if (!start->body)
      return;
    question.session_id = start->body->resume_session_id;
    if (start->body->reroute_of)
      question.reroute_of = sha256(*start->body->reroute_of);
  } else if (const auto* const follow = std::get_if<FollowHandle>(&call.command)) {
    question.handle = sha256(follow->body->retry_handle);
  } else if (const auto* const stop = std::get_if<StopSession>(&call.command)) {
    question.session_id = stop->session_id;
  } else if (const auto* const input = std::get_if<SendInput>(&call.command)) {
    question.session_id = input->session_id;
  } else if (const auto* const orphan = std::get_if<ResolveOrphan>(&call.command)) {
    question.orphan_id = orphan->orphan_id;
  }
}

void ContainerState::decide(Call& call) {
  if (const auto* const start = std::get_if<StartSession>(&call.command))
    return decide_start(call, *start);
  if (const auto* const follow = std::get_if<FollowHandle>(&call.command))
    return decide_handle(call, *follow);
  if (std::holds_alternative<StopSession>(call.command))
    return decide_stop(call);
  if (const auto* const input = std::get_if<SendInput>(&call.command))
    return decide_input(call, *input);
  if (std::holds_alternative<RemoveContainer>(call.command))
    return decide_removal(call);
  decide_resolution(call, std::get<ResolveOrphan>(call.command));
}

void ContainerState::decide_start(Call& call, const StartSession& command) {
  if (call.earlier) {
    auto again = rule::start_again(facts_, call.handle, rule_context(*call.asked));
    return again ? commit(std::move(*again)) : refuse(call, std::move(again.error()));
  }
  auto begun = rule::start(facts_, command, call.handle, rule_context(*call.asked));
  if (!begun)
    return refuse_truly_or_join(call, std::move(begun.error()));
  begin(std::move(*begun));
}

void ContainerState::decide_handle(Call& call, const FollowHandle& command) {
  const rules::RuleContext context = rule_context(*call.asked);
  if (!command.retry) {
    auto known = rule::look_up(facts_, context);
    if (!known)
      return refuse(call, std::move(known.error()));
    return join(call, std::move(known->operation));
  }
  auto step = rule::retry(facts_, context);
  if (!step)
    return refuse_truly_or_join(call, std::move(step.error()));
  if (auto* const begun = std::get_if<rule::Begun>(&*step))
    return begin(std::move(*begun));
  join(call, std::move(std::get<rule::Joined>(*step).operation));
}

void ContainerState::decide_stop(Call& call) {
  const auto& body = std::get<StopSession>(call.command).body;
  auto step = rule::stop(facts_, rule_context(*call.asked));
  if (is_told_its_body(step, body))
    return refuse(call, body.error());
  if (!step && call.asked->context.idempotency && rule::was_of(call.asked->context.actor->id, facts_))
    return look_at_key(std::move(step.error())); // its own stop, whose answer was lost, may be what released it
  if (!step)
    return refuse_truly_or_join(call, std::move(step.error()));
  if (auto* const begun = std::get_if<rule::Begun>(&*step))
    return begin(std::move(*begun));
  join(call, std::move(std::get<rule::Joined>(*step).operation));
}

void ContainerState::decide_input(Call& call, const SendInput& command) {
  auto typed = rule::input(facts_, command.body.value_or(InputBody{}), rule_context(*call.asked));
  if (is_told_its_body(typed, command.body))
    return refuse(call, command.body.error());
  if (!typed && call.asked->context.idempotency && rule::was_of(call.asked->context.actor->id, facts_))
    return look_at_key(std::move(typed.error())); // the line may have been taken before the session ended
  if (!typed)
    return refuse_truly_or_join(call, std::move(typed.error()));
  telling_.push_back(rule::envelope(*facts_.binding, typed->line, report_context()));
  commit(std::move(typed->decision));
}

void ContainerState::decide_removal(Call& call) {
  auto step = rule::remove(facts_, rule_context(*call.asked));
  if (!step && !facts_.container && call.asked->context.idempotency && call.asked->context.actor->instance_owner)
    return look_at_key(std::move(step.error())); // the same request may be what has removed it
  if (!step)
    return refuse_truly_or_join(call, std::move(step.error()));
  if (auto* const begun = std::get_if<rule::Begun>(&*step))
    return begin(std::move(*begun));
  if (auto* const decision = std::get_if<Decision>(&*step))
    return commit(std::move(*decision));
  join(call, std::move(std::get<rule::Joined>(*step).operation));
}

void ContainerState::decide_resolution(Call& call, const ResolveOrphan& command) {
  auto step = rule::resolve(facts_, call.attempt, rule_context(*call.asked));
  if (!step)
    return refuse_truly_or_join(call, std::move(step.error()));
  if (!command.body)
    return refuse(call, command.body.error());
  if (auto* const decision = std::get_if<Decision>(&*step))
    return commit(std::move(*decision));
  if (auto* const reply = std::get_if<Reply>(&*step))
    call.asked->reply(std::move(*reply));
  else
    issue_attempt(call);
  done();
}

void ContainerState::join(Call& call, Operation operation) {
  const auto patience = patience_of(call, *deps_);
  wait_or_answer(std::move(call), std::move(operation), patience);
  done();
}

void ContainerState::begin(rule::Begun begun) {
  begun_ = std::move(begun.operation);
  commit(std::move(begun.decision));
}

void ContainerState::answer(Call& call, const Decision& decision) {
  if (!begun_ && !call.earlier)
    return call.asked->reply(decision.reply);
  Operation operation = begun_ ? *begun_ : *facts_.operation;
  if (call.earlier)
    operation.handle_digest = call.handle.digest;
  const auto patience = patience_of(call, *deps_);
  wait_or_answer(std::move(call), std::move(operation), patience);
}

void ContainerState::wait_or_answer(Call call, Operation operation, std::chrono::milliseconds patience) {
  Waiter waiter{std::move(call), std::move(operation), self_->clock().now() + patience};
  if (!waiter.operation.in_flight() || patience.count() <= 0)
    return answer_waiter(waiter);
  waiters_.push_back(std::move(waiter));
  remind_later();
}

std::chrono::milliseconds ContainerState::patience_of(const Call& call, const Dependencies& deps) {
  if (const auto* const start = std::get_if<StartSession>(&call.command))
    return std::chrono::milliseconds(start->wait_ms);
  if (const auto* const follow = std::get_if<FollowHandle>(&call.command))
    return follow->retry ? std::chrono::milliseconds(0) : std::chrono::seconds(follow->body->wait_s);
  return std::chrono::seconds(deps.options.fleet.stop_timeout_s);
}

void ContainerState::answer_waiter(const Waiter& waiter) {
  const Operation& operation = waiter.operation;
  Asked& asked = *waiter.call.asked;
  if (std::holds_alternative<StartSession>(waiter.call.command))
    return asked.answer(answer_of_start(operation, waiter.call.handle, waiter.call.earlier.has_value()));
  if (std::holds_alternative<FollowHandle>(waiter.call.command))
    return asked.reply({200, render::operation(operation), std::nullopt, false});
  if (operation.in_flight())
    return asked.refuse({Code::outcome_unknown});
  if (operation.state == OperationState::failed)
    return asked.refuse(refusal_of_stop(operation));
  if (std::holds_alternative<RemoveContainer>(waiter.call.command))
    return push({waiter.call}); // what lived there has ended: now the container itself
  asked.reply({200, render::stopped(*operation.stop_session_id), std::nullopt, false});
}

void ContainerState::refuse(Call& call, Refusal refusal) {
  std::optional<AuditEntry> denial;
  if (facts_.container && rules::is_denial(refusal, true))
    denial = rules::deny_entry(action_of(call.command), {"container", facts_.container->id}, refusal,
                               rule_context(*call.asked));
  if (denial)
    refuse_audited(self_, deps_, std::move(*denial), std::move(refusal),
                   [asked = call.asked](Refusal told) { asked->refuse(std::move(told)); });
  else
    call.asked->refuse(std::move(refusal));
  done();
}

void ContainerState::refuse_truly_or_join(Call& call, Refusal refusal) {
  if (!may_be_replayed(call.asked->context, refusal))
    return refuse(call, std::move(refusal));
  look_at_key(std::move(refusal));
}

void ContainerState::look_at_key(Refusal refusal) {
  const IdempotencyKey& key = *std::get<Call>(current_->task).asked->context.idempotency;
  self_->request(deps_->store.loader, caf::infinite, storage::FindIdempotency{key.principal_id, key.key})
    .then(
      [this, number = number_, refusal](const storage::IdempotencyFound& found) {
        if (number == number_)
          on_key(std::move(*current_), refusal, found);
      },
      [this, number = number_](const caf::error&) {
        if (number == number_)
          on_key(std::move(*current_), {Code::unavailable}, {});
      });
}

void ContainerState::on_key(Work work, const Refusal& refusal, const storage::IdempotencyFound& found) {
  auto& call = std::get<Call>(work.task);
  if (found.status != storage::ReadStatus::ok)
    call.asked->refuse({Code::unavailable});
  if (found.status != storage::ReadStatus::ok)
    return done();
  if (!found.record)
    return refuse(call, refusal);
  const bool is_start = std::holds_alternative<StartSession>(call.command);
  Answer earlier = replay(call.asked->context, *found.record);
  // What is kept of a start is its operation: the same request joins it, with a handle of its own.
  if (is_start && earlier.result)
    call.earlier = Id::parse(earlier.result->body);
  if (call.earlier)
    queue_.push_front(std::move(work));
  else
    call.asked->answer(std::move(earlier));
  done();
}

void ContainerState::issue_attempt(Call& call) {
  Issuing issuing{std::move(call), deps_->ids->next(deps_->clock->now()),
                  self_->clock().now() + std::chrono::seconds(deps_->options.fleet.stop_timeout_s)};
  wire::ToRunner message;
  message.request_id = deps_->ids->next(deps_->clock->now()).str();
  message.container_attempt_id = issuing.attempt.str();
  message.command = wire::IssueAttempt{name_, issuing.attempt.str()};
  tell({message});
  issuing_.push_back(std::move(issuing));
  remind_later();
}

} // namespace cleat::actors
