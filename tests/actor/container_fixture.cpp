#include "tests/actor/container_fixture.hpp"

#include <utility>

#include <caf/event_based_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "base/sealing.hpp"
#include "protocol/runner_codec.hpp"

namespace cleat::test {
namespace {

/// A hub that keeps what it is given.
actors::hub_actor::behavior_type keeping_hub(actors::hub_actor::pointer, const std::shared_ptr<Wire>& wire) {
  return {
    [wire](const Deliver& deliver) {
      if (wire->hands_over)
        wire->delivered.push_back(deliver);
      return Delivered{wire->hands_over};
    },
    [](const actors::AdmitRunner&) { return actors::RunnerAdmitted{}; },
    [](const actors::RunnerLeft&) {},
    [](const ContainerMoved&) {},
    [](const actors::UsePeers&) {},
    [](actors::Sweep) {},
  };
}

actors::ActorOptions with_node(actors::ActorOptions options) {
  options.fleet.node = {*Id::parse("01900000-0000-7000-8000-0000000000aa"), "127.0.0.1:1", {}};
  std::array<std::uint8_t, 32> key{};
  key.fill(7);
  options.fleet.master_key = std::make_shared<const MasterKey>(key);
  return options;
}

} // namespace

ContainerTest::ContainerTest(const actors::ActorOptions& options) : ActorTest(with_node(options)) {
  account = {ids->next(clock->now()), "builds", world.sam.id, clock->now(), 1};
  runner.id = ids->next(clock->now());
  runner.name = "runner-1";
  runner.created_at = clock->now();
  runner.enrollment_revision = 1;
  runner.journal_id = ids->next(clock->now());
  runner.epoch = 1;
  runner.node_id = deps->options.fleet.node.id;
  commit({fleet::InsertAccount{account}, fleet::InsertRunner{runner}});
  make_container(box, "box");
  make_container(crate, "crate");
  tables->beat({deps->options.fleet.node});
  hub = system.spawn(keeping_hub, runner_wire);
  fleet = actors::spawn_fleet(system, deps, hub, herald);
}

ContainerTest::~ContainerTest() {
  caf::anon_send_exit(fleet, caf::exit_reason::kill);
  caf::anon_send_exit(hub, caf::exit_reason::kill);
  run();
}

void ContainerTest::make_container(Container& container, const std::string& name) {
  container = {ids->next(clock->now()), name, account.id, runner.id, ids->next(clock->now()), clock->now(), 1};
  commit({fleet::InsertContainer{container},
          fleet::InsertAttempt{{*container.attempt_id, name, runner.id, 1, true, clock->now()}}});
}

void ContainerTest::commit(std::vector<fleet::Write> rows) {
  Decision decision;
  for (fleet::Write& row : rows)
    decision.rows.emplace_back(std::move(row));
  ASSERT_EQ(tables->commit(decision), storage::CommitOutcome::committed);
}

template <class Command>
std::shared_ptr<std::optional<Answer>> ContainerTest::send_fleet(const Command& command) {
  auto slot = std::make_shared<std::optional<Answer>>();
  system.spawn([slot, handle = fleet, command](caf::event_based_actor* self) {
    self->request(handle, caf::infinite, command)
      .then([slot](const Answer& answer) { *slot = answer; },
            [slot](const caf::error&) { *slot = Answer{refuse(Code::outcome_unknown)}; });
  });
  return slot;
}

template std::shared_ptr<std::optional<Answer>> ContainerTest::send_fleet(const StartSession&);
template std::shared_ptr<std::optional<Answer>> ContainerTest::send_fleet(const FollowHandle&);
template std::shared_ptr<std::optional<Answer>> ContainerTest::send_fleet(const StopSession&);
template std::shared_ptr<std::optional<Answer>> ContainerTest::send_fleet(const SendInput&);
template std::shared_ptr<std::optional<Answer>> ContainerTest::send_fleet(const RemoveContainer&);
template std::shared_ptr<std::optional<Answer>> ContainerTest::send_fleet(const ResolveOrphan&);

StartSession ContainerTest::start(std::int64_t wait_ms, const std::string& key, const std::string& container) {
  StartSession command;
  command.context = by(world.sam, key);
  command.container_name = container;
  command.body = StartSessionBody{};
  command.wait_ms = wait_ms;
  return command;
}

StartSession ContainerTest::resume(const std::string& session_id, std::int64_t wait_ms) {
  StartSession command = start(wait_ms);
  command.body->resume_session_id = session_id;
  return command;
}

FollowHandle ContainerTest::look_up(const std::string& handle, bool retry, std::int64_t wait_s) {
  FollowHandle command;
  command.context = by(world.sam);
  command.body = HandleBody{handle, wait_s};
  command.retry = retry;
  return command;
}

StopSession ContainerTest::stop(const std::string& session_id, const std::string& key) {
  StopSession command;
  command.context = by(world.sam, key);
  command.session_id = session_id;
  return command;
}

std::vector<wire::ToRunner> ContainerTest::received() {
  std::vector<wire::ToRunner> messages;
  for (const Deliver& deliver : std::exchange(runner_wire->delivered, {}))
    for (const std::string& envelope : deliver.envelopes)
      messages.push_back(wire::decode_to_runner(envelope).value());
  return messages;
}

wire::ToRunner ContainerTest::received_one() {
  const auto messages = received();
  EXPECT_EQ(messages.size(), 1U);
  return messages.empty() ? wire::ToRunner{} : messages.front();
}

void ContainerTest::say(const wire::ToRunner& about, wire::Report report) {
  say(about, std::move(report), about.operation_id, about.container_attempt_id);
}

void ContainerTest::say(const wire::ToRunner& about, wire::Report report, const std::string& operation_id,
                        const std::string& attempt_id) {
  wire::FromRunner message{about.request_id, operation_id, attempt_id, about.dispatch, std::move(report)};
  RunnerSays says{runner.id, runner.enrollment_revision, runner.epoch, std::nullopt,
                  std::make_shared<const wire::FromRunner>(std::move(message))};
  says.about = Sent{about.operation_id, about.container_attempt_id, "box"};
  caf::anon_send(fleet, std::move(says));
  run();
}

wire::Started ContainerTest::started(const wire::ToRunner& start) {
  const std::string& resumed = std::get<wire::Start>(start.command).resume_session_id;
  return {resumed.empty() ? start.fresh_session_id : resumed, start.fresh_session_id, resumed};
}

std::string ContainerTest::go_live() {
  ask_fleet(start());
  const auto sent = received_one();
  say(sent, started(sent));
  return sent.fresh_session_id;
}

void ContainerTest::reconcile(bool arrived) {
  caf::anon_send(fleet, Reconcile{"box", arrived});
  run();
}

std::string member(const Answer& answer, const std::string& name) {
  if (!answer.result)
    return "";
  const std::string& body = answer.result->body;
  const auto begin = body.find("\"" + name + "\":\"");
  if (begin == std::string::npos)
    return "";
  const auto value = begin + name.size() + 4;
  return body.substr(value, body.find('"', value) - value);
}

} // namespace cleat::test
