#include "actors/peers.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <set>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/io/middleman.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/peer_transport.hpp"
#include "base/addresses.hpp"
#include "base/log.hpp"

namespace cleat::actors {
namespace {

/// What is under way to one server at a time. Past it nothing more is sent, which is a certain answer.
constexpr std::size_t flights_max = 4096;
/// Containers whose other servers are remembered. Past it all are forgotten: who waits there looks again on its own.
constexpr std::size_t containers_remembered = 10'000;

/// Something that is delivered elsewhere, until there is an answer.
struct Flight {
  Deliver command;
  caf::typed_response_promise<Delivered> promise;
};
using FlightPtr = std::shared_ptr<Flight>;

/// Another server.
struct Link {
  /// Present while it is connected.
  std::optional<peer_actor> peer;
  /// What waits for the connection, and what has been sent and is not answered.
  std::vector<FlightPtr> waiting;
  std::unordered_set<FlightPtr> sent;
};

class PeersState {
public:
  using Self = peers_actor::stateful_pointer<PeersState>;

  explicit PeersState(Self self) : self_(self) {}

  void init(PeersOptions options, caf::io::middleman_actor manager) {
    options_ = std::move(options);
    manager_ = std::move(manager);
    self_->set_down_handler([this](const caf::down_msg& down) { on_down(down.source); });
    self_->set_exit_handler([this](const caf::exit_msg& message) { end(message.reason); });
  }

  void join(const JoinPeers& parts) { parts_ = parts; }

  // What the others ask.

  caf::typed_response_promise<Delivered> deliver_here(Deliver& command) {
    const auto sender = self_->current_sender(); // which making a promise takes away
    auto promise = self_->make_response_promise<Delivered>();
    // An address may be another server's by now; what is for a server that is gone is delivered to nobody.
    if (!parts_ || command.node.id != options_.node_id) {
      promise.deliver(Delivered{false});
      return promise;
    }
    if (sender && !command.about.container_name.empty())
      remember(command.about.container_name, sender);
    return promise.delegate(parts_->hub, std::move(command));
  }

  void on_moved(ContainerMoved& moved) {
    if (parts_)
      self_->send(parts_->fleet, std::move(moved));
  }

  // What the others are asked.

  caf::typed_response_promise<Delivered> deliver_elsewhere(DeliverElsewhere& question) {
    auto flight = std::make_shared<Flight>();
    flight->promise = self_->make_response_promise<Delivered>();
    flight->command = std::move(question.deliver);
    const std::string address = flight->command.node.address;
    const auto [entry, is_new] = links_.try_emplace(address);
    Link& link = entry->second;
    if (link.waiting.size() + link.sent.size() >= flights_max) {
      flight->promise.deliver(Delivered{false});
    } else if (link.peer) {
      send(address, link, flight);
    } else {
      link.waiting.push_back(flight);
      if (is_new)
        connect(address);
    }
    return flight->promise;
  }

  void tell(const TellPeers& command) {
    const auto known = interested_.find(command.moved.container_name);
    if (known == interested_.end())
      return;
    for (const caf::strong_actor_ptr& peer : known->second)
      self_->send(caf::actor_cast<peer_actor>(peer), command.moved);
  }

  static constexpr const char* name = "cleat.peers";

private:
  [[nodiscard]] std::chrono::seconds patience() const { return std::chrono::seconds(options_.node_timeout_s); }

  void connect(const std::string& address) {
    const auto place = parse_address(address);
    if (!place)
      return on_unreachable(address, "this is no address");
    self_->request(manager_, patience(), caf::connect_atom::value, place->host, place->port)
      .then([this, address](const caf::node_id&, const caf::strong_actor_ptr& peer,
                            const std::set<std::string>& interface) { on_connected(address, peer, interface); },
            [this, address](const caf::error& error) { on_unreachable(address, self_->system().render(error)); });
  }

  void on_connected(const std::string& address, const caf::strong_actor_ptr& peer,
                    const std::set<std::string>& interface) {
    auto& system = self_->system();
    const auto wanted = system.message_types(caf::detail::type_list<peer_actor>{});
    if (!peer || !system.assignable(interface, wanted))
      return on_unreachable(address, "it is no server like this one");
    log::get().info("connected to the server at {}", address);
    Link& link = links_.at(address);
    link.peer = caf::actor_cast<peer_actor>(peer);
    address_of_[link.peer->address()] = address;
    self_->monitor(*link.peer);
    for (const FlightPtr& flight : std::exchange(link.waiting, {}))
      send(address, link, flight);
  }

  /// Nothing has left, and whoever waits can be told so.
  void on_unreachable(const std::string& address, const std::string& why) {
    log::get().warn("the server at {} cannot be reached: {}", address, why);
    const auto link = links_.find(address);
    const auto waiting = std::move(link->second.waiting);
    links_.erase(link);
    for (const FlightPtr& flight : waiting)
      flight->promise.deliver(Delivered{false});
  }

  void send(const std::string& address, Link& link, const FlightPtr& flight) {
    link.sent.insert(flight);
    self_->request(*link.peer, patience(), flight->command)
      .then([this, address, flight](const Delivered& delivered) { land(address, flight, delivered); },
            [this, address, flight](const caf::error& error) { land(address, flight, error); });
  }

  /// An answer, or an error: then nobody knows whether it has arrived.
  template <class Outcome>
  void land(const std::string& address, const FlightPtr& flight, const Outcome& outcome) {
    const auto link = links_.find(address);
    if (link != links_.end())
      link->second.sent.erase(flight);
    if (flight->promise.pending())
      flight->promise.deliver(outcome);
  }

  void on_down(const caf::actor_addr& peer) {
    for (auto& [container_name, peers] : interested_)
      std::erase_if(peers, [&](const caf::strong_actor_ptr& one) { return one == peer; });
    std::erase_if(interested_, [](const auto& entry) { return entry.second.empty(); });
    senders_.erase(peer);
    const auto known = address_of_.find(peer);
    if (known == address_of_.end())
      return;
    log::get().warn("the connection to the server at {} has gone", known->second);
    const auto link = links_.find(known->second);
    address_of_.erase(known);
    const auto sent = std::move(link->second.sent);
    links_.erase(link);
    for (const FlightPtr& flight : sent)
      if (flight->promise.pending())
        flight->promise.deliver(caf::make_error(caf::sec::remote_lookup_failed));
  }

  /// The sender wants to know when something about the container is committed here.
  void remember(const std::string& container_name, const caf::strong_actor_ptr& sender) {
    if (interested_.size() >= containers_remembered)
      interested_.clear();
    auto& peers = interested_[container_name];
    if (std::find(peers.begin(), peers.end(), sender) != peers.end())
      return;
    peers.push_back(sender);
    const auto address = caf::actor_cast<caf::actor_addr>(sender);
    if (senders_.insert(address).second)
      self_->monitor(address);
  }

  void end(const caf::error& reason) {
    for (auto& [address, link] : links_) {
      for (const FlightPtr& flight : link.waiting)
        flight->promise.deliver(Delivered{false});
      for (const FlightPtr& flight : link.sent)
        flight->promise.deliver(caf::make_error(caf::sec::remote_lookup_failed));
    }
    self_->request(manager_, patience(), caf::unpublish_atom::value, self_->address(), std::uint16_t{0})
      .then([this, reason] { end_manager(reason); }, [this, reason](const caf::error&) { end_manager(reason); });
  }

  /// CAF's own middleman ends with its system; ours has to be gone before.
  void end_manager(const caf::error& reason) {
    if (!options_.with_tls())
      return self_->quit(reason);
    self_->set_down_handler([this, reason](const caf::down_msg& down) {
      if (down.source == manager_.address())
        self_->quit(reason);
    });
    self_->monitor(manager_);
    self_->send_exit(manager_, caf::exit_reason::kill);
  }

  Self self_;
  PeersOptions options_;
  caf::io::middleman_actor manager_;
  std::optional<JoinPeers> parts_;
  std::unordered_map<std::string, Link> links_; ///< by address
  std::unordered_map<caf::actor_addr, std::string> address_of_;
  std::unordered_map<std::string, std::vector<caf::strong_actor_ptr>> interested_; ///< by container
  std::unordered_set<caf::actor_addr> senders_;
};

peers_actor::behavior_type peers(PeersState::Self self, PeersOptions options, caf::io::middleman_actor manager) {
  self->state.init(std::move(options), std::move(manager));
  return {
    [self](Deliver& command) { return self->state.deliver_here(command); },
    [self](ContainerMoved& moved) { self->state.on_moved(moved); },
    [self](DeliverElsewhere& question) { return self->state.deliver_elsewhere(question); },
    [self](const TellPeers& command) { self->state.tell(command); },
    [self](const JoinPeers& parts) { self->state.join(parts); },
  };
}

} // namespace

std::optional<std::string> PeersOptions::validate() const {
  const bool any = !certificate_file.empty() || !key_file.empty() || !ca_file.empty();
  const std::pair<const char*, const std::string*> files[] = {
    {"nodes.certificate", &certificate_file}, {"nodes.key", &key_file}, {"nodes.ca", &ca_file}};
  for (const auto& [key, file] : files)
    if (any && file->empty())
      return std::string(key) + " is empty; set nodes.certificate, nodes.key and nodes.ca, or none of them";
  if (!any && !insecure && !is_loopback(host))
    return "nodes.listen is '" + Address{host, port}.str() +
           "', which other machines reach without TLS; set nodes.certificate, nodes.key and nodes.ca, listen on "
           "127.0.0.1, or allow it with insecure";
  return std::nullopt;
}

void prepare_network(caf::actor_system_config& config, const PeersOptions& options) {
  if (auto wrong = options.validate())
    throw std::runtime_error(*wrong);
  // Only servers that speak the same version of these messages understand each other.
  config.set("middleman.app-identifiers", std::vector<std::string>{"cleat.peers-v1"});
  // A peer that is silent for so long has gone, whatever its socket says.
  config.set("middleman.heartbeat-interval", caf::timespan(std::chrono::seconds(1)));
  config.set("middleman.connection-timeout", caf::timespan(std::chrono::seconds(options.node_timeout_s)));
  config.load<caf::io::middleman>();
  std::signal(SIGPIPE, SIG_IGN);
}

Peers start_peers(caf::actor_system& system, const PeersOptions& options) {
  caf::io::middleman_actor manager = system.middleman().actor_handle();
  if (options.with_tls())
    manager = spawn_tls_middleman(
      system, std::make_shared<const PeerTls>(options.certificate_file, options.key_file, options.ca_file));
  Peers started;
  started.handle = system.spawn(peers, options, manager);
  constexpr bool reuse = true;
  std::optional<std::uint16_t> port;
  caf::scoped_actor self(system);
  self
    ->request(manager, std::chrono::seconds(options.node_timeout_s), caf::publish_atom::value, options.port,
              caf::actor_cast<caf::strong_actor_ptr>(started.handle),
              system.message_types(caf::detail::type_list<peer_actor>{}), options.host, reuse)
    .receive([&](std::uint16_t opened) { port = opened; }, [](const caf::error&) {});
  if (!port) {
    self->send_exit(started.handle, caf::exit_reason::user_shutdown);
    self->wait_for(started.handle);
    throw std::runtime_error("cannot listen for other servers on " + Address{options.host, options.port}.str() +
                             "; choose another address for nodes.listen");
  }
  started.address = Address{options.address_host.empty() ? options.host : options.address_host, *port}.str();
  return started;
}

void join_peers(const Peers& peers, const hub_actor& hub, const fleet_actor& fleet) {
  caf::anon_send(peers.handle, JoinPeers{hub, fleet});
  caf::anon_send(hub, UsePeers{peers.handle});
}

} // namespace cleat::actors
