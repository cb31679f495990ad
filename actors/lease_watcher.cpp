#include "actors/lease_watcher.hpp"

#include <chrono>
#include <memory>
#include <utility>

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/answering.hpp"
#include "base/log.hpp"

namespace cleat::actors {
namespace {

/// Runs that are failed at a time; more wait for the next look.
constexpr std::int64_t runs_a_round = 100;

class LeaseWatcherState {
public:
  using Self = lease_watcher_actor::stateful_pointer<LeaseWatcherState>;

  explicit LeaseWatcherState(Self self) : self_(self) {}

  void init(DependenciesPtr deps, registry_actor registry) {
    deps_ = std::move(deps);
    registry_ = std::move(registry);
    look_later();
  }

  void look() {
    const storage::FindOverdueRuns question{deps_->options.rules.run_queued_timeout_s, runs_a_round};
    self_->request(deps_->store.log_reader, patience(*deps_), question)
      .then([this](const storage::OverdueRuns& found) { expire(found); }, [this](const caf::error&) { look_later(); });
  }

  static constexpr const char* name = "cleat.lease_watcher";

private:
  void look_later() { self_->delayed_send(self_, std::chrono::milliseconds(deps_->options.runs_watch_ms), Sweep{}); }

  /// The next look waits for all answers, so that a slow database is not asked more and more.
  void expire(const storage::OverdueRuns& found) {
    if (found.runs.empty())
      return look_later();
    pending_ = found.runs.size();
    for (const storage::OverdueRun& run : found.runs) {
      const RequestContext context{std::make_shared<const Principal>(run.agent), "lease-watcher", {}, {}};
      self_
        ->request(registry_, patience(*deps_),
                  RunCommand{context, run.run_id, run_op::Expire{}, run.thread_id, run.agent.id})
        .then([this, run](const Answer& answer) { on_answer(run, answer); },
              [this](const caf::error&) { count_down(); });
    }
  }

  void on_answer(const storage::OverdueRun& run, const Answer& answer) {
    if (answer.result)
      log::get().info("run {} of thread {} failed: its agent has let its time run out", run.run_id.str(),
                      run.thread_id.str());
    count_down();
  }

  void count_down() {
    if (--pending_ == 0)
      look_later();
  }

  Self self_;
  DependenciesPtr deps_;
  registry_actor registry_;
  std::size_t pending_ = 0;
};

lease_watcher_actor::behavior_type lease_watcher(LeaseWatcherState::Self self, DependenciesPtr deps,
                                                 registry_actor registry) {
  self->state.init(std::move(deps), std::move(registry));
  return {[self](Sweep) { self->state.look(); }};
}

} // namespace

lease_watcher_actor spawn_lease_watcher(caf::actor_system& system, DependenciesPtr deps, registry_actor registry) {
  return system.spawn(lease_watcher, std::move(deps), std::move(registry));
}

} // namespace cleat::actors
