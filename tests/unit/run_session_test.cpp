#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/run_model.hpp"

/// Which session a run gets, and what its start does with one (spec 03 sections 6 and 7).
namespace cleat::unit {
namespace {

using testing::IsEmpty;

class RunSession : public testing::Test {
public:
  void TearDown() override { EXPECT_THAT(model.broken, IsEmpty()); }

  RunModel model;
  const World& world = model.world;

  Told triggered() {
    EXPECT_TRUE(model.trigger(world.alex));
    return model.last_told();
  }
  /// A whole run of the operator on a session of this reference, which has started afterwards.
  AgentSession used(const std::string& reference) {
    triggered();
    EXPECT_TRUE(model.start(reference));
    EXPECT_TRUE(model.report(world.lotse, {{}, {}, true, false}, 1));
    EXPECT_TRUE(model.finish());
    return *model.current();
  }
};

TEST(RunSessionMode, TestSessionMode) {
  AgentSession row;
  EXPECT_EQ(rules::session_mode(std::nullopt, false), SessionMode::new_session);
  EXPECT_EQ(rules::session_mode(row, false), SessionMode::new_session);
  EXPECT_EQ(rules::session_mode(row, true), SessionMode::new_session) << "a run that never came to start its session";
  row.started = true;
  EXPECT_EQ(rules::session_mode(row, false), SessionMode::bind);
  EXPECT_EQ(rules::session_mode(row, true), SessionMode::resume);
}

TEST_F(RunSession, FromNewToResume) {
  EXPECT_EQ(triggered().mode, "new");
  ASSERT_TRUE(model.start("ref"));
  const auto row = model.current();
  ASSERT_TRUE(row);
  EXPECT_FALSE(row->started);
  EXPECT_EQ(row->version, 1);
  EXPECT_EQ(row->external_session_ref, "ref");
  EXPECT_EQ(row->currency, "EUR");
  EXPECT_EQ(model.last_run().agent_session_id, row->id);
  ASSERT_TRUE(model.finish());
  EXPECT_EQ(triggered().mode, "new") << "the session never started";
  EXPECT_EQ(model.last_told().session_id, row->id.str());
  ASSERT_TRUE(model.start("ref"));
  EXPECT_EQ(model.sessions.size(), 1U) << "the row is used again";
  ASSERT_TRUE(model.report(world.lotse, {{}, {}, true, false}, 1));
  ASSERT_TRUE(model.finish());
  EXPECT_EQ(triggered().mode, "resume");
  EXPECT_EQ(model.last_told().session_id, row->id.str());
}

TEST_F(RunSession, ABoundSessionIsBoundThenResumed) {
  ASSERT_TRUE(model.bind(world.alex, "mine"));
  EXPECT_EQ(triggered().mode, "bind");
  ASSERT_TRUE(model.start());
  EXPECT_EQ(model.last_run().agent_session_id, model.current()->id);
  ASSERT_TRUE(model.finish());
  EXPECT_EQ(triggered().mode, "resume");
}

TEST_F(RunSession, AResetMakesTheNextRunNew) {
  const AgentSession row = used("ref");
  ASSERT_TRUE(model.reset(world.alex));
  EXPECT_EQ(triggered().mode, "new");
  EXPECT_EQ(model.last_told().session_id, "");
  EXPECT_EQ(model.session(row.id)->end_reason, EndReason::reset);
}

TEST_F(RunSession, AStartNeverChangesARow) {
  const AgentSession row = used("ref");
  triggered();
  ASSERT_TRUE(model.as_agent(run_op::Start{StartBody{"other", "other-model"}}));
  EXPECT_EQ(model.current(), row);
  EXPECT_EQ(model.last_run().agent_session_id, row.id);
}

TEST_F(RunSession, AStartWithoutAReferenceAttachesNothing) {
  triggered();
  ASSERT_TRUE(model.start());
  EXPECT_FALSE(model.last_run().agent_session_id);
  EXPECT_THAT(model.sessions, IsEmpty());
}

TEST_F(RunSession, AStartTakesTheModelAlong) {
  triggered();
  ASSERT_TRUE(model.as_agent(run_op::Start{StartBody{"ref", "m-1"}}));
  EXPECT_EQ(model.current()->model, "m-1");
}

TEST_F(RunSession, AStartOnWhatEndedMeanwhileStaysThere) {
  const AgentSession row = used("ref");
  triggered();
  ASSERT_TRUE(model.reset(world.alex));
  ASSERT_TRUE(model.start("ref"));
  EXPECT_EQ(model.last_run().agent_session_id, row.id) << "the human's reset stands";
  EXPECT_FALSE(model.current());
}

TEST_F(RunSession, AStartOnWhatEndedBeforeBeginsANewRow) {
  const AgentSession row = used("ref");
  ASSERT_TRUE(model.reset(world.alex));
  triggered();
  ASSERT_TRUE(model.start("ref"));
  EXPECT_NE(model.last_run().agent_session_id, row.id);
  EXPECT_TRUE(model.current());
}

TEST_F(RunSession, AStartWhoseReferenceIsCurrentElsewhereAttachesNothing) {
  model.current_elsewhere("ref");
  triggered();
  const auto decision = model.start("ref");
  ASSERT_TRUE(decision);
  EXPECT_EQ(model.last_run().state, RunState::running);
  EXPECT_FALSE(model.last_run().agent_session_id);
  EXPECT_THAT(model.sessions, IsEmpty());
}

TEST_F(RunSession, AGuestHasNoSession) {
  ASSERT_TRUE(model.bind(world.alex, "mine"));
  ASSERT_TRUE(model.trigger(world.alex, {"Hello", world.aide.id, WhenActive::reject}));
  EXPECT_EQ(model.last_told().mode, "");
  EXPECT_EQ(model.last_told().session_id, "");
  ASSERT_TRUE(model.start("guest-ref"));
  EXPECT_FALSE(model.last_run().agent_session_id);
  EXPECT_EQ(model.sessions.size(), 1U);
}

TEST_F(RunSession, AnotherAgentsSessionEndsAtTheNextRun) {
  const AgentSession row = used("ref");
  model.set_operator(world.aide);
  EXPECT_EQ(triggered().mode, "new");
  EXPECT_EQ(model.last_told().agent_id, world.aide.id);
  EXPECT_EQ(model.last_told().session_id, "");
  EXPECT_EQ(model.session(row.id)->end_reason, EndReason::agent_changed);
  EXPECT_EQ(model.session(row.id)->version, row.version + 1);
}

TEST_F(RunSession, AGuestLeavesTheOperatorsSessionAlone) {
  const AgentSession row = used("ref");
  ASSERT_TRUE(model.trigger(world.alex, {"Hello", world.aide.id, WhenActive::reject}));
  EXPECT_EQ(model.current(), row);
}

TEST_F(RunSession, AnImportIsBoundAtTheFirstRun) {
  model.import_row(world.lotse.id, "older", noon - std::chrono::hours{3});
  const AgentSession import = model.import_row(world.lotse.id, "newer", noon - std::chrono::hours{2});
  EXPECT_EQ(triggered().mode, "bind");
  const auto row = model.current();
  ASSERT_TRUE(row);
  EXPECT_EQ(model.last_told().session_id, row->id.str());
  EXPECT_EQ(row->external_session_ref, "newer");
  EXPECT_EQ(row->model, import.model);
  EXPECT_EQ(row->cost_baseline_micros, import.cost_baseline_micros);
  EXPECT_EQ(row->currency, import.currency);
  EXPECT_TRUE(row->started);
  ASSERT_EQ(model.audit.size(), 1U);
  EXPECT_EQ(model.audit[0].action, "agent_session.bind");
  EXPECT_EQ(model.audit[0].actor_id, world.alex.id);
  EXPECT_THAT(model.audit[0].details, testing::HasSubstr(R"("cause":"import")"));
  EXPECT_THAT(model.audit[0].details, testing::Not(testing::HasSubstr("newer")));
  EXPECT_EQ(model.events_of("agent_session.changed"), 1U);
}

TEST_F(RunSession, TestImportBindingCandidate) {
  EXPECT_EQ(triggered().mode, "new") << "no rows";
  ASSERT_TRUE(model.operate(world.alex, model.last_run().id, run_op::Cancel{}));
  model.import_row(world.aide.id, "of-another", noon);
  EXPECT_EQ(triggered().mode, "new") << "an import of another agent";
  ASSERT_TRUE(model.operate(world.alex, model.last_run().id, run_op::Cancel{}));
  model.import_row(world.lotse.id, "taken", noon);
  model.current_elsewhere("taken");
  EXPECT_EQ(triggered().mode, "new") << "current in another thread: fail open";
  ASSERT_TRUE(model.operate(world.alex, model.last_run().id, run_op::Cancel{}));
  EXPECT_FALSE(model.current());
  model.elsewhere.clear();
  ASSERT_TRUE(model.bind(world.alex, "taken"));
  ASSERT_TRUE(model.reset(world.alex));
  EXPECT_EQ(triggered().mode, "new") << "the thread had a current session since";
}

TEST_F(RunSession, AReleasedRunIsBoundInTheNameOfItsHuman) {
  ASSERT_TRUE(model.trigger(world.alex, {"Hello", world.aide.id, WhenActive::reject}));
  model.import_row(world.lotse.id, "ref", noon);
  ASSERT_TRUE(model.enqueue(world.owner));
  const Id guest = model.runs.front().id;
  ASSERT_TRUE(model.operate(world.alex, guest, run_op::Cancel{}));
  EXPECT_EQ(model.last_told().mode, "bind");
  ASSERT_EQ(model.audit.size(), 1U);
  EXPECT_EQ(model.audit[0].actor_id, world.owner.id);
}

} // namespace
} // namespace cleat::unit
