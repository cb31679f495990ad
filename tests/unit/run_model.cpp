#include "tests/unit/run_model.hpp"

#include <algorithm>
#include <string_view>
#include <variant>

#include <simdjson.h>

namespace cleat::unit {
namespace {

template <class Row>
auto find(std::vector<Row>& rows, const Id& id) {
  return std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.id == id; });
}

RequestContext context_by(const Principal& actor, std::optional<std::int64_t> if_match) {
  return {std::make_shared<const Principal>(actor), "test", {}, if_match};
}

} // namespace

RunModel::RunModel() : facts(world.thread()) {
  levels = {{world.owner.id, Level::manage},
            {world.alex.id, Level::trigger},
            {world.sam.id, Level::read},
            {world.aide.id, Level::read}};
}

Level RunModel::level(const Principal& actor) const {
  const auto held = levels.find(actor.id);
  return held == levels.end() ? Level::none : held->second;
}

std::optional<Principal> RunModel::principal(const Id& id) const {
  for (const Principal* known :
       {&world.owner, &world.alex, &world.sam, &world.robin, &world.app, &world.lotse, &world.builder, &world.aide})
    if (known->id == id)
      return *known;
  return std::nullopt;
}

std::optional<AgentSession> RunModel::current() const {
  for (const AgentSession& row : sessions)
    if (row.is_current())
      return row;
  return std::nullopt;
}

std::optional<AgentSession> RunModel::session(const std::optional<Id>& id) const {
  for (const AgentSession& row : sessions)
    if (id == row.id)
      return row;
  return std::nullopt;
}

RunFacts RunModel::run_facts() const {
  RunFacts known;
  known.now = now;
  known.turn = turn_;
  const auto row = current();
  for (const Run& run : runs) {
    if (run.is_active())
      known.active = run;
    known.current_used = known.current_used || (row && run.agent_session_id == row->id);
    if (run.state != RunState::held)
      continue;
    HeldRun held{run, *principal(run.triggered_by), Level::none, *principal(run.agent_id), Level::none, {}};
    held.level = level(held.triggered_by);
    held.agent_level = level(held.agent);
    for (const Message& message : messages)
      if (message.id == run.message_id)
        held.message = message;
    known.held.push_back(held);
  }
  if (known.active)
    known.active_session = session(known.active->agent_session_id);
  const bool only_imports = std::all_of(sessions.begin(), sessions.end(), [](const AgentSession& session_row) {
    return session_row.end_reason == EndReason::import;
  });
  for (const AgentSession& import : sessions) {
    const bool newer = !known.import_row || std::pair(import.created_at, import.id) >
                                              std::pair(known.import_row->created_at, known.import_row->id);
    if (only_imports && facts.operator_agent && import.agent_id == facts.operator_agent->id && newer)
      known.import_row = import;
  }
  if (known.import_row)
    known.import_reference_current = reference(known.import_row->external_session_ref)->current.has_value();
  return known;
}

std::optional<ReferenceFacts> RunModel::reference(const std::optional<std::string>& name) const {
  if (!name || !facts.operator_agent)
    return std::nullopt;
  ReferenceFacts known;
  known.agent_id = facts.operator_agent->id;
  known.external_session_ref = *name;
  std::vector<AgentSession> rows = elsewhere;
  rows.insert(rows.end(), sessions.begin(), sessions.end());
  for (const AgentSession& row : rows) {
    if (row.external_session_ref != *name || row.agent_id != known.agent_id)
      continue;
    if (row.is_current())
      known.current = row;
    if (!known.newest || std::pair(row.created_at, row.id) > std::pair(known.newest->created_at, known.newest->id))
      known.newest = row;
    const bool ended_here = row.thread_id == facts.thread.id && row.ended_at && row.end_reason != EndReason::import;
    if (ended_here && (!known.ended_here || row.ended_at > known.ended_here->ended_at))
      known.ended_here = row;
  }
  for (const auto& [row, thread] :
       {std::pair(&known.current, &known.current_thread), std::pair(&known.newest, &known.newest_thread)})
    if (*row && (*row)->thread_id != facts.thread.id)
      *thread = OtherThread{world.thread(2), Level::trigger};
  return known;
}

rules::RunView RunModel::view(const RunFacts& known, const Principal& actor,
                              const std::optional<std::string>& name) const {
  rules::RunView seen{facts, known, level(actor)};
  seen.reference = reference(name);
  return seen;
}

Result<Decision> RunModel::trigger(const Principal& actor, TriggerBody body) {
  pass(std::chrono::seconds(1));
  const RequestContext request = context_by(actor, {});
  facts.current = current();
  const RunFacts known = run_facts();
  rules::RunView seen = view(known, actor, {});
  if (body.agent_id) {
    seen.agent = principal(*body.agent_id);
    seen.agent_level = seen.agent ? level(*seen.agent) : Level::none;
  }
  const TriggerRun command{request, facts.thread.id, std::move(body)};
  return apply(rules::trigger(seen, command, {request, now, ids_, options}));
}

Result<Decision> RunModel::operate(const Principal& actor, const Id& run_id, const RunOperation& operation) {
  pass(std::chrono::seconds(1));
  const RequestContext request = context_by(actor, {});
  facts.current = current();
  const RunFacts known = run_facts();
  const auto* const start_operation = std::get_if<run_op::Start>(&operation);
  rules::RunView seen =
    view(known, actor,
         start_operation && start_operation->body ? start_operation->body->external_session_ref : std::nullopt);
  if (const auto run = find(runs, run_id); run != runs.end()) {
    seen.run = *run;
    seen.agent = principal(run->agent_id);
    seen.agent_level = level(*seen.agent);
  }
  return apply(rules::operate(seen, {request, run_id, operation}, {request, now, ids_, options}));
}

Result<Decision> RunModel::report(const Principal& actor, const ReportBody& body,
                                  std::optional<std::int64_t> if_match) {
  pass(std::chrono::seconds(1));
  const RequestContext request = context_by(actor, if_match);
  facts.current = current();
  const RunFacts known = run_facts();
  const ReportSession command{request, facts.thread.id, body};
  return apply(rules::report(view(known, actor, body.external_session_ref), command, {request, now, ids_, options}));
}

Result<Decision> RunModel::reset(const Principal& actor) {
  pass(std::chrono::seconds(1));
  const RequestContext request = context_by(actor, {});
  facts.current = current();
  const ResetSession command{request, facts.thread.id, ResetBody{}};
  return apply(rules::reset({facts, level(actor)}, command, {request, now, ids_, options}));
}

Result<Decision> RunModel::bind(const Principal& actor, const std::string& name) {
  pass(std::chrono::seconds(1));
  const RequestContext request = context_by(actor, {});
  facts.current = current();
  BindBody body{name, {}, false};
  if (facts.current)
    body.expected_current_session_id = facts.current->id;
  const BindSession command{request, facts.thread.id, body};
  return apply(rules::bind({facts, level(actor)}, reference(name), command, {request, now, ids_, options}));
}

Result<Decision> RunModel::as_agent(const RunOperation& operation) {
  const Run run = last_run();
  return operate(*principal(run.agent_id), run.id, operation);
}

Result<Decision> RunModel::start(const std::string& name) {
  StartBody body;
  if (!name.empty())
    body.external_session_ref = name;
  return as_agent(run_op::Start{body});
}

Result<Decision> RunModel::finish() {
  return as_agent(run_op::Finish{FinishBody{}});
}

AgentSession RunModel::import_row(const Id& agent_id, const std::string& name, Timestamp created_at) {
  AgentSession row = session_in(facts, 500 + sessions.size(), name, created_at);
  row.agent_id = agent_id;
  row.model = "imported";
  row.cost_baseline_micros = 70;
  row.currency = "USD";
  row.ended_at = created_at;
  row.end_reason = EndReason::import;
  sessions.push_back(row);
  facts.newest_session_at = std::max(facts.newest_session_at.value_or(created_at), created_at);
  return row;
}

AgentSession RunModel::current_elsewhere(const std::string& name) {
  elsewhere.push_back(session_in(world.thread(2), 600 + elsewhere.size(), name, noon));
  return elsewhere.back();
}

Told RunModel::last_told() const {
  simdjson::dom::parser parser;
  const simdjson::dom::element payload = parser.parse(told.back().payload);
  const auto text = [](const simdjson::simdjson_result<simdjson::dom::element>& member) {
    std::string_view value;
    return member.get(value) == simdjson::SUCCESS ? std::string(value) : std::string();
  };
  return {told.back().agent_id, text(payload["session_mode"]), text(payload["agent_session"]["id"])};
}

std::size_t RunModel::lines(SystemCode code) const {
  return static_cast<std::size_t>(
    std::count_if(messages.begin(), messages.end(), [&](const Message& row) { return row.system_code == code; }));
}

std::size_t RunModel::events_of(const std::string& type) const {
  return static_cast<std::size_t>(
    std::count_if(events.begin(), events.end(), [&](const Event& event) { return event.type == type; }));
}

Result<Decision> RunModel::apply(Result<Decision> decision) {
  if (!decision)
    return decision;
  const bool writes_runs = !decision->runs.empty() || !decision->run_updates.empty() || !decision->messages.empty();
  expect(!writes_runs || decision->turn == RunTurn{facts.thread.id, turn_}, "a decision about runs takes the turn");
  if (decision->turn)
    ++turn_;
  for (const CurrentGuard& guard : decision->current_guards) {
    const auto row = current();
    expect(guard.session_id == (row ? std::optional(row->id) : std::nullopt), "a guard is about the current session");
  }
  write_sessions(*decision);
  write_runs(*decision);
  rules::adopt(facts, *decision);
  expect(facts.current == current(), "what the owner adopts is what was written");
  events.insert(events.end(), decision->events.begin(), decision->events.end());
  audit.insert(audit.end(), decision->audit.begin(), decision->audit.end());
  denials.insert(denials.end(), decision->denials.begin(), decision->denials.end());
  check();
  return decision;
}

void RunModel::write_sessions(const Decision& decision) {
  for (const EndSession& end : decision.ends) {
    const auto row = find(sessions, end.id);
    expect(row != sessions.end() && row->is_current() && row->version == end.expected_version, "a current row ends");
    *row = rules::ended(*row, end.ended_at, end.reason);
  }
  for (const UpdateSession& update : decision.session_updates) {
    const auto row = find(sessions, update.row.id);
    expect(row != sessions.end() && row->version + 1 == update.row.version, "an update raises the version by one");
    expect(row->is_current() == update.row.is_current(), "an update does not end");
    *row = update.row;
  }
  for (const AgentSession& row : decision.sessions) {
    expect(row.version == 1 && row.cumulative_cost_micros == 0, "a new row has version 1 and no cost");
    sessions.push_back(row);
  }
}

void RunModel::write_runs(const Decision& decision) {
  for (const UpdateRun& update : decision.run_updates) {
    const auto row = find(runs, update.row.id);
    expect(row != runs.end() && row->state == update.from && row->version + 1 == update.row.version,
           "a run changes from the state that it is in");
    *row = update.row;
  }
  runs.insert(runs.end(), decision.runs.begin(), decision.runs.end());
  messages.insert(messages.end(), decision.messages.begin(), decision.messages.end());
  told.insert(told.end(), decision.agent_events.begin(), decision.agent_events.end());
}

void RunModel::check() {
  const auto count = [](const auto& rows, auto wanted) { return std::count_if(rows.begin(), rows.end(), wanted); };
  const auto active = count(runs, [](const Run& run) { return run.is_active(); });
  const auto held = count(runs, [](const Run& run) { return run.state == RunState::held; });
  const auto invoked = count(runs, [](const Run& run) { return run.queued_at.has_value(); });
  expect(active <= 1, "one active run a thread");
  expect(active == 1 || held == 0, "nothing is held when nothing is active");
  expect(count(sessions, [](const AgentSession& row) { return row.is_current(); }) <= 1, "one current session");
  expect(std::ssize(told) == invoked, "an agent is told of each run once");
  for (const Run& run : runs) {
    const bool accepted = run.state == RunState::running || run.state == RunState::waiting_input;
    expect(run.lease_expires_at.has_value() == accepted, "who holds a run has a lease, and nobody else");
    expect(run.failure.has_value() == (run.state == RunState::failed), "a failed run says why");
    const bool over = !accepted && run.state != RunState::queued && run.state != RunState::held;
    expect(run.finished_at.has_value() == over, "what is over has an end");
  }
}

void RunModel::expect(bool holds, const std::string& what) {
  if (!holds)
    broken.push_back(what);
}

} // namespace cleat::unit
