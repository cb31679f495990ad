#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <gtest/gtest.h>

#include "actors/hub.hpp"
#include "actors/peers.hpp"
#include "actors/runner_listener.hpp"
#include "storage/memory.hpp"
#include "tests/net/client.hpp"
#include "tests/pg/world.hpp"

namespace cleat::test {

/// What a fleet was told, by whatever thread, and who waits for it.
class FleetLog {
public:
  void said(const RunnerSays& says);
  void reconcile(const Reconcile& reconcile);
  void moved(const ContainerMoved& moved);

  /// The reports so far, once there are `count` of them.
  std::vector<RunnerSays> await_reports(std::size_t count);
  std::vector<Reconcile> await_reconciles(std::size_t count);
  std::vector<std::string> await_moved(std::size_t count);
  [[nodiscard]] std::size_t reports() const;

  /// While held, a report that is taken is not answered.
  void hold();
  void let_go();

private:
  template <class Items>
  Items await(const Items& items, std::size_t count);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_held_ = false;
  std::vector<RunnerSays> reports_;
  std::vector<Reconcile> reconciles_;
  std::vector<std::string> moved_;
};

/// One server: hub, a fleet that remembers, and a storage that it may share with others.
class Server {
public:
  struct Options {
    actors::FleetOptions fleet = {};
    /// Present for a server that is one of several.
    std::optional<actors::PeersOptions> peers = {};
  };

  Server(std::shared_ptr<storage::MemoryTables> tables, Options options);
  ~Server();

  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Listens for Runners; plain unless the options name a certificate.
  std::uint16_t listen(actors::RunnerListenerOptions options = {});
  /// Stops listening and closes all connections.
  void stop_listening();
  /// Ends the hub in order and waits for it.
  void stop_hub();
  /// Speaks to no other server any more.
  void leave_peers();

  enum class Handed { yes, no, unknown };
  /// Gives something for a Runner to the hub.
  Handed deliver(const Deliver& command);

  [[nodiscard]] const Node& node() const { return deps->options.fleet.node; }

private:
  struct Config : caf::actor_system_config {
    explicit Config(const Options& options);
  };
  Config config_;

public:
  caf::actor_system system;
  std::shared_ptr<FleetLog> log = std::make_shared<FleetLog>();
  std::shared_ptr<actors::Dependencies> deps;
  actors::hub_actor hub;
  actors::fleet_actor fleet;
  actors::RunnerListener listener;

private:
  actors::Peers peers_;
};

/// A database with a Runner of two containers, and servers on it.
class NetTest : public testing::Test {
public:
  NetTest();

  /// Fast heartbeats; a connection may be silent for longer than any test takes.
  static actors::FleetOptions quick();

  /// The same, and silence is noticed after a second: for tests of silence alone.
  static actors::FleetOptions impatient();

  std::unique_ptr<Server> serve(actors::FleetOptions fleet = quick(), const std::string& address = "127.0.0.1:1");

  /// The Runner's row as the database has it.
  [[nodiscard]] cleat::Runner row() const;
  /// Waits until the database has it so.
  [[nodiscard]] bool becomes(const std::function<bool(const cleat::Runner&)>& wanted) const;
  [[nodiscard]] bool becomes_disconnected() const;

  /// Something for the Runner's connection of this epoch at that server.
  [[nodiscard]] Deliver command(const Server& server, std::int64_t epoch, wire::ToRunner message,
                                Sent about = {}) const;

  World world;
  Id runner_id;
  std::shared_ptr<storage::MemoryTables> tables = std::make_shared<storage::MemoryTables>();
};

/// A report that nobody mistakes for another.
wire::FromRunner numbered(std::int64_t number);

} // namespace cleat::test
