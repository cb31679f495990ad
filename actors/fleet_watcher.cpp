#include "actors/fleet_watcher.hpp"

#include <chrono>
#include <utility>

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/answering.hpp"

namespace cleat::actors {
namespace {

/// Containers that are looked after at a time; more wait for the next look.
constexpr std::int64_t work_a_round = 500;

class FleetWatcherState {
public:
  using Self = fleet_watcher_actor::stateful_pointer<FleetWatcherState>;

  explicit FleetWatcherState(Self self) : self_(self) {}

  void init(DependenciesPtr deps, fleet_actor fleet) {
    deps_ = std::move(deps);
    fleet_ = std::move(fleet);
    look_later();
  }

  void look() {
    const FleetOptions& options = deps_->options.fleet;
    storage::FindFleetWork question;
    question.now = deps_->clock->now();
    question.deadline_s = deps_->options.rules.operation_deadline_s;
    question.ask_after_ms = options.ask_after_ms;
    question.node_id = options.node.id;
    question.node_timeout_s = options.node_timeout_s;
    question.limit = work_a_round;
    self_->request(deps_->store.log_reader, patience(*deps_), question)
      .then([this](const storage::FleetWork& work) { on_work(work); }, [this](const caf::error&) { look_later(); });
  }

  static constexpr const char* name = "cleat.fleet_watcher";

private:
  void on_work(const storage::FleetWork& work) {
    if (work.status == storage::ReadStatus::ok) {
      deps_->metrics->orphans_open.Set(static_cast<double>(work.open_orphans));
      deps_->metrics->operations_in_flight.Set(static_cast<double>(work.in_flight));
      deps_->metrics->runners_connected.Set(static_cast<double>(work.connected_runners));
    }
    for (const std::string& container : work.containers)
      self_->send(fleet_, Reconcile{container, false});
    look_later();
  }

  void look_later() { self_->delayed_send(self_, std::chrono::milliseconds(deps_->options.fleet.watch_ms), Sweep{}); }

  Self self_;
  DependenciesPtr deps_;
  fleet_actor fleet_;
};

fleet_watcher_actor::behavior_type fleet_watcher(FleetWatcherState::Self self, DependenciesPtr deps,
                                                 fleet_actor fleet) {
  self->state.init(std::move(deps), std::move(fleet));
  return {[self](Sweep) { self->state.look(); }};
}

} // namespace

fleet_watcher_actor spawn_fleet_watcher(caf::actor_system& system, DependenciesPtr deps, fleet_actor fleet) {
  return system.spawn(fleet_watcher, std::move(deps), std::move(fleet));
}

} // namespace cleat::actors
