#include "actors/rules/session.hpp"

#include <gtest/gtest.h>

#include "protocol/render.hpp"
#include "tests/unit/world.hpp"

/// Reset, list and adopt (spec 03 sections 3 and 4), and the parts that all session rules share.
namespace cleat::unit {
namespace {

Result<Decision> reset(const ThreadFacts& facts, const Call& call, Result<ResetBody> body = ResetBody{},
                       Level level = Level::trigger) {
  return rules::reset({facts, level}, ResetSession{call.request, facts.thread.id, std::move(body)}, call.context);
}

TEST(Rules, TestEndSession) {
  const World world;
  AgentSession row = session_in(world.thread(), 50, "r", noon);
  row.version = 4;
  const Timestamp later = noon + std::chrono::seconds{1};
  for (const EndReason reason : {EndReason::reset, EndReason::rebind, EndReason::import, EndReason::agent_changed}) {
    const AgentSession ended = rules::ended(row, later, reason);
    EXPECT_EQ(ended.ended_at, later);
    EXPECT_EQ(ended.end_reason, reason);
    EXPECT_FALSE(ended.is_current());
    EXPECT_EQ(ended.version, 5);
    // Nothing else is touched, and an ended row cannot end again.
    AgentSession before = ended;
    before.ended_at.reset();
    before.end_reason.reset();
    before.version = row.version;
    EXPECT_EQ(before, row);
    EXPECT_EQ(rules::ended(ended, later + std::chrono::seconds{1}, EndReason::reset), ended);
  }
}

TEST(Rules, TestCostBaseline) {
  EXPECT_EQ(rules::cost_baseline(std::nullopt, "EUR"), (rules::CostBaseline{0, "EUR"}));
  const World world;
  AgentSession newest = session_in(world.thread(), 50, "r", noon);
  newest.cost_baseline_micros = 1'000'000;
  newest.cumulative_cost_micros = 250'000;
  newest.currency = "USD";
  EXPECT_EQ(rules::cost_baseline(newest, "EUR"), (rules::CostBaseline{1'250'000, "USD"}));
}

TEST(Reset, EndsTheCurrentSession) {
  const World world;
  ThreadFacts facts = world.thread();
  AgentSession row = give_current(facts, 50, "r");
  row.version = 2;
  facts.current = row;
  const Call call(world.alex);
  const auto decision = reset(facts, call);
  ASSERT_TRUE(decision);
  const AgentSession ended = rules::ended(row, noon, EndReason::reset);
  EXPECT_EQ(decision->ends, (std::vector<EndSession>{{row.id, facts.thread.id, 2, noon, EndReason::reset}}));
  EXPECT_TRUE(decision->sessions.empty());
  EXPECT_TRUE(decision->rows.empty());
  EXPECT_TRUE(decision->audit.empty()) << "a reset writes no allow entry";
  EXPECT_FALSE(decision->idempotency);
  EXPECT_EQ(decision->reply, (Reply{201, render::session(ended), 3, false}));
  // The rights and the agent must still be what the decision was made on.
  EXPECT_EQ(decision->guards, (std::vector<VersionGuard>{{GuardedRow::space_facts, world.space.id, 7},
                                                         {GuardedRow::principal, world.lotse.id, 21}}));
  EXPECT_TRUE(decision->reference_guards.empty());
}

TEST(Reset, AnnouncesTheEndedRow) {
  const World world;
  ThreadFacts facts = world.thread();
  const AgentSession row = give_current(facts, 50, "r");
  const Call call(world.alex);
  const auto decision = reset(facts, call);
  ASSERT_TRUE(decision);
  ASSERT_EQ(decision->events.size(), 1U);
  const Event& event = decision->events[0];
  EXPECT_EQ(event.type, "agent_session.changed");
  EXPECT_EQ(event.time, noon);
  EXPECT_EQ(event.space_id, world.space.id);
  EXPECT_EQ(event.channel_id, world.channel.id);
  EXPECT_EQ(event.thread_id, facts.thread.id);
  EXPECT_EQ(event.resource_kind, "thread");
  EXPECT_EQ(event.resource_id, facts.thread.id);
  EXPECT_FALSE(event.resource_version);
  EXPECT_EQ(event.actor_kind, PrincipalKind::human);
  EXPECT_EQ(event.actor_id, world.alex.id);
  EXPECT_EQ(event.payload, render::session_changed(rules::ended(row, noon, EndReason::reset)));
}

TEST(Reset, NeedsACurrentSession) {
  const World world;
  const Call call(world.alex);
  EXPECT_EQ(refusal_of(reset(world.thread(), call)), denied(Code::conflict, Reason::no_current_session));
  // An expectation does not change what is missing.
  EXPECT_EQ(refusal_of(reset(world.thread(), call, ResetBody{id_of(50)})),
            denied(Code::conflict, Reason::no_current_session));
}

TEST(Reset, NeverEndsANewerSession) {
  const World world;
  ThreadFacts facts = world.thread();
  give_current(facts, 51, "r");
  const Call call(world.alex);
  EXPECT_EQ(refusal_of(reset(facts, call, ResetBody{id_of(50)})), denied(Code::conflict, Reason::session_changed));
  EXPECT_TRUE(reset(facts, call, ResetBody{id_of(51)}));
}

TEST(Reset, RightsComeBeforeTheBodyAndTheBodyBeforeTheState) {
  const World world;
  const Result<ResetBody> wrong = tl::unexpected(invalid({{"/x", FieldCode::unknown_member}}));
  const Call call(world.alex);
  EXPECT_EQ(refusal_of(reset(world.thread(), call, wrong, Level::none)), denied(Code::not_found));
  EXPECT_EQ(refusal_of(reset(world.thread(), call, wrong, Level::read)),
            denied(Code::forbidden, Reason::level_insufficient));
  EXPECT_EQ(refusal_of(reset(world.thread(), call, wrong)), wrong.error());
}

TEST(Reset, ASessionDoesNotEndBeforeItBegan) {
  const World world;
  ThreadFacts facts = world.thread();
  const Timestamp ahead = noon + std::chrono::minutes{5};
  give_current(facts, 50, "r", ahead);
  const Call call(world.alex);
  const auto decision = reset(facts, call);
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->ends[0].ended_at, ahead);
  EXPECT_EQ(decision->reply.body, render::session(rules::ended(*facts.current, ahead, EndReason::reset)));
}

TEST(Reset, WithAKeyItsAnswerIsKept) {
  const World world;
  ThreadFacts facts = world.thread();
  give_current(facts, 50, "r");
  Call call(world.alex);
  call.with_key().options.idempotency_retention_s = 60;
  const auto decision = reset(facts, call);
  ASSERT_TRUE(decision && decision->idempotency);
  EXPECT_EQ(*decision->idempotency,
            (IdempotencyRecord{*call.request.idempotency, decision->reply, noon, noon + std::chrono::seconds{60}}));
}

TEST(List, ShowsWhatWasLoaded) {
  const World world;
  const ThreadFacts facts = world.thread();
  const std::vector<AgentSession> rows{session_in(facts, 51, "b", noon), session_in(facts, 50, "a", noon)};
  EXPECT_EQ(rules::list({facts, Level::read}, rows), (Reply{200, render::sessions(rows), std::nullopt, false}));
  EXPECT_EQ(rules::list({facts, Level::read}, {})->body, R"({"items":[]})");
  EXPECT_EQ(refusal_of(rules::list({facts, Level::none}, rows)), denied(Code::not_found));
}

TEST(Adopt, FollowsTheThreadsOwnRows) {
  const World world;
  ThreadFacts facts = world.thread(1);
  const ThreadFacts other = world.thread(2);
  const AgentSession before = give_current(facts, 50, "a", noon);
  Decision decision;
  decision.ends.push_back({before.id, facts.thread.id, 1, noon, EndReason::rebind});
  decision.sessions.push_back(session_in(other, 60, "b", noon + std::chrono::hours{1}));
  rules::adopt(facts, decision);
  EXPECT_FALSE(facts.current);
  EXPECT_EQ(facts.newest_session_at, noon) << "a row of another thread is not this one's";

  Decision second;
  second.sessions.push_back(session_in(facts, 61, "a", noon + std::chrono::minutes{1}));
  rules::adopt(facts, second);
  EXPECT_EQ(facts.current, second.sessions[0]);
  EXPECT_EQ(facts.newest_session_at, noon + std::chrono::minutes{1});
}

TEST(Adopt, LeavesTheCurrentSessionWhereOthersEnd) {
  const World world;
  ThreadFacts facts = world.thread(1);
  const AgentSession current = give_current(facts, 50, "a", noon);
  Decision decision;
  decision.ends.push_back({id_of(49), id_of(102), 1, noon, EndReason::rebind});
  AgentSession imported = session_in(facts, 62, "c", noon - std::chrono::hours{1});
  decision.sessions.push_back(rules::ended(imported, noon, EndReason::import));
  rules::adopt(facts, decision);
  EXPECT_EQ(facts.current, current);
  EXPECT_EQ(facts.newest_session_at, noon) << "an earlier row does not move the newest one";
}

} // namespace
} // namespace cleat::unit
