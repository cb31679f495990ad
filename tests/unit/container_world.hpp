#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "actors/rules/runner/container.hpp"
#include "actors/rules/runner/session_id.hpp"
#include "tests/unit/world.hpp"

/// A container with its account, Runner and server, in which the rules of Runner sessions are tried.
namespace cleat::unit {

/// What a decision writes of one kind, in its order.
template <class Write>
std::vector<Write> writes(const Decision& decision) {
  std::vector<Write> found;
  for (const RowWrite& row : decision.rows)
    if (const auto* const write = std::get_if<fleet::Write>(&row))
      if (const auto* const one = std::get_if<Write>(write))
        found.push_back(*one);
  return found;
}

/// The only write of its kind; a test fails where there are none or several.
template <class Write>
auto only_row(const Decision& decision) {
  const auto found = writes<Write>(decision);
  EXPECT_EQ(found.size(), 1U);
  return found.empty() ? decltype(found.front().row){} : found.front().row;
}

struct ContainerWorld {
  ContainerWorld() {
    alex.id = id_of(1);
    alex.name = "Alex";
    sam.id = id_of(2);
    sam.name = "Sam";
    owner.id = id_of(3);
    owner.instance_owner = true;
    facts.account = Account{id_of(10), "builds", alex.id, noon, 3};
    facts.runner = Runner{id_of(20), "runner-1", noon};
    facts.runner->enrollment_revision = 4;
    facts.runner->epoch = 7;
    facts.runner->journal_id = id_of(21);
    facts.node = Node{id_of(22), "127.0.0.1:1", noon};
    facts.container = Container{id_of(30), "box", facts.account->id, facts.runner->id, id_of(31), noon, 5};
  }

  /// An operation of Alex in the container, in flight.
  [[nodiscard]] Operation operation(OperationKind kind = OperationKind::fresh) const {
    Operation row;
    row.id = id_of(40);
    row.kind = kind;
    if (kind == OperationKind::fresh) {
      row.relay_request_id = id_of(41);
      row.fresh_session_id = rules::derive_session_id(id_of(41));
    }
    if (kind == OperationKind::resume)
      row.resume_session_id = session_id;
    if (kind == OperationKind::stop)
      row.stop_session_id = session_id;
    row.handle_digest = sha256("handle");
    row.account_id = facts.account->id;
    row.actor_id = alex.id;
    row.runner_id = facts.runner->id;
    row.container_name = "box";
    row.container_attempt_id = *facts.container->attempt_id;
    row.enrollment_revision = 4;
    row.journal_id = id_of(21);
    row.state = OperationState::dispatched;
    row.created_at = noon;
    row.dispatched_at = noon;
    return row;
  }

  [[nodiscard]] Binding binding(BindingState state = BindingState::live) const {
    Binding row;
    row.session_id = session_id;
    row.account_id = facts.account->id;
    row.actor_id = alex.id;
    row.runner_id = facts.runner->id;
    row.container_name = "box";
    row.container_attempt_id = *facts.container->attempt_id;
    row.operation_id = id_of(40);
    row.state = state;
    row.relayed_through = 2;
    row.transcript_through = 5;
    row.input_through = 3;
    row.created_at = noon;
    if (state == BindingState::released)
      row.released_at = noon;
    return row;
  }

  /// The operation is in flight: in the facts as what was asked for and as what is open.
  Operation& in_flight(Operation row) {
    facts.operation = row;
    facts.open = {std::move(row)};
    return *facts.operation;
  }

  /// A live session, which a command names as well.
  void live() {
    facts.live = binding();
    facts.binding = binding();
  }

  /// What the Runner says about the operation of the facts, with exact echoes.
  [[nodiscard]] RunnerSays says(wire::Report report) const {
    wire::FromRunner message;
    message.request_id = "request";
    message.operation_id = facts.operation ? facts.operation->id.str() : id_of(40).str();
    message.container_attempt_id = id_of(31).str();
    message.dispatch = facts.operation ? facts.operation->dispatch : 1;
    message.report = std::move(report);
    return {facts.runner->id, 4, 7, std::nullopt, std::make_shared<const wire::FromRunner>(std::move(message))};
  }

  /// The same with something altered.
  template <class Change>
  [[nodiscard]] RunnerSays says(wire::Report report, Change change) const {
    RunnerSays said = says(std::move(report));
    wire::FromRunner message = *said.message;
    change(said, message);
    said.message = std::make_shared<const wire::FromRunner>(std::move(message));
    return said;
  }

  [[nodiscard]] wire::Started started() const {
    const std::string& subject = facts.operation->subject();
    const bool fresh = facts.operation->kind == OperationKind::fresh;
    return {subject, fresh ? subject : "", fresh ? "" : subject};
  }

  [[nodiscard]] rules::container::ReportContext context() { return {now, ids, options}; }

  Principal alex;
  Principal sam;
  Principal owner;
  ContainerFacts facts;
  std::string session_id = rules::derive_session_id(id_of(50));
  Timestamp now = noon;
  CountingIds ids;
  rules::RuleOptions options;
  rules::container::Handle handle{"new-handle", sha256("new-handle")};
};

} // namespace cleat::unit
