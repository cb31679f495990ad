#include "actors/registry.hpp"

#include <algorithm>
#include <chrono>
#include <unordered_map>
#include <utility>

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/answering.hpp"
#include "actors/thread.hpp"
#include "base/log.hpp"

namespace cleat::actors {
namespace {

/// Runs whose place is remembered. Past it all are forgotten and looked up again.
constexpr std::size_t runs_remembered = 100'000;

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

  /// Passes a command for a run on to the owner of its thread, which is looked up when it is not known.
  AnswerPromise route(RunCommand command) {
    auto promise = self_->make_response_promise<Answer>();
    if (command.thread_id)
      return promise.delegate(owner_of(*command.thread_id), std::move(command));
    const auto known = runs_.find(command.run_id);
    if (known != runs_.end())
      return pass_on(promise, std::move(command), known->second);
    self_->request(deps_->store.loader, patience(*deps_), storage::LocateRun{command.run_id})
      .then(
        [this, promise, command](const storage::RunLocated& located) mutable { on_located(promise, command, located); },
        [promise](const caf::error&) mutable { promise.deliver(Answer{cleat::refuse(Code::unavailable)}); });
    return promise;
  }

  static constexpr const char* name = "cleat.registry";

private:
  struct Owner {
    thread_actor handle;
    caf::actor_clock::time_point last_asked;
  };

  /// Where a run is and whose. Neither ever changes.
  struct Place {
    Id thread_id;
    Id agent_id;
  };

  AnswerPromise pass_on(AnswerPromise promise, RunCommand command, const Place& place) {
    command.thread_id = place.thread_id;
    command.agent_id = place.agent_id;
    return promise.delegate(owner_of(place.thread_id), std::move(command));
  }

  void on_located(AnswerPromise& promise, RunCommand& command, const storage::RunLocated& located) {
    const bool ok = located.status == storage::ReadStatus::ok;
    if (!ok || !located.thread_id || !located.agent_id) {
      promise.deliver(Answer{cleat::refuse(ok ? Code::not_found : Code::unavailable)});
      return;
    }
    if (runs_.size() >= runs_remembered)
      runs_.clear();
    const Place place{*located.thread_id, *located.agent_id};
    runs_.emplace(command.run_id, place);
    pass_on(promise, std::move(command), place);
  }

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
  std::unordered_map<Id, Place> runs_;
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
    [self](TriggerRun& command) { return self->delegate(self->state.owner_of(command.thread_id), std::move(command)); },
    [self](ReportSession& command) {
      return self->delegate(self->state.owner_of(command.thread_id), std::move(command));
    },
    [self](RunCommand& command) { return self->state.route(std::move(command)); },
    [self](Sweep) { self->state.sweep(); },
  };
}

} // namespace

registry_actor spawn_registry(caf::actor_system& system, DependenciesPtr deps) {
  return system.spawn(registry, std::move(deps));
}

} // namespace cleat::actors
