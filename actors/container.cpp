#include "actors/container.hpp"

#include <chrono>
#include <utility>

#include "base/crash_points.hpp"
#include "base/log.hpp"
#include "base/random.hpp"

namespace cleat::actors {

using storage::CommitOutcome;

void ContainerState::init(const std::string& container_name, DependenciesPtr deps, hub_actor hub, herald_actor herald) {
  name_ = container_name;
  deps_ = std::move(deps);
  hub_ = std::move(hub);
  herald_ = std::move(herald);
}

AnswerPromise ContainerState::enqueue(ContainerCommand command) {
  auto promise = self_->make_response_promise<Answer>();
  if (static_cast<std::int64_t>(queue_.size()) >= deps_->options.fleet.container_queue_max) {
    promise.deliver(Answer{cleat::refuse(Code::overloaded)});
    return promise;
  }
  auto asked = std::make_shared<Asked>(context_of(command), promise);
  rules::container::Handle handle{new_secret(), {}};
  handle.digest = sha256(handle.text);
  push({Call{std::move(command), std::move(asked), std::move(handle)}});
  return promise;
}

void ContainerState::enqueue(RunnerSays says) {
  if (static_cast<std::int64_t>(queue_.size()) < deps_->options.fleet.container_queue_max)
    push({std::move(says)});
}

void ContainerState::enqueue(const Reconcile& reconcile) {
  push({reconcile});
}

void ContainerState::look() {
  // One look in the queue sees for all.
  if (!waiters_.empty() && !std::exchange(looking_, true))
    push({Look{}});
}

void ContainerState::push(Work work) {
  abandon_overdue_work();
  queue_.push_back(std::move(work));
  start_next();
}

void ContainerState::abandon_overdue_work() {
  if (!current_ || self_->clock().now() - since_ < patience(*deps_))
    return;
  ++number_;
  if (auto* const call = std::get_if<Call>(&current_->task))
    call->asked->refuse({committing_ ? Code::outcome_unknown : Code::unavailable});
  done();
}

void ContainerState::start_next() {
  if (current_ || queue_.empty())
    return;
  current_ = std::move(queue_.front());
  queue_.pop_front();
  if (std::holds_alternative<Look>(current_->task))
    looking_ = false;
  ++number_;
  since_ = self_->clock().now();
  // Storage bounds its own answers, and work that is overdue is abandoned, so no timer is set (decision 0010).
  self_->request(deps_->store.loader, caf::infinite, question())
    .then(
      [this, number = number_](const storage::ContainerLoaded& loaded) {
        if (number == number_)
          on_loaded(loaded);
      },
      [this, number = number_](const caf::error&) {
        if (number == number_)
          on_loaded({storage::ReadStatus::unavailable, {}});
      });
}

storage::LoadContainer ContainerState::question() const {
  storage::LoadContainer asked;
  asked.name = name_;
  asked.node_timeout_s = deps_->options.fleet.node_timeout_s;
  if (const auto* const call = std::get_if<Call>(&current_->task))
    ask_for(*call, asked);
  else if (const auto* const says = std::get_if<RunnerSays>(&current_->task))
    ask_for(*says, asked);
  if (current_->session_id)
    asked.session_id = current_->session_id;
  return asked;
}

void ContainerState::on_loaded(const storage::ContainerLoaded& loaded) {
  if (loaded.status != storage::ReadStatus::ok) {
    if (auto* const call = std::get_if<Call>(&current_->task))
      call->asked->refuse({Code::unavailable});
    return done();
  }
  facts_ = loaded.facts;
  for (const Operation& operation : facts_.open)
    notice(operation);
  std::visit([this](auto& task) { decide(task); }, current_->task);
}

void ContainerState::commit(Decision decision) {
  committing_ = std::make_shared<const Decision>(std::move(decision));
  crash_point(CrashPoint::container_decided);
  self_->request(deps_->store.writer, caf::infinite, storage::Commit{committing_})
    .then([this, number = number_](const storage::CommitResult& result) { on_committed(number, result.outcome); },
          [this, number = number_](const caf::error&) { on_committed(number, CommitOutcome::unknown); });
}

void ContainerState::on_committed(std::uint64_t number, CommitOutcome outcome) {
  if (number != number_)
    return;
  deps_->metrics->decisions.Add({{"outcome", std::string(storage::to_string(outcome))}}).Increment();
  const auto decision = std::move(committing_);
  if (outcome == CommitOutcome::committed)
    on_success(*decision);
  else
    on_trouble(outcome);
}

void ContainerState::on_success(const Decision& decision) {
  crash_point(CrashPoint::container_committed);
  if (!note_.empty())
    log::get().warn("{}", note_);
  if (auto* const call = std::get_if<Call>(&current_->task))
    answer(*call, decision);
  crash_point(CrashPoint::container_answered);
  if (begun_)
    dispatch(*begun_);
  tell(telling_);
  crash_point(CrashPoint::container_told);
  publish(decision);
  // What stands behind one decision is looked at again: more may be overdue.
  if (const auto* const reconcile = std::get_if<Reconcile>(&current_->task))
    queue_.push_front({*reconcile});
  done();
}

void ContainerState::on_trouble(CommitOutcome outcome) {
  if (outcome == CommitOutcome::stale || outcome == CommitOutcome::lost_race)
    return try_again();
  auto* const call = std::get_if<Call>(&current_->task);
  if (outcome == CommitOutcome::key_used && !call) {
    current_->without_record = true;
    return try_again();
  }
  if (outcome == CommitOutcome::key_used)
    return refuse_truly_or_join(*call, {Code::idempotency_in_progress});
  if (call)
    call->asked->refuse(refusal_of(outcome));
  else
    log::get().warn("container {}: what its Runner said could not be written down ({}); it will be asked again", name_,
                    storage::to_string(outcome));
  done();
}

void ContainerState::try_again() {
  Work work = std::move(*current_);
  if (++work.attempts <= deps_->options.tx_retry_max)
    queue_.push_front(std::move(work));
  else if (auto* const call = std::get_if<Call>(&work.task))
    call->asked->refuse(refusal_of(CommitOutcome::stale));
  done();
}

void ContainerState::done() {
  current_.reset();
  committing_.reset();
  begun_.reset();
  telling_.clear();
  note_.clear();
  start_next();
}

rules::container::ReportContext ContainerState::report_context() const {
  return {deps_->clock->now(), *deps_->ids, deps_->options.rules};
}

rules::RuleContext ContainerState::rule_context(const Asked& asked) const {
  const auto& gate = deps_->options.fleet.gate;
  return {asked.context, deps_->clock->now(), *deps_->ids, deps_->options.rules, gate && gate->is_open()};
}

container_self::behavior_type container(ContainerState::Self self, const std::string& name, DependenciesPtr deps,
                                        hub_actor hub, herald_actor herald) {
  self->state.init(name, std::move(deps), std::move(hub), std::move(herald));
  return {
    [self](StartSession& command) { return self->state.enqueue(std::move(command)); },
    [self](FollowHandle& command) { return self->state.enqueue(std::move(command)); },
    [self](StopSession& command) { return self->state.enqueue(std::move(command)); },
    [self](SendInput& command) { return self->state.enqueue(std::move(command)); },
    [self](RemoveContainer& command) { return self->state.enqueue(std::move(command)); },
    [self](ResolveOrphan& command) { return self->state.enqueue(std::move(command)); },
    [self](RunnerSays& says) { self->state.enqueue(std::move(says)); },
    [self](const Reconcile& reconcile) { self->state.enqueue(reconcile); },
    [self](const ContainerMoved&) { self->state.look(); },
    [self](Sweep) { self->state.remind(); },
  };
}

} // namespace cleat::actors
