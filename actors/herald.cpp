#include "actors/herald.hpp"

#include <algorithm>
#include <chrono>
#include <unordered_map>
#include <utility>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/answering.hpp"

namespace cleat::actors {
namespace {

/// Agents whose newest position is remembered. It is needed for the moment between a reader's look and its wait only,
/// so what is forgotten delays a reader by its patience and no more.
constexpr std::size_t agents_remembered = 100'000;

class HeraldState {
public:
  using Self = herald_actor::stateful_pointer<HeraldState>;

  explicit HeraldState(Self self) : self_(self) {}

  void init(DependenciesPtr deps) { deps_ = std::move(deps); }

  caf::typed_response_promise<LogMoved> wait(const AwaitLog& question) {
    auto promise = self_->make_response_promise<LogMoved>();
    if (has_moved(question)) {
      promise.deliver(LogMoved{true});
      return promise;
    }
    const auto deadline = self_->clock().now() + std::chrono::milliseconds(question.patience_ms);
    waiting_.push_back({question, promise, deadline});
    if (!std::exchange(watching_, true))
      look();
    return promise;
  }

  /// Looks once, and again after a while as long as anybody waits.
  void look() {
    self_->request(deps_->store.log_reader, patience(*deps_), storage::AdvanceLog{})
      .then([this](const storage::LogAdvanced& advanced) { on_advanced(advanced); },
            [this](const caf::error&) {
              on_advanced({storage::ReadStatus::unavailable, 0, 0, {}});
            });
  }

  static constexpr const char* name = "cleat.herald";

private:
  struct Waiter {
    AwaitLog question;
    caf::typed_response_promise<LogMoved> promise;
    caf::actor_clock::time_point deadline;
  };

  [[nodiscard]] bool has_moved(const AwaitLog& question) const {
    if (!question.agent_id)
      return events_ > question.after;
    const auto known = agents_.find(*question.agent_id);
    return known != agents_.end() && known->second > question.after;
  }

  void on_advanced(const storage::LogAdvanced& advanced) {
    if (advanced.status == storage::ReadStatus::ok) {
      events_ = std::max(events_, advanced.events);
      if (agents_.size() + advanced.agents.size() > agents_remembered)
        agents_.clear();
      for (const Id& agent : advanced.agents)
        agents_[agent] = advanced.agent_events;
    }
    const auto now = self_->clock().now();
    const auto is_done = [&](const Waiter& waiter) { return waiter.deadline <= now || has_moved(waiter.question); };
    const auto done =
      std::stable_partition(waiting_.begin(), waiting_.end(), [&](const Waiter& waiter) { return !is_done(waiter); });
    for (auto waiter = done; waiter != waiting_.end(); ++waiter)
      waiter->promise.deliver(LogMoved{has_moved(waiter->question)});
    waiting_.erase(done, waiting_.end());
    watching_ = !waiting_.empty();
    if (watching_)
      self_->delayed_send(self_, std::chrono::milliseconds(deps_->options.events_watch_ms), Sweep{});
  }

  Self self_;
  DependenciesPtr deps_;
  std::vector<Waiter> waiting_;
  /// How far the event log was seen, and for agents the position behind their newest event that was seen.
  std::int64_t events_ = 0;
  std::unordered_map<Id, std::int64_t> agents_;
  bool watching_ = false;
};

herald_actor::behavior_type herald(HeraldState::Self self, DependenciesPtr deps) {
  self->state.init(std::move(deps));
  return {
    [self](const AwaitLog& question) { return self->state.wait(question); },
    [self](Sweep) { self->state.look(); },
  };
}

} // namespace

herald_actor spawn_herald(caf::actor_system& system, DependenciesPtr deps) {
  return system.spawn(herald, std::move(deps));
}

} // namespace cleat::actors
