#include "actors/janitor.hpp"

#include <chrono>
#include <utility>

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "base/log.hpp"

namespace cleat::actors {
namespace {

/// Rows a transaction. A full one is followed by the next one at once.
constexpr std::int64_t rows_a_transaction = 5000;

class JanitorState {
public:
  using Self = janitor_actor::stateful_pointer<JanitorState>;

  explicit JanitorState(Self self) : self_(self) {}

  void init(DependenciesPtr deps) {
    deps_ = std::move(deps);
    sweep_later();
  }

  void sweep() {
    self_
      ->request(deps_->store.librarian, std::chrono::seconds(deps_->options.request_timeout_s),
                storage::CollectGarbage{deps_->clock->now(), rows_a_transaction, deps_->options.fleet.spans})
      .then([this](const storage::GarbageCollected& collected) { on_collected(collected.removed); },
            [this](const caf::error&) { on_collected(0); });
  }

  static constexpr const char* name = "cleat.janitor";

private:
  void on_collected(std::int64_t removed) {
    if (removed > 0)
      log::get().debug("removed {} rows that outlived their span", removed);
    if (removed >= rows_a_transaction)
      return self_->send(self_, Sweep{});
    sweep_later();
  }

  void sweep_later() { self_->delayed_send(self_, std::chrono::milliseconds(deps_->options.sweep_ms), Sweep{}); }

  Self self_;
  DependenciesPtr deps_;
};

janitor_actor::behavior_type janitor(JanitorState::Self self, DependenciesPtr deps) {
  self->state.init(std::move(deps));
  return {[self](Sweep) { self->state.sweep(); }};
}

} // namespace

janitor_actor spawn_janitor(caf::actor_system& system, DependenciesPtr deps) {
  return system.spawn(janitor, std::move(deps));
}

} // namespace cleat::actors
