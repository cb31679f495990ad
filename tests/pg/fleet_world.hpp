#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/facts.hpp"
#include "tests/pg/world.hpp"

/// Accounts, Runners and containers of the small world, and the decisions around them.
namespace cleat::test {

/// A session id that differs from others of other numbers.
std::string session_id(int number);

/// A digest that differs from others of other numbers.
Digest digest(int number);

/// Rows that exist once `provision` is committed: one Runner, connected and enrolled, and some containers of one
/// account, whose actor is Sam.
struct Fleet {
  World& world;
  Account account;
  Runner runner;
  Node node;
  std::vector<Container> containers;
  std::vector<ContainerAttempt> attempts; ///< one a container, current

  explicit Fleet(World& small_world, std::size_t number_of_containers = 3);

  /// Everything above but the node, as one decision.
  [[nodiscard]] Decision provision() const;

  /// A reserved fresh start, with ids of its own.
  Operation fresh(std::size_t container = 0);
  /// A reserved resume of a session.
  Operation resume(const std::string& session, std::size_t container = 0);
  /// A reserved stop of a session.
  Operation stop(const std::string& session, std::size_t container = 0);
  /// The binding that a promoted start makes.
  [[nodiscard]] Binding binding_of(const Operation& operation) const;
  /// An orphan of an operation.
  Orphan orphan_of(const Operation& operation);

private:
  Operation operation(OperationKind kind, std::size_t container);
  int number_ = 0;
};

/// The next version of an operation, in this state; what the state demands is there, what it forbids is not.
Operation moved(Operation row, OperationState state, Timestamp time = at(3000));
/// The next version of an operation that failed.
Operation with_failure(Operation row, FailureClass failure_class = FailureClass::terminal, Timestamp time = at(3000));
/// The next version of a binding, in this state.
Binding moved(Binding row, BindingState state, Timestamp time = at(4000));
/// The next version of any row.
template <class Row>
Row next(Row row) {
  ++row.version;
  return row;
}

/// A decision of nothing but these writes around Runners.
template <class... Writes>
Decision decide(Writes... writes) {
  Decision decision;
  (decision.rows.emplace_back(fleet::Write(std::move(writes))), ...);
  return decision;
}

/// What an agent said, behind place `after`: one line each.
std::vector<TranscriptLine> lines_of(const std::string& session, std::int64_t after,
                                     const std::vector<std::string>& texts, Direction direction = Direction::out);

} // namespace cleat::test
