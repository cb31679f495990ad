#include "apps/cleatd/instance.hpp"

#include <chrono>
#include <optional>
#include <stdexcept>
#include <utility>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <unistd.h>

#include "actors/directory.hpp"
#include "actors/fleet.hpp"
#include "actors/fleet_watcher.hpp"
#include "actors/herald.hpp"
#include "actors/hub.hpp"
#include "actors/janitor.hpp"
#include "actors/lease_watcher.hpp"
#include "actors/peers.hpp"
#include "actors/registry.hpp"
#include "actors/runner_listener.hpp"
#include "apps/cleatd/announcement.hpp"
#include "apps/cleatd/demo.hpp"
#include "apps/cleatd/master_key.hpp"
#include "apps/cleatd/owner.hpp"
#include "apps/cleatd/room_options.hpp"
#include "base/log.hpp"
#include "http/server.hpp"
#include "storage/connection_info.hpp"
#include "storage/migrator.hpp"
#include "storage/postgres.hpp"

namespace cleat::cleatd {
namespace {

constexpr const char* endpoints_file = "endpoints.json";

/// A configuration that knows every message type.
caf::actor_system_config& prepared(caf::actor_system_config& system_config, const Config& config) {
  system_config.add_message_types<caf::id_block::cleat_storage>();
  system_config.add_message_types<caf::id_block::cleat_actors>();
  actors::prepare_network(system_config, peers_options(config, {}));
  // Workers that look for work share one queue. The default, stealing, polls with short sleeps, and these wake-ups cost
  // more than the queue's lock where there are few cores (docs/operating/performance.md).
  system_config.set("scheduler.policy", caf::atom("sharing"));
  system_config.set("scheduler.max-threads", static_cast<std::size_t>(config.actors_workers));
  return system_config;
}

/// HOST:PORT, with an IPv6 host in brackets.
std::string address_of(const std::string& host, std::uint16_t port) {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

/// Reads a listener's certificate again and says in the log what came of it.
template <class Read>
void read_again(const char* listener, const Read& read) {
  try {
    read();
    log::get().info("read {}.certificate and {}.key again; new connections are shown them", listener, listener);
  } catch (const std::runtime_error& error) {
    log::get().error("{}.listen goes on with the certificate that it has: {}", listener, error.what());
  }
}

} // namespace

/// Everything that exists while requests are served. Members are taken apart from the last to the first.
struct Instance::Actors {
  Actors(const Config& config, const std::string& database_url, const std::shared_ptr<Metrics>& metrics,
         std::shared_ptr<const MasterKey> master_key, std::shared_ptr<const release::Gate> gate)
    : Actors(config, database_url, metrics) {
    auto dependencies = std::make_shared<actors::Dependencies>();
    dependencies->store = store;
    dependencies->clock = clock;
    dependencies->ids = ids;
    dependencies->metrics = metrics;
    dependencies->options = actor_options(config);
    dependencies->options.fleet.node.id = ids->next(clock->now());
    peers = actors::start_peers(system, peers_options(config, dependencies->options.fleet.node.id));
    dependencies->options.fleet.node.address = peers.address;
    dependencies->options.fleet.master_key = std::move(master_key);
    dependencies->options.fleet.gate = gate;
    janitor = actors::spawn_janitor(system, dependencies);
    hub = actors::spawn_hub(system, dependencies);
    const auto herald = actors::spawn_herald(system, dependencies);
    frontends = {actors::spawn_registry(system, dependencies),
                 actors::spawn_directory(system, dependencies),
                 herald,
                 store,
                 actors::spawn_fleet(system, dependencies, hub, herald),
                 std::move(gate)};
    actors::join_peers(peers, hub, frontends.fleet);
    fleet_watcher = actors::spawn_fleet_watcher(system, dependencies, frontends.fleet);
    runner_listener =
      actors::start_runner_listener(system, dependencies, hub, frontends.fleet, runner_listener_options(config));
    lease_watcher = actors::spawn_lease_watcher(system, dependencies, frontends.registry);
    server =
      std::make_unique<http::Server>(http_options(config), http::Dependencies{system, frontends, metrics, clock});
  }

  /// What the other constructor begins with. When that one throws afterwards, because a port or a certificate cannot be
  /// had, the destructor ends the actors that there are; the actor system would wait for them forever.
  Actors(const Config& config, const std::string& database_url, const std::shared_ptr<Metrics>& metrics)
    : system(prepared(system_config, config)),
      store(storage::open_postgres(system, database_options(config, database_url), metrics)) {}

  Actors(const Actors&) = delete;
  Actors& operator=(const Actors&) = delete;

  /// The actor system waits for its actors, so each is told to end: owners before the storage they work with.
  ~Actors() {
    server.reset();
    constexpr auto reason = caf::exit_reason::user_shutdown;
    caf::anon_send_exit(runner_listener.handle, reason);
    caf::anon_send_exit(fleet_watcher, reason);
    caf::anon_send_exit(frontends.fleet, reason);
    caf::anon_send_exit(peers.handle, reason);
    end_and_wait(hub); // it marks its Runners as gone, for which it needs storage
    caf::anon_send_exit(frontends.registry, reason);
    caf::anon_send_exit(frontends.directory, reason);
    caf::anon_send_exit(janitor, reason);
    caf::anon_send_exit(lease_watcher, reason);
    caf::anon_send_exit(frontends.herald, reason);
    caf::anon_send_exit(store.writer, reason);
    caf::anon_send_exit(store.loader, reason);
    caf::anon_send_exit(store.librarian, reason);
    caf::anon_send_exit(store.log_reader, reason);
  }

  void end_and_wait(const actors::hub_actor& actor) {
    if (!actor)
      return;
    caf::scoped_actor self(system);
    self->monitor(actor);
    self->send_exit(actor, caf::exit_reason::user_shutdown);
    self->receive([](const caf::down_msg&) {});
  }

  const std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>();
  const std::shared_ptr<IdSource> ids = std::make_shared<RandomIdSource>();
  caf::actor_system_config system_config;
  caf::actor_system system;
  storage::Store store;
  actors::janitor_actor janitor;
  actors::lease_watcher_actor lease_watcher;
  actors::Peers peers;
  actors::hub_actor hub;
  actors::fleet_watcher_actor fleet_watcher;
  actors::RunnerListener runner_listener;
  actors::Frontends frontends;
  std::unique_ptr<http::Server> server;
  Owner owner;
  std::optional<Demo> demo;
};

Instance::Instance(const Config& config) : config_(config), folder_(config.data), release_gate_(config) {
  check_rooms(config_);
  folder_.remove(endpoints_file); // of a server that was killed
}

Instance::~Instance() {
  stop();
}

void Instance::start_database() {
  if (config_.database_url.empty())
    embedded_ = std::make_unique<storage::EmbeddedPostgres>(folder_, embedded_options(config_), metrics_);
  database_url_ = embedded_ ? embedded_->url() : config_.database_url;
  storage::migrate(database_options(config_, database_url_));
}

void Instance::start_serving() {
  actors_ =
    std::make_unique<Actors>(config_, database_url_, metrics_,
                             load_master_key(folder_, config_.secrets_master_key_file), release_gate_.gate(*metrics_));
  actors_->owner =
    make_owner(actors_->system, actors_->store, folder_, config_.owner_token_file, *actors_->ids, *actors_->clock);
  if (config_.demo)
    actors_->demo = make_demo(actors_->system, actors_->frontends, folder_, actors_->owner);
  const auto listen = parse_listen(config_.http_listen, "http.listen");
  url_ =
    (config_.http_certificate.empty() ? "http://" : "https://") + address_of(listen.host, actors_->server->start());
  runner_address_ =
    address_of(parse_listen(config_.runner_listen, "runner.listen").host, actors_->runner_listener.port);
  folder_.write(endpoints_file, R"({"http": ")" + url_ + R"(", "runner": ")" + runner_address_ + R"(", "pid": )" +
                                  std::to_string(getpid()) + "}\n");
}

std::string Instance::announcement() const {
  Announcement announcement;
  announcement.url = url_;
  announcement.runner = runner_address_;
  announcement.database = embedded_ ? "embedded PostgreSQL in " + (folder_.path() / "postgres").string()
                                    : storage::describe_database(config_.database_url);
  announcement.owner_token_file = actors_->owner.token_file;
  announcement.data = folder_.path();
  if (actors_->demo)
    announcement.demo_thread_id = actors_->demo->thread_id;
  if (!config_.http_certificate.empty())
    announcement.certificate = std::filesystem::absolute(config_.http_certificate);
  return text_of(announcement);
}

void Instance::reload() {
  release_gate_.reload(*metrics_);
  if (!config_.http_certificate.empty())
    read_again("http", [this] { actors_->server->reload_certificates(); });
  if (!config_.runner_certificate.empty())
    read_again("runner", [this] { actors_->runner_listener.identity->reload(); });
}

void Instance::stop() {
  if (actors_) {
    if (!actors_->server->drain())
      log::get().warn("http.drain_s passed before every request was answered; the rest is cut off");
    actors_->server->stop();
    actors_.reset();
    folder_.remove(endpoints_file);
  }
  embedded_.reset();
}

} // namespace cleat::cleatd
