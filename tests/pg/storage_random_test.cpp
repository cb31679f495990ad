/// A few thousand random commands give the same outcomes and the same rows in PostgreSQL and in the memory twin.
#include <algorithm>
#include <cstdlib>
#include <random>

#include <gtest/gtest.h>

#include "tests/pg/runs.hpp"
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
    switch (number(0, 15)) {
      case 10:
      case 11:
        return trigger_run(memory);
      case 12:
      case 13:
      case 14:
        return move_run(memory);
      case 15:
        return report(memory);
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
    question.with_runs = chance(50);
    for (int i = number(0, 2); i > 0 && !runs_.empty(); --i)
      question.run_ids.push_back(runs_[index(runs_.size())]);
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
    const int kind = number(0, 3);
    if (kind == 3)
      question.run_id = runs_.empty() || chance(10) ? world_.ids.next() : runs_[index(runs_.size())];
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

  /// A moment that is over or still to come by any clock that a server may have.
  Timestamp far_moment() { return SystemClock().now() + std::chrono::hours{chance(50) ? 1 : -1}; }

  std::optional<AgentSession> any_session(Client& memory, const Id& thread_id) {
    const auto rows = memory.sessions_of(thread_id);
    return rows.empty() ? std::nullopt : std::optional(rows[index(rows.size())]);
  }

  /// What a decision about runs has in common with others.
  void add_turn(Decision& decision, Client& memory, const ThreadFacts& facts, const RunFacts& runs) {
    decision.turn = RunTurn{facts.thread.id, version(runs.turn)};
    if (chance(50)) {
      const bool right = chance(85) && facts.current;
      decision.current_guards = {{facts.thread.id, right ? std::optional(facts.current->id) : std::nullopt,
                                  facts.current ? version(facts.current->version) : 0}};
    }
    if (chance(20))
      decision.denials = {{denial(), 300}};
    decision.events.push_back(world_.event("run.changed", facts.thread.id));
    for (int i = number(0, 2); i > 0; --i)
      decision.agent_events.push_back(told(principal(), "{\"n\":" + std::to_string(number(0, 999)) + "}"));
    add_guards(decision, memory);
  }

  Decision trigger_run(Client& memory) {
    const auto facts = memory.facts_of(thread().id).value();
    const auto runs = memory.run_facts_of(facts.thread.id);
    const auto message = message_in(world_, facts.thread, "Text " + std::to_string(number(0, 99)));
    auto run = run_in(world_, message, runs.active && chance(90) ? RunState::held : RunState::queued);
    run.triggered_by = principal().id;
    run.agent_id = chance(80) ? world_.lotse.id : world_.builder.id;
    Decision decision;
    if (run.queued_at)
      run.queued_at = far_moment();
    if (facts.current && chance(70))
      run.agent_session_id = facts.current->id;
    if (runs.import_row && chance(80)) { // as an import that is bound for its first run
      decision.sessions = {world_.session(facts.thread, runs.import_row->external_session_ref, moment())};
      run.agent_session_id = decision.sessions[0].id;
    }
    if (chance(5))
      run.agent_session_id = world_.ids.next();
    if (chance(5))
      run.finished_at = moment();
    runs_.push_back(run.id);
    decision.messages = {message};
    decision.runs = {run};
    add_turn(decision, memory, facts, runs);
    return decision;
  }

  /// The run in any other state, with a lease that is over or not.
  UpdateRun any_move(const cleat::Run& run, RunState state) {
    auto update = update_of(run, moved(run, state, moment()));
    if (update.row.lease_expires_at)
      update.row.lease_expires_at = far_moment();
    update.row.version = version(update.row.version);
    if (chance(10))
      update.from = static_cast<RunState>(number(0, 6));
    if (chance(30))
      update.expiry = static_cast<RunExpiry>(number(0, 2));
    update.queued_timeout_s = 60;
    return update;
  }

  Decision move_run(Client& memory) {
    const auto facts = memory.facts_of(thread().id).value();
    const auto runs = memory.run_facts_of(facts.thread.id);
    Decision decision;
    if (runs.active) {
      // Mostly forward, so that threads do not stay where they are.
      const auto state = chance(60) ? RunState::running : static_cast<RunState>(number(1, 6));
      decision.run_updates.push_back(any_move(*runs.active, state));
      if (const auto session = any_session(memory, facts.thread.id); session && chance(30))
        decision.run_updates[0].row.agent_session_id = session->id;
    }
    if (!runs.held.empty() && chance(70)) {
      const auto& held = runs.held[index(runs.held.size())].run;
      decision.run_updates.push_back(any_move(held, chance(80) ? RunState::queued : RunState::cancelled));
      if (decision.run_updates.back().row.queued_at)
        decision.run_updates.back().row.queued_at = far_moment();
    }
    if (chance(50))
      std::ranges::reverse(decision.run_updates);
    if (chance(20) && runs.active) {
      auto line = message_in(world_, facts.thread, "");
      line.kind = MessageKind::system;
      line.origin = MessageOrigin::system;
      line.system_code = chance(90) ? std::optional(SystemCode::resume_failed) : std::nullopt;
      line.run_id = runs.active->id;
      decision.messages = {line};
    }
    add_turn(decision, memory, facts, runs);
    return decision;
  }

  Decision report(Client& memory) {
    const auto facts = memory.facts_of(thread().id).value();
    const auto session = chance(70) ? facts.current : any_session(memory, facts.thread.id);
    Decision decision;
    if (session) {
      UpdateSession update{*session};
      update.row.external_session_ref = reference();
      update.row.started = chance(50);
      update.row.model =
        chance(50) ? std::optional<std::string>("model-" + std::to_string(number(0, 9))) : std::nullopt;
      update.row.version = version(session->version + 1);
      decision.session_updates = {update};
      decision.events.push_back(world_.event("agent_session.changed", facts.thread.id));
    }
    add_guards(decision, memory);
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
  std::vector<Id> runs_;
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
    EXPECT_EQ(left.runs, right.runs);
    EXPECT_EQ(without_clock(left.run_facts), without_clock(right.run_facts));
  }

  static std::optional<RunFacts> without_clock(std::optional<RunFacts> facts) {
    if (facts)
      facts->now = {};
    return facts;
  }

  /// A log as a reader sees it who goes on until there is no more. `seq` is left out: it may have gaps where a batch
  /// was rolled back.
  template <class Question>
  static auto whole_log(Client& client, Question question) {
    std::vector<std::decay_t<decltype(client.find(question).events.front().event)>> events;
    for (;;) {
      const auto found = client.find(question);
      for (const auto& logged : found.events)
        events.push_back(logged.event);
      if (found.next_after == question.after)
        return events;
      question.after = found.next_after;
    }
  }

  template <class Question>
  void expect_same_log(const Question& question) {
    const auto left = whole_log(memory_, question);
    const auto right = whole_log(postgres_, question);
    ASSERT_EQ(left.size(), right.size());
    for (std::size_t i = 0; i < left.size(); ++i)
      ASSERT_EQ(left[i], right[i]) << "event " << i;
  }

  void expect_same_runs(const std::vector<Thread>& threads) {
    for (const auto& thread : threads) {
      EXPECT_EQ(memory_.runs_of(thread.id), postgres_.runs_of(thread.id));
      EXPECT_EQ(memory_.messages_of(thread.id), postgres_.messages_of(thread.id));
    }
    for (const std::int64_t timeout_s : {60, 7200})
      EXPECT_EQ(memory_.find(storage::FindOverdueRuns{timeout_s, 100}).runs,
                postgres_.find(storage::FindOverdueRuns{timeout_s, 100}).runs);
    constexpr std::int64_t part = 5'000;
    for (const auto* principal : {&world_.alex, &world_.sam, &world_.lotse, &world_.builder}) {
      expect_same_log(storage::FindAgentEvents{principal->id, 0, part});
      expect_same_log(storage::FindEvents{principal->id, {}, 0, part});
    }
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
    expect_same_runs(threads);
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
  constexpr int count = 6'000;
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
    if (i % 750 == 0)
      expect_same_tables(commands.threads());
  }
  expect_same_tables(commands.threads());
  // A comparison of refusals alone would say little, and so would one without any.
  for (const auto outcome :
       {CommitOutcome::committed, CommitOutcome::stale, CommitOutcome::lost_race, CommitOutcome::key_used})
    EXPECT_GT(seen[outcome], count / 50) << storage::to_string(outcome);
}

} // namespace cleat::test
