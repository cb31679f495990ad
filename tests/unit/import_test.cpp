#include <gtest/gtest.h>

#include "actors/rules/session.hpp"
#include "protocol/render.hpp"
#include "tests/unit/world.hpp"

/// Import of earlier sessions (spec 03 section 12).
namespace cleat::unit {
namespace {

constexpr Timestamp created = noon - std::chrono::hours{48};
constexpr Timestamp ended = noon - std::chrono::hours{24};

ImportItem item_of(const World& world, std::string reference, Timestamp from = created) {
  return {world.lotse.id, std::move(reference), "m", 500, "USD", from, ended};
}

/// An import by the owner of the space, of items by Lotse.
struct Import {
  World world;
  ThreadFacts facts = world.thread();
  std::vector<AgentSession> sessions = {};
  std::optional<std::vector<std::optional<Principal>>> named = {};
  Level level = Level::manage;

  Result<Decision> operator()(Result<ImportBody> body, const Call& call) const {
    const std::size_t count = body ? body->items.size() : 0;
    const auto principals = named.value_or(std::vector<std::optional<Principal>>(count, world.lotse));
    return rules::import_sessions({facts, level}, sessions, principals,
                                  ImportSessions{call.request, facts.thread.id, std::move(body)}, call.context);
  }
};

TEST(Import, WritesEndedRows) {
  const Import import;
  const Call call(import.world.app);
  const auto decision = import(ImportBody{{item_of(import.world, "a")}}, call);
  ASSERT_TRUE(decision) << "an import needs a level and no human";
  ASSERT_EQ(decision->sessions.size(), 1U);
  const AgentSession& row = decision->sessions[0];
  AgentSession expected = session_in(import.facts, 0, "a", created);
  expected.id = row.id;
  EXPECT_TRUE(is_new(row.id));
  expected.model = "m";
  expected.cost_baseline_micros = 500;
  expected.currency = "USD";
  expected.ended_at = ended;
  expected.end_reason = EndReason::import;
  EXPECT_EQ(row, expected);
  EXPECT_EQ(decision->events.at(0).actor_kind, PrincipalKind::app);
  EXPECT_EQ(decision->events.at(0).actor_id, import.world.app.id);
  EXPECT_TRUE(decision->ends.empty());
  EXPECT_EQ(decision->reply, (Reply{201, render::imported({row}, 1), std::nullopt, false}));
  EXPECT_EQ(decision->guards, (std::vector<VersionGuard>{{GuardedRow::space_facts, import.world.space.id, 7}}));
}

TEST(Import, WritesAnEventARowAndOneAuditEntry) {
  const Import import;
  const Call call(import.world.owner);
  const auto decision = import(ImportBody{{item_of(import.world, "a"), item_of(import.world, "b")}}, call);
  ASSERT_TRUE(decision);
  ASSERT_EQ(decision->sessions.size(), 2U);
  ASSERT_EQ(decision->events.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(decision->events[i].type, "agent_session.changed");
    EXPECT_EQ(decision->events[i].payload, render::session_changed(decision->sessions[i]));
  }
  ASSERT_EQ(decision->audit.size(), 1U);
  EXPECT_EQ(decision->audit[0].action, "agent_session.import");
  EXPECT_EQ(decision->audit[0].resource_id, import.facts.thread.id);
  EXPECT_EQ(decision->audit[0].details, R"({"imported":"2"})");
}

TEST(Import, DefaultsToTheInstancesCurrency) {
  const Import import;
  Call call(import.world.owner);
  call.options.default_currency = "CHF";
  ImportItem item = item_of(import.world, "a");
  item.currency.reset();
  const auto decision = import(ImportBody{{item}}, call);
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->sessions[0].currency, "CHF");
}

TEST(Import, IsIdempotent) {
  Import import;
  const Call call(import.world.owner);
  const ImportBody body{{item_of(import.world, "a"), item_of(import.world, "b")}};
  const auto first = import(body, call);
  ASSERT_TRUE(first);
  import.sessions = first->sessions;
  auto again = import(body, call);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->sessions.empty());
  EXPECT_TRUE(again->events.empty());
  EXPECT_TRUE(again->audit.empty()) << "nothing happened";
  EXPECT_EQ(again->reply.body, render::imported(first->sessions, 0)) << "the rows as they are";
  // A further one is added to those that are there, in the order of the request.
  const auto more = import(ImportBody{{item_of(import.world, "c"), item_of(import.world, "b")}}, call);
  ASSERT_TRUE(more);
  ASSERT_EQ(more->sessions.size(), 1U);
  EXPECT_EQ(more->reply.body, render::imported({more->sessions[0], first->sessions[1]}, 1));
}

TEST(Import, OneBodyMayNameASessionTwice) {
  const Import import;
  const Call call(import.world.owner);
  const auto decision = import(ImportBody{{item_of(import.world, "a"), item_of(import.world, "a")}}, call);
  ASSERT_TRUE(decision);
  ASSERT_EQ(decision->sessions.size(), 1U);
  EXPECT_EQ(decision->events.size(), 1U);
  EXPECT_EQ(decision->reply.body, render::imported({decision->sessions[0], decision->sessions[0]}, 1));
}

TEST(Import, AgentReferenceAndTimeMakeTheSession) {
  Import import;
  const Call call(import.world.owner);
  const ImportItem item = item_of(import.world, "a");
  import.sessions = import(ImportBody{{ item }}, call)->sessions;
  const auto written = [&](const ImportItem& other) { return import(ImportBody{{other}}, call)->sessions.size(); };
  EXPECT_EQ(written(item), 0U);
  EXPECT_EQ(written(item_of(import.world, "A")), 1U);
  EXPECT_EQ(written(item_of(import.world, "a", created + std::chrono::microseconds{1})), 1U);
  ImportItem other_agent = item;
  other_agent.agent_id = import.world.builder.id;
  EXPECT_EQ(written(other_agent), 1U);
  // What else it says does not matter, and a row that was no import is another session.
  ImportItem other_cost = item;
  other_cost.cost_baseline_micros = 1;
  other_cost.ended_at = noon;
  EXPECT_EQ(written(other_cost), 0U);
  import.sessions[0].end_reason = EndReason::reset;
  EXPECT_EQ(written(item), 1U);
}

TEST(Import, NamesWhatOnlyTheServerCanSee) {
  Import import;
  const Call call(import.world.owner);
  const Timestamp soon = noon + std::chrono::microseconds{1};
  ImportItem future = item_of(import.world, "b", soon);
  future.ended_at = soon;
  import.named = {import.world.lotse, std::nullopt, import.world.alex, import.world.lotse};
  EXPECT_EQ(
    refusal_of(import(
      ImportBody{{item_of(import.world, "a"), item_of(import.world, "b"), item_of(import.world, "c"), future}}, call)),
    invalid({{"/items/1/agent_id", FieldCode::unknown_reference},
             {"/items/2/agent_id", FieldCode::unknown_reference},
             {"/items/3/created_at", FieldCode::out_of_range},
             {"/items/3/ended_at", FieldCode::out_of_range}}));
  import.named.reset();
  ImportItem now = item_of(import.world, "b", noon);
  now.ended_at = noon;
  EXPECT_TRUE(import(ImportBody{{now}}, call)) << "the present is no future";
}

TEST(Import, NeedsManage) {
  Import import;
  const Call call(import.world.alex);
  const Result<ImportBody> wrong = tl::unexpected(invalid({{"/items", FieldCode::required}}));
  for (const Level level : {Level::read, Level::write, Level::trigger}) {
    import.level = level;
    EXPECT_EQ(refusal_of(import(wrong, call)), denied(Code::forbidden, Reason::level_insufficient));
  }
  import.level = Level::none;
  EXPECT_EQ(refusal_of(import(wrong, call)), denied(Code::not_found));
  import.level = Level::manage;
  EXPECT_EQ(refusal_of(import(wrong, call)), wrong.error());
}

TEST(Import, LeavesTheCurrentSessionAlone) {
  Import import;
  const AgentSession current = give_current(import.facts, 50, "a");
  import.sessions = {current};
  const Call call(import.world.owner);
  const auto decision = import(ImportBody{{item_of(import.world, "a")}}, call);
  ASSERT_TRUE(decision);
  EXPECT_TRUE(decision->ends.empty());
  rules::adopt(import.facts, *decision);
  EXPECT_EQ(import.facts.current, current);
}

TEST(Import, WithAKeyItsAnswerIsKept) {
  const Import import;
  Call call(import.world.owner);
  call.with_key();
  const auto decision = import(ImportBody{{item_of(import.world, "a")}}, call);
  ASSERT_TRUE(decision && decision->idempotency);
  EXPECT_EQ(decision->idempotency->reply, decision->reply);
}

} // namespace
} // namespace cleat::unit
