#include "tests/unit/session_model.hpp"

#include <algorithm>
#include <set>

#include "actors/rules/authorize.hpp"
#include "protocol/render.hpp"

namespace cleat::unit {
namespace {

/// Newest first means: greater by this.
std::pair<Timestamp, Id> age(const AgentSession& row) {
  return {row.created_at, row.id};
}

/// Whether the later of two changes is the newest row of both its thread and its reference.
bool same_line(const AgentSession& a, const AgentSession& b) {
  return a.thread_id == b.thread_id || (a.agent_id == b.agent_id && a.external_session_ref == b.external_session_ref);
}

} // namespace

SessionModel::SessionModel(const std::vector<Level>& levels)
  : actors_{world_.owner, world_.alex, world_.sam, world_.robin, world_.app, world_.lotse} {
  for (const Principal& agent : {world_.lotse, world_.lotse, world_.aide, world_.builder})
    threads_.push_back(world_.thread(threads_.size(), agent));
  threads_.push_back(world_.thread(threads_.size(), std::nullopt));
  // A second space belongs to Sam, and one channel of it takes no posts.
  for (const Principal& agent : {world_.lotse, world_.aide, world_.builder}) {
    ThreadFacts facts = world_.thread(threads_.size(), agent);
    facts.space.id = facts.channel.space_id = facts.thread.space_id = id_of(39);
    facts.space.owner_id = world_.sam.id;
    facts.space.facts_version = 70;
    threads_.push_back(facts);
  }
  threads_.push_back(world_.thread(threads_.size(), world_.lotse));
  threads_.back().channel.mode = ChannelMode::read_only;
  std::size_t next = 0;
  for (const Principal& actor : actors_)
    for (const ThreadFacts& facts : threads_)
      levels_[{actor.id, facts.thread.id}] = levels.empty() ? Level::trigger : levels[next++ % levels.size()];
}

Result<Decision> SessionModel::reset(const Principal& actor, std::size_t thread, std::optional<Id> expected,
                                     Timestamp now) {
  const ThreadFacts facts = threads_.at(thread);
  const Level held = level(actor, facts);
  const RequestContext request{std::make_shared<const Principal>(actor), "", {}, {}};
  const rules::RuleContext context{request, now, ids_, options_};
  auto decision = rules::reset({facts, held}, ResetSession{request, facts.thread.id, ResetBody{expected}}, context);
  if (decision)
    apply(*decision, actor, facts);
  else
    judge_refusal(decision.error(), held);
  return decision;
}

Result<Decision> SessionModel::bind(const Principal& actor, std::size_t thread, BindBody body, Timestamp now) {
  const ThreadFacts facts = threads_.at(thread);
  const Level held = level(actor, facts);
  std::optional<ReferenceFacts> known;
  if (facts.operator_agent)
    known = reference(actor, *facts.operator_agent, body.external_session_ref);
  const RequestContext request{std::make_shared<const Principal>(actor), "", {}, {}};
  const rules::RuleContext context{request, now, ids_, options_};
  auto decision = rules::bind({facts, held}, known, BindSession{request, facts.thread.id, std::move(body)}, context);
  if (decision)
    apply(*decision, actor, facts);
  else
    judge_refusal(decision.error(), held);
  return decision;
}

Result<Decision> SessionModel::import_session(const Principal& actor, std::size_t thread, ImportItem item,
                                              Timestamp now) {
  const ThreadFacts facts = threads_.at(thread);
  const Level held = level(actor, facts);
  item.agent_id = world_.lotse.id;
  std::vector<AgentSession> history;
  std::copy_if(rows_.begin(), rows_.end(), std::back_inserter(history),
               [&](const AgentSession& row) { return row.thread_id == facts.thread.id; });
  const RequestContext request{std::make_shared<const Principal>(actor), "", {}, {}};
  const rules::RuleContext context{request, now, ids_, options_};
  auto decision =
    rules::import_sessions({facts, held}, history, {world_.lotse},
                           ImportSessions{request, facts.thread.id, ImportBody{{std::move(item)}}}, context);
  if (decision)
    apply(*decision, actor, facts);
  else
    judge_refusal(decision.error(), held);
  return decision;
}

Level SessionModel::level(const Principal& actor, const ThreadFacts& facts) const {
  return facts.space.owner_id == actor.id ? Level::manage : levels_.at({actor.id, facts.thread.id});
}

ReferenceFacts SessionModel::reference(const Principal& actor, const Principal& agent, const std::string& name) const {
  ReferenceFacts found{agent.id, name, {}, {}, {}, {}};
  for (const AgentSession& row : rows_) {
    if (row.agent_id != agent.id || row.external_session_ref != name)
      continue;
    if (row.is_current())
      found.current = row;
    if (!found.newest || age(*found.newest) < age(row))
      found.newest = row;
  }
  if (found.current)
    found.current_thread = thread_of(*found.current, actor);
  if (found.newest)
    found.newest_thread = thread_of(*found.newest, actor);
  return found;
}

std::optional<OtherThread> SessionModel::thread_of(const AgentSession& row, const Principal& actor) const {
  const ThreadFacts& facts = facts_of(row.thread_id);
  return OtherThread{facts, level(actor, facts)};
}

void SessionModel::expect(bool holds, const std::string& what) {
  if (!holds)
    broken_.push_back(what);
}

void SessionModel::judge_refusal(const Refusal& refusal, Level held) {
  const std::set<Code> denials{Code::not_found, Code::forbidden, Code::channel_read_only,
                               Code::agent_invocation_denied};
  const std::set<Code> others{Code::conflict, Code::validation_failed};
  const bool denial = denials.contains(refusal.code);
  expect(denial || others.contains(refusal.code), "a refusal with a code that no rule gives");
  expect(rules::is_denial(refusal, true) == denial, "a denial is not known as one, or something else is");
  expect(held != Level::none || refusal.code == Code::not_found, "a thread out of sight answers more than not found");
  expect(held >= Level::read || refusal.code == Code::not_found, "a refusal tells about a thread out of sight");
}

void SessionModel::apply(const Decision& decision, const Principal& actor, const ThreadFacts& asked) {
  check_guards(decision, asked);
  check_reach(decision, actor);
  end_rows(decision);
  insert_rows(decision);
  check_events(decision);
  check_uniqueness();
  adopt_everywhere(decision);
}

void SessionModel::end_rows(const Decision& decision) {
  expect(std::is_sorted(decision.ends.begin(), decision.ends.end(),
                        [](const EndSession& a, const EndSession& b) { return a.id < b.id; }),
         "rows do not end in ascending id");
  for (const EndSession& end : decision.ends) {
    AgentSession* const row = find(end.id);
    if (row == nullptr || !row->is_current() || row->version != end.expected_version ||
        row->thread_id != end.thread_id) {
      expect(false, "a row ends that is not there, not current, elsewhere or of another version");
      continue;
    }
    expect(end.ended_at >= row->created_at, "a row ends before it began");
    row->ended_at = end.ended_at;
    row->end_reason = end.reason;
    row->version += 1;
  }
}

void SessionModel::insert_rows(const Decision& decision) {
  for (const AgentSession& made : decision.sessions) {
    expect(find(made.id) == nullptr, "an id is given twice");
    expect(made.version == 1 && made.cumulative_cost_micros == 0, "a new row is not new");
    expect(made.started && made.is_current() == !made.end_reason, "a new row contradicts itself");
    for (const AgentSession& row : rows_)
      expect(!made.is_current() || !same_line(made, row) || age(row) < age(made),
             "a new current row is not the newest of its thread and reference");
    rows_.push_back(made);
  }
}

void SessionModel::check_events(const Decision& decision) {
  std::vector<AgentSession> changed;
  for (const EndSession& end : decision.ends)
    if (const AgentSession* const row = find(end.id))
      changed.push_back(*row);
  changed.insert(changed.end(), decision.sessions.begin(), decision.sessions.end());
  if (changed.size() != decision.events.size())
    return expect(false, "events and changed rows differ in number");
  for (std::size_t i = 0; i < changed.size(); ++i) {
    const Event& event = decision.events[i];
    expect(event.payload == render::session_changed(changed[i]), "an event shows another row, or in another order");
    expect(event.thread_id == changed[i].thread_id && event.resource_id == changed[i].thread_id &&
             event.space_id == facts_of(changed[i].thread_id).space.id,
           "an event has the scope of another thread");
  }
}

void SessionModel::check_guards(const Decision& decision, const ThreadFacts& asked) {
  const auto guarded = [&](const VersionGuard& guard) {
    return std::find(decision.guards.begin(), decision.guards.end(), guard) != decision.guards.end();
  };
  std::set<Id> touched{asked.thread.id};
  for (const EndSession& end : decision.ends)
    touched.insert(end.thread_id);
  for (const Id& thread_id : touched) {
    const Space& space = facts_of(thread_id).space;
    expect(guarded({GuardedRow::space_facts, space.id, space.facts_version}), "a touched space is not guarded");
  }
  const bool switches = !decision.ends.empty() || (!decision.sessions.empty() && decision.sessions[0].is_current());
  if (switches && asked.operator_agent)
    expect(guarded({GuardedRow::principal, asked.operator_agent->id, asked.operator_agent->version}),
           "the agent is not guarded");
  for (const AgentSession& made : decision.sessions)
    if (made.is_current())
      expect(decision.reference_guards.size() == 1 && decision.reference_guards[0].agent_id == made.agent_id &&
               decision.reference_guards[0].external_session_ref == made.external_session_ref,
             "the head of the reference is not guarded");
}

void SessionModel::check_reach(const Decision& decision, const Principal& actor) {
  std::vector<AgentSession> reached;
  for (const EndSession& end : decision.ends)
    if (const AgentSession* const row = find(end.id))
      reached.push_back(*row);
  for (const AgentSession& made : decision.sessions)
    if (made.is_current())
      reached.push_back(made);
  for (const AgentSession& row : reached) {
    const ThreadFacts& facts = facts_of(row.thread_id);
    expect(actor.kind == PrincipalKind::human, "a program switched a session");
    expect(level(actor, facts) >= Level::trigger, "somebody without trigger switched a session");
    expect(facts.channel.mode == ChannelMode::open, "a session was switched in a channel that takes no posts");
    expect(row.agent_id != world_.aide.id || actor.id == world_.alex.id, "a personal agent was reached by another");
    expect(row.agent_id != world_.builder.id || actor.id == facts.space.owner_id, "host tools were reached by another");
  }
}

void SessionModel::check_uniqueness() {
  std::set<Id> threads;
  std::set<std::pair<Id, std::string>> references;
  for (const AgentSession& row : rows_) {
    if (!row.is_current())
      continue;
    expect(threads.insert(row.thread_id).second, "a thread has two current rows");
    expect(references.insert({row.agent_id, row.external_session_ref}).second, "a reference is current twice");
  }
}

void SessionModel::adopt_everywhere(const Decision& decision) {
  for (ThreadFacts& facts : threads_) {
    rules::adopt(facts, decision);
    std::optional<AgentSession> current;
    std::optional<Timestamp> newest;
    for (const AgentSession& row : rows_) {
      if (row.thread_id != facts.thread.id)
        continue;
      if (row.is_current())
        current = row;
      newest = std::max(newest.value_or(row.created_at), row.created_at);
    }
    expect(facts.current == current && facts.newest_session_at == newest, "an owner adopted another state");
  }
}

AgentSession* SessionModel::find(const Id& id) {
  const auto row = std::find_if(rows_.begin(), rows_.end(), [&](const AgentSession& other) { return other.id == id; });
  return row == rows_.end() ? nullptr : &*row;
}

const ThreadFacts& SessionModel::facts_of(const Id& thread_id) const {
  return *std::find_if(threads_.begin(), threads_.end(),
                       [&](const ThreadFacts& facts) { return facts.thread.id == thread_id; });
}

} // namespace cleat::unit
