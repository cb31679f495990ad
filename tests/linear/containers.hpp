#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/linear/checker.hpp"

/// What a container is, one step after the other, as callers are promised it (spec 04 sections 4 to 6).
///
/// A start or a stop is no single moment: it is reserved, and later it comes to an end that the Runner brings about.
/// So an answer is taken apart into what it tells about single moments, and what the Runner does in between are steps
/// that nobody asks for and that may come at any time.
namespace cleat::linear {

/// A moment of which an answer tells.
enum class ContainerVerb {
  reserve,  ///< a start was reserved, or refused because the container was busy
  promoted, ///< a start is known to have become this session
  stopping, ///< a stop has found its session alive, or has not
  stopped,  ///< a stop is known to be over
  look,     ///< the state of the container
};

/// What a moment was like.
struct ContainerOperation {
  ContainerVerb verb = ContainerVerb::look;
  /// The start or stop that it is about; 0 for a look.
  int number = 0;
  /// The session that is resumed, was promoted, is stopped or was seen; empty: none.
  std::string session = {};
  /// Whether it was refused; and what a look has seen.
  bool refused = false;
  std::string state = {};
  /// Who and when, for the reader of a failure.
  std::string note = {};
};

/// A container. A session whose id nobody has been told yet goes by `?` and the number of its start.
struct ContainerState {
  std::string live;
  /// The start in flight: its number, and what it resumes.
  int starting = 0;
  std::string resumes;
  /// Stops that have found the live session; those whose session has ended, of which the Runner has not said so yet;
  /// and those that are over.
  std::set<int> stops;
  std::set<int> ending;
  std::set<int> over;
  /// What starts have become, and every session that ever lived here.
  std::map<int, std::string> promoted;
  std::set<std::string> sessions;

  bool operator==(const ContainerState&) const = default;
};

/// The sequential model of one container. A container is one object for a checker: nothing that is asked of one reads
/// or writes another, as long as starts name no other container to move from.
struct ContainerModel {
  using Operation = ContainerOperation;
  using State = ContainerState;

  static std::vector<State> after(const State& state, const Operation& operation);
  static std::size_t hash(const State& state);
  static std::optional<Operation> without_answer(const Operation& operation);
};

/// A history of one container.
using ContainerHistory = std::vector<Timed<ContainerOperation>>;

/// What is wrong with a history that is not linearizable.
std::string explain(const ContainerHistory& history);

} // namespace cleat::linear
