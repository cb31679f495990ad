#include <string>
#include <utility>

#include "actors/rules/authorize.hpp"
#include "actors/rules/directory_parts.hpp"
#include "protocol/render.hpp"

/// Spaces, channels and threads. Whoever holds `manage` on the path changes what is in it; the owner of the instance
/// creates spaces and owns what they create (spec 05).
namespace cleat::rules::directory {
namespace {

void guard_rights(Decision& decision, const Space& space) {
  decision.guards.push_back({GuardedRow::space_facts, space.id, space.facts_version});
}

/// Rights, operators and modes changed: everybody who cached them must look again.
void raise_facts(Decision& decision, const Space& space) {
  decision.rows.emplace_back(RaiseSpaceFacts{space.id});
}

/// An operator is an agent that exists.
std::optional<Refusal> check_operator(const std::optional<Id>& operator_id, const DirectoryFacts& facts) {
  if (!operator_id || (facts.referred && facts.referred->kind == PrincipalKind::agent))
    return std::nullopt;
  return Refusal{Code::validation_failed, Reason::none, {{"/operator_agent_id", FieldCode::unknown_reference}}, {}};
}

void record(Decision& decision, std::string_view action, AuditResource resource, const Case& c) {
  decision.audit.push_back(allow_entry(action, resource, c.context));
}

/// The level first, then the body (spec 03 section 5): the first refusal of the two.
template <class Body>
std::optional<Refusal> check(const Case& c, Level needed, const Result<Body>& body) {
  if (auto refusal = require_level(c.facts.level, needed))
    return refusal;
  return body ? std::nullopt : std::optional(body.error());
}

// What spaces, channels and threads have in common, for `changed`.
std::string shown_as(const Space& row) {
  return render::space(row);
}
std::string shown_as(const Channel& row) {
  return render::channel(row);
}
std::string shown_as(const Thread& row) {
  return render::thread(row);
}
RowWrite update_of(const Space& row) {
  return cleat::UpdateSpace{row};
}
RowWrite update_of(const Channel& row) {
  return cleat::UpdateChannel{row};
}
RowWrite update_of(const Thread& row) {
  return cleat::UpdateThread{row};
}
Event event_of(const Space& row, const RuleContext& context) {
  return space_event(row, context);
}
Event event_of(const Channel& row, const RuleContext& context) {
  return channel_event(row, context);
}
Event event_of(const Thread& row, const RuleContext& context) {
  return thread_event(row, context);
}

/// How a change is filed, and whether rights depend on what changed.
struct Change {
  std::string_view kind;
  std::string_view action;
  bool facts = false;
};

/// Commits a place as it shall be. What changes nothing is answered as it is, without a new version.
template <class Row>
Result<Step> changed(const Row& before, Row after, const Change& change, const Case& c) {
  if (after == before)
    return Step{shown(200, shown_as(before), before.version)};
  after.version = before.version + 1;
  Decision decision;
  guard_rights(decision, *c.facts.space);
  decision.rows.push_back(update_of(after));
  if (change.facts)
    raise_facts(decision, *c.facts.space);
  decision.events.push_back(event_of(after, c.context));
  record(decision, change.action, {change.kind, after.id}, c);
  finish(decision, shown(200, shown_as(after), after.version), c.context);
  return Step{std::move(decision)};
}

} // namespace

Result<Step> decide(const op::CreateSpace& operation, const Case& c) {
  if (auto refusal = require_instance_owner(c.actor()))
    return because(std::move(*refusal));
  if (!operation.body)
    return because(operation.body.error());
  Space row;
  row.id = c.context.new_id();
  row.name = operation.body->name;
  row.owner_id = c.actor().id;
  row.created_at = c.context.now;
  Decision decision;
  decision.rows.emplace_back(InsertSpace{row});
  decision.events.push_back(space_event(row, c.context));
  record(decision, "space.create", {"space", row.id}, c);
  finish(decision, shown(201, render::space(row), row.version), c.context);
  return Step{std::move(decision)};
}

Result<Step> decide(const op::ListSpaces& operation, const Case& c) {
  return list(operation.range, SpacesPage{c.actor().id, operation.range.value_or(PageRange{})});
}

Result<Step> decide(const op::GetSpace&, const Case& c) {
  if (auto refusal = require_level(c.facts.level, Level::read))
    return because(std::move(*refusal));
  return Step{shown(200, render::space(*c.facts.space), c.facts.space->version)};
}

Result<Step> decide(const op::UpdateSpace& operation, const Case& c) {
  if (auto refusal = check(c, Level::manage, operation.body))
    return because(std::move(*refusal));
  const Space& before = *c.facts.space;
  if (auto refusal = check_if_match(c.context, before.version, render::space(before)))
    return because(std::move(*refusal));
  Space after = before;
  after.name = operation.body->name.value_or(before.name);
  return changed(before, std::move(after), {"space", "space.update"}, c);
}

Result<Step> decide(const op::CreateChannel& operation, const Case& c) {
  if (auto refusal = check(c, Level::manage, operation.body))
    return because(std::move(*refusal));
  if (auto refusal = check_operator(operation.body->operator_agent_id, c.facts))
    return because(std::move(*refusal));
  Channel row;
  row.id = c.context.new_id();
  row.space_id = c.facts.space->id;
  row.name = operation.body->name;
  row.mode = operation.body->mode;
  row.operator_agent_id = operation.body->operator_agent_id;
  row.main_thread_id = c.context.new_id();
  row.created_at = c.context.now;
  Thread main;
  main.id = row.main_thread_id;
  main.space_id = row.space_id;
  main.channel_id = row.id;
  main.kind = ThreadKind::main;
  main.title = row.name;
  main.created_at = c.context.now;
  Decision decision;
  guard_rights(decision, *c.facts.space);
  decision.rows.emplace_back(InsertChannel{row});
  decision.rows.emplace_back(InsertThread{main});
  decision.events.push_back(channel_event(row, c.context));
  decision.events.push_back(thread_event(main, c.context));
  record(decision, "channel.create", {"channel", row.id}, c);
  finish(decision, shown(201, render::channel(row), row.version), c.context);
  return Step{std::move(decision)};
}

Result<Step> decide(const op::ListChannels& operation, const Case& c) {
  if (auto refusal = require_level(c.facts.level, Level::read))
    return because(std::move(*refusal));
  return list(operation.range, ChannelsPage{operation.space_id, operation.range.value_or(PageRange{})});
}

Result<Step> decide(const op::GetChannel&, const Case& c) {
  if (auto refusal = require_level(c.facts.level, Level::read))
    return because(std::move(*refusal));
  return Step{shown(200, render::channel(*c.facts.channel), c.facts.channel->version)};
}

Result<Step> decide(const op::UpdateChannel& operation, const Case& c) {
  if (auto refusal = check(c, Level::manage, operation.body))
    return because(std::move(*refusal));
  if (auto refusal = check_operator(operation.body->operator_agent_id, c.facts))
    return because(std::move(*refusal));
  const Channel& before = *c.facts.channel;
  if (auto refusal = check_if_match(c.context, before.version, render::channel(before)))
    return because(std::move(*refusal));
  Channel after = before;
  after.name = operation.body->name.value_or(before.name);
  after.mode = operation.body->mode.value_or(before.mode);
  if (operation.body->operator_agent_id)
    after.operator_agent_id = operation.body->operator_agent_id;
  const bool facts_change = after.mode != before.mode || after.operator_agent_id != before.operator_agent_id;
  return changed(before, std::move(after), {"channel", "channel.update", facts_change}, c);
}

Result<Step> decide(const op::CreateThread& operation, const Case& c) {
  if (auto refusal = check(c, Level::manage, operation.body))
    return because(std::move(*refusal));
  if (auto refusal = check_operator(operation.body->operator_agent_id, c.facts))
    return because(std::move(*refusal));
  Thread row;
  row.id = c.context.new_id();
  row.space_id = c.facts.space->id;
  row.channel_id = c.facts.channel->id;
  row.title = operation.body->title;
  // A thread without an operator of its own starts with its channel's and keeps it from then on.
  row.operator_agent_id =
    operation.body->operator_agent_id ? operation.body->operator_agent_id : c.facts.channel->operator_agent_id;
  row.created_at = c.context.now;
  Decision decision;
  guard_rights(decision, *c.facts.space);
  decision.rows.emplace_back(InsertThread{row});
  decision.events.push_back(thread_event(row, c.context));
  record(decision, "thread.create", {"thread", row.id}, c);
  finish(decision, shown(201, render::thread(row), row.version), c.context);
  return Step{std::move(decision)};
}

Result<Step> decide(const op::ListThreads& operation, const Case& c) {
  if (auto refusal = require_level(c.facts.level, Level::read))
    return because(std::move(*refusal));
  return list(operation.range, ThreadsPage{operation.channel_id, operation.range.value_or(PageRange{})});
}

Result<Step> decide(const op::GetThread&, const Case& c) {
  if (auto refusal = require_level(c.facts.level, Level::read))
    return because(std::move(*refusal));
  return Step{shown(200, render::thread(*c.facts.thread), c.facts.thread->version)};
}

Result<Step> decide(const op::UpdateThread& operation, const Case& c) {
  if (auto refusal = check(c, Level::manage, operation.body))
    return because(std::move(*refusal));
  const Thread& before = *c.facts.thread;
  // A main thread works with its channel's operator (spec 01), so it takes none of its own.
  if (operation.body->operator_agent_id && before.kind == ThreadKind::main)
    return refuse({{"/operator_agent_id", FieldCode::not_applicable}});
  if (auto refusal = check_operator(operation.body->operator_agent_id, c.facts))
    return because(std::move(*refusal));
  if (auto refusal = check_if_match(c.context, before.version, render::thread(before)))
    return because(std::move(*refusal));
  Thread after = before;
  after.title = operation.body->title.value_or(before.title);
  if (operation.body->operator_agent_id)
    after.operator_agent_id = operation.body->operator_agent_id;
  const bool facts_change = after.operator_agent_id != before.operator_agent_id;
  return changed(before, std::move(after), {"thread", "thread.update", facts_change}, c);
}

Result<Step> decide(const op::CloseThread& operation, const Case& c) {
  if (auto refusal = check(c, Level::write, operation.body))
    return because(std::move(*refusal));
  const Thread& before = *c.facts.thread;
  if (auto refusal = check_if_match(c.context, before.version, render::thread(before)))
    return because(std::move(*refusal));
  Thread after = before;
  after.state = ThreadState::closed;
  return changed(before, std::move(after), {"thread", "thread.close"}, c);
}

} // namespace cleat::rules::directory
