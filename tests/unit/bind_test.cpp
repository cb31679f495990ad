#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "actors/rules/session.hpp"
#include "protocol/render.hpp"
#include "tests/unit/world.hpp"

/// Bind and take-over (spec 03 section 5).
namespace cleat::unit {
namespace {

constexpr std::chrono::microseconds tick{1};

/// What is known of Lotse's reference `name` that has no row anywhere.
ReferenceFacts unknown(const World& world, std::string name = "ref") {
  return {world.lotse.id, std::move(name), {}, {}, {}, {}};
}

/// A reference that is current in `target`.
ReferenceFacts current_in(const ThreadFacts& target, Level level) {
  return {target.current->agent_id, target.current->external_session_ref, target.current,
          target.current,           OtherThread{target, level},           OtherThread{target, level}};
}

/// A reference that is current nowhere and was last in `row`'s thread.
ReferenceFacts last_in(const AgentSession& row, std::optional<OtherThread> thread) {
  return {row.agent_id, row.external_session_ref, {}, row, {}, std::move(thread)};
}

Result<Decision> bound(const ThreadFacts& facts, const ReferenceFacts& reference, Result<BindBody> body,
                       const Call& call, Level level = Level::trigger) {
  return rules::bind({facts, level}, reference, BindSession{call.request, facts.thread.id, std::move(body)},
                     call.context);
}

BindBody body_of(const ThreadFacts& facts, bool take_over = false) {
  return {"ref", facts.current ? std::optional(facts.current->id) : std::nullopt, take_over};
}

TEST(Bind, MakesANewCurrentRow) {
  const World world;
  const ThreadFacts facts = world.thread();
  Call call(world.alex);
  call.options.default_currency = "CHF";
  const auto decision = bound(facts, unknown(world), body_of(facts), call);
  ASSERT_TRUE(decision);
  ASSERT_EQ(decision->sessions.size(), 1U);
  const AgentSession& row = decision->sessions[0];
  AgentSession expected = session_in(facts, 0, "ref", noon);
  expected.id = row.id;
  EXPECT_TRUE(is_new(row.id));
  expected.currency = "CHF";
  EXPECT_EQ(row, expected) << "started, current, version 1, no model, no cost";
  EXPECT_EQ(decision->reply, (Reply{201, render::session(row), 1, false}));
  EXPECT_TRUE(decision->ends.empty());
  EXPECT_TRUE(decision->rows.empty());
  ASSERT_EQ(decision->events.size(), 1U);
  EXPECT_EQ(decision->events[0].payload, render::session_changed(row));
  EXPECT_TRUE(is_new(decision->events[0].id));
  EXPECT_EQ(decision->guards, (std::vector<VersionGuard>{{GuardedRow::space_facts, world.space.id, 7},
                                                         {GuardedRow::principal, world.lotse.id, 21}}));
  EXPECT_EQ(decision->reference_guards, (std::vector<ReferenceGuard>{{world.lotse.id, "ref", std::nullopt}}));
}

TEST(Bind, IsAuditedWithIdsOnly) {
  const World world;
  const ThreadFacts facts = world.thread();
  const Call call(world.alex);
  const auto decision = bound(facts, unknown(world), body_of(facts), call);
  ASSERT_TRUE(decision);
  ASSERT_EQ(decision->audit.size(), 1U);
  const AuditEntry& entry = decision->audit[0];
  EXPECT_TRUE(is_new(entry.id));
  EXPECT_EQ(entry.action, "agent_session.bind");
  EXPECT_TRUE(entry.allowed);
  EXPECT_EQ(entry.time, noon);
  EXPECT_EQ(entry.actor_id, world.alex.id);
  EXPECT_EQ(entry.resource_kind, "thread");
  EXPECT_EQ(entry.resource_id, facts.thread.id);
  EXPECT_EQ(entry.reason, "");
  EXPECT_EQ(entry.count, 1);
  EXPECT_EQ(entry.details,
            "{\"session_id\":\"" + decision->sessions[0].id.str() + "\",\"take_over\":false,\"cause\":\"bind\"}");
}

/// A take-over where T's row has id `here` and T2's row has id `there`.
void expect_take_over(std::uint64_t here, std::uint64_t there) {
  const World world;
  ThreadFacts facts = world.thread(1);
  ThreadFacts other = world.thread(2);
  other.space.id = other.thread.space_id = id_of(39);
  other.space.facts_version = 70;
  const AgentSession own = give_current(facts, here, "old");
  const AgentSession taken = give_current(other, there, "ref");
  const Call call(world.alex);
  const auto decision = bound(facts, current_in(other, Level::trigger), body_of(facts, true), call);
  ASSERT_TRUE(decision);
  const AgentSession& row = decision->sessions.at(0);
  std::vector<EndSession> ends{{own.id, facts.thread.id, 1, noon, EndReason::rebind},
                               {taken.id, other.thread.id, 1, noon, EndReason::rebind}};
  std::vector<std::string> payloads{render::session_changed(rules::ended(own, noon, EndReason::rebind)),
                                    render::session_changed(rules::ended(taken, noon, EndReason::rebind))};
  std::vector<Id> scopes{world.space.id, id_of(39)};
  if (there < here) {
    std::reverse(ends.begin(), ends.end());
    std::reverse(payloads.begin(), payloads.end());
    std::reverse(scopes.begin(), scopes.end());
  }
  EXPECT_EQ(decision->ends, ends) << "ended rows in ascending id";
  ASSERT_EQ(decision->events.size(), 3U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(decision->events[i].payload, payloads[i]);
    EXPECT_EQ(decision->events[i].space_id, scopes[i]) << "each in the scope of its own thread";
    EXPECT_EQ(decision->events[i].thread_id, ends[i].thread_id);
    EXPECT_EQ(decision->events[i].resource_id, ends[i].thread_id);
  }
  EXPECT_EQ(decision->events[2].payload, render::session_changed(row));
  EXPECT_EQ(decision->guards, (std::vector<VersionGuard>{{GuardedRow::space_facts, world.space.id, 7},
                                                         {GuardedRow::principal, world.lotse.id, 21},
                                                         {GuardedRow::space_facts, id_of(39), 70}}));
  EXPECT_EQ(decision->reference_guards, (std::vector<ReferenceGuard>{{world.lotse.id, "ref", taken.id}}));
  EXPECT_EQ(decision->audit.at(0).details, "{\"session_id\":\"" + row.id.str() + "\",\"ended_session_id\":\"" +
                                             own.id.str() + "\",\"taken_over_session_id\":\"" + taken.id.str() +
                                             "\",\"taken_over_thread_id\":\"" + other.thread.id.str() +
                                             "\",\"take_over\":true,\"cause\":\"bind\"}");
}

TEST(Bind, TakesOverFromAnotherThread) {
  expect_take_over(50, 60);
}

TEST(Bind, EndsRowsInAscendingId) {
  expect_take_over(60, 50);
}

TEST(Bind, TakesOverIntoAThreadWithoutASession) {
  const World world;
  const ThreadFacts facts = world.thread(1);
  ThreadFacts other = world.thread(2);
  const AgentSession taken = give_current(other, 60, "ref");
  const Call call(world.alex);
  const auto decision = bound(facts, current_in(other, Level::trigger), body_of(facts, true), call);
  ASSERT_TRUE(decision);
  ASSERT_EQ(decision->ends.size(), 1U);
  EXPECT_EQ(decision->ends[0].id, taken.id);
  EXPECT_EQ(decision->audit[0].details.find("\"ended_session_id\""), std::string::npos);
}

TEST(Bind, TheThreadsOwnReferenceBeginsANewRow) {
  const World world;
  ThreadFacts facts = world.thread();
  AgentSession own = give_current(facts, 50, "ref");
  own.cost_baseline_micros = 10;
  own.cumulative_cost_micros = 5;
  own.model = "m";
  facts.current = own;
  const ReferenceFacts reference{world.lotse.id, "ref", own, own, {}, {}};
  const Call call(world.alex);
  const auto decision = bound(facts, reference, body_of(facts), call);
  ASSERT_TRUE(decision) << "its own thread is no other thread, so nothing is taken over";
  EXPECT_EQ(decision->ends, (std::vector<EndSession>{{own.id, facts.thread.id, 1, noon, EndReason::rebind}}));
  EXPECT_EQ(decision->sessions[0].cost_baseline_micros, 15);
  EXPECT_EQ(decision->sessions[0].model, std::nullopt);
  EXPECT_NE(decision->audit[0].details.find("\"take_over\":false"), std::string::npos);
}

TEST(Bind, TakeOverWithNothingToTakeGoesOnWithout) {
  const World world;
  const ThreadFacts facts = world.thread();
  const Call call(world.alex);
  const auto decision = bound(facts, unknown(world), body_of(facts, true), call);
  ASSERT_TRUE(decision);
  EXPECT_TRUE(decision->ends.empty());
  EXPECT_NE(decision->audit[0].details.find("\"take_over\":false"), std::string::npos);
}

TEST(Bind, ComparesTheExpectedSession) {
  const World world;
  const ThreadFacts empty = world.thread();
  ThreadFacts busy = world.thread();
  give_current(busy, 50, "old");
  const Call call(world.alex);
  const auto told = [&](const ThreadFacts& facts, std::optional<Id> expected) {
    return refusal_of(bound(facts, unknown(world), BindBody{"ref", expected, false}, call));
  };
  const Refusal changed = denied(Code::conflict, Reason::session_changed);
  EXPECT_EQ(told(empty, id_of(50)), changed);
  EXPECT_EQ(told(busy, std::nullopt), changed) << "absent means: I expect none";
  EXPECT_EQ(told(busy, id_of(49)), changed);
  EXPECT_TRUE(bound(busy, unknown(world), BindBody{"ref", id_of(50), false}, call));
  EXPECT_TRUE(bound(empty, unknown(world), BindBody{"ref", std::nullopt, false}, call));
}

TEST(Bind, ChecksInTheOrderOfTheSpecification) {
  const World world;
  ThreadFacts facts = world.thread(1);
  give_current(facts, 50, "old");
  ThreadFacts other = world.thread(2);
  give_current(other, 60, "ref");
  // Everything is wrong at first; each step repairs what was complained about.
  Level here = Level::none;
  Level there = Level::none;
  Result<BindBody> body = tl::unexpected(invalid({{"/take_over", FieldCode::wrong_type}}));
  const Refusal wrong_body = body.error();
  facts.channel.mode = other.channel.mode = ChannelMode::archived;
  const Call call(world.alex);
  const auto told = [&] { return refusal_of(bound(facts, current_in(other, there), body, call, here)); };
  EXPECT_EQ(told(), denied(Code::not_found));
  here = Level::read;
  EXPECT_EQ(told(), denied(Code::forbidden, Reason::level_insufficient));
  here = Level::trigger;
  EXPECT_EQ(told(), denied(Code::channel_read_only));
  facts.channel.mode = ChannelMode::open;
  EXPECT_EQ(told(), denied(Code::not_found));
  there = Level::write;
  EXPECT_EQ(told(), denied(Code::forbidden, Reason::level_insufficient));
  there = Level::trigger;
  EXPECT_EQ(told(), denied(Code::channel_read_only));
  other.channel.mode = ChannelMode::open;
  EXPECT_EQ(told(), wrong_body);
  body = BindBody{"ref", id_of(49), false};
  EXPECT_EQ(told(), denied(Code::conflict, Reason::session_bound_elsewhere));
  body->take_over = true;
  EXPECT_EQ(told(), denied(Code::conflict, Reason::session_changed));
  body->expected_current_session_id = id_of(50);
  EXPECT_TRUE(bound(facts, current_in(other, there), body, call, here));
}

TEST(Bind, OpensNoConversationThatTheActorMayNotRead) {
  const World world;
  const ThreadFacts facts = world.thread(1);
  ThreadFacts other = world.thread(2);
  other.space.id = other.thread.space_id = id_of(39);
  const AgentSession ended = rules::ended(session_in(other, 60, "ref", noon - tick), noon, EndReason::reset);
  const Call call(world.alex);
  EXPECT_EQ(refusal_of(bound(facts, last_in(ended, OtherThread{other, Level::none}), body_of(facts), call)),
            denied(Code::not_found));
  EXPECT_EQ(refusal_of(bound(facts, last_in(ended, std::nullopt), body_of(facts), call)), denied(Code::not_found));
  const auto decision = bound(facts, last_in(ended, OtherThread{other, Level::read}), body_of(facts), call);
  ASSERT_TRUE(decision);
  // The right to read there must still hold when the decision commits.
  EXPECT_NE(std::find(decision->guards.begin(), decision->guards.end(),
                      VersionGuard{GuardedRow::space_facts, id_of(39), other.space.facts_version}),
            decision->guards.end());
  EXPECT_EQ(decision->reference_guards[0].newest_session_id, ended.id);
}

TEST(Bind, AHistoryInTheThreadItselfIsOpen) {
  const World world;
  const ThreadFacts facts = world.thread(1);
  const AgentSession ended = rules::ended(session_in(facts, 60, "ref", noon - tick), noon, EndReason::reset);
  const Call call(world.alex);
  EXPECT_TRUE(bound(facts, last_in(ended, std::nullopt), body_of(facts), call));
}

TEST(Bind, AReferenceThatIsCurrentElsewhereIsJudgedThere) {
  // The newest row may be an import in a thread that the actor cannot see; the live one is what is taken over.
  const World world;
  const ThreadFacts facts = world.thread(1);
  ThreadFacts other = world.thread(2);
  give_current(other, 60, "ref");
  ReferenceFacts reference = current_in(other, Level::trigger);
  reference.newest = rules::ended(session_in(world.thread(3), 61, "ref", noon - tick), noon, EndReason::import);
  reference.newest_thread = OtherThread{world.thread(3), Level::none};
  const Call call(world.alex);
  EXPECT_TRUE(bound(facts, reference, body_of(facts, true), call));
}

TEST(Bind, AReferenceThatIsCurrentHereIsOpen) {
  const World world;
  ThreadFacts facts = world.thread(1);
  const AgentSession own = give_current(facts, 50, "ref");
  const AgentSession newest =
    rules::ended(session_in(world.thread(3), 61, "ref", noon - tick), noon, EndReason::import);
  const ReferenceFacts reference{world.lotse.id, "ref", own, newest, {}, OtherThread{world.thread(3), Level::none}};
  const Call call(world.alex);
  EXPECT_TRUE(bound(facts, reference, body_of(facts), call)) << "who may go on with it opens nothing";
}

TEST(Bind, AWrongBodyNamesNoReference) {
  const World world;
  const ThreadFacts facts = world.thread();
  const Call call(world.alex);
  const Refusal wrong = invalid({{"/external_session_ref", FieldCode::required}});
  const BindSession command{call.request, facts.thread.id, tl::unexpected(wrong)};
  EXPECT_EQ(refusal_of(rules::bind({facts, Level::trigger}, std::nullopt, command, call.context)), wrong);
  EXPECT_EQ(refusal_of(rules::bind({facts, Level::none}, std::nullopt, command, call.context)),
            denied(Code::not_found));
}

TEST(Bind, ContinuesTheCostOfTheNewestRow) {
  const World world;
  const ThreadFacts facts = world.thread(1);
  AgentSession ended = rules::ended(session_in(facts, 60, "ref", noon - tick), noon, EndReason::reset);
  ended.cost_baseline_micros = 100;
  ended.cumulative_cost_micros = 11;
  ended.currency = "USD";
  const Call call(world.alex);
  const auto decision = bound(facts, last_in(ended, std::nullopt), body_of(facts), call);
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->sessions[0].cost_baseline_micros, 111);
  EXPECT_EQ(decision->sessions[0].cumulative_cost_micros, 0);
  EXPECT_EQ(decision->sessions[0].currency, "USD");
}

TEST(Bind, ANewRowSortsLastWhateverTheClock) {
  const World world;
  ThreadFacts facts = world.thread(1);
  const Timestamp ahead = noon + std::chrono::minutes{1};
  give_current(facts, 50, "old", ahead);
  const Call call(world.alex);
  auto decision = bound(facts, unknown(world), body_of(facts), call);
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->sessions[0].created_at, ahead + tick);
  EXPECT_EQ(decision->ends[0].ended_at, ahead + tick) << "the old one ends when the new one begins";
  // A row of the reference in another thread may be further ahead still.
  AgentSession newest =
    rules::ended(session_in(facts, 60, "ref", ahead + tick * 5), ahead + tick * 5, EndReason::reset);
  decision = bound(facts, last_in(newest, std::nullopt), body_of(facts), call);
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->sessions[0].created_at, ahead + tick * 6);
  // A clock that is ahead of all rows is simply right.
  facts.newest_session_at = noon - tick;
  decision = bound(facts, unknown(world), body_of(facts), call);
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->sessions[0].created_at, noon);
}

TEST(Bind, WithAKeyItsAnswerIsKept) {
  const World world;
  const ThreadFacts facts = world.thread();
  Call call(world.alex);
  call.with_key();
  const auto decision = bound(facts, unknown(world), body_of(facts), call);
  ASSERT_TRUE(decision && decision->idempotency);
  EXPECT_EQ(decision->idempotency->key, *call.request.idempotency);
  EXPECT_EQ(decision->idempotency->reply, decision->reply);
}

RC_GTEST_PROP(Bind, TheReferenceIsInNoAuditEntry, ()) {
  const World world;
  ThreadFacts facts = world.thread(1);
  ThreadFacts other = world.thread(2);
  const auto reference = "X" + *rc::gen::container<std::string>(rc::gen::inRange('A', 'Z'));
  give_current(facts, 50, "old");
  give_current(other, 60, reference);
  const Call call(world.alex);
  BindBody body = body_of(facts, true);
  body.external_session_ref = reference;
  const auto decision = bound(facts, current_in(other, Level::trigger), body, call);
  RC_ASSERT(decision.has_value());
  for (const AuditEntry& entry : decision->audit)
    RC_ASSERT((entry.details + entry.reason + entry.action).find(reference) == std::string::npos);
}

} // namespace
} // namespace cleat::unit
