#include "actors/rules/report.hpp"

#include <utility>

#include "actors/rules/records.hpp"
#include "actors/rules/session.hpp"
#include "actors/rules/session_parts.hpp"
#include "protocol/render.hpp"

namespace cleat::rules {
namespace {

/// The run that a report is about; nothing for everybody but the agent of the active operator run that it has accepted.
const Run* reported_run(const RunView& view, const Principal& actor) {
  const auto& run = view.runs.active;
  if (!run || run->agent_id != actor.id || !is_operator(view.facts, actor.id))
    return nullptr;
  return run->state == RunState::running || run->state == RunState::waiting_input ? &*run : nullptr;
}

/// Whether the reference is current in another row than `session`.
bool is_current_elsewhere(const RunView& view, const std::optional<AgentSession>& session) {
  const auto& current = view.reference ? view.reference->current : std::nullopt;
  return current && (!session || current->id != session->id);
}

/// What every report that writes depends on: that the run is still the one, and its agent still the operator.
Decision begin(const RunView& view) {
  Decision decision;
  guard_rights(decision, view.facts.space);
  take_turn(decision, view.conversation());
  return decision;
}

void answer(Decision& decision, const AgentSession& row, const RuleContext& context) {
  finish(decision, {200, render::session(row), row.version, false}, context);
}

/// Puts the run on a session.
void put_on(Decision& decision, const RunView& view, const Run& run, const Id& session_id, bool bind_failed,
            const RuleContext& context) {
  Run after = run;
  after.agent_session_id = session_id;
  after.bind_failed = run.bind_failed || bind_failed;
  change_run(decision, view.conversation(), run, std::move(after), context);
}

/// The first report of a run that has no session yet.
Result<Decision> first_report(const RunView& view, const Run& run, const ReportBody& body, const RuleContext& context) {
  if (context.request.if_match)
    return refuse(Code::version_conflict);
  if (body.bind_failed)
    return refuse(Code::conflict, Reason::session_not_bound);
  if (!body.external_session_ref)
    return refuse({{"/external_session_ref", FieldCode::required}});
  const ThreadFacts& facts = view.facts;
  Decision decision = begin(view);
  if (const auto ended = ended_meanwhile(run, *view.reference)) { // a human's reset stands
    put_on(decision, view, run, ended->id, false, context);
    answer(decision, *ended, context);
    return decision;
  }
  if (facts.current)
    return refuse(Code::conflict, Reason::session_changed);
  if (is_current_elsewhere(view, std::nullopt))
    return refuse(Code::conflict, Reason::session_bound_elsewhere);
  AgentSession row = new_session(facts, run.agent_id, *body.external_session_ref,
                                 moment_after(facts, view.reference->newest, context.now), context);
  row.started = body.started;
  row.model = body.model;
  insert_session(decision, row, facts.thread, context);
  put_on(decision, view, run, row.id, false, context);
  answer(decision, row, context);
  return decision;
}

/// A report about the session that the run is on. Nothing that changes nothing is written.
Result<Decision> apply(const RunView& view, const AgentSession& session, const ReportBody& body,
                       const RuleContext& context) {
  AgentSession after = session;
  if (body.external_session_ref && *body.external_session_ref != session.external_session_ref) {
    if (session.is_current() && is_current_elsewhere(view, session))
      return refuse(Code::conflict, Reason::session_bound_elsewhere);
    after.external_session_ref = *body.external_session_ref;
  }
  if (body.model)
    after.model = body.model;
  after.started = session.started || body.started;
  if (after == session) {
    Decision nothing;
    answer(nothing, session, context);
    return nothing;
  }
  after.version += 1;
  Decision decision = begin(view);
  decision.session_updates.push_back({after});
  decision.events.push_back(session_event(after, view.facts.thread, context));
  answer(decision, after, context);
  return decision;
}

/// The one line that says that a conversation could not be resumed. It triggers nothing and opens nothing.
Message resume_failed_line(const RunView& view, const Run& run, const RuleContext& context) {
  Message line = system_line(view.facts.thread, run.agent_id, SystemCode::resume_failed, context);
  line.run_id = run.id;
  return line;
}

/// The runtime does not know the session that was bound: another one takes its place, and the run goes on. What a human
/// has ended meanwhile stays ended.
Result<Decision> replace(const RunView& view, const Run& run, const AgentSession& session, const ReportBody& body,
                         const RuleContext& context) {
  if (!session.started || run.bind_failed)
    return refuse(Code::conflict, Reason::session_not_bound);
  const auto& elsewhere = view.reference->current;
  if (elsewhere && elsewhere->id != session.id && (session.is_current() || elsewhere->thread_id != session.thread_id))
    return refuse(Code::conflict, Reason::session_bound_elsewhere);
  Decision decision = begin(view);
  const Timestamp at = moment_after(view.facts, view.reference->newest, context.now);
  if (session.is_current())
    end_rows(decision, {{session, &view.facts.thread}}, at, EndReason::rebind, context);
  AgentSession row = new_session(view.facts, run.agent_id, *body.external_session_ref, at, context);
  row.started = body.started;
  row.model = body.model;
  if (!session.is_current()) {
    row.ended_at = at;
    row.end_reason = session.end_reason;
  }
  insert_session(decision, row, view.facts.thread, context);
  put_on(decision, view, run, row.id, true, context);
  add_message(decision, resume_failed_line(view, run, context), view.facts.thread, context);
  answer(decision, row, context);
  return decision;
}

} // namespace

Result<Decision> report(const RunView& view, const ReportSession& command, const RuleContext& context) {
  const Run* const run = reported_run(view, context.actor());
  if (run == nullptr)
    return refuse(Code::not_found);
  if (!command.body)
    return because(command.body.error());
  const auto& session = view.runs.active_session;
  if (!session)
    return first_report(view, *run, *command.body, context);
  if (context.request.if_match != session->version)
    return because({Code::version_conflict, Reason::none, {}, render::session(*session)});
  if (command.body->bind_failed)
    return replace(view, *run, *session, *command.body, context);
  return apply(view, *session, *command.body, context);
}

} // namespace cleat::rules
