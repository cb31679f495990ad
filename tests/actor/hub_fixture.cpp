#include "tests/actor/hub_fixture.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <caf/actor_cast.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace cleat::test {
namespace {

using namespace std::chrono_literals;

actors::runner_connection_actor::behavior_type connection(actors::runner_connection_actor::pointer self,
                                                          const actors::hub_actor& hub, const wire::AskEnrolment& asked,
                                                          const std::shared_ptr<Told>& told) {
  self->request(hub, caf::infinite, actors::AdmitRunner{asked}).then([told](const actors::RunnerAdmitted& admitted) {
    told->admitted = admitted;
  });
  return {
    [told](const Deliver& command) {
      told->delivered.push_back(command);
      return Delivered{true};
    },
    [told](const actors::EnrolmentOver& over) { told->over = over.superseded; },
  };
}

actors::peers_actor::behavior_type peers(actors::peers_actor::pointer, FakePeers fake) {
  return {
    [](const Deliver&) { return Delivered{false}; },
    [](const ContainerMoved&) {},
    [fake](const actors::DeliverElsewhere& command) {
      fake.delivered->push_back(command.deliver);
      return Delivered{true};
    },
    [fake](const actors::TellPeers& command) { fake.moved->push_back(command.moved.container_name); },
    [](const actors::JoinPeers&) {},
  };
}

/// Looks things up when it is asked, as a database does, and lets the answer wait.
template <class Answer>
caf::typed_response_promise<Answer> answer_later(held_librarian_actor::pointer self, HeldAnswers& held,
                                                 const Answer& answer) {
  auto promise = self->make_response_promise<Answer>();
  if (held.hold)
    held.waiting.emplace_back([promise, answer]() mutable { promise.deliver(answer); });
  else
    promise.deliver(answer);
  return promise;
}

/// Promises are delivered only inside the actor that made them, so letting go is a message.
void let_go(HeldAnswers& held) {
  ASSERT_FALSE(held.waiting.empty());
  auto deliver = std::move(held.waiting.front());
  held.waiting.pop_front();
  deliver();
}

held_librarian_actor::behavior_type librarian(held_librarian_actor::pointer self,
                                              const std::shared_ptr<storage::MemoryTables>& tables,
                                              const std::shared_ptr<HeldAnswers>& held) {
  return {
    [tables](const storage::LoadDirectory& question) { return tables->load(question); },
    [tables](const storage::ReadPage& question) { return tables->read(question); },
    [tables](const storage::Bootstrap& question) { return tables->bootstrap(question); },
    [tables](const storage::CollectGarbage& question) { return tables->collect(question); },
    [tables](const storage::Ping&) { return tables->ping(); },
    [=](const storage::LoadEnrolment& question) { return answer_later(self, *held, tables->load(question)); },
    [=](const storage::BeatNode& question) { return answer_later(self, *held, tables->beat(question)); },
    [held](actors::Sweep) { let_go(*held); },
  };
}

actors::ActorOptions options() {
  actors::ActorOptions options;
  options.tx_retry_max = 2;
  return options;
}

} // namespace

const wire::Enrolled& Told::enrolled() const {
  static const wire::Enrolled none;
  const auto* const answer = admitted ? std::get_if<wire::Enrolled>(&admitted->answer) : nullptr;
  EXPECT_NE(answer, nullptr) << "not admitted: " << refused();
  return answer != nullptr ? *answer : none;
}

std::string Told::refused() const {
  const auto* const answer = admitted ? std::get_if<wire::EnrolmentRefused>(&admitted->answer) : nullptr;
  return answer != nullptr ? answer->code : std::string();
}

HubTest::HubTest() : ActorTest(options()) {
  here = {world.ids.next(), "127.0.0.1:1", {}};
  there = {world.ids.next(), "127.0.0.1:2", {}};
  runner.id = world.ids.next();
  runner.name = "north";
  runner.created_at = at(1000);
  const Account account{world.ids.next(), "atlas", world.alex.id, at(1000)};
  Decision decision;
  decision.rows.emplace_back(fleet::InsertAccount{account});
  decision.rows.emplace_back(fleet::InsertRunner{runner});
  decision.rows.emplace_back(
    fleet::InsertRunnerToken{{world.ids.next(), runner.id, "first", sha256("token"), at(1000), {}, {}}});
  EXPECT_EQ(tables->commit(decision), storage::CommitOutcome::committed);
  for (const char* container : {"atlas", "borealis"})
    EXPECT_EQ(tables->commit(World::only(
                fleet::InsertContainer{{world.ids.next(), container, account.id, runner.id, {}, at(1000)}})),
              storage::CommitOutcome::committed);
  librarian_ = system.spawn(librarian, tables, held);
  spawned_.push_back(caf::actor_cast<caf::strong_actor_ptr>(librarian_));
  hub = spawn_hub_of(here);
}

HubTest::~HubTest() {
  for (const auto& actor : spawned_)
    caf::anon_send_exit(caf::actor_cast<caf::actor_addr>(actor), caf::exit_reason::kill);
  run();
  held->waiting.clear();
}

actors::DependenciesPtr HubTest::dependencies_of(const Node& node) {
  auto own = std::make_shared<actors::Dependencies>(*deps);
  own->options.fleet.node = node;
  own->store.librarian = librarian_;
  return own;
}

actors::hub_actor HubTest::spawn_hub_of(const Node& node) {
  auto spawned = actors::spawn_hub(system, dependencies_of(node));
  spawned_.push_back(caf::actor_cast<caf::strong_actor_ptr>(spawned));
  spawned->attach_functor([this, id = spawned->id()] { ended_.push_back(id); });
  return spawned;
}

FakeConnection HubTest::connect(const actors::hub_actor& to, const std::string& secret, const std::string& token) {
  FakeConnection fake{{}, std::make_shared<Told>()};
  fake.handle = system.spawn(connection, to, wire::AskEnrolment{token, secret, here.id.str(), "1.0\n"}, fake.told);
  spawned_.push_back(caf::actor_cast<caf::strong_actor_ptr>(fake.handle));
  return fake;
}

FakeConnection HubTest::admitted(const actors::hub_actor& to, const std::string& secret) {
  auto fake = connect(to, secret);
  run();
  EXPECT_GT(fake.told->enrolled().epoch, 0);
  return fake;
}

std::optional<HubTest::Handed> HubTest::deliver(const actors::hub_actor& to, std::int64_t epoch, const Node& node) {
  auto slot = std::make_shared<std::optional<Handed>>();
  const Deliver command{runner.id, epoch, node, "request", {}, {"envelope"}};
  system.spawn([slot, to, command](caf::event_based_actor* self) {
    self->request(to, caf::infinite, command)
      .then([slot](const Delivered& delivered) { *slot = delivered.handed_over ? Handed::yes : Handed::no; },
            [slot](const caf::error&) { *slot = Handed::unknown; });
  });
  run();
  return *slot;
}

FakePeers HubTest::spawn_peers() {
  FakePeers fake;
  fake.handle = system.spawn(peers, fake);
  spawned_.push_back(caf::actor_cast<caf::strong_actor_ptr>(fake.handle));
  return fake;
}

void HubTest::release_one() {
  caf::anon_send(librarian_, actors::Sweep{});
  run();
}

Runner HubTest::row() const {
  return tables->fleet().runners.at(runner.id);
}

bool HubTest::is_gone(const actors::hub_actor& of) const {
  return std::find(ended_.begin(), ended_.end(), of->id()) != ended_.end();
}

void HubTest::beat(int count) {
  for (int i = 0; i < count; ++i)
    advance(std::chrono::milliseconds(deps->options.fleet.node_heartbeat_ms));
}

} // namespace cleat::test
