#include "actors/herald.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/answering.hpp"
#include "base/crash_points.hpp"

namespace cleat::actors {
namespace {

/// Agents whose newest position is remembered. It is needed for the moment between a reader's look and its wait only,
/// so what is forgotten delays a reader by its patience and no more.
constexpr std::size_t agents_remembered = 100'000;

/// As above, for sessions whose owners are at this server.
constexpr std::size_t sessions_remembered = 100'000;

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
    const auto deadline = self_->clock().now() + std::chrono::milliseconds(patience_with(question));
    if (question.session_id) {
      listening_[*question.session_id].push_back({question, promise, deadline});
      sweep_by(deadline);
      return promise;
    }
    waiting_.push_back({question, promise, deadline});
    if (!std::exchange(watching_, true))
      look();
    return promise;
  }

  /// A session has said something. Who waits for it is woken at once.
  void on_transcript(const TranscriptMoved& moved) {
    if (sessions_.size() >= sessions_remembered && !sessions_.contains(moved.session_id))
      sessions_.clear();
    auto& through = sessions_[moved.session_id];
    through = std::max(through, moved.through);
    const auto listeners = listening_.find(moved.session_id);
    if (listeners == listening_.end())
      return;
    answer_listeners(listeners->second);
    if (listeners->second.empty())
      listening_.erase(listeners);
  }

  /// A moment has passed that somebody waits for.
  void on_sweep() {
    if (sweep_at_ && self_->clock().now() >= *sweep_at_)
      sweep_listeners();
    if (look_due_ && self_->clock().now() >= *look_due_)
      look();
  }

  /// Looks once, and again after a while as long as anybody waits.
  void look() {
    look_due_.reset();
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

  /// Another server may write the transcript, and tells nobody here; so its readers look for themselves now and then.
  static std::int64_t patience_with(const AwaitLog& question) {
    return question.session_id ? std::min(question.patience_ms, limits::transcript_look_ms) : question.patience_ms;
  }

  [[nodiscard]] bool has_moved(const AwaitLog& question) const {
    if (question.session_id) {
      const auto known = sessions_.find(*question.session_id);
      return known != sessions_.end() && known->second > question.after;
    }
    if (!question.agent_id)
      return events_ > question.after;
    const auto known = agents_.find(*question.agent_id);
    return known != agents_.end() && known->second > question.after;
  }

  void on_advanced(const storage::LogAdvanced& advanced) {
    crash_point(CrashPoint::log_advanced);
    if (advanced.status == storage::ReadStatus::ok) {
      events_ = std::max(events_, advanced.events);
      if (agents_.size() + advanced.agents.size() > agents_remembered)
        agents_.clear();
      for (const Id& agent : advanced.agents)
        agents_[agent] = advanced.agent_events;
    }
    answer_done(waiting_, [this](const AwaitLog& question) { return has_moved(question); });
    watching_ = !waiting_.empty();
    if (watching_) {
      const auto span = std::chrono::milliseconds(deps_->options.events_watch_ms);
      look_due_ = self_->clock().now() + span;
      self_->delayed_send(self_, span, Sweep{});
    }
  }

  /// Whoever reads a transcript has to look, whether or not anything is known.
  void answer_listeners(std::vector<Waiter>& listeners) {
    answer_done(listeners, [](const AwaitLog&) { return true; });
  }

  /// Answers every listener whose time is over, and comes back for the others.
  void sweep_listeners() {
    sweep_at_.reset();
    std::optional<caf::actor_clock::time_point> next;
    for (auto& [session_id, listeners] : listening_) {
      answer_listeners(listeners);
      for (const Waiter& waiter : listeners)
        next = std::min(next.value_or(waiter.deadline), waiter.deadline);
    }
    std::erase_if(listening_, [](const auto& entry) { return entry.second.empty(); });
    if (next)
      sweep_by(*next);
  }

  /// Sees to it that listeners are looked after by then. Sweeps have a distance, so that thousands of listeners do not
  /// make thousands of them.
  void sweep_by(caf::actor_clock::time_point deadline) {
    const auto now = self_->clock().now();
    const auto at = std::max(deadline, now + std::chrono::milliseconds(deps_->options.events_watch_ms));
    if (sweep_at_ && *sweep_at_ <= at)
      return;
    sweep_at_ = at;
    self_->delayed_send(self_, at - now, Sweep{});
  }

  /// Answers those for whom there is more, or whose time is over, in the order in which they came.
  template <class Verdict>
  void answer_done(std::vector<Waiter>& waiters, Verdict verdict) {
    const auto now = self_->clock().now();
    const auto is_done = [&](const Waiter& waiter) { return waiter.deadline <= now || has_moved(waiter.question); };
    const auto done =
      std::stable_partition(waiters.begin(), waiters.end(), [&](const Waiter& waiter) { return !is_done(waiter); });
    for (auto waiter = done; waiter != waiters.end(); ++waiter)
      waiter->promise.deliver(LogMoved{verdict(waiter->question)});
    waiters.erase(done, waiters.end());
  }

  Self self_;
  DependenciesPtr deps_;
  std::vector<Waiter> waiting_;
  /// Those who wait for transcripts, by session, and when they are looked after again.
  std::unordered_map<std::string, std::vector<Waiter>> listening_;
  std::optional<caf::actor_clock::time_point> sweep_at_;
  /// For sessions how far their transcripts go, as owners here have said.
  std::unordered_map<std::string, std::int64_t> sessions_;
  /// When the logs are looked at again, while anybody waits.
  std::optional<caf::actor_clock::time_point> look_due_;
  /// How far the event log was seen, and for agents the position behind their newest event that was seen.
  std::int64_t events_ = 0;
  std::unordered_map<Id, std::int64_t> agents_;
  bool watching_ = false;
};

herald_actor::behavior_type herald(HeraldState::Self self, DependenciesPtr deps) {
  self->state.init(std::move(deps));
  return {
    [self](const AwaitLog& question) { return self->state.wait(question); },
    [self](const TranscriptMoved& moved) { self->state.on_transcript(moved); },
    [self](Sweep) { self->state.on_sweep(); },
  };
}

} // namespace

herald_actor spawn_herald(caf::actor_system& system, DependenciesPtr deps) {
  return system.spawn(herald, std::move(deps));
}

} // namespace cleat::actors
