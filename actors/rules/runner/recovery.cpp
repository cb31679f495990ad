/// What nobody asks for: deadlines, cleanups that nobody answers, questions to the Runner (spec 04 section 8).
#include <algorithm>
#include <chrono>
#include <utility>

#include "actors/rules/runner/parts.hpp"

namespace cleat::rules::container {
namespace {

bool is_overdue(const Operation& operation, const ReportContext& context) {
  return operation.in_flight() &&
         operation.dispatched_at + std::chrono::seconds(context.options.operation_deadline_s) <= context.now;
}

bool is_abandoned(const Operation& operation, const ReportContext& context) {
  return operation.cleanup == Cleanup::claimed && operation.cleanup_deadline &&
         *operation.cleanup_deadline <= context.now;
}

/// What nobody can tell about becomes an orphan, and its container is closed until a new attempt is issued. It is
/// never promotable any more, which does not say that it is dead.
Consequence give_up(const ContainerFacts& facts, const Operation& operation, const ReportContext& context) {
  Decision decision;
  const bool closes = facts.container->attempt_id == operation.container_attempt_id;
  Container row = *facts.container;
  row.version += 1;
  if (closes)
    row.attempt_id.reset();
  decision.rows.emplace_back(fleet::UpdateContainer{std::move(row)});
  if (closes)
    decision.rows.emplace_back(fleet::EndAttempts{facts.container->name});
  update(decision, failed(operation, FailureClass::terminal, failure::deadline_exceeded, context.now));
  open_orphan(decision, operation, failure::deadline_exceeded, {}, context);
  return {std::move(decision),
          {},
          "operation " + operation.id.str() + " of container " + operation.container_name +
            " has passed its deadline: nobody can tell what became of it. Resolve its orphan diagnostic."};
}

Consequence abandon_cleanup(const ContainerFacts& facts, const Operation& operation, const ReportContext& context) {
  Decision decision;
  touch(decision, facts);
  Operation row = operation;
  row.cleanup = Cleanup::failed;
  row.cleanup_deadline.reset();
  update(decision, row);
  open_orphan(decision, operation, failure::cleanup_failed, {}, context);
  return {std::move(decision),
          {},
          "the cleanup of operation " + operation.id.str() + " was not answered; Runner " + operation.runner_id.str() +
            ", account " + operation.account_id.str() + ", actor " + operation.actor_id.str() + ", container " +
            operation.container_name + ", attempt " + operation.container_attempt_id.str() + ", expected session " +
            operation.subject()};
}

} // namespace

Consequence expire(const ContainerFacts& facts, const ReportContext& context) {
  if (!facts.container)
    return {};
  for (const Operation& operation : facts.open) {
    if (is_overdue(operation, context))
      return give_up(facts, operation, context);
    if (is_abandoned(operation, context))
      return abandon_cleanup(facts, operation, context);
  }
  return {};
}

std::vector<wire::ToRunner> questions(const ContainerFacts& facts, bool arrived, std::int64_t ask_after_ms,
                                      const ReportContext& context) {
  std::vector<wire::ToRunner> asked;
  if (!facts.container || !facts.connected())
    return asked;
  const Timestamp before = context.now - std::chrono::milliseconds(ask_after_ms);
  for (const Operation& operation : facts.open) {
    if (!operation.in_flight() || (!arrived && operation.dispatched_at > before))
      continue;
    wire::ToRunner message;
    message.request_id = context.ids.next(context.now).str();
    message.operation_id = operation.id.str();
    message.container_attempt_id = operation.container_attempt_id.str();
    message.dispatch = operation.dispatch;
    message.command =
      wire::AskStatus{operation.container_name, operation.journal_id ? operation.journal_id->str() : ""};
    asked.push_back(std::move(message));
  }
  return asked;
}

wire::ToRunner envelope(const Operation& operation, std::int64_t body_parts, const ReportContext& context) {
  wire::ToRunner message;
  message.request_id = context.ids.next(context.now).str();
  message.operation_id = operation.id.str();
  message.container_attempt_id = operation.container_attempt_id.str();
  message.dispatch = operation.dispatch;
  if (operation.kind == OperationKind::stop) {
    message.command =
      wire::Stop{operation.container_name, *operation.stop_session_id, operation.container_attempt_id.str()};
    return message;
  }
  message.fresh_session_id = operation.fresh_session_id.value_or("");
  message.command = wire::Start{operation.container_name, operation.resume_session_id.value_or(""), body_parts};
  return message;
}

} // namespace cleat::rules::container
