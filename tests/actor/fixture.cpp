#include "tests/actor/fixture.hpp"

#include <algorithm>
#include <utility>

#include <caf/event_based_actor.hpp>

#include "actors/directory.hpp"
#include "actors/herald.hpp"
#include "actors/lease_watcher.hpp"
#include "actors/registry.hpp"

namespace cleat::test {
namespace {

template <class Handle, class Command>
std::shared_ptr<std::optional<Answer>> send_to(caf::actor_system& system, const Handle& handle,
                                               const Command& command) {
  auto slot = std::make_shared<std::optional<Answer>>();
  system.spawn([slot, handle, command](caf::event_based_actor* self) {
    self->request(handle, caf::infinite, command)
      .then([slot](const Answer& answer) { *slot = answer; },
            [slot](const caf::error&) { *slot = Answer{refuse(Code::outcome_unknown)}; });
  });
  return slot;
}

} // namespace

Id FailingIds::next(Timestamp now) {
  if (std::exchange(fail_, false))
    throw std::runtime_error("the test wants this owner dead");
  return ids_.next(now);
}

ActorTest::Config::Config() {
  add_message_types<caf::id_block::cleat_storage>();
  add_message_types<caf::id_block::cleat_actors>();
  set("scheduler.policy", caf::atom("testing"));
}

ActorTest::ActorTest(actors::ActorOptions options) : system(config_) {
  EXPECT_EQ(tables->commit(world.provision()), storage::CommitOutcome::committed);
  options.fleet.gate = gate;
  deps = std::make_shared<const actors::Dependencies>(
    actors::Dependencies{storage::open_memory(system, tables), clock, ids, metrics, std::move(options)});
  registry = actors::spawn_registry(system, deps);
  directory = actors::spawn_directory(system, deps);
  herald = actors::spawn_herald(system, deps);
  lease_watcher = actors::spawn_lease_watcher(system, deps, registry);
  tables->set_clock(clock);
}

ActorTest::~ActorTest() {
  // Under this scheduler no actor ends unless it is run, so the system must not wait for them on its own.
  for (const caf::actor_addr& address :
       {registry.address(), directory.address(), herald.address(), lease_watcher.address(),
        deps->store.writer.address(), deps->store.loader.address(), deps->store.librarian.address()})
    caf::anon_send_exit(address, caf::exit_reason::kill);
  run();
  system.await_actors_before_shutdown(false);
}

std::shared_ptr<std::optional<Answer>> ActorTest::send(const ResetSession& command) {
  return send_to(system, registry, command);
}
std::shared_ptr<std::optional<Answer>> ActorTest::send(const BindSession& command) {
  return send_to(system, registry, command);
}
std::shared_ptr<std::optional<Answer>> ActorTest::send(const ImportSessions& command) {
  return send_to(system, registry, command);
}
std::shared_ptr<std::optional<Answer>> ActorTest::send(const TriggerRun& command) {
  return send_to(system, registry, command);
}
std::shared_ptr<std::optional<Answer>> ActorTest::send(const ReportSession& command) {
  return send_to(system, registry, command);
}
std::shared_ptr<std::optional<Answer>> ActorTest::send(const RunCommand& command) {
  return send_to(system, registry, command);
}
std::shared_ptr<std::optional<Answer>> ActorTest::send(const DirectoryCommand& command) {
  return send_to(system, directory, command);
}
std::shared_ptr<std::optional<Answer>> ActorTest::send(const ListSessions& command) {
  return send_to(system, directory, command);
}

RequestContext ActorTest::by(const Principal& actor, const std::string& key, std::uint8_t fingerprint) {
  RequestContext context;
  context.actor = std::make_shared<const Principal>(actor);
  context.request_id = "test";
  if (!key.empty()) {
    context.idempotency = IdempotencyKey{actor.id, key, {}};
    context.idempotency->fingerprint[0] = fingerprint;
  }
  return context;
}

BindSession ActorTest::bind(const Principal& actor, const Thread& thread, const std::string& reference,
                            const std::optional<Id>& expected, const std::string& key) {
  return {by(actor, key), thread.id, BindBody{reference, expected, false}};
}

ResetSession ActorTest::reset(const Principal& actor, const Thread& thread, const std::string& key) {
  return {by(actor, key), thread.id, ResetBody{}};
}

TriggerRun ActorTest::trigger(const Principal& actor, const Thread& thread, WhenActive when_active) {
  return {by(actor), thread.id, TriggerBody{"Hello", {}, when_active}};
}

std::shared_ptr<std::optional<LogMoved>> ActorTest::await(const AwaitLog& question) {
  auto slot = std::make_shared<std::optional<LogMoved>>();
  system.spawn([slot, handle = herald, question](caf::event_based_actor* self) {
    self->request(handle, caf::infinite, question).then([slot](const LogMoved& moved) { *slot = moved; });
  });
  run();
  return slot;
}

void ActorTest::advance(std::chrono::milliseconds span) {
  clock->advance(span);
  scheduler().advance_time(span);
  run();
}

std::optional<AgentSession> ActorTest::current(const Thread& thread) const {
  const auto rows = tables->sessions_of(thread.id);
  const auto found = std::find_if(rows.begin(), rows.end(), [](const AgentSession& row) { return row.is_current(); });
  return found == rows.end() ? std::nullopt : std::optional(*found);
}

caf::scheduler::test_coordinator& ActorTest::scheduler() {
  return dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler());
}

int status_of(const Answer& answer) {
  EXPECT_TRUE(answer.result.has_value()) << to_string(answer.result.error().code);
  return answer.result ? answer.result->status : 0;
}

Refusal refusal_of(const Answer& answer) {
  EXPECT_FALSE(answer.result.has_value());
  return answer.result ? Refusal{Code::internal} : answer.result.error();
}

} // namespace cleat::test
