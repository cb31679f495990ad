#include "actors/rules/run.hpp"

#include <chrono>
#include <utility>
#include <variant>

#include "actors/rules/authorize.hpp"
#include "actors/rules/records.hpp"
#include "actors/rules/session_parts.hpp"
#include "protocol/render.hpp"

namespace cleat::rules {
namespace {

constexpr std::string_view lease_expired = "lease_expired";
constexpr std::string_view not_accepted = "not_accepted";
/// What an agent's failure is called when it names no code of its own.
constexpr std::string_view unnamed_failure = "failed";

/// A run's own agent may work on it. Another agent that may read the thread is told so; to all others it is not there.
std::optional<Refusal> must_be_self(const RunView& view, const Principal& actor) {
  if (!view.run)
    return Refusal{Code::not_found};
  if (actor.id == view.run->agent_id)
    return std::nullopt;
  if (actor.kind == PrincipalKind::agent && view.level >= Level::read)
    return Refusal{Code::forbidden, Reason::not_self};
  return Refusal{Code::not_found};
}

/// Ends a run and makes room for the next.
Decision end_run(const RunView& view, Run after, RunExpiry expiry, const RuleContext& context) {
  const Run& before = *view.run;
  const bool was_active = before.is_active();
  after.finished_at = std::max(context.now, before.created_at);
  after.lease_expires_at.reset();
  Decision decision;
  take_turn(decision, view.conversation());
  const Run row = change_run(decision, view.conversation(), before, std::move(after), context);
  decision.run_updates.back().expiry = expiry;
  decision.run_updates.back().queued_timeout_s = context.options.run_queued_timeout_s;
  if (was_active)
    release_next(decision, view.conversation(), context);
  finish(decision, {200, render::run(row), row.version, false}, context);
  return decision;
}

/// Moves a run that its agent holds, and renews its lease. `decision` has what the move brings along.
Decision move_run(const RunView& view, Run after, RunState state, const RuleContext& context, Decision decision = {}) {
  after.state = state;
  after.lease_expires_at = context.now + std::chrono::seconds(context.options.run_lease_s);
  take_turn(decision, view.conversation());
  const Run row = change_run(decision, view.conversation(), *view.run, std::move(after), context);
  finish(decision, {200, render::run(row), row.version, false}, context);
  return decision;
}

/// The session that a run begins on (spec 03 section 7); none when it has to report one.
std::optional<Id> attach(Decision& decision, const RunView& view, const StartBody& body, const RuleContext& context) {
  const Run& run = *view.run;
  const ThreadFacts& facts = view.facts;
  if (!is_operator(facts, run.agent_id))
    return std::nullopt;
  guard_rights(decision, facts.space); // who the operator is
  guard_current(decision, facts);
  if (facts.current && facts.current->agent_id == run.agent_id)
    return facts.current->id;
  if (!body.external_session_ref || !view.reference)
    return std::nullopt;
  if (const auto ended = ended_meanwhile(run, *view.reference))
    return ended->id;
  if (facts.current || view.reference->current)
    return std::nullopt;
  AgentSession row = new_session(facts, run.agent_id, *body.external_session_ref,
                                 moment_after(facts, view.reference->newest, context.now), context);
  row.model = body.model;
  insert_session(decision, row, facts.thread, context);
  return row.id;
}

Result<Decision> decide(const run_op::Start& operation, const RunView& view, const RuleContext& context) {
  Decision decision;
  Run after = *view.run;
  after.agent_session_id = attach(decision, view, *operation.body, context);
  after.started_at = std::max(context.now, after.created_at);
  return move_run(view, std::move(after), RunState::running, context, std::move(decision));
}

Result<Decision> decide(const run_op::Wait&, const RunView& view, const RuleContext& context) {
  return move_run(view, *view.run, RunState::waiting_input, context);
}

Result<Decision> decide(const run_op::Resume&, const RunView& view, const RuleContext& context) {
  return move_run(view, *view.run, RunState::running, context);
}

Result<Decision> decide(const run_op::Heartbeat&, const RunView& view, const RuleContext& context) {
  return move_run(view, *view.run, view.run->state, context);
}

Result<Decision> decide(const run_op::Finish& operation, const RunView& view, const RuleContext& context) {
  Run after = *view.run;
  after.state = operation.body->succeeded ? RunState::succeeded : RunState::failed;
  if (!operation.body->succeeded)
    after.failure = RunFailure{operation.body->code.value_or(std::string(unnamed_failure)), operation.body->detail};
  return end_run(view, std::move(after), RunExpiry::none, context);
}

Result<Decision> decide(const run_op::Cancel&, const RunView& view, const RuleContext& context) {
  Run after = *view.run;
  after.state = RunState::cancelled;
  return end_run(view, std::move(after), RunExpiry::none, context);
}

Result<Decision> decide(const run_op::Post& operation, const RunView& view, const RuleContext& context) {
  Message row = new_message(view.facts.thread, view.run->agent_id, context);
  row.origin = MessageOrigin::agent;
  row.content_md = operation.body->content_md;
  row.run_id = view.run->id;
  Decision decision;
  take_turn(decision, view.conversation()); // the run must still be running when the message is there
  add_message(decision, row, view.facts.thread, context);
  finish(decision, {201, render::message(row), std::nullopt, false}, context);
  return decision;
}

/// Fails a run that has outlived its time. The database decides by its own clock whether that is so.
Result<Decision> decide(const run_op::Expire&, const RunView& view, const RuleContext& context) {
  const Run& run = *view.run;
  const bool queued = run.state == RunState::queued;
  const auto patience = std::chrono::seconds(context.options.run_queued_timeout_s);
  const bool overdue = queued ? run.queued_at && *run.queued_at + patience <= context.now
                              : run.lease_expires_at && *run.lease_expires_at <= context.now;
  if (!overdue)
    return refuse(Code::conflict, Reason::run_state);
  Run after = run;
  after.state = RunState::failed;
  after.failure = RunFailure{std::string(queued ? not_accepted : lease_expired), std::nullopt};
  return end_run(view, std::move(after), queued ? RunExpiry::queued : RunExpiry::lease, context);
}

std::optional<Refusal> may_cancel(const RunView& view, const Principal& actor) {
  if (!view.run)
    return Refusal{Code::not_found};
  if (auto refusal = require_level(view.level, Level::trigger))
    return refusal;
  return invoke_guard(actor, agent_of_thread(view.facts, view.agent, view.agent_level), view.facts.channel,
                      view.facts.space);
}

std::optional<Refusal> may_operate(const RunView& view, const RunOperation& operation, const Principal& actor) {
  return std::holds_alternative<run_op::Cancel>(operation) ? may_cancel(view, actor) : must_be_self(view, actor);
}

/// The agent that a trigger is addressed to.
std::optional<Principal> addressed(const RunView& view, const TriggerBody& body) {
  if (!body.agent_id)
    return view.facts.operator_agent;
  if (is_operator(view.facts, *body.agent_id))
    return view.facts.operator_agent;
  return agent_of_thread(view.facts, view.agent, view.agent_level);
}

std::optional<Refusal> may_trigger(const RunView& view, const TriggerRun& command, const Principal& actor) {
  if (auto refusal = require_level(view.level, Level::trigger))
    return refusal;
  // Without a good body nobody knows which agent is meant; what does not depend on it is still asked first.
  const auto agent = command.body ? addressed(view, *command.body) : view.facts.operator_agent;
  auto refusal = invoke_guard(actor, agent, view.facts.channel, view.facts.space);
  if (!command.body && refusal && refusal->reason != Reason::actor_not_human)
    return command.body.error();
  return refusal;
}

/// A new message opens a closed thread again, with one line that says so.
void reopen(Decision& decision, const ThreadFacts& facts, const RuleContext& context) {
  if (facts.thread.state == ThreadState::open)
    return;
  Thread row = facts.thread;
  row.state = ThreadState::open;
  row.version += 1;
  decision.rows.emplace_back(UpdateThread{row});
  decision.events.push_back(thread_event(row, context));
  add_message(decision, system_line(row, context.actor().id, SystemCode::thread_reopened, context), row, context);
}

Run new_run(const ThreadFacts& facts, const Id& agent_id, const Id& message_id, const RuleContext& context) {
  Run run;
  run.id = context.new_id();
  run.thread_id = facts.thread.id;
  run.agent_id = agent_id;
  run.kind = is_operator(facts, agent_id) ? RunKind::operator_run : RunKind::guest;
  run.state = RunState::held;
  run.triggered_by = context.actor().id;
  run.message_id = message_id;
  run.created_at = context.now;
  return run;
}

} // namespace

bool allows(RunState state, const RunOperation& operation) {
  const bool running = state == RunState::running;
  const bool accepted = running || state == RunState::waiting_input;
  if (std::holds_alternative<run_op::Start>(operation))
    return state == RunState::queued;
  if (std::holds_alternative<run_op::Wait>(operation))
    return running;
  if (std::holds_alternative<run_op::Resume>(operation))
    return state == RunState::waiting_input;
  if (std::holds_alternative<run_op::Cancel>(operation))
    return accepted || state == RunState::queued || state == RunState::held;
  if (std::holds_alternative<run_op::Expire>(operation))
    return accepted || state == RunState::queued;
  return accepted; // heartbeat, finish and messages
}

Result<Decision> trigger(const RunView& view, const TriggerRun& command, const RuleContext& context) {
  const ThreadFacts& facts = view.facts;
  if (auto refusal = may_trigger(view, command, context.actor()))
    return because(std::move(*refusal));
  if (!command.body)
    return because(command.body.error());
  const bool hold = view.runs.active.has_value();
  if (hold && command.body->when_active == WhenActive::reject)
    return refuse(Code::conflict, Reason::run_active);
  if (hold && static_cast<std::int64_t>(view.runs.held.size()) >= context.options.runs_held_max)
    return refuse(Code::rate_limited, Reason::too_many_held);

  Decision decision;
  guard_rights(decision, facts.space);
  const Principal agent = *addressed(view, *command.body);
  guard_agent(decision, agent);
  decision.guards.push_back({GuardedRow::thread, facts.thread.id, facts.thread.version});
  take_turn(decision, view.conversation());
  reopen(decision, facts, context);
  Message message = new_message(facts.thread, context.actor().id, context);
  message.content_md = command.body->content_md;
  add_message(decision, message, facts.thread, context);
  Run run = new_run(facts, agent.id, message.id, context);
  if (!hold)
    run = invoke(decision, view.conversation(), std::move(run), message, context);
  decision.runs.push_back(run);
  decision.events.push_back(run_event(run, facts.thread, context));
  finish(decision, {201, render::run(run), run.version, false}, context);
  return decision;
}

Result<Decision> operate(const RunView& view, const RunCommand& command, const RuleContext& context) {
  if (auto refusal = may_operate(view, command.operation, context.actor()))
    return because(std::move(*refusal));
  return std::visit(
    [&](const auto& operation) -> Result<Decision> {
      if constexpr (requires { operation.body; })
        if (!operation.body)
          return because(operation.body.error());
      if (!allows(view.run->state, command.operation))
        return refuse(Code::conflict, Reason::run_state);
      return decide(operation, view, context);
    },
    command.operation);
}

bool starts_without_its_session(const RunView& view, const RunCommand& command, const Decision& decision) {
  const auto* const start = std::get_if<run_op::Start>(&command.operation);
  return start != nullptr && start->body && start->body->external_session_ref && view.run &&
         is_operator(view.facts, view.run->agent_id) && !decision.run_updates.empty() &&
         !decision.run_updates.front().row.agent_session_id;
}

} // namespace cleat::rules
