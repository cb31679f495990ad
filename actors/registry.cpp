#include "actors/registry.hpp"

#include <algorithm>
#include <chrono>
#include <unordered_map>
#include <utility>

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/thread.hpp"
#include "base/log.hpp"

namespace cleat::actors {
namespace {

class RegistryState {
public:
  using Self = registry_actor::stateful_pointer<RegistryState>;

  explicit RegistryState(Self self) : self_(self) {}

  void init(DependenciesPtr deps) {
    deps_ = std::move(deps);
    self_->set_down_handler([this](const caf::down_msg& down) { on_down(down); });
    self_->set_exit_handler([this](const caf::exit_msg& message) { end(message.reason); });
    sweep_later();
  }

  /// The thread's owner, spawned when there is none in memory.
  const thread_actor& owner_of(const Id& thread_id) {
    auto found = owners_.find(thread_id);
    if (found == owners_.end()) {
      auto owner = self_->spawn(thread, thread_id, deps_);
      self_->monitor(owner);
      thread_of_.emplace(owner->id(), thread_id);
      found = owners_.emplace(thread_id, Owner{std::move(owner), {}}).first;
      deps_->metrics->threads_active.Increment();
    }
    found->second.last_asked = self_->clock().now();
    return found->second.handle;
  }

  /// Lets go of owners that nobody has asked for a while. Their state is in PostgreSQL, and whoever asked last has
  /// had an answer long since, because `actors.idle_s` is longer than any request waits.
  void sweep() {
    const auto idle_since = self_->clock().now() - std::chrono::seconds(deps_->options.idle_s);
    for (auto entry = owners_.begin(); entry != owners_.end();) {
      if (entry->second.last_asked > idle_since) {
        ++entry;
        continue;
      }
      thread_of_.erase(entry->second.handle->id());
      let_go(entry->second.handle, caf::exit_reason::user_shutdown);
      entry = owners_.erase(entry);
      deps_->metrics->threads_active.Decrement();
    }
    sweep_later();
  }

  static constexpr const char* name = "cleat.registry";

private:
  struct Owner {
    thread_actor handle;
    caf::actor_clock::time_point last_asked;
  };

  void sweep_later() {
    const std::chrono::seconds span(std::max<std::int64_t>(1, deps_->options.idle_s / 4));
    self_->delayed_send(self_, span, Sweep{});
  }

  void let_go(const thread_actor& owner, const caf::error& reason) {
    self_->demonitor(owner.address());
    self_->send_exit(owner, reason);
  }

  /// Owners end with their registry. Nobody else would end them: the timer of a request that was answered long ago
  /// keeps its owner until it runs out, and the system waits for every actor.
  void end(const caf::error& reason) {
    for (const auto& [thread_id, owner] : owners_)
      let_go(owner.handle, reason);
    self_->quit(reason);
  }

  void on_down(const caf::down_msg& down) {
    const auto known = thread_of_.find(down.source.id());
    if (known == thread_of_.end())
      return;
    deps_->metrics->owner_crashes.Increment();
    deps_->metrics->threads_active.Decrement();
    log::get().error("the owner of thread {} died ({}); the next command spawns it anew", known->second.str(),
                     caf::to_string(down.reason));
    owners_.erase(known->second);
    thread_of_.erase(known);
  }

  Self self_;
  DependenciesPtr deps_;
  std::unordered_map<Id, Owner> owners_;
  std::unordered_map<caf::actor_id, Id> thread_of_;
};

registry_actor::behavior_type registry(RegistryState::Self self, DependenciesPtr deps) {
  self->state.init(std::move(deps));
  return {
    [self](ResetSession& command) {
      return self->delegate(self->state.owner_of(command.thread_id), std::move(command));
    },
    [self](BindSession& command) {
      return self->delegate(self->state.owner_of(command.thread_id), std::move(command));
    },
    [self](ImportSessions& command) {
      return self->delegate(self->state.owner_of(command.thread_id), std::move(command));
    },
    [self](Sweep) { self->state.sweep(); },
  };
}

} // namespace

registry_actor spawn_registry(caf::actor_system& system, DependenciesPtr deps) {
  return system.spawn(registry, std::move(deps));
}

} // namespace cleat::actors
