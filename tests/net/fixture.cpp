#include "tests/net/fixture.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include <caf/scoped_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "base/encoding.hpp"
#include "protocol/runner_codec.hpp"

namespace cleat::test {
namespace {

using namespace std::chrono_literals;

Answer no_answer() {
  return Answer{refuse(Code::internal)};
}

/// The fleet without owners: it remembers what it is told.
actors::fleet_actor::behavior_type fleet(actors::fleet_actor::pointer, const std::shared_ptr<FleetLog>& log) {
  return {
    [](const StartSession&) { return no_answer(); },
    [](const FollowHandle&) { return no_answer(); },
    [](const StopSession&) { return no_answer(); },
    [](const SendInput&) { return no_answer(); },
    [](const RemoveContainer&) { return no_answer(); },
    [](const ResolveOrphan&) { return no_answer(); },
    [log](const RunnerSays& says) { log->said(says); },
    [log](const Reconcile& reconcile) { log->reconcile(reconcile); },
    [log](const ContainerMoved& moved) { log->moved(moved); },
    [](actors::Sweep) {},
  };
}

} // namespace

void FleetLog::said(const RunnerSays& says) {
  std::unique_lock lock(mutex_);
  reports_.push_back(says);
  changed_.notify_all();
  changed_.wait(lock, [&] { return !is_held_; });
}

void FleetLog::reconcile(const Reconcile& reconcile) {
  const std::lock_guard lock(mutex_);
  reconciles_.push_back(reconcile);
  changed_.notify_all();
}

void FleetLog::moved(const ContainerMoved& moved) {
  const std::lock_guard lock(mutex_);
  moved_.push_back(moved.container_name);
  changed_.notify_all();
}

template <class Items>
Items FleetLog::await(const Items& items, std::size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return items.size() >= count; });
  EXPECT_GE(items.size(), count);
  Items found = items;
  if (found.size() < count)
    found.resize(count);
  return found;
}

std::vector<RunnerSays> FleetLog::await_reports(std::size_t count) {
  return await(reports_, count);
}

std::vector<Reconcile> FleetLog::await_reconciles(std::size_t count) {
  return await(reconciles_, count);
}

std::vector<std::string> FleetLog::await_moved(std::size_t count) {
  return await(moved_, count);
}

std::size_t FleetLog::reports() const {
  const std::lock_guard lock(mutex_);
  return reports_.size();
}

void FleetLog::hold() {
  const std::lock_guard lock(mutex_);
  is_held_ = true;
}

void FleetLog::let_go() {
  const std::lock_guard lock(mutex_);
  is_held_ = false;
  changed_.notify_all();
}

Server::Config::Config(const Options& options) {
  add_message_types<caf::id_block::cleat_storage>();
  add_message_types<caf::id_block::cleat_actors>();
  set("scheduler.policy", caf::atom("sharing"));
  set("scheduler.max-threads", std::size_t{1});
  actors::prepare_network(*this, options.peers.value_or(actors::PeersOptions{}));
}

Server::Server(std::shared_ptr<storage::MemoryTables> tables, Options options)
  : config_(options), system(config_), deps(std::make_shared<actors::Dependencies>()) {
  deps->store = storage::open_memory(system, std::move(tables));
  deps->clock = std::make_shared<SystemClock>();
  deps->ids = std::make_shared<RandomIdSource>();
  deps->metrics = std::make_shared<Metrics>();
  deps->options.fleet = std::move(options.fleet);
  if (options.peers) {
    options.peers->node_id = node().id;
    peers_ = actors::start_peers(system, *options.peers);
    deps->options.fleet.node.address = peers_.address;
  }
  hub = actors::spawn_hub(system, deps);
  // A thread of its own, because tests hold it.
  fleet = system.spawn<caf::detached>(test::fleet, log);
  if (options.peers)
    actors::join_peers(peers_, hub, fleet);
}

Server::~Server() {
  log->let_go();
  stop_listening();
  stop_hub();
  leave_peers();
  caf::anon_send_exit(fleet, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(deps->store.writer, caf::exit_reason::user_shutdown);
}

std::uint16_t Server::listen(actors::RunnerListenerOptions options) {
  listener = actors::start_runner_listener(system, deps, hub, fleet, options);
  return listener.port;
}

void Server::stop_listening() {
  if (!listener.handle)
    return;
  caf::scoped_actor self(system);
  self->send_exit(listener.handle, caf::exit_reason::user_shutdown);
  self->wait_for(listener.handle);
  listener = {};
}

void Server::stop_hub() {
  caf::scoped_actor self(system);
  self->send_exit(hub, caf::exit_reason::user_shutdown);
  self->wait_for(hub);
}

void Server::leave_peers() {
  if (peers_.handle)
    caf::anon_send_exit(peers_.handle, caf::exit_reason::user_shutdown);
}

Server::Handed Server::deliver(const Deliver& command) {
  caf::scoped_actor self(system);
  auto handed = Handed::unknown;
  self->request(hub, patience, command)
    .receive([&](const Delivered& delivered) { handed = delivered.handed_over ? Handed::yes : Handed::no; },
             [](const caf::error&) {});
  return handed;
}

NetTest::NetTest() {
  EXPECT_EQ(tables->commit(world.provision()), storage::CommitOutcome::committed);
  runner_id = world.ids.next();
  const Account account{world.ids.next(), "atlas", world.alex.id, at(1000)};
  Decision decision;
  decision.rows.emplace_back(fleet::InsertAccount{account});
  decision.rows.emplace_back(fleet::InsertRunner{{runner_id, "north", at(1000)}});
  decision.rows.emplace_back(
    fleet::InsertRunnerToken{{world.ids.next(), runner_id, "first", sha256("token"), at(1000), {}, {}}});
  EXPECT_EQ(tables->commit(decision), storage::CommitOutcome::committed);
  for (const char* name : {"atlas", "borealis"})
    EXPECT_EQ(tables->commit(
                World::only(fleet::InsertContainer{{world.ids.next(), name, account.id, runner_id, {}, at(1000)}})),
              storage::CommitOutcome::committed);
}

actors::FleetOptions NetTest::quick() {
  actors::FleetOptions options;
  options.heartbeat_ms = 50;
  options.timeout_s = 60;
  options.node_heartbeat_ms = 50;
  options.node_timeout_s = 2;
  return options;
}

actors::FleetOptions NetTest::impatient() {
  auto options = quick();
  options.timeout_s = 1;
  return options;
}

std::unique_ptr<Server> NetTest::serve(actors::FleetOptions fleet, const std::string& address) {
  fleet.node = {world.ids.next(), address, {}};
  return std::make_unique<Server>(tables, Server::Options{std::move(fleet), {}});
}

cleat::Runner NetTest::row() const {
  return tables->fleet().runners.at(runner_id);
}

bool NetTest::becomes(const std::function<bool(const cleat::Runner&)>& wanted) const {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!wanted(row())) {
    if (std::chrono::steady_clock::now() > until)
      return false;
    std::this_thread::sleep_for(1ms); // the memory twin tells nobody of its changes
  }
  return true;
}

bool NetTest::becomes_disconnected() const {
  return becomes([](const cleat::Runner& runner) { return !runner.node_id; });
}

Deliver NetTest::command(const Server& server, std::int64_t epoch, wire::ToRunner message, Sent about) const {
  if (message.request_id.empty())
    message.request_id = "request-1";
  return {runner_id, epoch, server.node(), message.request_id, std::move(about), {wire::encode(message)}};
}

wire::FromRunner numbered(std::int64_t number) {
  wire::FromRunner message;
  message.operation_id = "operation";
  message.dispatch = number;
  message.report = wire::Acknowledged{wire::AckOutcome::accepted};
  return message;
}

} // namespace cleat::test
