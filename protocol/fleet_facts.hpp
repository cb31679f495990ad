#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/fleet.hpp"

/// What rules about containers and Runners decide on: rows as they were together at one moment in the database.
namespace cleat {

/// A container with everything that its operations depend on, and what a command names beside it.
struct ContainerFacts {
  std::optional<Container> container;
  /// Its account and Runner; present when the container is.
  std::optional<Account> account;
  std::optional<Runner> runner;
  /// The server that holds the Runner's socket, when one does and it has been heard of lately.
  std::optional<Node> node;
  /// The container's operations in flight and those with a claimed cleanup, of whatever attempt, oldest first.
  std::vector<Operation> open;
  /// The container's live binding.
  std::optional<Binding> live;
  /// Its unresolved orphans, oldest first.
  std::vector<Orphan> orphans;

  /// The operation that was asked for by handle or by id, in whatever container.
  std::optional<Operation> operation;
  /// The binding that was asked for by its session id, in whatever container.
  std::optional<Binding> binding;
  /// The operation of a reroute's handle.
  std::optional<Operation> reroute_of;
  /// Whether the container's account has a live binding anywhere.
  bool account_is_live = false;
  /// The secret that was asked for, of the account of `binding`.
  std::optional<AccountSecret> secret;
  /// The orphan that was asked for by id.
  std::optional<Orphan> orphan;

  /// Whether the Runner can be reached.
  [[nodiscard]] bool connected() const { return node.has_value(); }

  bool operator==(const ContainerFacts&) const = default;
};

/// What the enrolment of a Runner is decided on.
struct EnrolmentFacts {
  std::optional<RunnerToken> token;
  std::optional<Runner> runner;
  /// The server that holds or last held its socket, when that is known, whether or not it has been heard of lately.
  std::optional<Node> node;
  /// The Runner's containers in the order of their names.
  std::vector<Container> containers;

  bool operator==(const EnrolmentFacts&) const = default;
};

} // namespace cleat
