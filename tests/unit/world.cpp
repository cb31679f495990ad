#include "tests/unit/world.hpp"

#include <utility>

namespace cleat::unit {
namespace {

Principal person(std::uint64_t number, std::string name) {
  Principal row;
  row.id = id_of(number);
  row.name = std::move(name);
  row.created_at = noon - std::chrono::hours{24};
  row.version = static_cast<std::int64_t>(number);
  return row;
}

Principal agent(std::uint64_t number, std::string name, ToolClass tools) {
  Principal row = person(number, std::move(name));
  row.kind = PrincipalKind::agent;
  row.agent = AgentProfile{};
  row.agent->tool_class = tools;
  return row;
}

template <class T>
T alternative_of(const Result<rules::Step>& step) {
  if (!step) {
    ADD_FAILURE() << "refused: " << testing::PrintToString(step.error());
    return {};
  }
  const auto* const wanted = std::get_if<T>(&*step);
  if (wanted == nullptr) {
    ADD_FAILURE() << "the step is alternative " << step->index();
    return {};
  }
  return *wanted;
}

} // namespace

Id id_of(std::uint64_t number) {
  Id id;
  id.bytes[6] = 0x70;
  id.bytes[8] = 0x80;
  for (std::size_t i = 0; i < 6; ++i)
    id.bytes[15 - i] = static_cast<std::uint8_t>(number >> (8 * i));
  return id;
}

Id CountingIds::next(Timestamp) {
  return id_of(++last_);
}

Call::Call(const Principal& actor, Timestamp moment) : context{request, moment, ids, options, true} {
  request.actor = std::make_shared<const Principal>(actor);
}

Call& Call::with_key() {
  request.idempotency = IdempotencyKey{request.actor->id, "key-1", sha256("request")};
  return *this;
}

Call& Call::if_match(std::int64_t version) {
  request.if_match = version;
  return *this;
}

World::World()
  : owner(person(11, "Owner")),
    alex(person(12, "Alex")),
    sam(person(13, "Sam")),
    robin(person(14, "Robin")),
    app(person(15, "Importer")),
    lotse(agent(21, "Lotse", ToolClass::container)),
    builder(agent(22, "Builder", ToolClass::host)),
    aide(agent(23, "Aide", ToolClass::container)) {
  owner.instance_owner = true;
  app.kind = PrincipalKind::app;
  aide.agent->billing_mode = BillingMode::personal;
  aide.agent->holder_id = alex.id;
  space = {id_of(31), "Example", owner.id, noon, 3, 7};
  channel = {id_of(32), space.id, "Support", ChannelMode::open, lotse.id, id_of(33), noon, 4};
}

ThreadFacts World::thread(std::uint64_t number, std::optional<Principal> agent) const {
  ThreadFacts facts;
  facts.thread.id = id_of(100 + number);
  facts.thread.space_id = space.id;
  facts.thread.channel_id = channel.id;
  facts.thread.title = "Thread " + std::to_string(number);
  facts.thread.operator_agent_id = agent ? std::optional(agent->id) : std::nullopt;
  facts.thread.created_at = noon - std::chrono::hours{2};
  facts.channel = channel;
  facts.space = space;
  facts.operator_agent = std::move(agent);
  return facts;
}

AgentSession session_in(const ThreadFacts& facts, std::uint64_t number, std::string reference, Timestamp created_at) {
  AgentSession row;
  row.id = id_of(number);
  row.thread_id = facts.thread.id;
  row.agent_id = facts.operator_agent ? facts.operator_agent->id : id_of(21);
  row.external_session_ref = std::move(reference);
  row.started = true;
  row.currency = "EUR";
  row.created_at = created_at;
  return row;
}

AgentSession give_current(ThreadFacts& facts, std::uint64_t number, std::string reference, Timestamp created_at) {
  facts.current = session_in(facts, number, std::move(reference), created_at);
  facts.newest_session_at = created_at;
  return *facts.current;
}

Result<rules::Step> decide(const DirectoryOperation& operation, const DirectoryFacts& facts, const Call& call,
                           const rules::Secret& secret) {
  return rules::decide(operation, facts, secret, call.context);
}

Decision decision_of(const Result<rules::Step>& step) {
  return alternative_of<Decision>(step);
}

Reply reply_of(const Result<rules::Step>& step) {
  return alternative_of<Reply>(step);
}

rules::ReadList list_of(const Result<rules::Step>& step) {
  return alternative_of<rules::ReadList>(step);
}

} // namespace cleat::unit
