/// What acknowledgements, results and answers to status queries come to (spec 04 sections 4, 5, 6 and 8).
#include <algorithm>
#include <utility>

#include "actors/rules/runner/parts.hpp"

namespace cleat::rules::container {
namespace {

/// What a report is decided on, once it is certain that it comes over the Runner's connection in force.
struct Case {
  const ContainerFacts& facts;
  const Operation& operation;
  const wire::FromRunner& message;
  const ReportContext& context;
};

/// Whether the connection that the report came over is the Runner's connection in force: others are dropped.
bool is_in_force(const ContainerFacts& facts, const RunnerSays& says) {
  return facts.runner && facts.runner->id == says.runner_id && facts.runner->epoch == says.epoch &&
         facts.runner->enrollment_revision == says.enrollment_revision;
}

/// The exact echoes of operation and attempt.
bool echoes(const Case& c) {
  return c.message.operation_id == c.operation.id.str() &&
         c.message.container_attempt_id == c.operation.container_attempt_id.str();
}

Consequence commit(Decision decision, std::string note = {}) {
  return {std::move(decision), {}, std::move(note)};
}

std::string about(const Operation& operation) {
  return "operation " + operation.id.str() + " of container " + operation.container_name;
}

/// The cleanup that waits for this stop, if one does: the start that was answered under another id.
const Operation* cleaned_up_by(const Case& c) {
  const auto found = std::ranges::find_if(c.facts.open, [&](const Operation& other) {
    return other.cleanup == Cleanup::claimed && other.subject() == c.operation.stop_session_id;
  });
  return found == c.facts.open.end() ? nullptr : &*found;
}

/// Says what became of the cleanup that a stop was for. One that failed is left to the operator, with everything that
/// is known.
void end_cleanup(Decision& decision, const Case& c, bool is_done) {
  const Operation* const start = cleaned_up_by(c);
  if (!start)
    return;
  Operation row = *start;
  row.cleanup = is_done ? Cleanup::done : Cleanup::failed;
  row.cleanup_deadline.reset();
  update(decision, row);
  if (!is_done)
    open_orphan(decision, row, failure::cleanup_failed, {}, c.context);
}

/// The operation fails. A stop that fails leaves its binding as it is.
Consequence fail(const Case& c, FailureClass failure_class, std::string_view code, std::string note = {}) {
  Decision decision;
  touch(decision, c.facts);
  update(decision, failed(c.operation, failure_class, code, c.context.now));
  if (c.operation.kind == OperationKind::stop)
    end_cleanup(decision, c, false);
  return commit(std::move(decision), std::move(note));
}

/// A result that breaks the contract of the wire. What it is about cannot be proven, so nothing is stopped: it is
/// recorded and left (spec 04 section 8).
Consequence break_contract(const Case& c, std::string_view what, std::string_view reported = {}) {
  Decision decision;
  touch(decision, c.facts);
  update(decision, failed(c.operation, FailureClass::terminal, failure::wire_contract, c.context.now));
  open_orphan(decision, c.operation, failure::wire_contract, reported, c.context);
  if (c.operation.kind == OperationKind::stop)
    end_cleanup(decision, c, false);
  return commit(std::move(decision), about(c.operation) + " fails: its Runner's answer has " + std::string(what));
}

/// Ends an operation whose agent runs and must not, and stops exactly what was recorded: this session, attempt and
/// container. The claim and the stop are committed together, so that of two servers one does it.
Consequence clean_up(const Case& c, std::string_view code, std::string_view reported) {
  Operation row = failed(c.operation, FailureClass::terminal, code, c.context.now);
  row.cleanup = Cleanup::claimed;
  row.cleanup_deadline = c.context.now + std::chrono::seconds(c.context.options.cleanup_timeout_s);
  const Operation stop =
    new_stop(c.operation, c.operation.subject(), c.facts, c.context.now, c.context.ids.next(c.context.now));
  Decision decision;
  touch(decision, c.facts);
  update(decision, row);
  decision.rows.emplace_back(fleet::InsertOperation{stop});
  Consequence consequence = commit(
    std::move(decision), about(c.operation) + " fails (" + std::string(code) + "): its agent is stopped; Runner " +
                           row.runner_id.str() + ", account " + row.account_id.str() + ", actor " + row.actor_id.str() +
                           ", attempt " + row.container_attempt_id.str());
  if (!reported.empty())
    consequence.note += ", under another session id than it was given";
  consequence.tell.push_back(envelope(stop, 0, c.context));
  return consequence;
}

Binding new_binding(const Case& c) {
  const Operation& operation = c.operation;
  Binding row;
  row.session_id = operation.subject();
  row.account_id = operation.account_id;
  row.actor_id = operation.actor_id;
  row.runner_id = operation.runner_id;
  row.container_name = operation.container_name;
  row.container_attempt_id = operation.container_attempt_id;
  row.operation_id = operation.id;
  row.created_at = c.context.now;
  return row;
}

/// The binding of a resumed session, for its next lifetime. What was typed before is in the session body.
Binding bound_again(const Case& c) {
  Binding row = *c.facts.binding;
  row.runner_id = c.operation.runner_id;
  row.container_attempt_id = c.operation.container_attempt_id;
  row.operation_id = c.operation.id;
  row.state = BindingState::live;
  row.released_at.reset();
  row.relayed_through = 0;
  row.input_through = row.transcript_through;
  row.version += 1;
  return row;
}

/// The reservation becomes a public binding, in one transaction (spec 04 section 4).
Consequence promote(const Case& c) {
  Decision decision;
  touch(decision, c.facts);
  decision.guards.push_back({GuardedRow::account, c.facts.account->id, c.facts.account->version});
  Operation row = c.operation;
  row.state = OperationState::promoted;
  row.session_id = row.subject();
  row.reconciling = false;
  row.finished_at = c.context.now;
  update(decision, std::move(row));
  if (c.operation.kind == OperationKind::fresh)
    decision.rows.emplace_back(fleet::InsertBinding{new_binding(c)});
  else
    decision.rows.emplace_back(fleet::UpdateBinding{bound_again(c)});
  return commit(std::move(decision));
}

/// An id that is there and is not the one that was given.
bool is_altered(const std::string& reported, const std::string& expected) {
  return !reported.empty() && reported != expected;
}

Consequence on_started(const Case& c, const wire::Started& started) {
  const Operation& operation = c.operation;
  if (operation.kind == OperationKind::stop)
    return break_contract(c, "a start in place of a stop");
  const bool is_fresh = operation.kind == OperationKind::fresh;
  const std::string& expected = operation.subject();
  const std::string& echo = is_fresh ? started.fresh_session_id : started.resume_session_id;
  const std::string& other = is_fresh ? started.resume_session_id : started.fresh_session_id;
  const bool altered = is_altered(started.session_id, expected) || is_altered(echo, expected) || !other.empty();
  if (altered && c.facts.container->attempt_id == operation.container_attempt_id)
    return clean_up(c, failure::wire_contract, started.session_id);
  if (altered || started.session_id.empty() || echo.empty())
    return break_contract(c, altered ? "another session id" : "no session id", started.session_id);
  if (c.facts.container->attempt_id != operation.container_attempt_id)
    return fail(c, FailureClass::terminal, failure::attempt_stale);
  if (c.facts.container->account_id != operation.account_id || c.facts.account->actor_id != operation.actor_id)
    return clean_up(c, failure::actor_changed, {});
  if (c.facts.live || (!is_fresh && !c.facts.binding))
    return fail(c, FailureClass::terminal, failure::conflict,
                about(operation) + " fails: its session is bound already");
  return promote(c);
}

/// A code as a Runner may give one; anything else is told as what it is, a failure of the Runner.
std::string_view sound_code(const std::string& code) {
  const auto is_letter = [](char letter) { return letter == '_' || (letter >= 'a' && letter <= 'z'); };
  const bool is_sound =
    !code.empty() && std::ssize(code) <= limits::failure_code_max_bytes && std::ranges::all_of(code, is_letter);
  return is_sound ? std::string_view(code) : failure::runner_failure;
}

Consequence on_failed(const Case& c, const wire::Failed& failure_report) {
  // The end of an earlier dispatch says nothing about the one in flight.
  if (c.message.dispatch < c.operation.dispatch)
    return {};
  const auto failure_class = failure_report.retryable ? FailureClass::retryable : FailureClass::terminal;
  return fail(c, failure_class, sound_code(failure_report.code));
}

Consequence on_stopped(const Case& c, const wire::Stopped& stopped) {
  if (c.operation.kind != OperationKind::stop)
    return break_contract(c, "a stop in place of a start");
  if (stopped.session_id != c.operation.stop_session_id)
    return break_contract(c, "another session or none", stopped.session_id);
  Decision decision;
  touch(decision, c.facts);
  Operation row = c.operation;
  row.state = OperationState::promoted;
  row.session_id = row.stop_session_id;
  row.reconciling = false;
  row.finished_at = c.context.now;
  update(decision, std::move(row));
  end_cleanup(decision, c, true);
  const auto& binding = c.facts.binding;
  if (binding && binding->state == BindingState::live && binding->session_id == stopped.session_id &&
      binding->container_attempt_id == c.operation.container_attempt_id) {
    Binding released = *binding;
    released.state = BindingState::released;
    released.released_at = c.context.now;
    released.version += 1;
    decision.rows.emplace_back(fleet::UpdateBinding{std::move(released)});
  }
  return commit(std::move(decision));
}

Consequence on_acknowledged(const Case& c, const wire::Acknowledged& acknowledged) {
  // An acknowledgement alone promotes and fails nothing; the result follows it.
  if (acknowledged.outcome != wire::AckOutcome::accepted || c.operation.state != OperationState::reserved)
    return {};
  Decision decision;
  touch(decision, c.facts);
  Operation row = c.operation;
  row.state = OperationState::dispatched;
  update(decision, std::move(row));
  return commit(std::move(decision));
}

/// Nobody can tell about the operation now: it is left, and asked about again.
Consequence leave(const Case& c) {
  if (c.operation.reconciling)
    return {};
  Decision decision;
  touch(decision, c.facts);
  Operation row = c.operation;
  row.reconciling = true;
  row.state = OperationState::dispatched;
  update(decision, std::move(row));
  return commit(std::move(decision));
}

Consequence on_outcome(const Case& c, const decltype(wire::Status::outcome)& outcome) {
  if (const auto* const started = std::get_if<wire::Started>(&outcome))
    return on_started(c, *started);
  if (const auto* const failure_report = std::get_if<wire::Failed>(&outcome))
    return on_failed(c, *failure_report);
  if (const auto* const stopped = std::get_if<wire::Stopped>(&outcome))
    return on_stopped(c, *stopped);
  return leave(c);
}

Consequence on_status(const Case& c, const wire::Status& status) {
  switch (status.kind) {
    case wire::StatusKind::live:
      // A stop that is still being worked on is live as well, without an outcome.
      return std::holds_alternative<wire::Started>(status.outcome) ? on_outcome(c, status.outcome) : leave(c);
    case wire::StatusKind::terminal_outcome:
      return on_outcome(c, status.outcome);
    case wire::StatusKind::no_such_operation:
      // The dispatch never arrived and, because of the tombstone, never will.
      return c.message.dispatch < c.operation.dispatch ? Consequence{}
                                                       : fail(c, FailureClass::retryable, failure::not_dispatched);
    case wire::StatusKind::ambiguous:
      break;
  }
  return leave(c);
}

} // namespace

Consequence report(const ContainerFacts& facts, const RunnerSays& says, const ReportContext& context) {
  const auto& operation = facts.operation;
  if (!facts.container || !is_in_force(facts, says) || !operation || operation->runner_id != says.runner_id ||
      operation->container_name != facts.container->name)
    return {{}, {}, "a report of Runner " + says.runner_id.str() + " is about nothing of its own and is dropped"};
  // After the first transition all others are no-ops.
  if (!operation->in_flight())
    return {};
  const Case c{facts, *operation, *says.message, context};
  const wire::Report& said = says.message->report;
  if (!echoes(c)) {
    // Only a result fails an operation. What an acknowledgement or a status is worth without its echoes is nothing.
    const bool is_result =
      !std::holds_alternative<wire::Acknowledged>(said) && !std::holds_alternative<wire::Status>(said);
    return is_result ? break_contract(c, "missing or altered echoes")
                     : Consequence{{}, {}, about(*operation) + ": an answer without its echoes is dropped"};
  }
  if (const auto* const acknowledged = std::get_if<wire::Acknowledged>(&said))
    return on_acknowledged(c, *acknowledged);
  if (const auto* const started = std::get_if<wire::Started>(&said))
    return on_started(c, *started);
  if (const auto* const failure_report = std::get_if<wire::Failed>(&said))
    return on_failed(c, *failure_report);
  if (const auto* const stopped = std::get_if<wire::Stopped>(&said))
    return on_stopped(c, *stopped);
  if (const auto* const status = std::get_if<wire::Status>(&said))
    return on_status(c, *status);
  return break_contract(c, "no result");
}

} // namespace cleat::rules::container
