/// A few thousand random decisions around Runners give the same outcomes and the same rows in PostgreSQL and in the
/// memory twin.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "tests/pg/fleet_world.hpp"
#include "tests/pg/storage_fixture.hpp"

namespace cleat::test {

namespace {

using storage::CommitOutcome;

/// Draws decisions over few containers, sessions and handles, so that they meet.
class FleetCommands {
public:
  FleetCommands(std::uint64_t seed, World& world, Fleet& fleet) : random_(seed), world_(world), fleet_(fleet) {}

  Decision next(Client& memory) {
    storage::LoadContainer question;
    question.name = name();
    question.operation_id = operations_.empty() ? world_.ids.next() : pick(operations_);
    question.session_id = session();
    const auto facts = memory.load(question);
    Decision decision;
    if (facts.container && chance(60))
      add(decision, fleet::UpdateContainer{changed(*facts.container)});
    add_change(decision, facts);
    if (chance(10))
      add_provisioning(decision, facts);
    if (chance(20))
      decision.guards.push_back({GuardedRow::account, fleet_.account.id, accounts_version_});
    return decision;
  }

  storage::LoadContainer question() {
    storage::LoadContainer question;
    question.name = name();
    if (chance(50))
      question.handle = digest(number(1, handles));
    if (chance(50) && !operations_.empty())
      question.operation_id = pick(operations_);
    if (chance(50))
      question.reroute_of = digest(number(1, handles));
    if (chance(50))
      question.session_id = session();
    if (chance(50))
      question.secret_name = secret();
    if (chance(50) && !orphans_.empty())
      question.orphan_id = pick(orphans_);
    return question;
  }

  storage::FindTranscript transcript_question(Client& memory) {
    storage::FindTranscript question;
    question.session_id = session();
    storage::LoadContainer about;
    about.session_id = question.session_id;
    const auto binding = memory.load(about).binding;
    if (chance(80))
      question.principal_id = chance(80) ? world_.sam.id : world_.alex.id;
    if (chance(50) && binding)
      question.lifetime = chance(80) ? binding->operation_id : world_.ids.next();
    question.after = number(0, 20);
    question.limit = number(1, 8);
    question.only_input = chance(30);
    return question;
  }

  storage::CollectGarbage garbage() {
    storage::CollectGarbage question;
    question.now = at(number(0, 30'000));
    question.limit = number(1, 8);
    question.fleet = storage::FleetSpans{0, 0, 0, 0};
    return question;
  }

  /// The ids that rows may have, to compare all of them.
  [[nodiscard]] const std::vector<Id>& operations() const { return operations_; }
  [[nodiscard]] const std::vector<Id>& tokens() const { return tokens_; }
  static constexpr int sessions = 12;
  static constexpr int handles = 400;
  static constexpr int names = 4;

private:
  int number(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  bool chance(int percent) { return number(1, 100) <= percent; }
  template <class Row>
  Row pick(const std::vector<Row>& rows) {
    return rows[static_cast<std::size_t>(number(0, static_cast<int>(rows.size()) - 1))];
  }
  std::string name() { return "box-" + std::to_string(number(0, names - 1)); }
  std::string session() { return session_id(number(1, sessions)); }
  std::string secret() { return "SECRET_" + std::to_string(number(0, 3)); }
  Timestamp moment() { return at(number(0, 20'000)); }

  template <class Write>
  static void add(Decision& decision, Write write) {
    decision.rows.emplace_back(fleet::Write(std::move(write)));
  }

  /// The next version, most of the time.
  template <class Row>
  Row changed(Row row) {
    row.version += chance(90) ? 1 : number(0, 2);
    return row;
  }

  void add_change(Decision& decision, const ContainerFacts& facts) {
    switch (number(0, 11)) {
      case 0:
      case 1:
      case 2:
        return add_operation(decision, facts);
      case 3:
      case 4:
        return add_end(decision, facts);
      case 5:
        return add_retry(decision, facts);
      case 6:
      case 7:
        return add_relay(decision, facts);
      case 8:
        return add_binding_change(decision, facts);
      case 9:
        return add_attempts(decision, facts);
      case 10:
        return add_orphan(decision, facts);
      default:
        return add_provisioning(decision, facts);
    }
  }

  void add_operation(Decision& decision, const ContainerFacts& facts) {
    if (!facts.container)
      return;
    Operation row = number(0, 2) == 0 ? fleet_.stop(session()) : chance(30) ? fleet_.resume(session()) : fleet_.fresh();
    row.container_name = facts.container->name;
    row.container_attempt_id = facts.container->attempt_id.value_or(fleet_.runner.id);
    row.account_id = facts.container->account_id;
    row.dispatched_at = moment();
    if (row.fresh_session_id)
      row.fresh_session_id = session_id(chance(50) ? number(1, sessions) : number(1, 100'000));
    if (row.handle_digest)
      row.handle_digest = digest(number(1, handles));
    if (chance(3))
      row.actor_id = world_.ids.next();
    if (chance(3))
      row.resume_session_id = "no id";
    if (chance(3))
      row.finished_at = moment();
    operations_.push_back(row.id);
    add(decision, fleet::InsertOperation{row});
  }

  Operation ended(const Operation& row) {
    Operation over = chance(50)
                       ? moved(row, OperationState::promoted, moment())
                       : with_failure(row, chance(50) ? FailureClass::retryable : FailureClass::terminal, moment());
    if (over.state == OperationState::failed && chance(30)) {
      over.cleanup = static_cast<Cleanup>(number(0, 3));
      if (chance(90))
        over.cleanup_deadline = moment();
    }
    if (chance(5))
      over.session_id = session();
    if (chance(5))
      over.handle_digest = digest(number(1, handles));
    over.version += chance(90) ? 0 : 1;
    return over;
  }

  void add_end(Decision& decision, const ContainerFacts& facts) {
    if (facts.open.empty())
      return;
    const Operation row = pick(facts.open);
    const Operation over = ended(row);
    if (over.state == OperationState::promoted && row.kind != OperationKind::stop && chance(90)) {
      if (facts.binding && facts.binding->session_id == row.subject()) {
        auto again = moved(*facts.binding, BindingState::live);
        again.operation_id = row.id;
        again.container_attempt_id = row.container_attempt_id;
        add(decision, fleet::UpdateBinding{again});
      } else {
        add(decision, fleet::InsertBinding{fleet_.binding_of(row)});
      }
    }
    add(decision, fleet::UpdateOperation{over});
  }

  void add_retry(Decision& decision, const ContainerFacts& facts) {
    if (!facts.operation)
      return;
    Operation row = moved(*facts.operation, chance(50) ? OperationState::reserved : OperationState::dispatched);
    row.dispatch += 1;
    row.dispatched_at = moment();
    row.reconciling = chance(50);
    if (chance(10))
      row.container_attempt_id = world_.ids.next();
    add(decision, fleet::UpdateOperation{row});
  }

  void add_relay(Decision& decision, const ContainerFacts& facts) {
    if (!facts.live)
      return;
    Binding row = changed(*facts.live);
    const auto lines = lines_of(row.session_id, row.transcript_through - (chance(5) ? 1 : 0), {"one", "two"},
                                chance(30) ? Direction::in : Direction::out);
    row.transcript_through += 2;
    row.relayed_through += number(-1, 2);
    row.input_through = number(0, 3);
    add(decision, fleet::UpdateBinding{row});
    if (lines.front().seq > 0 || chance(10))
      add(decision, fleet::AppendTranscript{lines});
  }

  void add_binding_change(Decision& decision, const ContainerFacts& facts) {
    if (!facts.binding)
      return;
    Binding row = moved(*facts.binding, static_cast<BindingState>(number(0, 2)));
    row.version += chance(90) ? 0 : 1;
    if (chance(5))
      row.actor_id = world_.alex.id;
    if (chance(5))
      row.released_at = moment();
    if (chance(5))
      row.runner_id = world_.ids.next();
    add(decision, fleet::UpdateBinding{row});
  }

  void add_attempts(Decision& decision, const ContainerFacts& facts) {
    if (!facts.container)
      return;
    const ContainerAttempt attempt{world_.ids.next(), facts.container->name, fleet_.runner.id, 1, true, moment()};
    if (chance(30))
      return add(decision, fleet::EndAttempts{facts.container->name});
    if (chance(60)) {
      auto opened = changed(*facts.container);
      opened.attempt_id = attempt.id;
      std::erase_if(decision.rows, [](const RowWrite& row) {
        return std::holds_alternative<fleet::UpdateContainer>(std::get<fleet::Write>(row));
      });
      add(decision, fleet::UpdateContainer{opened});
      return add(decision, fleet::InsertAttempt{attempt});
    }
    fleet::Enrol enrolment{changed(*facts.runner), {}};
    for (int i = 0; i < names; ++i)
      if (chance(90))
        enrolment.attempts.push_back(
          {world_.ids.next(), "box-" + std::to_string(i), enrolment.row.id, enrolment.row.version, true, moment()});
    add(decision, std::move(enrolment));
  }

  void add_orphan(Decision& decision, const ContainerFacts& facts) {
    if (!facts.orphans.empty() && chance(50)) {
      auto row = changed(pick(facts.orphans));
      row.resolved_at = moment();
      if (chance(50))
        row.resolved_by = chance(80) ? world_.alex.id : world_.ids.next();
      return add(decision, fleet::UpdateOrphan{row});
    }
    if (!facts.operation)
      return;
    auto row = fleet_.orphan_of(*facts.operation);
    orphans_.push_back(row.id);
    add(decision, fleet::InsertOrphan{row});
  }

  void add_provisioning(Decision& decision, const ContainerFacts& facts) {
    switch (number(0, 5)) {
      case 0:
        return add(decision, fleet::PutSecret{{chance(90) ? fleet_.account.id : world_.ids.next(), secret(),
                                               "sealed " + std::to_string(number(0, 99)), moment()}});
      case 1:
        return add(decision, fleet::DeleteSecret{fleet_.account.id, secret()});
      case 2:
        tokens_.push_back(world_.ids.next());
        return add(decision, fleet::InsertRunnerToken{{tokens_.back(),
                                                       chance(90) ? fleet_.runner.id : world_.ids.next(),
                                                       "Example",
                                                       digest(number(1, 30)),
                                                       moment(),
                                                       {},
                                                       {}}});
      case 3:
        return add(decision, fleet::RevokeRunnerToken{tokens_.empty() ? world_.ids.next() : pick(tokens_), moment()});
      case 4:
        return add_container_or_none(decision, facts);
      default:
        if (!facts.account)
          return;
        auto row = changed(*facts.account);
        row.actor_id = chance(80) ? world_.sam.id : world_.alex.id;
        accounts_version_ = row.version;
        return add(decision, fleet::UpdateAccount{row});
    }
  }

  void add_container_or_none(Decision& decision, const ContainerFacts& facts) {
    if (facts.container && chance(30))
      return add(decision, fleet::DeleteContainer{facts.container->name, facts.container->version});
    Container row = fleet_.containers[0];
    row.id = world_.ids.next();
    row.name = name();
    row.attempt_id.reset();
    add(decision, fleet::InsertContainer{row});
  }

  std::mt19937_64 random_;
  World& world_;
  Fleet& fleet_;
  std::int64_t accounts_version_ = 1;
  std::vector<Id> operations_;
  std::vector<Id> orphans_;
  std::vector<Id> tokens_;
};

class RandomFleetTest : public testing::Test {
protected:
  void SetUp() override {
    for (auto* client : {&memory_, &postgres_}) {
      ASSERT_EQ(client->commit(world_.provision()), CommitOutcome::committed);
      ASSERT_EQ(client->commit(fleet_.provision()), CommitOutcome::committed);
    }
  }

  void expect_same(const storage::FindTranscript& question) {
    const auto left = memory_.find(question);
    const auto right = postgres_.find(question);
    EXPECT_EQ(left.visible, right.visible);
    EXPECT_EQ(left.live, right.live);
    EXPECT_EQ(left.lifetime, right.lifetime);
    EXPECT_EQ(left.through, right.through);
    EXPECT_EQ(left.lines, right.lines);
  }

  void expect_same(const storage::FindFleetWork& question) {
    const auto left = memory_.find(question);
    const auto right = postgres_.find(question);
    EXPECT_EQ(left.containers, right.containers);
    EXPECT_EQ(left.in_flight, right.in_flight);
    EXPECT_EQ(left.open_orphans, right.open_orphans);
  }

  void expect_same_rows(const FleetCommands& commands) {
    std::vector<storage::LoadContainer> questions;
    for (int i = 0; i < FleetCommands::names; ++i)
      questions.emplace_back().name = "box-" + std::to_string(i);
    for (const Id& id : commands.operations())
      questions.emplace_back().operation_id = id;
    for (int i = 1; i <= FleetCommands::sessions; ++i)
      questions.emplace_back().session_id = session_id(i);
    EXPECT_EQ(memory_.load_at_once(questions), postgres_.load_at_once(questions));
    constexpr PageRange everything{100'000, std::nullopt};
    for (const PageQuery& query : std::vector<PageQuery>{
           AccountsPage{everything}, SecretsPage{fleet_.account.id, 100}, RunnersPage{everything},
           RunnerTokensPage{fleet_.runner.id, everything}, ContainersPage{std::nullopt, everything},
           ContainersPage{world_.sam.id, everything}, OrphansPage{std::nullopt, everything}})
      EXPECT_EQ(memory_.read(query).rows, postgres_.read(query).rows);
    const storage::LoadEnrolment enrolment{{}, fleet_.runner.id};
    EXPECT_EQ(memory_.load(enrolment), postgres_.load(enrolment));
    for (int i = 1; i <= FleetCommands::sessions; ++i) {
      storage::FindTranscript question;
      question.session_id = session_id(i);
      question.limit = 100'000;
      expect_same(question);
    }
    expect_same(storage::FindFleetWork{at(10'000'000), 10, 5'000, fleet_.node.id, 60, 100});
  }

  StorageConfig config_;
  caf::actor_system system_{config_};
  std::unique_ptr<Backend> memory_backend_ = open_backend(system_, BackendKind::memory);
  std::unique_ptr<Backend> postgres_backend_ = open_backend(system_, BackendKind::postgres);
  Client memory_{system_, memory_backend_->store()};
  Client postgres_{system_, postgres_backend_->store()};
  World world_;
  Fleet fleet_{world_, 3};
};

/// CLEAT_SEED replays a failure.
std::uint64_t seed_of_fleets() {
  const char* text = std::getenv("CLEAT_SEED");
  return text == nullptr ? 20'260'104 : std::strtoull(text, nullptr, 10);
}

} // namespace

TEST_F(RandomFleetTest, MemoryAndPostgresAgree) {
  constexpr int count = 5'000;
  FleetCommands commands(seed_of_fleets(), world_, fleet_);
  std::map<CommitOutcome, int> seen;
  for (int i = 0; i < count && !HasFailure(); ++i) {
    SCOPED_TRACE("CLEAT_SEED=" + std::to_string(seed_of_fleets()) + ", decision " + std::to_string(i));
    const auto decision = commands.next(memory_);
    const auto outcome = memory_.commit(decision);
    EXPECT_EQ(outcome, postgres_.commit(decision));
    ++seen[outcome];
    if (i % 4 == 0) {
      const auto question = commands.question();
      EXPECT_EQ(memory_.load(question), postgres_.load(question));
    }
    if (i % 9 == 0)
      expect_same(commands.transcript_question(memory_));
    if (i % 97 == 0) {
      const auto garbage = commands.garbage();
      memory_.collect(garbage);
      postgres_.collect(garbage);
    }
    if (i % 500 == 0)
      expect_same_rows(commands);
  }
  expect_same_rows(commands);
  // A comparison of refusals alone would say little, and so would one without any.
  for (const auto outcome :
       {CommitOutcome::committed, CommitOutcome::stale, CommitOutcome::lost_race, CommitOutcome::failed})
    EXPECT_GT(seen[outcome], count / 50) << storage::to_string(outcome);
}

} // namespace cleat::test
