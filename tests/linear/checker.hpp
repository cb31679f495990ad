#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

/// Decides whether a recorded history could have come from a system that does one thing at a time: Wing and Gong's
/// search, with Lowe's memory of configurations that have led nowhere.
///
/// A model is a type with a `State` (copied, compared with `==`, hashed by `Model::hash`), an `Operation`, and
/// `Model::after(state, operation)`: every state that the operation can leave behind when it takes effect in `state`
/// and answers as it was recorded. None means that it cannot have happened there. More than one is for what a history
/// does not tell, as the outcome of an operation whose answer was lost.
namespace cleat::linear {

/// Nanoseconds of one monotonic clock.
using Moment = std::int64_t;

/// The end of an operation whose answer never came: it may take effect at any later time, or never.
inline constexpr Moment never = std::numeric_limits<Moment>::max();

/// An operation with the span in which it took effect.
template <class Operation>
struct Timed {
  Operation operation;
  Moment invoked = 0;
  Moment returned = never;

  [[nodiscard]] bool is_pending() const { return returned == never; }
};

/// What a search came to.
enum class Answered {
  linearizable,
  impossible, ///< no order explains the answers
  undecided,  ///< the bound of steps was reached
};

/// The verdict about a history.
template <class State>
struct Verdict {
  Answered answered = Answered::linearizable;
  /// How often an operation was tried in a state.
  std::size_t steps = 0;
  /// The longest order that was found, as indices into the history, and the state that it leaves.
  std::vector<std::size_t> longest = {};
  std::optional<State> state = {};
};

/// One search over one history.
template <class Model>
class Search {
public:
  using State = typename Model::State;
  using History = std::vector<Timed<typename Model::Operation>>;

  Search(const History& history, std::size_t max_steps) : history_(history), max_steps_(max_steps) {
    for (std::size_t i = 0; i < history.size(); ++i)
      (history[i].is_pending() ? pending_ : answered_).push_back(i);
    std::ranges::sort(answered_, {}, [&](std::size_t i) { return history_[i].invoked; });
  }

  /// Looks for an order that starts at `initial` and explains every answer.
  Verdict<State> run(const State& initial) {
    Configuration start{std::vector<std::uint64_t>(history_.size() / 64 + 1), initial};
    verdict_.state = initial;
    if (answered_.empty())
      return verdict_;
    seen_.insert(start);
    std::vector<Frame> stack;
    stack.push_back(frame_of(std::move(start), 0));
    while (!stack.empty()) {
      if (verdict_.steps > max_steps_) {
        verdict_.answered = Answered::undecided;
        return verdict_;
      }
      auto next = advance(stack.back());
      if (!next) {
        stack.pop_back();
        if (!order_.empty())
          order_.pop_back();
        continue;
      }
      order_.push_back(next->second);
      const std::size_t done = stack.back().done + (history_[next->second].is_pending() ? 0 : 1);
      note(done, next->first.state);
      if (done == answered_.size())
        return verdict_;
      stack.push_back(frame_of(std::move(next->first), done));
    }
    verdict_.answered = Answered::impossible;
    return verdict_;
  }

private:
  /// What has taken effect, as bits, and the state that it has left. Lowe's point: two orders that come to the same
  /// configuration have the same future, so only the first one is followed.
  struct Configuration {
    std::vector<std::uint64_t> done;
    State state;

    bool operator==(const Configuration&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Configuration& configuration) const {
      std::size_t hash = Model::hash(configuration.state);
      for (const std::uint64_t word : configuration.done)
        hash = hash * 1'099'511'628'211ULL + word + (hash >> 29U);
      return hash;
    }
  };
  /// Something that may happen next, and a state that it leaves.
  struct Step {
    std::size_t index;
    State state;
  };
  /// A configuration and what is still to be tried from it.
  struct Frame {
    Configuration configuration;
    std::size_t done;
    std::vector<Step> steps;
    std::size_t next = 0;
  };

  static bool is_done(const Configuration& configuration, std::size_t i) {
    return (configuration.done[i / 64] >> (i % 64) & 1U) != 0;
  }

  /// The operations that may be next: those that no other one has to precede, as it had returned before they were
  /// invoked. Those without an answer come last, because most of them never took effect.
  std::vector<std::size_t> candidates_of(const Configuration& configuration) const {
    std::vector<std::size_t> candidates;
    Moment first_return = never;
    std::size_t skipped = 0;
    while (skipped < answered_.size() && is_done(configuration, answered_[skipped]))
      ++skipped;
    for (std::size_t n = skipped; n < answered_.size() && history_[answered_[n]].invoked <= first_return; ++n)
      if (!is_done(configuration, answered_[n])) {
        candidates.push_back(answered_[n]);
        first_return = std::min(first_return, history_[answered_[n]].returned);
      }
    std::ranges::sort(candidates, {}, [&](std::size_t i) { return history_[i].returned; });
    for (const std::size_t i : pending_)
      if (!is_done(configuration, i) && history_[i].invoked <= first_return)
        candidates.push_back(i);
    return candidates;
  }

  /// What may happen next. An operation with an answer that fits and changes nothing is taken at once and alone: every
  /// order that has it later has a twin that has it here, because whatever comes between does not notice.
  Frame frame_of(Configuration configuration, std::size_t done) {
    Frame frame{std::move(configuration), done, {}};
    for (const std::size_t i : candidates_of(frame.configuration)) {
      ++verdict_.steps;
      auto states = Model::after(frame.configuration.state, history_[i].operation);
      if (states.size() == 1 && states.front() == frame.configuration.state) {
        if (history_[i].is_pending())
          continue; // whether it happens makes no difference, so it does not
        frame.steps.clear();
        frame.steps.push_back({i, std::move(states.front())});
        return frame;
      }
      for (State& state : states)
        frame.steps.push_back({i, std::move(state)});
    }
    return frame;
  }

  /// The next configuration that nobody has looked at, and the operation that leads there.
  std::optional<std::pair<Configuration, std::size_t>> advance(Frame& frame) {
    while (frame.next < frame.steps.size()) {
      Step& step = frame.steps[frame.next++];
      Configuration next{frame.configuration.done, std::move(step.state)};
      next.done[step.index / 64] |= std::uint64_t{1} << (step.index % 64);
      if (seen_.insert(next).second)
        return std::pair(std::move(next), step.index);
    }
    return std::nullopt;
  }

  void note(std::size_t done, const State& state) {
    if (done <= most_)
      return;
    most_ = done;
    verdict_.longest = order_;
    verdict_.state = state;
  }

  const History& history_;
  std::size_t max_steps_;
  std::vector<std::size_t> answered_; ///< by the time of their invocation
  std::vector<std::size_t> pending_;
  std::unordered_set<Configuration, Hash> seen_;
  std::vector<std::size_t> order_;
  std::size_t most_ = 0;
  Verdict<State> verdict_;
};

/// Whether some order explains the history.
template <class Model>
Verdict<typename Model::State> check(const std::vector<Timed<typename Model::Operation>>& history,
                                     const typename Model::State& initial, std::size_t max_steps = 2'000'000) {
  return Search<Model>(history, max_steps).run(initial);
}

/// The history as it was at a moment: what had not returned by then has no answer, and what only looks and has not
/// returned is left out. `Model::without_answer` gives nothing for an operation that cannot have an effect.
template <class Model>
std::vector<Timed<typename Model::Operation>> until(const std::vector<Timed<typename Model::Operation>>& history,
                                                    Moment moment) {
  std::vector<Timed<typename Model::Operation>> prefix;
  for (const auto& one : history) {
    if (one.invoked > moment)
      continue;
    if (one.is_pending() || one.returned <= moment) {
      prefix.push_back(one);
      continue;
    }
    if (auto lost = Model::without_answer(one.operation))
      prefix.push_back({std::move(*lost), one.invoked, never});
  }
  return prefix;
}

/// The shortest beginning of a history that no order explains. A beginning of a linearizable history is linearizable,
/// so the first moment at which it fails is found by halving.
template <class Model>
std::vector<Timed<typename Model::Operation>>
shortest_failure(const std::vector<Timed<typename Model::Operation>>& history, const typename Model::State& initial,
                 std::size_t max_steps = 2'000'000) {
  std::vector<Moment> returns;
  for (const auto& one : history)
    if (!one.is_pending())
      returns.push_back(one.returned);
  std::ranges::sort(returns);
  std::size_t good = 0;
  std::size_t bad = returns.size();
  while (good + 1 < bad) {
    const std::size_t middle = (good + bad) / 2;
    const auto verdict = check<Model>(until<Model>(history, returns[middle - 1]), initial, max_steps);
    (verdict.answered == Answered::linearizable ? good : bad) = middle;
  }
  return bad == 0 ? history : until<Model>(history, returns[bad - 1]);
}

} // namespace cleat::linear
