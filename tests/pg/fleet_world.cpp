#include "tests/pg/fleet_world.hpp"

#include <utility>

namespace cleat::test {

std::string session_id(int number) {
  std::string digits = std::to_string(number);
  return std::string(64 - digits.size(), 'a') + digits;
}

Digest digest(int number) {
  return sha256(std::to_string(number));
}

Fleet::Fleet(World& small_world, std::size_t number_of_containers) : world(small_world) {
  account = {world.ids.next(), "Example account", world.sam.id, at(10)};
  node = {world.ids.next(), "127.0.0.1:4711", {}};
  runner.id = world.ids.next();
  runner.name = "Example Runner";
  runner.created_at = at(11);
  runner.enrollment_revision = 1;
  runner.enrollment_secret = digest(-1);
  runner.journal_id = world.ids.next();
  runner.epoch = 1;
  runner.node_id = node.id;
  runner.connected_at = at(12);
  for (std::size_t i = 0; i < number_of_containers; ++i) {
    Container row;
    row.id = world.ids.next();
    row.name = "box-" + std::to_string(i);
    row.account_id = account.id;
    row.runner_id = runner.id;
    row.attempt_id = world.ids.next();
    row.created_at = at(13);
    attempts.push_back({*row.attempt_id, row.name, runner.id, 1, true, at(14)});
    containers.push_back(row);
  }
}

Decision Fleet::provision() const {
  Decision decision = decide(fleet::InsertAccount{account}, fleet::InsertRunner{runner});
  for (std::size_t i = 0; i < containers.size(); ++i) {
    decision.rows.emplace_back(fleet::Write(fleet::InsertContainer{containers[i]}));
    decision.rows.emplace_back(fleet::Write(fleet::InsertAttempt{attempts[i]}));
  }
  return decision;
}

Operation Fleet::operation(OperationKind kind, std::size_t container) {
  const Container& place = containers.at(container);
  Operation row;
  row.id = world.ids.next();
  row.kind = kind;
  row.caller_request_id = "request-1";
  row.account_id = account.id;
  row.actor_id = world.sam.id;
  row.runner_id = runner.id;
  row.container_name = place.name;
  row.container_attempt_id = *place.attempt_id;
  row.enrollment_revision = 1;
  row.journal_id = runner.journal_id;
  row.created_at = at(2000);
  row.dispatched_at = at(2001);
  return row;
}

Operation Fleet::fresh(std::size_t container) {
  Operation row = operation(OperationKind::fresh, container);
  row.relay_request_id = world.ids.next();
  row.fresh_session_id = session_id(++number_);
  row.handle_digest = digest(number_);
  return row;
}

Operation Fleet::resume(const std::string& session, std::size_t container) {
  Operation row = operation(OperationKind::resume, container);
  row.resume_session_id = session;
  row.handle_digest = digest(++number_);
  return row;
}

Operation Fleet::stop(const std::string& session, std::size_t container) {
  Operation row = operation(OperationKind::stop, container);
  row.stop_session_id = session;
  return row;
}

Binding Fleet::binding_of(const Operation& operation) const {
  Binding row;
  row.session_id = operation.subject();
  row.account_id = operation.account_id;
  row.actor_id = operation.actor_id;
  row.runner_id = operation.runner_id;
  row.container_name = operation.container_name;
  row.container_attempt_id = operation.container_attempt_id;
  row.operation_id = operation.id;
  row.created_at = at(3000);
  return row;
}

Orphan Fleet::orphan_of(const Operation& operation) {
  Orphan row;
  row.id = world.ids.next();
  row.reason = "wire_contract";
  row.operation_id = operation.id;
  row.account_id = operation.account_id;
  row.actor_id = operation.actor_id;
  row.runner_id = operation.runner_id;
  row.container_name = operation.container_name;
  row.container_attempt_id = operation.container_attempt_id;
  row.expected_session_id = operation.subject();
  row.reported_session_id = std::string("odd\0\xff id", 9);
  row.opened_at = at(3500);
  return row;
}

Operation moved(Operation row, OperationState state, Timestamp time) {
  ++row.version;
  row.state = state;
  const bool is_promoted = state == OperationState::promoted;
  row.finished_at = row.in_flight() ? std::nullopt : std::optional(time);
  row.session_id = is_promoted ? std::optional(row.subject()) : std::nullopt;
  if (state != OperationState::failed)
    row.failure.reset();
  return row;
}

Operation with_failure(Operation row, FailureClass failure_class, Timestamp time) {
  row.failure = OperationFailure{failure_class, "agent_failed"};
  return moved(std::move(row), OperationState::failed, time);
}

Binding moved(Binding row, BindingState state, Timestamp time) {
  ++row.version;
  row.state = state;
  row.released_at = state == BindingState::released ? std::optional(time) : std::nullopt;
  return row;
}

std::vector<TranscriptLine> lines_of(const std::string& session, std::int64_t after,
                                     const std::vector<std::string>& texts, Direction direction) {
  std::vector<TranscriptLine> lines;
  for (const auto& text : texts)
    lines.push_back({session, ++after, at(after), direction, text, std::nullopt});
  return lines;
}

} // namespace cleat::test
