#include "actors/runner_listener.hpp"

#include <future>
#include <memory>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include <caf/actor_system.hpp>
#include <caf/io/middleman.hpp>
#include <caf/stateful_actor.hpp>

#include "actors/runner_connection.hpp"
#include "base/addresses.hpp"
#include "base/log.hpp"

namespace cleat::actors {
namespace {

using Opened = std::shared_ptr<std::promise<std::uint16_t>>;

class ListenerState {
public:
  using Self = caf::io::accept_handler::stateful_broker_pointer<ListenerState>;

  explicit ListenerState(Self self) : self_(self) {}

  void init(RunnerConnectionContext context, std::shared_ptr<tls::ServerIdentity> identity, const Address& address,
            const Opened& opened) {
    context_ = std::move(context);
    identity_ = std::move(identity);
    self_->set_down_handler([this](const caf::down_msg& down) { connections_.erase(down.source); });
    self_->set_exit_handler([this](const caf::exit_msg& message) {
      for (const caf::actor_addr& connection : connections_)
        self_->send_exit(connection, message.reason);
      self_->quit(message.reason);
    });
    const auto door = self_->add_tcp_doorman(address.port, address.host.c_str(), true);
    opened->set_value(door ? door->second : std::uint16_t{0});
  }

  void accept(const caf::io::new_connection_msg& message) {
    if (static_cast<std::int64_t>(connections_.size()) >= context_.deps->options.fleet.max_connections) {
      log::get().warn("a connection from {} is closed: there are runner.max_connections already",
                      self_->remote_addr(message.handle));
      self_->close(message.handle);
      return;
    }
    if (identity_)
      context_.tls = identity_->current();
    const auto connection = self_->fork(runner_connection, message.handle, context_);
    self_->monitor(connection);
    connections_.insert(connection.address());
  }

  void on_closed() {
    log::get().error("the socket that listens for Runners has been closed; no Runner can connect any more");
    self_->quit();
  }

  static constexpr const char* name = "cleat.runner_listener";

private:
  Self self_;
  RunnerConnectionContext context_;
  std::shared_ptr<tls::ServerIdentity> identity_;
  std::unordered_set<caf::actor_addr> connections_;
};

caf::io::accept_handler::behavior_type runner_listener(ListenerState::Self self, RunnerConnectionContext context,
                                                       std::shared_ptr<tls::ServerIdentity> identity,
                                                       const Address& address, const Opened& opened) {
  self->state.init(std::move(context), std::move(identity), address, opened);
  return {
    [self](const caf::io::new_connection_msg& message) { self->state.accept(message); },
    [self](const caf::io::acceptor_closed_msg&) { self->state.on_closed(); },
  };
}

} // namespace

std::optional<std::string> RunnerListenerOptions::validate() const {
  if (certificate_file.empty() != key_file.empty())
    return std::string(certificate_file.empty() ? "runner.certificate" : "runner.key") +
           " is empty; set runner.certificate and runner.key, or neither";
  if (certificate_file.empty() && !insecure && !is_loopback(host))
    return "runner.listen is '" + Address{host, port}.str() +
           "', which other machines reach without TLS; set runner.certificate and runner.key, listen on 127.0.0.1, or "
           "allow it with insecure";
  return std::nullopt;
}

RunnerListener start_runner_listener(caf::actor_system& system, const DependenciesPtr& deps, const hub_actor& hub,
                                     const fleet_actor& fleet, const RunnerListenerOptions& options) {
  if (auto wrong = options.validate())
    throw std::runtime_error(*wrong);
  const RunnerConnectionContext context{deps, hub, fleet, {}};
  RunnerListener listener;
  if (!options.certificate_file.empty())
    listener.identity =
      std::make_shared<tls::ServerIdentity>(tls::ServerOptions{options.certificate_file, options.key_file});
  const Address address{options.host, options.port};
  const auto opened = std::make_shared<std::promise<std::uint16_t>>();
  auto port = opened->get_future();
  listener.handle = system.middleman().spawn_broker(runner_listener, context, listener.identity, address, opened);
  listener.port = port.get();
  if (listener.port == 0) {
    caf::anon_send_exit(listener.handle, caf::exit_reason::kill);
    throw std::runtime_error("cannot listen for Runners on " + address.str() +
                             "; choose another address for runner.listen");
  }
  return listener;
}

} // namespace cleat::actors
