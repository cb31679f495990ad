#include <gtest/gtest.h>

#include "protocol/render.hpp"
#include "tests/unit/world.hpp"

/// Spaces, channels and threads (spec 05 "Surface").
namespace cleat::unit {
namespace {

const std::vector<VersionGuard> space_guard{{GuardedRow::space_facts, id_of(31), 7}};

/// The world as seen by someone who manages it.
struct Places {
  World world;
  DirectoryFacts facts;

  Places() {
    facts.space = world.space;
    facts.channel = world.channel;
    facts.thread = world.thread(1).thread;
    facts.level = Level::manage;
  }
};

bool raises_facts(const Decision& decision) {
  for (const RowWrite& write : decision.rows)
    if (const auto* const raise = std::get_if<RaiseSpaceFacts>(&write))
      return raise->space_id == id_of(31);
  return false;
}

void expect_audit(const Decision& decision, std::string_view action, std::string_view kind, const Id& id) {
  ASSERT_EQ(decision.audit.size(), 1U);
  EXPECT_TRUE(decision.audit[0].allowed);
  EXPECT_EQ(decision.audit[0].action, action);
  EXPECT_EQ(decision.audit[0].resource_kind, kind);
  EXPECT_EQ(decision.audit[0].resource_id, id);
}

void expect_event(const Event& event, std::string_view type, const Id& resource, std::int64_t version,
                  const std::string& payload) {
  EXPECT_EQ(event.type, type);
  EXPECT_EQ(event.resource_id, resource);
  EXPECT_EQ(event.resource_version, version);
  EXPECT_EQ(event.payload, payload);
}

TEST(Places, CreateSpace) {
  const World world;
  const Call call(world.owner);
  const Decision decision = decision_of(decide(op::CreateSpace{SpaceBody{"New"}}, {}, call));
  const Space row = only<InsertSpace>(decision).row;
  EXPECT_TRUE(is_new(row.id));
  EXPECT_EQ(row, (Space{row.id, "New", world.owner.id, noon, 1, 1}));
  EXPECT_EQ(decision.reply, (Reply{201, render::space(row), 1, false}));
  expect_audit(decision, "space.create", "space", row.id);
  ASSERT_EQ(decision.events.size(), 1U);
  expect_event(decision.events[0], "space.changed", row.id, 1, render::wrapped("space", render::space(row)));
  EXPECT_EQ(decision.events[0].space_id, row.id);
}

TEST(Places, UpdateSpace) {
  const Places places;
  Call call(places.world.owner);
  const Decision decision =
    decision_of(decide(op::UpdateSpace{places.world.space.id, SpacePatch{"New"}}, places.facts, call.if_match(3)));
  const Space row = only<UpdateSpace>(decision).row;
  Space expected = places.world.space;
  expected.name = "New";
  expected.version = 4;
  EXPECT_EQ(row, expected);
  EXPECT_EQ(decision.guards, space_guard);
  EXPECT_FALSE(raises_facts(decision)) << "a name is no right";
  EXPECT_EQ(decision.reply, (Reply{200, render::space(row), 4, false}));
  expect_audit(decision, "space.update", "space", row.id);
  expect_event(decision.events.at(0), "space.changed", row.id, 4, render::wrapped("space", render::space(row)));
}

TEST(Places, CreateChannelBringsItsMainThread) {
  Places places;
  places.facts.channel.reset();
  places.facts.thread.reset();
  places.facts.referred = places.world.lotse;
  const Call call(places.world.owner);
  const ChannelBody body{"New", places.world.lotse.id, ChannelMode::read_only};
  const Decision decision = decision_of(decide(op::CreateChannel{places.world.space.id, body}, places.facts, call));
  const Channel row = only<InsertChannel>(decision).row;
  const Thread main = only<InsertThread>(decision).row;
  EXPECT_TRUE(is_new(row.id) && is_new(main.id) && row.id != main.id);
  EXPECT_EQ(row, (Channel{row.id, places.world.space.id, "New", ChannelMode::read_only, places.world.lotse.id, main.id,
                          noon, 1}));
  EXPECT_EQ(main, (Thread{main.id, row.space_id, row.id, ThreadKind::main, "New", ThreadState::open, {}, noon, 1}))
    << "a main thread works with its channel's operator";
  EXPECT_EQ(decision.guards, space_guard);
  EXPECT_EQ(decision.reply, (Reply{201, render::channel(row), 1, false}));
  expect_audit(decision, "channel.create", "channel", row.id);
  ASSERT_EQ(decision.events.size(), 2U);
  expect_event(decision.events[0], "channel.changed", row.id, 1, render::wrapped("channel", render::channel(row)));
  EXPECT_EQ(decision.events[0].channel_id, row.id);
  expect_event(decision.events[1], "thread.changed", main.id, 1, render::wrapped("thread", render::thread(main)));
  EXPECT_EQ(decision.events[1].thread_id, main.id);
}

TEST(Places, UpdateChannelRaisesFactsWhenRightsChange) {
  Places places;
  places.facts.referred = places.world.builder;
  const Call call(places.world.owner);
  const auto update = [&](ChannelPatch patch) {
    return decision_of(decide(op::UpdateChannel{places.world.channel.id, std::move(patch)}, places.facts, call));
  };
  EXPECT_FALSE(raises_facts(update({"New", {}, {}})));
  EXPECT_TRUE(raises_facts(update({{}, ChannelMode::archived, {}})));
  EXPECT_TRUE(raises_facts(update({{}, {}, places.world.builder.id})));
  EXPECT_FALSE(raises_facts(update({"New", ChannelMode::open, {}}))) << "the mode is what it was";
  const Decision decision = update({"New", ChannelMode::archived, places.world.builder.id});
  const Channel row = only<UpdateChannel>(decision).row;
  Channel expected = places.world.channel;
  expected.name = "New";
  expected.mode = ChannelMode::archived;
  expected.operator_agent_id = places.world.builder.id;
  expected.version = 5;
  EXPECT_EQ(row, expected);
  EXPECT_EQ(decision.guards, space_guard);
  EXPECT_EQ(decision.reply, (Reply{200, render::channel(row), 5, false}));
  expect_audit(decision, "channel.update", "channel", row.id);
  expect_event(decision.events.at(0), "channel.changed", row.id, 5, render::wrapped("channel", render::channel(row)));
}

TEST(Places, CreateThreadStartsWithItsChannelsOperator) {
  Places places;
  const Call call(places.world.owner);
  const auto create = [&](std::optional<Id> agent) {
    return decision_of(decide(op::CreateThread{places.world.channel.id, ThreadBody{"New", agent}}, places.facts, call));
  };
  const Decision decision = create(std::nullopt);
  const Thread row = only<InsertThread>(decision).row;
  EXPECT_TRUE(is_new(row.id));
  EXPECT_EQ(row, (Thread{row.id, places.world.space.id, places.world.channel.id, ThreadKind::thread, "New",
                         ThreadState::open, places.world.lotse.id, noon, 1}));
  EXPECT_EQ(decision.guards, space_guard);
  EXPECT_EQ(decision.reply, (Reply{201, render::thread(row), 1, false}));
  expect_audit(decision, "thread.create", "thread", row.id);
  expect_event(decision.events.at(0), "thread.changed", row.id, 1, render::wrapped("thread", render::thread(row)));
  places.facts.referred = places.world.builder;
  EXPECT_EQ(only<InsertThread>(create(places.world.builder.id)).row.operator_agent_id, places.world.builder.id);
}

TEST(Places, UpdateThread) {
  Places places;
  places.facts.referred = places.world.builder;
  const Call call(places.world.owner);
  const Id id = places.facts.thread->id;
  const auto update = [&](ThreadPatch patch) {
    return decision_of(decide(op::UpdateThread{id, std::move(patch)}, places.facts, call));
  };
  EXPECT_FALSE(raises_facts(update({"New", {}})));
  const Decision decision = update({"New", places.world.builder.id});
  EXPECT_TRUE(raises_facts(decision));
  const Thread row = only<UpdateThread>(decision).row;
  Thread expected = *places.facts.thread;
  expected.title = "New";
  expected.operator_agent_id = places.world.builder.id;
  expected.version = 2;
  EXPECT_EQ(row, expected);
  EXPECT_EQ(decision.guards, space_guard);
  EXPECT_EQ(decision.reply, (Reply{200, render::thread(row), 2, false}));
  expect_audit(decision, "thread.update", "thread", id);
  expect_event(decision.events.at(0), "thread.changed", id, 2, render::wrapped("thread", render::thread(row)));
}

TEST(Places, AMainThreadTakesNoOperator) {
  Places places;
  places.facts.thread->kind = ThreadKind::main;
  places.facts.thread->operator_agent_id.reset();
  places.facts.referred = places.world.lotse;
  const Call call(places.world.owner);
  const Id id = places.facts.thread->id;
  EXPECT_EQ(refusal_of(decide(op::UpdateThread{id, ThreadPatch{{}, places.world.lotse.id}}, places.facts, call)),
            invalid({{"/operator_agent_id", FieldCode::not_applicable}}));
  EXPECT_TRUE(decide(op::UpdateThread{id, ThreadPatch{"New", {}}}, places.facts, call));
}

TEST(Places, CloseThread) {
  Places places;
  places.facts.level = Level::write;
  const Call call(places.world.sam);
  const Id id = places.facts.thread->id;
  const Decision decision = decision_of(decide(op::CloseThread{id}, places.facts, call));
  const Thread row = only<UpdateThread>(decision).row;
  EXPECT_EQ(row.state, ThreadState::closed);
  EXPECT_EQ(row.version, 2);
  EXPECT_FALSE(raises_facts(decision));
  EXPECT_EQ(decision.reply, (Reply{200, render::thread(row), 2, false}));
  expect_audit(decision, "thread.close", "thread", id);
  EXPECT_EQ(decision.events.size(), 1U);
  places.facts.thread = row;
  EXPECT_EQ(reply_of(decide(op::CloseThread{id}, places.facts, call)), (Reply{200, render::thread(row), 2, false}));
}

TEST(Places, AnOperatorIsAnAgentThatExists) {
  Places places;
  const Call call(places.world.owner);
  const Id named = places.world.lotse.id;
  const std::vector<DirectoryOperation> operations{
    op::CreateChannel{places.world.space.id, ChannelBody{"New", named, {}}},
    op::UpdateChannel{places.world.channel.id, ChannelPatch{{}, {}, named}},
    op::CreateThread{places.world.channel.id, ThreadBody{"New", named}},
    op::UpdateThread{places.facts.thread->id, ThreadPatch{{}, named}}};
  const Refusal unknown = invalid({{"/operator_agent_id", FieldCode::unknown_reference}});
  for (const DirectoryOperation& operation : operations) {
    places.facts.referred.reset();
    EXPECT_EQ(refusal_of(decide(operation, places.facts, call)), unknown) << operation.index();
    places.facts.referred = places.world.alex;
    EXPECT_EQ(refusal_of(decide(operation, places.facts, call)), unknown) << operation.index();
    places.facts.referred = places.world.lotse;
    EXPECT_TRUE(decide(operation, places.facts, call)) << operation.index();
  }
}

TEST(Places, IfMatchNamesTheVersion) {
  const Places places;
  const Id thread = places.facts.thread->id;
  const std::vector<std::pair<DirectoryOperation, std::string>> changes{
    {op::UpdateSpace{places.world.space.id, SpacePatch{"New"}}, render::space(places.world.space)},
    {op::UpdateChannel{places.world.channel.id, ChannelPatch{"New", {}, {}}}, render::channel(places.world.channel)},
    {op::UpdateThread{thread, ThreadPatch{"New", {}}}, render::thread(*places.facts.thread)},
    {op::CloseThread{thread}, render::thread(*places.facts.thread)}};
  for (const auto& [operation, current] : changes) {
    Call call(places.world.owner);
    EXPECT_EQ(refusal_of(decide(operation, places.facts, call.if_match(99))),
              (Refusal{Code::version_conflict, Reason::none, {}, current}));
    // A change of nothing is held to it as well.
    EXPECT_EQ(refusal_of(decide(op::UpdateSpace{places.world.space.id, SpacePatch{}}, places.facts, call)).code,
              Code::version_conflict);
  }
}

TEST(Places, APatchOfNothingChangesNothing) {
  const Places places;
  const Call call(places.world.owner);
  const Id thread = places.facts.thread->id;
  const Reply space{200, render::space(places.world.space), 3, false};
  const Reply channel{200, render::channel(places.world.channel), 4, false};
  const Reply shown{200, render::thread(*places.facts.thread), 1, false};
  EXPECT_EQ(reply_of(decide(op::UpdateSpace{places.world.space.id, SpacePatch{}}, places.facts, call)), space);
  EXPECT_EQ(reply_of(decide(op::UpdateSpace{places.world.space.id, SpacePatch{"Example"}}, places.facts, call)), space);
  EXPECT_EQ(reply_of(decide(op::UpdateChannel{places.world.channel.id, ChannelPatch{}}, places.facts, call)), channel);
  EXPECT_EQ(reply_of(decide(op::UpdateThread{thread, ThreadPatch{}}, places.facts, call)), shown);
}

TEST(Places, WithAKeyAChangeOfNothingIsKeptToo) {
  const Places places;
  Call call(places.world.owner);
  const Decision decision =
    decision_of(decide(op::UpdateSpace{places.world.space.id, SpacePatch{}}, places.facts, call.with_key()));
  EXPECT_EQ(decision.reply, (Reply{200, render::space(places.world.space), 3, false}));
  EXPECT_TRUE(decision.rows.empty());
  ASSERT_TRUE(decision.idempotency);
  EXPECT_EQ(decision.idempotency->key, *call.request.idempotency);
  EXPECT_EQ(decision.idempotency->reply, decision.reply);
}

TEST(Places, WithAKeyEveryChangeIsKept) {
  const Places places;
  const Id thread = places.facts.thread->id;
  const std::vector<DirectoryOperation> changes{op::CreateSpace{SpaceBody{"New"}},
                                                op::UpdateSpace{places.world.space.id, SpacePatch{"New"}},
                                                op::CreateChannel{places.world.space.id, ChannelBody{"New", {}, {}}},
                                                op::UpdateChannel{places.world.channel.id, ChannelPatch{"New", {}, {}}},
                                                op::CreateThread{places.world.channel.id, ThreadBody{"New", {}}},
                                                op::UpdateThread{thread, ThreadPatch{"New", {}}},
                                                op::CloseThread{thread}};
  for (const DirectoryOperation& operation : changes) {
    Call call(places.world.owner);
    const Decision decision = decision_of(decide(operation, places.facts, call.with_key()));
    ASSERT_TRUE(decision.idempotency) << operation.index();
    EXPECT_EQ(decision.idempotency->reply, decision.reply) << operation.index();
  }
}

TEST(Places, AreShown) {
  const Places places;
  const Call call(places.world.owner);
  EXPECT_EQ(reply_of(decide(op::GetSpace{places.world.space.id}, places.facts, call)),
            (Reply{200, render::space(places.world.space), 3, false}));
  EXPECT_EQ(reply_of(decide(op::GetChannel{places.world.channel.id}, places.facts, call)),
            (Reply{200, render::channel(places.world.channel), 4, false}));
  EXPECT_EQ(reply_of(decide(op::GetThread{places.facts.thread->id}, places.facts, call)),
            (Reply{200, render::thread(*places.facts.thread), 1, false}));
}

TEST(Places, AreListed) {
  const Places places;
  const Call call(places.world.alex);
  const PageRange range{20, id_of(5)};
  const auto listed = [&](const DirectoryOperation& operation) {
    return list_of(decide(operation, places.facts, call));
  };
  const rules::ReadList spaces = listed(op::ListSpaces{range});
  EXPECT_EQ(spaces.query, PageQuery(SpacesPage{places.world.alex.id, range})) << "only what the actor may see";
  EXPECT_EQ(spaces.limit, 20);
  EXPECT_EQ(listed(op::ListChannels{places.world.space.id, range}).query,
            PageQuery(ChannelsPage{places.world.space.id, range}));
  EXPECT_EQ(listed(op::ListThreads{places.world.channel.id, range}).query,
            PageQuery(ThreadsPage{places.world.channel.id, range}));
  const Refusal wrong = invalid({{"/limit", FieldCode::out_of_range}});
  EXPECT_EQ(refusal_of(decide(op::ListSpaces{tl::unexpected(wrong)}, {}, call)), wrong);
}

} // namespace
} // namespace cleat::unit
