#include <algorithm>
#include <string>
#include <vector>

#include <caf/typed_event_based_actor.hpp>

#include "actors/registry.hpp"
#include "tests/actor/fixture.hpp"

namespace cleat::test {
namespace {

using storage::CommitOutcome;

class ThreadOwner : public ActorTest {
public:
  const Thread& thread() const { return world.threads[0]; }

  /// Binds as the space's owner and gives the new row.
  AgentSession bound(const std::string& reference) {
    const auto before = current(thread());
    EXPECT_EQ(status_of(ask(bind(world.alex, thread(), reference, before ? std::optional(before->id) : std::nullopt))),
              201);
    return *current(thread());
  }

  /// Changes the database behind the owner's back, as a second server would.
  void elsewhere(const Decision& decision) { ASSERT_EQ(tables->commit(decision), CommitOutcome::committed); }

  std::vector<AuditEntry> denials() const {
    auto entries = tables->audit();
    std::erase_if(entries, [](const AuditEntry& entry) { return entry.allowed; });
    return entries;
  }
};

TEST_F(ThreadOwner, AnswersABindWithTheCommittedRow) {
  const Answer answer = ask(bind(world.alex, thread(), "ref-1"));
  ASSERT_EQ(status_of(answer), 201);
  const auto row = current(thread());
  ASSERT_TRUE(row.has_value());
  EXPECT_NE(answer.result->body.find(row->id.str()), std::string::npos);
  EXPECT_EQ(answer.result->etag, 1);
}

TEST_F(ThreadOwner, LetsExactlyOneOfManyEqualExpectationsWin) {
  std::vector<std::shared_ptr<std::optional<Answer>>> answers;
  for (int i = 0; i < 64; ++i)
    answers.push_back(send(bind(world.alex, thread(), "ref-" + std::to_string(i))));
  run();
  const auto won =
    std::count_if(answers.begin(), answers.end(), [](const auto& a) { return (*a)->result.has_value(); });
  EXPECT_EQ(won, 1);
  for (const auto& answer : answers) {
    if (!(*answer)->result) {
      EXPECT_EQ((*answer)->result.error(), (Refusal{Code::conflict, Reason::session_changed}));
    }
  }
  EXPECT_EQ(tables->commits(), 2) << "provisioning and one bind; losers cost no commit";
  EXPECT_EQ(tables->sessions_of(thread().id).size(), 1U);
}

TEST_F(ThreadOwner, WorksThroughWhatWaitsBehindACommitInOrder) {
  const auto first = send(bind(world.alex, thread(), "ref-1"));
  const auto second = send(reset(world.alex, thread()));
  const auto third = send(bind(world.alex, thread(), "ref-2"));
  run();
  EXPECT_EQ(status_of(**first), 201);
  EXPECT_EQ(status_of(**second), 201);
  EXPECT_EQ(status_of(**third), 201);
  EXPECT_EQ(current(thread())->external_session_ref, "ref-2");
}

TEST_F(ThreadOwner, DecidesAgainWhenAGuardWasStale) {
  for (const CommitOutcome outcome : {CommitOutcome::stale, CommitOutcome::lost_race}) {
    const auto before = current(thread());
    tables->script({{outcome}, {outcome}});
    const auto expected = before ? std::optional(before->id) : std::nullopt;
    EXPECT_EQ(status_of(ask(bind(world.alex, thread(), "ref", expected))), 201);
  }
  EXPECT_EQ(tables->sessions_of(thread().id).size(), 2U);
}

TEST_F(ThreadOwner, GivesUpAfterTxRetryMaxAndSaysSo) {
  std::vector<storage::ScriptedOutcome> outcomes(static_cast<std::size_t>(limits::tx_retry_max) + 1,
                                                 {CommitOutcome::stale});
  tables->script(std::move(outcomes));
  EXPECT_EQ(refusal_of(ask(bind(world.alex, thread(), "ref"))).code, Code::overloaded);
  EXPECT_EQ(status_of(ask(bind(world.alex, thread(), "ref"))), 201) << "and is well again";
}

TEST_F(ThreadOwner, KeepsTheOutcomesApart) {
  const std::vector<std::pair<CommitOutcome, Code>> table{{CommitOutcome::unavailable, Code::unavailable},
                                                          {CommitOutcome::unknown, Code::outcome_unknown},
                                                          {CommitOutcome::failed, Code::internal}};
  for (const auto& [outcome, code] : table) {
    tables->script({{outcome}});
    EXPECT_EQ(refusal_of(ask(bind(world.alex, thread(), "ref"))).code, code);
    EXPECT_FALSE(current(thread()).has_value());
  }
  EXPECT_EQ(status_of(ask(bind(world.alex, thread(), "ref"))), 201);
}

TEST_F(ThreadOwner, LooksAgainAfterAnUnknownOutcomeThatWasCommitted) {
  tables->script({{CommitOutcome::unknown, true}});
  EXPECT_EQ(refusal_of(ask(bind(world.alex, thread(), "ref-1"))).code, Code::outcome_unknown);
  const auto row = current(thread());
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(refusal_of(ask(bind(world.alex, thread(), "ref-2"))).reason, Reason::session_changed);
  EXPECT_EQ(status_of(ask(bind(world.alex, thread(), "ref-2", row->id))), 201);
}

TEST_F(ThreadOwner, RefusesOnlyFromAStateThatWasTrueAfterTheRequest) {
  const AgentSession first = bound("ref-1");
  const AgentSession other = world.session(thread(), "ref-2", at(2'000'000));
  elsewhere(world.bind(other, {first}));
  // Memory says "ref-1 is current", so this expectation looks wrong; the database says it is right.
  EXPECT_EQ(status_of(ask(bind(world.alex, thread(), "ref-3", other.id))), 201);
}

TEST_F(ThreadOwner, LetsTheGuardDecideWhatMemoryGrants) {
  const AgentSession first = bound("ref-1");
  const AgentSession other = world.session(thread(), "ref-2", at(2'000'000));
  elsewhere(world.bind(other, {first}));
  // Memory says yes; the committed row says no, and the answer is the true refusal.
  EXPECT_EQ(refusal_of(ask(bind(world.alex, thread(), "ref-3", first.id))),
            (Refusal{Code::conflict, Reason::session_changed}));
  EXPECT_EQ(current(thread())->id, other.id);
}

TEST_F(ThreadOwner, ANewRowSortsBehindWhatHasBegunAndEndedElsewhere) {
  bound("ref-1");
  EXPECT_EQ(status_of(ask(reset(world.alex, thread()))), 201);
  // The other server's clock is ahead, and memory here knows of no session.
  const AgentSession other = world.session(thread(), "ref-2", clock->now() + std::chrono::minutes(5));
  elsewhere(world.bind(other));
  elsewhere(world.reset(other));
  const AgentSession row = bound("ref-3");
  EXPECT_GT(row.created_at, other.created_at);
  EXPECT_EQ(tables->sessions_of(thread().id).front(), row) << "the current session is the newest";
}

TEST_F(ThreadOwner, SeesARightThatWasTakenAwayElsewhere) {
  Decision granted =
    World::only(SetGrant{grant_on(ScopeKind::thread, thread().id, world.space, world.sam, Level::trigger)});
  granted.rows.emplace_back(RaiseSpaceFacts{world.space.id});
  elsewhere(granted);
  EXPECT_EQ(status_of(ask(bind(world.sam, thread(), "ref-1"))), 201);
  Decision taken = World::only(SetGrant{grant_on(ScopeKind::thread, thread().id, world.space, world.sam, Level::read)});
  taken.rows.emplace_back(RaiseSpaceFacts{world.space.id});
  elsewhere(taken);
  EXPECT_EQ(refusal_of(ask(reset(world.sam, thread()))), (Refusal{Code::forbidden, Reason::level_insufficient}));
  ASSERT_EQ(denials().size(), 1U);
  EXPECT_EQ(denials()[0].action, "agent_session.reset");
  EXPECT_EQ(denials()[0].reason, "level_insufficient");
  EXPECT_EQ(denials()[0].resource_id, thread().id);
}

TEST_F(ThreadOwner, AuditsADenialBeforeItAnswersAndNothingForWhatDoesNotExist) {
  EXPECT_EQ(refusal_of(ask(reset(world.sam, thread()))).code, Code::not_found);
  ASSERT_EQ(denials().size(), 1U);
  EXPECT_EQ(denials()[0].reason, "not_found");
  Thread unknown = thread();
  unknown.id = world.ids.next();
  EXPECT_EQ(refusal_of(ask(reset(world.sam, unknown))).code, Code::not_found);
  EXPECT_EQ(denials().size(), 1U);
  tables->set_unavailable(true);
  EXPECT_EQ(refusal_of(ask(reset(world.sam, thread()))).code, Code::unavailable);
}

TEST_F(ThreadOwner, ReplaysASuccessUnderItsKey) {
  const Answer first = ask(bind(world.alex, thread(), "ref-1", std::nullopt, "key"));
  ASSERT_EQ(status_of(first), 201);
  const Answer again = ask(bind(world.alex, thread(), "ref-1", std::nullopt, "key"));
  ASSERT_EQ(status_of(again), 201);
  EXPECT_EQ(again.result->body, first.result->body);
  EXPECT_EQ(again.result->etag, first.result->etag);
  EXPECT_TRUE(again.result->replay);
  EXPECT_FALSE(first.result->replay);
  EXPECT_EQ(tables->sessions_of(thread().id).size(), 1U);
}

TEST_F(ThreadOwner, ReplaysWhereARepetitionWouldSucceedToo) {
  ASSERT_EQ(status_of(ask(bind(world.alex, thread(), "ref-1", std::nullopt, "key"))), 201);
  ASSERT_EQ(status_of(ask(reset(world.alex, thread()))), 201);
  // Nothing is current, so the bind would be granted again: the key keeps it from being done twice.
  const Answer again = ask(bind(world.alex, thread(), "ref-1", std::nullopt, "key"));
  EXPECT_TRUE(again.result->replay);
  EXPECT_FALSE(current(thread()).has_value());
}

TEST_F(ThreadOwner, RefusesAKeyThatWasUsedForSomethingElse) {
  ASSERT_EQ(status_of(ask(bind(world.alex, thread(), "ref-1", std::nullopt, "key"))), 201);
  BindSession other = bind(world.alex, thread(), "ref-2", current(thread())->id, "key");
  other.context = by(world.alex, "key", 2);
  EXPECT_EQ(refusal_of(ask(other)).code, Code::idempotency_key_reuse);
  EXPECT_EQ(current(thread())->external_session_ref, "ref-1");
}

TEST_F(ThreadOwner, ChecksVisibilityBeforeAReplay) {
  const auto set_level = [&](Level level) {
    Decision decision =
      World::only(SetGrant{grant_on(ScopeKind::space, world.space.id, world.space, world.sam, level)});
    decision.rows.emplace_back(RaiseSpaceFacts{world.space.id});
    elsewhere(decision);
  };
  set_level(Level::trigger);
  ASSERT_EQ(status_of(ask(bind(world.sam, thread(), "ref-1", std::nullopt, "key"))), 201);
  set_level(Level::none);
  EXPECT_EQ(refusal_of(ask(bind(world.sam, thread(), "ref-1", std::nullopt, "key"))).code, Code::not_found);
}

TEST_F(ThreadOwner, ARefusalStoresNothingUnderItsKey) {
  EXPECT_EQ(refusal_of(ask(reset(world.alex, thread(), "key"))).reason, Reason::no_current_session);
  bound("ref-1");
  EXPECT_EQ(status_of(ask(reset(world.alex, thread(), "key"))), 201);
}

TEST_F(ThreadOwner, IsSpawnedAnewAfterItDied) {
  bound("ref-1");
  ids->fail_next();
  EXPECT_EQ(refusal_of(ask(reset(world.alex, thread()))).code, Code::outcome_unknown);
  EXPECT_EQ(metrics->owner_crashes.Value(), 1);
  EXPECT_EQ(status_of(ask(reset(world.alex, thread()))), 201);
}

TEST_F(ThreadOwner, IsPassivatedWhenNobodyAsksAndComesBack) {
  bound("ref-1");
  EXPECT_EQ(metrics->threads_active.Value(), 1);
  scheduler().advance_time(std::chrono::seconds(2 * limits::actor_idle_s));
  run();
  EXPECT_EQ(metrics->threads_active.Value(), 0);
  EXPECT_EQ(metrics->owner_crashes.Value(), 0);
  EXPECT_EQ(status_of(ask(reset(world.alex, thread()))), 201);
  EXPECT_EQ(metrics->threads_active.Value(), 1);
}

TEST_F(ThreadOwner, EndsWithItsRegistry) {
  const auto without_owner = system.registry().running();
  bound("ref-1");
  EXPECT_EQ(system.registry().running(), without_owner + 1);
  // The timer of a denial's record still runs; it must not keep the owner, and so the process, alive.
  EXPECT_EQ(refusal_of(ask(reset(world.sam, thread()))).code, Code::not_found);
  caf::anon_send_exit(registry, caf::exit_reason::user_shutdown);
  run();
  EXPECT_EQ(system.registry().running(), without_owner - 1);
}

TEST_F(ThreadOwner, KeepsRowsInOrderWhenTheClockGoesBack) {
  const AgentSession first = bound("ref-1");
  clock->advance(std::chrono::microseconds(-500'000));
  const AgentSession second = bound("ref-2");
  EXPECT_GT(second.created_at, first.created_at);
  EXPECT_EQ(tables->sessions_of(thread().id).front().id, second.id);
}

/// A writer that takes decisions and never answers: the defect that deadlines are for.
class StuckWriter : public ActorTest {
public:
  StuckWriter() {
    auto stuck = system.spawn([](storage::writer_actor::pointer self) -> storage::writer_actor::behavior_type {
      return {[self](const storage::Commit&) { return self->make_response_promise<storage::CommitResult>(); },
              [self](const storage::RecordDenial&) { return self->make_response_promise<storage::CommitResult>(); }};
    });
    auto broken = *deps;
    broken.store.writer = stuck;
    caf::anon_send_exit(registry, caf::exit_reason::kill);
    registry = actors::spawn_registry(system, std::make_shared<const actors::Dependencies>(broken));
    writer = caf::actor_cast<caf::actor>(stuck);
  }
  ~StuckWriter() override { caf::anon_send_exit(writer, caf::exit_reason::kill); }

  caf::actor writer;
};

TEST_F(StuckWriter, BlocksItsThreadNoLongerThanTheRequestTimeout) {
  const auto first = send(bind(world.alex, world.threads[0], "ref-1"));
  run();
  EXPECT_FALSE(first->has_value());
  scheduler().advance_time(std::chrono::seconds(limits::request_timeout_s));
  run();
  const auto second = send(bind(world.alex, world.threads[0], "ref-2"));
  run();
  ASSERT_TRUE(first->has_value()) << "given up when the next command came";
  EXPECT_EQ(refusal_of(**first).code, Code::outcome_unknown);
  EXPECT_FALSE(second->has_value()) << "which is now being worked on";
}

class NarrowThreadOwner : public ActorTest {
public:
  NarrowThreadOwner()
    : ActorTest([] {
        actors::ActorOptions options;
        options.thread_queue_max = 4;
        return options;
      }()) {}
};

TEST_F(NarrowThreadOwner, TurnsAwayWhatItCannotQueue) {
  std::vector<std::shared_ptr<std::optional<Answer>>> answers;
  for (int i = 0; i < 10; ++i)
    answers.push_back(send(bind(world.alex, world.threads[0], "ref-" + std::to_string(i))));
  run();
  const auto overloaded = std::count_if(answers.begin(), answers.end(), [](const auto& answer) {
    return !(*answer)->result && (*answer)->result.error().code == Code::overloaded;
  });
  EXPECT_EQ(overloaded, 5) << "one is being worked on, four wait";
}

} // namespace
} // namespace cleat::test
