/// How agents end, and what is said about operations (spec 04 sections 5 to 8).
#include <algorithm>
#include <utility>

#include "apps/cleat-runner/crash_points.hpp"
#include "apps/cleat-runner/runner.hpp"
#include "base/limits.hpp"
#include "base/log.hpp"

namespace cleat::runner {

bool Runner::park(const wire::ToRunner& message, const std::string& container_name) {
  const auto found = containers_.find(container_name);
  if (found == containers_.end() || !found->second.pending ||
      found->second.pending->attempt_id != message.container_attempt_id)
    return false;
  // What does not fit is not answered; the server asks, and sends it again when it is told that nothing came.
  if (std::ssize(found->second.parked) < limits::runner_parked_commands)
    found->second.parked.push_back(message);
  return true;
}

void Runner::on_stop(const wire::ToRunner& message, const wire::Stop& stop) {
  if (park(message, stop.container_name))
    return;
  const OperationKey key{message.operation_id, message.container_attempt_id};
  if (const auto replayed = replay(journal_.find(key), message.dispatch)) {
    answer(message, *replayed);
    return;
  }
  const auto found = containers_.find(stop.container_name);
  Container* const container = found == containers_.end() ? nullptr : &found->second;
  StopFacts facts;
  facts.known = container != nullptr;
  if (container != nullptr && container->life) {
    facts.session_id = container->life->row.session_id;
    facts.session_attempt = container->life->row.key.attempt_id;
    facts.starting = container->phase == Container::Phase::starting;
  }
  OperationRow row;
  row.key = key;
  row.container = stop.container_name;
  row.kind = RowKind::stop;
  row.dispatch = message.dispatch;
  row.session_id = stop.session_id;
  if (const auto refusal = refuse(message, stop, facts)) {
    refuse_dispatch(message, std::move(row), *refusal);
    return;
  }
  row.state = RowState::accepted;
  row.acknowledged = wire::AckOutcome::accepted;
  put(row);
  container->life->stops.push_back({row, message.request_id});
  then([this, message, lifetime = container->life->row.key] {
    crash_point(CrashPoint::after_journal_accepted);
    say(message, message.dispatch, wire::Acknowledged{wire::AckOutcome::accepted});
    if (Container* const target = living(lifetime))
      end(*target);
  });
}

void Runner::on_status(const wire::ToRunner& message, const wire::AskStatus& status) {
  const OperationKey key{message.operation_id, message.container_attempt_id};
  const auto found = containers_.find(status.container_name);
  const bool is_parked = found != containers_.end() &&
                         std::any_of(found->second.parked.begin(), found->second.parked.end(),
                                     [&](const auto& other) { return other.operation_id == message.operation_id; });
  if (is_parked) {
    say(message, message.dispatch, wire::Status{wire::StatusKind::ambiguous, {}});
    return;
  }
  auto row = journal_.find(key);
  const Container* const container = living(key);
  const bool ending = container != nullptr && container->phase == Container::Phase::ending;
  const auto answered = answer_status(row, message.dispatch, status.journal_id == journal_.id(), ending);
  if (answered.tombstone) {
    OperationRow tombstone = row.value_or(OperationRow{});
    tombstone.key = key;
    tombstone.container = status.container_name;
    tombstone.state = RowState::tombstone;
    tombstone.acknowledged = wire::AckOutcome::rejected;
    tombstone.dispatch = message.dispatch;
    put(tombstone);
  }
  then([this, message, answered, key] {
    crash_point(CrashPoint::after_status);
    say(message, answered.dispatch, answered.status);
    Container* const told = answered.status.kind == wire::StatusKind::live ? living(key) : nullptr;
    if (told == nullptr)
      return;
    told->life->told = true;
    ask_for_secrets(*told->life);
  });
}

void Runner::on_issue(const wire::ToRunner& message, const wire::IssueAttempt& issue) {
  auto& container = container_of(issue.container_name);
  container.parked.clear();
  adopt(container, {issue.attempt_id, message.request_id});
}

void Runner::adopt(Container& container, PendingAttempt pending) {
  const bool has_old = container.life && container.life->row.key.attempt_id != pending.attempt_id;
  if (has_old) {
    container.pending = std::move(pending);
    end(container);
    return;
  }
  container.pending.reset();
  container.attempt_id = pending.attempt_id;
  if (!pending.request_id)
    return;
  then([this, name = container.name, pending] {
    crash_point(CrashPoint::after_attempt);
    link_.send({*pending.request_id, "", pending.attempt_id, 0, wire::AttemptIssued{name, pending.attempt_id}});
  });
}

void Runner::end(Container& container) {
  if (container.phase == Container::Phase::starting) {
    container.life->unwanted = true;
    return;
  }
  if (container.phase != Container::Phase::live)
    return;
  crash_point(CrashPoint::before_end);
  container.phase = Container::Phase::ending;
  auto& life = *container.life;
  if (!life.agent) {
    then([this, key = life.row.key] { on_ended(key, 0); });
    return;
  }
  life.agent->hold(false);
  life.agent->terminate();
  life.kill_timer = loop_.after(std::chrono::seconds(container.spec->stop_grace_s), [agent = life.agent.get(), &life] {
    life.kill_timer = 0;
    agent->kill();
  });
}

void Runner::on_ended(const OperationKey& key, std::int64_t exit_code) {
  Container* const container = living(key);
  if (container == nullptr)
    return;
  auto& life = *container->life;
  log::get().info("the agent in container {} has ended with {}", container->name, exit_code);
  relays_.said(key, {}, exit_code, clock_.now());
  life.row.state = RowState::exited;
  life.row.exit_code = exit_code;
  put(life.row);
  for (auto& stop : life.stops) {
    stop.row.state = RowState::stopped;
    put(stop.row);
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(limits::agent_stop_relay_s);
  then([this, key, stops = std::move(life.stops), deadline] {
    crash_point(CrashPoint::after_journal_ended);
    if (!link_.enrolled())
      return; // the server asks when it is back
    for (const auto& stop : stops)
      ended_stops_.push_back({key, stop, deadline});
  });
  release(*container);
}

void Runner::release(Container& container) {
  loop_.cancel(container.life->kill_timer);
  living_.erase(container.life->row.key);
  container.life.reset();
  container.phase = Container::Phase::idle;
  state_.remove_bodies(container.name);
  then([this, name = container.name] {
    auto& released = containers_.at(name);
    if (released.life)
      return; // somebody was faster
    if (auto pending = std::exchange(released.pending, std::nullopt))
      adopt(released, *pending);
    for (const auto& message : std::exchange(released.parked, {}))
      on_message(message);
    link_.proceed();
  });
}

} // namespace cleat::runner
