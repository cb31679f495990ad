#include "tests/linear/containers.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace cleat::linear {
namespace {

using State = ContainerState;
using States = std::vector<State>;

/// The start in flight becomes a session.
State promote(State state) {
  const std::string session = state.resumes.empty() ? "?" + std::to_string(state.starting) : state.resumes;
  state.live = session;
  state.promoted[state.starting] = session;
  state.sessions.insert(session);
  state.starting = 0;
  state.resumes.clear();
  return state;
}

/// What the Runner may have done by itself: brought a start to either end, or a stop to its own.
States silently_after(const State& state) {
  States all{state};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const State from = all[i];
    if (from.starting != 0) {
      all.push_back(promote(from));
      State failed = from;
      failed.starting = 0;
      failed.resumes.clear();
      all.push_back(std::move(failed));
    }
    if (!from.live.empty() && !from.stops.empty()) {
      State released = from;
      released.ending = std::exchange(released.stops, {});
      released.live.clear();
      all.push_back(std::move(released));
    }
    if (!from.ending.empty()) {
      State over = from;
      over.over.merge(over.ending);
      over.ending.clear();
      all.push_back(std::move(over));
    }
  }
  return all;
}

/// The state once a session that went by its number has got its id. Nothing when it is another session, or the id is
/// that of a session that lived before: an id is never given twice.
std::optional<State> named(State state, const std::string& known, const std::string& id) {
  if (known == id)
    return state;
  if (!known.starts_with('?') || state.sessions.contains(id))
    return std::nullopt;
  if (state.live == known)
    state.live = id;
  for (auto& [number, session] : state.promoted)
    if (session == known)
      session = id;
  state.sessions.erase(known);
  state.sessions.insert(id);
  return state;
}

std::optional<State> reserve(State state, const ContainerOperation& operation) {
  const bool is_busy = !state.live.empty() || state.starting != 0 || !state.ending.empty();
  if (is_busy != operation.refused)
    return std::nullopt;
  if (operation.refused)
    return state;
  if (!operation.session.empty() && !state.sessions.contains(operation.session))
    return std::nullopt;
  state.starting = operation.number;
  state.resumes = operation.session;
  return state;
}

std::optional<State> stop(const State& state, const ContainerOperation& operation) {
  if (operation.refused)
    return state.live == operation.session ? std::nullopt : std::optional(state);
  // Its caller may have the id from an answer that no history has, as from a look at a container without its Runner.
  auto next = named(state, state.live, operation.session);
  if (next)
    next->stops.insert(operation.number);
  return next;
}

std::optional<State> look(const State& state, const ContainerOperation& operation) {
  // An agent that is stopped exits, and that may be known before its stop is over.
  const bool is_stopping = operation.session.empty() ? !state.ending.empty() : !state.stops.empty();
  if (state.live.empty() != operation.session.empty() || (operation.state == "starting") != (state.starting != 0) ||
      (operation.state == "stopping" && !is_stopping) || (operation.state == "idle" && !state.ending.empty()))
    return std::nullopt;
  return state.live.empty() ? std::optional(state) : named(state, state.live, operation.session);
}

std::optional<State> happens(const State& state, const ContainerOperation& operation) {
  switch (operation.verb) {
    case ContainerVerb::reserve:
      return reserve(state, operation);
    case ContainerVerb::promoted: {
      const auto found = state.promoted.find(operation.number);
      return found == state.promoted.end() ? std::nullopt : named(state, found->second, operation.session);
    }
    case ContainerVerb::stopping:
      return stop(state, operation);
    case ContainerVerb::stopped:
      return state.over.contains(operation.number) ? std::optional(state) : std::nullopt;
    case ContainerVerb::look:
      break;
  }
  return look(state, operation);
}

std::string text_of(const ContainerOperation& operation) {
  constexpr std::array<const char*, 5> names{"reserve", "promoted", "stopping", "stopped", "look"};
  return std::string(names.at(static_cast<std::size_t>(operation.verb))) +
         (operation.number > 0 ? " #" + std::to_string(operation.number) : "") +
         (operation.session.empty() ? "" : " session " + operation.session.substr(0, 8)) +
         (operation.refused ? " refused" : "") + (operation.state.empty() ? "" : " -> " + operation.state) + "   [" +
         operation.note + "]";
}

} // namespace

std::vector<ContainerState> ContainerModel::after(const State& state, const Operation& operation) {
  States found;
  for (const State& before : silently_after(state))
    if (auto next = happens(before, operation); next && std::ranges::find(found, *next) == found.end())
      found.push_back(std::move(*next));
  // Nothing is lost by leaving the Runner's steps for later when the state as it is will do for something that only
  // looks; the search takes such an operation at once.
  if (std::ranges::find(found, state) != found.end())
    return {state};
  return found;
}

std::size_t ContainerModel::hash(const State& state) {
  const std::hash<std::string> text;
  return text(state.live) * 31 + static_cast<std::size_t>(state.starting) * 1'000'003 + text(state.resumes) +
         state.stops.size() * 7 + state.ending.size() * 17 + state.over.size() * 131 + state.promoted.size() * 8191;
}

std::optional<ContainerOperation> ContainerModel::without_answer(const Operation& operation) {
  const bool has_effect = operation.verb == ContainerVerb::reserve || operation.verb == ContainerVerb::stopping;
  return has_effect && !operation.refused ? std::optional(operation) : std::nullopt;
}

std::string explain(const ContainerHistory& history) {
  ContainerHistory failing = shortest_failure<ContainerModel>(history, {});
  std::ranges::sort(failing, {}, [](const auto& one) { return one.invoked; });
  const auto verdict = check<ContainerModel>(failing, {});
  std::vector<bool> is_placed(failing.size());
  for (const std::size_t i : verdict.longest)
    is_placed[i] = true;
  std::string text = "The shortest beginning that no order explains, in microseconds; no place is found for those "
                     "marked with ?:\n";
  constexpr std::size_t shown = 40;
  for (std::size_t i = failing.size() > shown ? failing.size() - shown : 0; i < failing.size(); ++i) {
    const auto& one = failing[i];
    text += std::string(is_placed[i] ? "    " : "  ? ") +
            std::to_string((one.invoked - failing.front().invoked) / 1000) + " to " +
            (one.is_pending() ? "never" : std::to_string((one.returned - failing.front().invoked) / 1000)) + ": " +
            text_of(one.operation) + "\n";
  }
  return text;
}

} // namespace cleat::linear
