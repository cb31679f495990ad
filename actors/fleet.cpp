#include "actors/fleet.hpp"

#include <algorithm>
#include <chrono>
#include <unordered_map>
#include <utility>

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/answering.hpp"
#include "actors/container.hpp"
#include "actors/rules/authorize.hpp"
#include "base/log.hpp"

namespace cleat::actors {
namespace {

/// Sessions and operations whose container is remembered. Past it all are forgotten and looked up again.
constexpr std::size_t places_remembered = 100'000;

class FleetState {
public:
  using Self = fleet_actor::stateful_pointer<FleetState>;

  explicit FleetState(Self self) : self_(self) {}

  void init(DependenciesPtr deps, hub_actor hub, herald_actor herald) {
    deps_ = std::move(deps);
    hub_ = std::move(hub);
    herald_ = std::move(herald);
    self_->set_down_handler([this](const caf::down_msg& down) { on_down(down); });
    self_->set_exit_handler([this](const caf::exit_msg& message) { end(message.reason); });
    sweep_later();
  }

  /// The container's owner, spawned when there is none in memory.
  const container_self& owner_of(const std::string& container_name) {
    auto found = owners_.find(container_name);
    if (found == owners_.end()) {
      auto owner = self_->spawn(container, container_name, deps_, hub_, herald_);
      self_->monitor(owner);
      name_of_.emplace(owner->id(), container_name);
      found = owners_.emplace(container_name, Owner{std::move(owner), {}}).first;
      deps_->metrics->containers_active.Increment();
    }
    found->second.last_asked = self_->clock().now();
    return found->second.handle;
  }

  /// Passes a command on that names a session, an operation or an orphan, once the container is known.
  template <class Command>
  AnswerPromise route(Command command, const storage::LocateContainer& question) {
    auto promise = self_->make_response_promise<Answer>();
    self_->request(deps_->store.loader, caf::infinite, question)
      .then([this, promise, command](
              const storage::ContainerLocated& located) mutable { on_located(promise, std::move(command), located); },
            [promise](const caf::error&) mutable { promise.deliver(Answer{cleat::refuse(Code::unavailable)}); });
    return promise;
  }

  /// Passes a report on to the owner of the container that it is about.
  void route(RunnerSays says) {
    if (says.about && !says.about->container_name.empty())
      return pass_on(std::move(says), says.about->container_name);
    const auto operation = Id::parse(says.message->operation_id);
    if (!operation)
      return; // about nothing
    const auto known = places_.find(*operation);
    if (known != places_.end())
      return pass_on(std::move(says), known->second);
    storage::LocateContainer question;
    question.operation_id = operation;
    self_->request(deps_->store.loader, caf::infinite, question)
      .then(
        [this, says, id = *operation](const storage::ContainerLocated& located) {
          if (!located.name)
            return;
          if (places_.size() >= places_remembered)
            places_.clear();
          places_.emplace(id, *located.name);
          pass_on(says, *located.name);
        },
        [](const caf::error&) {});
  }

  void reconcile(const Reconcile& reconcile) { self_->send(owner_of(reconcile.container_name), reconcile); }

  void on_moved(const ContainerMoved& moved) {
    const auto owner = owners_.find(moved.container_name);
    if (owner != owners_.end()) // who has no owner here waits for nothing here
      self_->send(owner->second.handle, moved);
  }

  /// Lets go of owners that nobody has asked for a while. Their state is in PostgreSQL, and `actors.idle_s` is longer
  /// than anybody waits.
  void sweep() {
    const auto idle_since = self_->clock().now() - std::chrono::seconds(deps_->options.idle_s);
    for (auto entry = owners_.begin(); entry != owners_.end();) {
      if (entry->second.last_asked > idle_since) {
        ++entry;
        continue;
      }
      name_of_.erase(entry->second.handle->id());
      let_go(entry->second.handle, caf::exit_reason::user_shutdown);
      entry = owners_.erase(entry);
      deps_->metrics->containers_active.Decrement();
    }
    sweep_later();
  }

  static constexpr const char* name = "cleat.fleet";

private:
  struct Owner {
    container_self handle;
    caf::actor_clock::time_point last_asked;
  };

  void pass_on(RunnerSays says, std::string container_name) {
    says.container_name = std::move(container_name);
    const container_self& owner = owner_of(*says.container_name);
    self_->send(owner, std::move(says));
  }

  template <class Command>
  void on_located(AnswerPromise& promise, Command command, const storage::ContainerLocated& located) {
    if (located.status != storage::ReadStatus::ok) {
      promise.deliver(Answer{cleat::refuse(Code::unavailable)});
      return;
    }
    if (!located.name) {
      promise.deliver(Answer{tl::unexpected<Refusal>(nothing_there(command))});
      return;
    }
    command.container_name = located.name;
    promise.delegate(owner_of(*located.name), std::move(command));
  }

  /// What is told about something that is not there: to most the uniform refusal.
  static Refusal nothing_there(const ResolveOrphan& command) {
    return rules::require_instance_owner(*command.context.actor).value_or(Refusal{Code::not_found});
  }
  template <class Command>
  static Refusal nothing_there(const Command&) {
    return {Code::not_found};
  }

  void sweep_later() {
    const std::chrono::seconds span(std::max<std::int64_t>(1, deps_->options.idle_s / 4));
    self_->delayed_send(self_, span, Sweep{});
  }

  void let_go(const container_self& owner, const caf::error& reason) {
    self_->demonitor(owner.address());
    self_->send_exit(owner, reason);
  }

  void end(const caf::error& reason) {
    for (const auto& [container_name, owner] : owners_)
      let_go(owner.handle, reason);
    self_->quit(reason);
  }

  void on_down(const caf::down_msg& down) {
    const auto known = name_of_.find(down.source.id());
    if (known == name_of_.end())
      return;
    deps_->metrics->owner_crashes.Increment();
    deps_->metrics->containers_active.Decrement();
    log::get().error("the owner of container {} died ({}); the next command spawns it anew", known->second,
                     caf::to_string(down.reason));
    owners_.erase(known->second);
    name_of_.erase(known);
  }

  Self self_;
  DependenciesPtr deps_;
  hub_actor hub_;
  herald_actor herald_;
  std::unordered_map<std::string, Owner> owners_;
  std::unordered_map<caf::actor_id, std::string> name_of_;
  /// Where operations are. They never move.
  std::unordered_map<Id, std::string> places_;
};

storage::LocateContainer by_session(const std::string& session_id) {
  storage::LocateContainer question;
  question.session_id = session_id;
  return question;
}

fleet_actor::behavior_type fleet(FleetState::Self self, DependenciesPtr deps, hub_actor hub, herald_actor herald) {
  self->state.init(std::move(deps), std::move(hub), std::move(herald));
  FleetState& state = self->state;
  return {
    [self, &state](StartSession& command) {
      return self->delegate(state.owner_of(command.container_name), std::move(command));
    },
    [self, &state](FollowHandle& command) {
      if (!command.body) { // without a handle there is nobody whose rights come first
        auto promise = self->make_response_promise<Answer>();
        promise.deliver(Answer{tl::unexpected<Refusal>(command.body.error())});
        return promise;
      }
      storage::LocateContainer question;
      question.handle = sha256(command.body->retry_handle);
      return state.route(std::move(command), question);
    },
    [&state](StopSession& command) { return state.route(command, by_session(command.session_id)); },
    [&state](SendInput& command) { return state.route(command, by_session(command.session_id)); },
    [self, &state](RemoveContainer& command) {
      return self->delegate(state.owner_of(command.container_name), std::move(command));
    },
    [&state](ResolveOrphan& command) {
      storage::LocateContainer question;
      question.orphan_id = command.orphan_id;
      return state.route(std::move(command), question);
    },
    [&state](RunnerSays& says) { state.route(std::move(says)); },
    [&state](const Reconcile& reconcile) { state.reconcile(reconcile); },
    [&state](const ContainerMoved& moved) { state.on_moved(moved); },
    [&state](Sweep) { state.sweep(); },
  };
}

} // namespace

fleet_actor spawn_fleet(caf::actor_system& system, DependenciesPtr deps, hub_actor hub, herald_actor herald) {
  return system.spawn(fleet, std::move(deps), std::move(hub), std::move(herald));
}

} // namespace cleat::actors
