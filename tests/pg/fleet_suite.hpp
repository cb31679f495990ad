#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/pg/fleet_world.hpp"
#include "tests/pg/storage_fixture.hpp"

namespace cleat::test {

/// A test of storage with a Runner, an account and three containers in it.
class FleetTest : public StorageTest {
protected:
  void SetUp() override {
    StorageTest::SetUp();
    ASSERT_EQ(client_->commit(fleet_.provision()), storage::CommitOutcome::committed);
  }

  /// Commits these writes, which must work.
  template <class... Writes>
  void commit(Writes... writes) {
    ASSERT_EQ(client_->commit(decide(std::move(writes)...)), storage::CommitOutcome::committed);
  }

  /// A question about a container.
  static storage::LoadContainer about(std::string name) {
    storage::LoadContainer question;
    question.name = std::move(name);
    question.node_timeout_s = 60;
    return question;
  }
  ContainerFacts load(const std::string& name) { return client_->load(about(name)); }
  ContainerFacts load(std::size_t container) { return load(fleet_.containers[container].name); }

  /// A promoted fresh start and its live binding.
  Binding start(std::size_t container) {
    const auto operation = fleet_.fresh(container);
    const auto binding = fleet_.binding_of(operation);
    commit(fleet::InsertOperation{moved(operation, OperationState::promoted)}, fleet::InsertBinding{binding});
    return binding;
  }

  /// The binding of a session, whatever its state.
  std::optional<Binding> binding(const std::string& session) {
    auto question = about("nowhere");
    question.session_id = session;
    return client_->load(question).binding;
  }

  /// An operation by its id.
  std::optional<Operation> operation(const Id& id) {
    auto question = about("nowhere");
    question.operation_id = id;
    return client_->load(question).operation;
  }

  std::vector<TranscriptLine> transcript(const std::string& session) {
    storage::FindTranscript question;
    question.session_id = session;
    question.limit = 1000;
    return client_->find(question).lines;
  }

  /// The next enrolment of the Runner, with an attempt for each container.
  fleet::Enrol enrol() {
    fleet::Enrol enrolment{next(fleet_.runner), {}};
    enrolment.row.enrollment_revision = 2;
    enrolment.row.epoch = 2;
    enrolment.row.journal_id = world_.ids.next();
    for (const auto& container : fleet_.containers)
      enrolment.attempts.push_back({world_.ids.next(), container.name, fleet_.runner.id, 2, true, at(60)});
    return enrolment;
  }

  Fleet fleet_{world_};
};

} // namespace cleat::test
