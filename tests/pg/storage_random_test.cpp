/// A few thousand random commands give the same outcomes and the same rows in PostgreSQL and in the memory twin.
#include <algorithm>
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "tests/pg/storage_fixture.hpp"

namespace cleat::test {

namespace {

using storage::CommitOutcome;

/// Draws commands over few threads, references and keys, so that they meet: about half of them are refused.
class Commands {
public:
  explicit Commands(std::uint64_t seed, World& world) : random_(seed), world_(world) {
    spaces_ = {world.space};
    threads_ = world.threads;
    threads_.push_back(world.main);
    principals_ = {world.alex, world.sam, world.lotse, world.builder};
  }

  Decision next(Client& memory) {
    switch (number(0, 9)) {
      case 0:
        return reset(memory);
      case 1:
        return import();
      case 2:
        return World::only(provisioning(memory));
      case 3:
        return several_rows(memory);
      default:
        return bind(memory);
    }
  }

  storage::LoadThread question() {
    storage::LoadThread question;
    question.thread_id = chance(95) ? thread().id : world_.ids.next();
    question.with_sessions = chance(50);
    for (int i = number(0, 3); i > 0; --i)
      question.principals.push_back(principal().id);
    for (int i = number(0, 3); i > 0; --i)
      question.references.push_back({principal().id, reference()});
    return question;
  }

  storage::LoadDirectory directory_question() {
    storage::LoadDirectory question;
    question.actor_id = principal().id;
    question.subject_id = principal().id;
    question.referred_id = principal().id;
    const int kind = number(0, 2);
    if (kind == 0)
      question.space_id = world_.space.id;
    if (kind == 1)
      question.channel_id = world_.channel.id;
    if (kind == 2)
      question.thread_id = thread().id;
    if (!tokens_.empty())
      question.token_id = tokens_[index(tokens_.size())];
    return question;
  }

  AuditEntry denial() {
    return world_.denial(principal(), chance(50) ? "agent_session.bind" : "agent_session.reset", "level_insufficient",
                         at(number(0, 1'000) * std::int64_t{1'000'000}));
  }

  [[nodiscard]] const std::vector<Thread>& threads() const { return threads_; }

private:
  int number(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  std::size_t index(std::size_t size) { return static_cast<std::size_t>(number(0, static_cast<int>(size) - 1)); }
  bool chance(int percent) { return number(1, 100) <= percent; }
  const Thread& thread() { return threads_[index(threads_.size())]; }
  const Principal& principal() { return principals_[index(principals_.size())]; }
  std::string reference() { return "ref-" + std::to_string(number(0, 5)); }
  /// Moments far enough apart from each other to order rows, and close enough to collide.
  Timestamp moment() { return at(number(0, 50)); }

  /// Any version is right most of the time and wrong sometimes.
  std::int64_t version(std::int64_t right) { return chance(85) ? right : right + number(-1, 1); }

  void add_guards(Decision& decision, Client& memory) {
    const auto facts = memory.facts_of(thread().id).value();
    if (chance(40))
      decision.guards.push_back({GuardedRow::space_facts, facts.space.id, version(facts.space.facts_version)});
    if (chance(20))
      decision.guards.push_back({GuardedRow::thread, facts.thread.id, version(facts.thread.version)});
    if (chance(20))
      decision.guards.push_back({GuardedRow::channel, facts.channel.id, version(facts.channel.version)});
    if (chance(10))
      decision.guards.push_back({GuardedRow::space, facts.space.id, version(facts.space.version)});
    if (facts.operator_agent && chance(20))
      decision.guards.push_back(
        {GuardedRow::principal, facts.operator_agent->id, version(facts.operator_agent->version)});
    if (chance(30))
      decision.idempotency = World::record(principal(), "key-" + std::to_string(number(0, 400)));
  }

  Decision bind(Client& memory) {
    storage::LoadThread question;
    question.thread_id = thread().id;
    question.references = {{world_.alex.id, reference()}};
    question.known_operator = world_.lotse.id;
    const auto reference_facts = memory.load(question).references.at(0);
    const auto facts = memory.facts_of(question.thread_id).value();
    std::vector<AgentSession> ends;
    if (facts.current && chance(85))
      ends.push_back(*facts.current);
    if (reference_facts.current_thread && chance(70))
      ends.push_back(*reference_facts.current);
    auto decision = world_.bind(world_.session(facts.thread, reference_facts.external_session_ref, moment()), ends);
    for (auto& end : decision.ends)
      end.expected_version = version(end.expected_version);
    if (chance(60)) {
      const bool right = chance(85);
      const auto newest = reference_facts.newest ? std::optional(reference_facts.newest->id) : std::nullopt;
      decision.reference_guards = {
        {world_.lotse.id, reference_facts.external_session_ref, right ? newest : std::optional(world_.ids.next())}};
    }
    add_guards(decision, memory);
    return decision;
  }

  Decision reset(Client& memory) {
    const auto facts = memory.facts_of(thread().id).value();
    Decision decision;
    if (facts.current)
      decision = world_.reset(*facts.current);
    add_guards(decision, memory);
    return decision;
  }

  Decision import() {
    Decision decision = world_.bind(world_.imported(thread(), reference(), moment()));
    for (int i = number(0, 3); i > 0; --i)
      decision.sessions.push_back(world_.imported(thread(), reference(), moment()));
    return decision;
  }

  RowWrite provisioning(Client& memory) {
    const auto facts = memory.facts_of(thread().id).value();
    switch (number(0, 6)) {
      case 0: {
        auto row = facts.thread;
        row.title = "Title " + std::to_string(number(0, 99));
        row.state = chance(50) ? ThreadState::open : ThreadState::closed;
        row.version = version(row.version + 1);
        return UpdateThread{row};
      }
      case 1: {
        auto row = facts.channel;
        row.mode = chance(50) ? ChannelMode::open : ChannelMode::archived;
        row.operator_agent_id = chance(50) ? world_.lotse.id : world_.builder.id;
        row.version = version(row.version + 1);
        return UpdateChannel{row};
      }
      case 2: {
        auto row = facts.space;
        row.name = "Space " + std::to_string(number(0, 99));
        row.version = version(row.version + 1);
        return UpdateSpace{row};
      }
      case 3:
        return RaiseSpaceFacts{chance(90) ? facts.space.id : world_.ids.next()};
      case 4:
        tokens_.push_back(world_.ids.next());
        return InsertToken{token_of(tokens_.back(), principal(), std::to_string(number(0, 300)))};
      case 5:
        return storage_revoke();
      default:
        return SetGrant{grant()};
    }
  }

  RowWrite storage_revoke() {
    const Id id = tokens_.empty() || chance(10) ? world_.ids.next() : tokens_[index(tokens_.size())];
    return RevokeToken{id, moment()};
  }

  Grant grant() {
    const auto level = static_cast<Level>(number(0, 4));
    switch (number(0, 2)) {
      case 0:
        return grant_on(ScopeKind::space, world_.space.id, world_.space, principal(), level);
      case 1:
        return grant_on(ScopeKind::channel, world_.channel.id, world_.space, principal(), level);
      default:
        return grant_on(ScopeKind::thread, thread().id, world_.space, principal(), level);
    }
  }

  Decision several_rows(Client& memory) {
    Decision decision = World::only(SetGrant{grant()});
    decision.rows.emplace_back(RaiseSpaceFacts{world_.space.id});
    decision.audit.push_back(world_.audit("grant.set", world_.space.id));
    add_guards(decision, memory);
    return decision;
  }

  std::mt19937_64 random_;
  World& world_;
  std::vector<Space> spaces_;
  std::vector<Thread> threads_;
  std::vector<Principal> principals_;
  std::vector<Id> tokens_;
};

class RandomTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(memory_.commit(world_.provision()), CommitOutcome::committed);
    ASSERT_EQ(postgres_.commit(world_.provision()), CommitOutcome::committed);
  }

  void expect_same_answer(const storage::LoadThread& question) {
    const auto left = memory_.load(question);
    const auto right = postgres_.load(question);
    EXPECT_EQ(left.facts, right.facts);
    EXPECT_EQ(left.levels, right.levels);
    EXPECT_EQ(left.references, right.references);
    EXPECT_EQ(left.sessions, right.sessions);
  }

  void expect_same_page(const PageQuery& query) { EXPECT_EQ(memory_.read(query).rows, postgres_.read(query).rows); }

  void expect_same_tables(const std::vector<Thread>& threads) {
    constexpr PageRange everything{1'000'000, std::nullopt};
    for (const auto& thread : threads)
      EXPECT_EQ(memory_.sessions_of(thread.id), postgres_.sessions_of(thread.id));
    EXPECT_EQ(memory_.audit(), postgres_.audit());
    expect_same_page(PrincipalsPage{everything});
    expect_same_page(SpacesPage{world_.alex.id, everything});
    expect_same_page(SpacesPage{world_.sam.id, everything});
    expect_same_page(ChannelsPage{world_.space.id, everything});
    expect_same_page(ThreadsPage{world_.channel.id, everything});
    for (const auto* principal : {&world_.alex, &world_.sam, &world_.lotse, &world_.builder}) {
      expect_same_page(TokensPage{principal->id, everything});
      expect_same_page(GrantsPage{principal->id, everything});
    }
    const auto left = memory_backend_->events();
    const auto right = postgres_backend_->events();
    ASSERT_EQ(left.size(), right.size());
    for (std::size_t i = 0; i < left.size(); ++i)
      ASSERT_EQ(left[i].text, right[i].text) << "event " << i; // seq may have gaps where a batch was rolled back
  }

  StorageConfig config_;
  caf::actor_system system_{config_};
  std::unique_ptr<Backend> memory_backend_ = open_backend(system_, BackendKind::memory);
  std::unique_ptr<Backend> postgres_backend_ = open_backend(system_, BackendKind::postgres);
  Client memory_{system_, memory_backend_->store()};
  Client postgres_{system_, postgres_backend_->store()};
  World world_;
};

/// CLEAT_SEED replays a failure.
std::uint64_t seed() {
  const char* text = std::getenv("CLEAT_SEED");
  return text == nullptr ? 20'260'102 : std::strtoull(text, nullptr, 10);
}

} // namespace

TEST_F(RandomTest, MemoryAndPostgresAgree) {
  constexpr int count = 4'000;
  Commands commands(seed(), world_);
  std::map<CommitOutcome, int> seen;
  for (int i = 0; i < count && !HasFailure(); ++i) {
    SCOPED_TRACE("CLEAT_SEED=" + std::to_string(seed()) + ", command " + std::to_string(i));
    const auto decision = commands.next(memory_);
    const auto outcome = memory_.commit(decision);
    EXPECT_EQ(outcome, postgres_.commit(decision));
    ++seen[outcome];
    if (i % 5 == 0)
      expect_same_answer(commands.question());
    if (i % 7 == 0) {
      const auto question = commands.directory_question();
      EXPECT_EQ(memory_.load(question).facts, postgres_.load(question).facts);
    }
    if (i % 11 == 0) {
      const auto denial = commands.denial();
      EXPECT_EQ(memory_.deny(denial, 300), postgres_.deny(denial, 300));
    }
    if (i % 500 == 0)
      expect_same_tables(commands.threads());
  }
  expect_same_tables(commands.threads());
  // A comparison of refusals alone would say little, and so would one without any.
  for (const auto outcome :
       {CommitOutcome::committed, CommitOutcome::stale, CommitOutcome::lost_race, CommitOutcome::key_used})
    EXPECT_GT(seen[outcome], count / 50) << storage::to_string(outcome);
}

} // namespace cleat::test
