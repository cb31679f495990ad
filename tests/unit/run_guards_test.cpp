#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/run_model.hpp"

/// What must still hold when a decision about runs commits (spec 02, invariant 2). A guard that is missing shows only
/// when two servers work at once, so each is asked for here.
namespace cleat::unit {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

class RunGuards : public testing::Test {
public:
  void TearDown() override { EXPECT_THAT(model.broken, IsEmpty()); }

  RunModel model;
  const World& world = model.world;

  VersionGuard rights() const { return {GuardedRow::space_facts, world.space.id, world.space.facts_version}; }
  VersionGuard agent(const Principal& who) const { return {GuardedRow::principal, who.id, who.version}; }
  CurrentGuard session(const std::optional<AgentSession>& row) const {
    return {model.facts.thread.id, row ? std::optional(row->id) : std::nullopt, row ? row->version : 0};
  }
};

TEST_F(RunGuards, ANewRunDependsOnTheSessionThatItWasTold) {
  EXPECT_THAT(model.trigger(world.alex)->current_guards, ElementsAre(session({}))) << "none";
  ASSERT_TRUE(model.start("ref"));
  ASSERT_TRUE(model.finish());
  EXPECT_THAT(model.trigger(world.alex)->current_guards, ElementsAre(session(model.current())));
  ASSERT_TRUE(model.operate(world.alex, model.last_run().id, run_op::Cancel{}));
  EXPECT_THAT(model.trigger(world.alex, {"Hello", world.aide.id, WhenActive::reject})->current_guards, IsEmpty())
    << "a guest is told of none";
}

TEST_F(RunGuards, AStartDependsOnTheSessionAndOnWhoIsTheOperator) {
  ASSERT_TRUE(model.trigger(world.alex));
  const auto first = model.start("ref");
  EXPECT_THAT(first->current_guards, ElementsAre(session({})));
  EXPECT_THAT(first->guards, ElementsAre(rights()));
  ASSERT_TRUE(model.finish());
  ASSERT_TRUE(model.trigger(world.alex));
  EXPECT_THAT(model.start()->current_guards, ElementsAre(session(model.current())));
}

TEST_F(RunGuards, AReleaseDependsOnTheRightsThatItAskedFor) {
  ASSERT_TRUE(model.trigger(world.alex));
  ASSERT_TRUE(model.start());
  ASSERT_TRUE(model.trigger(world.alex, {"Hello", world.aide.id, WhenActive::enqueue}));
  const auto decision = model.operate(world.lotse, model.runs.front().id, run_op::Finish{FinishBody{}});
  ASSERT_TRUE(decision);
  EXPECT_THAT(decision->guards, Contains(rights()));
  EXPECT_THAT(decision->guards, Contains(agent(world.aide)));
}

TEST_F(RunGuards, ADeniedReleaseDependsOnTheRightsToo) {
  ASSERT_TRUE(model.trigger(world.alex));
  ASSERT_TRUE(model.start());
  ASSERT_TRUE(model.enqueue(world.alex));
  model.levels[world.alex.id] = Level::read;
  const auto decision = model.operate(world.lotse, model.runs.front().id, run_op::Finish{FinishBody{}});
  ASSERT_TRUE(decision);
  EXPECT_THAT(decision->guards, ElementsAre(rights()));
}

TEST_F(RunGuards, AReportDependsOnWhoIsTheOperatorAndOnTheRun) {
  ASSERT_TRUE(model.trigger(world.alex));
  ASSERT_TRUE(model.start());
  for (const auto& decision :
       {model.report(world.lotse, {"ref", {}, false, false}), model.report(world.lotse, {{}, {}, true, false}, 1),
        model.report(world.lotse, {"fresh", {}, true, true}, 2)}) {
    ASSERT_TRUE(decision);
    EXPECT_THAT(decision->guards, ElementsAre(rights()));
    EXPECT_TRUE(decision->turn.has_value()) << "a run that ends meanwhile takes the turn";
  }
}

TEST_F(RunGuards, WhatEndsARunTakesTheTurn) {
  for (const RunOperation& end :
       {RunOperation(run_op::Finish{FinishBody{}}), RunOperation(run_op::Heartbeat{}), RunOperation(run_op::Wait{})}) {
    ASSERT_TRUE(model.trigger(world.alex, {"Hello", {}, WhenActive::enqueue}));
    static_cast<void>(model.operate(world.lotse, model.runs.back().id, run_op::Start{StartBody{}}));
    const auto decision = model.operate(world.lotse, model.runs.back().id, end);
    ASSERT_TRUE(decision);
    EXPECT_TRUE(decision->turn.has_value());
    static_cast<void>(model.operate(world.alex, model.runs.back().id, run_op::Cancel{}));
  }
}

} // namespace
} // namespace cleat::unit
