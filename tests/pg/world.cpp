#include "tests/pg/world.hpp"

#include <algorithm>
#include <utility>

namespace cleat::test {

namespace {

/// 2026-01-02T03:04:05.678901Z: a start with all six digits, so that a lost microsecond shows.
constexpr Timestamp calendar_start{std::chrono::microseconds{1767323045678901}};

Principal human(const Id& id, std::string name, bool owner) {
  Principal row;
  row.id = id;
  row.name = std::move(name);
  row.instance_owner = owner;
  row.created_at = at(0);
  return row;
}

Principal agent(const Id& id, std::string name) {
  Principal row = human(id, std::move(name), false);
  row.kind = PrincipalKind::agent;
  row.agent = AgentProfile{};
  return row;
}

} // namespace

Timestamp at(std::int64_t microseconds) {
  return calendar_start + std::chrono::microseconds{microseconds};
}

Id Ids::next(Timestamp now) {
  const auto milliseconds =
    static_cast<std::uint64_t>(std::chrono::floor<std::chrono::milliseconds>(now.time_since_epoch()).count());
  const std::uint64_t number = ++count_;
  Id id;
  for (std::size_t i = 0; i < 6; ++i)
    id.bytes[i] = static_cast<std::uint8_t>(milliseconds >> (40 - 8 * i));
  id.bytes[6] = 0x70;
  id.bytes[8] = 0x80;
  for (std::size_t i = 0; i < 7; ++i)
    id.bytes[9 + i] = static_cast<std::uint8_t>(number >> (48 - 8 * i));
  return id;
}

Id Ids::next() {
  return next(calendar_start);
}

World::World(std::size_t ordinary_threads)
  : alex(human(ids.next(), "Alex", true)),
    sam(human(ids.next(), "Sam", false)),
    lotse(agent(ids.next(), "Lotse")),
    builder(agent(ids.next(), "Builder")) {
  space.id = ids.next();
  space.name = "Example";
  space.owner_id = alex.id;
  space.created_at = at(1);
  channel.id = ids.next();
  channel.space_id = space.id;
  channel.name = "Support";
  channel.operator_agent_id = lotse.id;
  channel.created_at = at(2);
  for (std::size_t i = 0; i <= ordinary_threads; ++i) {
    Thread row;
    row.id = ids.next();
    row.space_id = space.id;
    row.channel_id = channel.id;
    row.kind = i == 0 ? ThreadKind::main : ThreadKind::thread;
    row.title = "Thread " + std::to_string(i);
    row.created_at = at(3);
    if (i > 0) {
      row.operator_agent_id = lotse.id;
      threads.push_back(row);
    } else {
      main = row;
    }
  }
  channel.main_thread_id = main.id;
}

Decision World::provision() const {
  Decision decision;
  for (const auto* principal : {&alex, &sam, &lotse, &builder})
    decision.rows.emplace_back(InsertPrincipal{*principal});
  decision.rows.emplace_back(InsertSpace{space});
  decision.rows.emplace_back(InsertChannel{channel});
  decision.rows.emplace_back(InsertThread{main});
  for (const auto& thread : threads)
    decision.rows.emplace_back(InsertThread{thread});
  return decision;
}

AgentSession World::session(const Thread& thread, std::string reference, Timestamp created_at) {
  AgentSession row;
  row.id = ids.next();
  row.thread_id = thread.id;
  row.agent_id = lotse.id;
  row.external_session_ref = std::move(reference);
  row.started = true;
  row.currency = "EUR";
  row.created_at = created_at;
  return row;
}

AgentSession World::imported(const Thread& thread, std::string reference, Timestamp created_at) {
  AgentSession row = session(thread, std::move(reference), created_at);
  row.model = "model-1";
  row.cost_baseline_micros = 1'234'567;
  row.ended_at = created_at + std::chrono::seconds{1};
  row.end_reason = EndReason::import;
  return row;
}

Decision World::bind(const AgentSession& row, const std::vector<AgentSession>& ends) {
  Decision decision;
  for (const auto& ending : ends) {
    decision.ends.push_back(end_of(ending, EndReason::rebind));
    decision.events.push_back(event("agent_session.changed", ending.thread_id));
  }
  std::ranges::sort(decision.ends, {}, &EndSession::id);
  decision.sessions.push_back(row);
  decision.events.push_back(event("agent_session.changed", row.thread_id));
  decision.audit.push_back(audit("agent_session.bind", row.thread_id));
  return decision;
}

Decision World::reset(const AgentSession& row) {
  Decision decision;
  decision.ends.push_back(end_of(row, EndReason::reset));
  decision.events.push_back(event("agent_session.changed", row.thread_id));
  return decision;
}

Decision World::only(RowWrite write) {
  Decision decision;
  decision.rows.push_back(std::move(write));
  return decision;
}

Event World::event(std::string type, const Id& thread_id, std::string payload) {
  Event row;
  row.id = ids.next();
  row.type = std::move(type);
  row.time = at(500);
  row.space_id = space.id;
  row.channel_id = channel.id;
  row.thread_id = thread_id;
  row.resource_kind = "thread";
  row.resource_id = thread_id;
  row.actor_id = alex.id;
  row.payload = std::move(payload);
  return row;
}

AuditEntry World::audit(std::string action, const Id& resource_id) {
  AuditEntry row;
  row.id = ids.next();
  row.time = at(500);
  row.actor_id = alex.id;
  row.action = std::move(action);
  row.resource_kind = "thread";
  row.resource_id = resource_id;
  row.details = R"({"cause":"bind"})";
  return row;
}

AuditEntry World::denial(const Principal& actor, std::string action, std::string reason, Timestamp time) {
  AuditEntry row = audit(std::move(action), threads.front().id);
  row.time = time;
  row.actor_id = actor.id;
  row.allowed = false;
  row.reason = std::move(reason);
  row.details = "{}";
  return row;
}

IdempotencyRecord World::record(const Principal& principal, std::string key, std::uint8_t number) {
  IdempotencyRecord row;
  row.key.principal_id = principal.id;
  row.key.key = std::move(key);
  row.key.fingerprint.fill(number);
  row.reply = {201, R"({"id":"x"})", 1, false};
  row.created_at = at(0);
  row.expires_at = at(0) + std::chrono::hours{24};
  return row;
}

AgentSession ended(AgentSession row, const EndSession& end) {
  row.ended_at = end.ended_at;
  row.end_reason = end.reason;
  ++row.version;
  return row;
}

EndSession end_of(const AgentSession& row, EndReason reason, Timestamp time) {
  return {row.id, row.thread_id, row.version, time, reason};
}

Grant grant_on(ScopeKind scope, const Id& resource, const Space& space, const Principal& principal, Level level) {
  return {scope, resource, space.id, principal.id, level};
}

Token token_of(const Id& id, const Principal& principal, std::string_view secret) {
  Token row;
  row.id = id;
  row.principal_id = principal.id;
  row.label = "laptop";
  row.digest = sha256(secret);
  row.created_at = at(10);
  return row;
}

} // namespace cleat::test
