#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/render.hpp"
#include "tests/unit/run_model.hpp"

/// What an adapter's report does (spec 03 section 8).
namespace cleat::unit {
namespace {

using testing::IsEmpty;

class Report : public testing::Test {
public:
  void TearDown() override { EXPECT_THAT(model.broken, IsEmpty()); }

  RunModel model;
  const World& world = model.world;

  static ReportBody body(std::optional<std::string> reference, bool started = false) {
    return {std::move(reference), {}, started, false};
  }
  static ReportBody failed(const std::string& reference) { return {reference, {}, true, true}; }

  void running(const std::string& reference = {}) {
    ASSERT_TRUE(model.trigger(world.alex));
    ASSERT_TRUE(model.start(reference));
  }
  /// A run that was given a session that was bound by hand.
  AgentSession on_bound(const std::string& reference) {
    EXPECT_TRUE(model.bind(world.alex, reference));
    running();
    return *model.current();
  }
  Result<Decision> report(const ReportBody& what, std::optional<std::int64_t> if_match = {}) {
    return model.report(world.lotse, what, if_match);
  }
};

const Refusal nothing_there = denied(Code::not_found);
const Refusal not_bound = denied(Code::conflict, Reason::session_not_bound);
const Refusal elsewhere = denied(Code::conflict, Reason::session_bound_elsewhere);
const Refusal changed = denied(Code::conflict, Reason::session_changed);

Refusal conflict_with(const AgentSession& row) {
  return {Code::version_conflict, Reason::none, {}, render::session(row)};
}

TEST_F(Report, TestAgentSessionReportRequirement) {
  EXPECT_EQ(refusal_of(report(body("r"))), nothing_there) << "no run";
  ASSERT_TRUE(model.trigger(world.alex));
  EXPECT_EQ(refusal_of(report(body("r"))), nothing_there) << "queued";
  ASSERT_TRUE(model.start());
  EXPECT_EQ(refusal_of(model.report(world.aide, body("r"))), nothing_there) << "another agent";
  EXPECT_EQ(refusal_of(model.report(world.owner, body("r"))), nothing_there) << "a human";
  EXPECT_TRUE(report(body("r")));
  ASSERT_TRUE(model.as_agent(run_op::Wait{}));
  EXPECT_TRUE(report(body({}), 1));
  ASSERT_TRUE(model.finish());
  EXPECT_EQ(refusal_of(report(body({}), 1)), nothing_there) << "finished";
}

TEST_F(Report, TheOperatorIsJudgedAtTheMomentOfTheCall) {
  running("ref");
  model.set_operator(world.aide);
  EXPECT_EQ(refusal_of(report(body({}, true), 1)), nothing_there);
  model.set_operator(world.lotse);
  EXPECT_TRUE(report(body({}, true), 1));
}

TEST_F(Report, AGuestHasNothingToReport) {
  ASSERT_TRUE(model.trigger(world.alex, {"Hello", world.aide.id, WhenActive::reject}));
  ASSERT_TRUE(model.start());
  EXPECT_EQ(refusal_of(model.report(world.aide, body("r"))), nothing_there);
}

TEST_F(Report, TheFirstReportMakesTheRow) {
  running();
  const auto decision = report({"ref", "m-1", true, false});
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->reply.status, 200);
  EXPECT_EQ(decision->reply.etag, 1);
  const auto row = model.current();
  ASSERT_TRUE(row);
  EXPECT_TRUE(row->started);
  EXPECT_EQ(row->model, "m-1");
  EXPECT_EQ(row->cost_baseline_micros, 0);
  EXPECT_EQ(model.last_run().agent_session_id, row->id);
  EXPECT_EQ(model.events_of("agent_session.changed"), 1U);
  EXPECT_THAT(model.audit, IsEmpty());
  EXPECT_EQ(refusal_of(report(body("ref"))), conflict_with(*row)) << "the second first report";
}

TEST_F(Report, TheFirstReportNeedsAReferenceAndNoVersion) {
  running();
  EXPECT_EQ(refusal_of(report(body({}, true))), invalid({{"/external_session_ref", FieldCode::required}}));
  EXPECT_EQ(refusal_of(report(body("r"), 1)), denied(Code::version_conflict));
  EXPECT_EQ(refusal_of(report(failed("r"))), not_bound);
  EXPECT_TRUE(report(body("r")));
  EXPECT_FALSE(model.current()->started);
}

TEST_F(Report, TheFirstReportLosesToABind) {
  running();
  ASSERT_TRUE(model.bind(world.alex, "mine"));
  EXPECT_EQ(refusal_of(report(body("ref"))), changed);
}

TEST_F(Report, TheFirstReportOfWhatIsCurrentElsewhere) {
  running();
  model.current_elsewhere("ref");
  EXPECT_EQ(refusal_of(report(body("ref"))), elsewhere);
  EXPECT_FALSE(model.last_run().agent_session_id);
}

TEST_F(Report, TheFirstReportOfWhatAHumanHasEndedMeanwhile) {
  ASSERT_TRUE(model.bind(world.alex, "ref"));
  const AgentSession row = *model.current();
  ASSERT_TRUE(model.trigger(world.alex));
  ASSERT_TRUE(model.reset(world.alex));
  ASSERT_TRUE(model.start());
  const auto decision = report(body("ref", true));
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->reply.etag, row.version + 1);
  EXPECT_EQ(model.last_run().agent_session_id, row.id);
  EXPECT_FALSE(model.current()) << "the reset stands";
}

TEST_F(Report, TestApplyReport) {
  running("ref");
  const auto unchanged = report(body("ref"), 1);
  ASSERT_TRUE(unchanged);
  EXPECT_EQ(unchanged->reply.etag, 1);
  EXPECT_EQ(model.events_of("agent_session.changed"), 1U) << "of the start";
  ASSERT_TRUE(report(body({}), 1));
  ASSERT_TRUE(report(body("ref-2"), 1));
  EXPECT_EQ(model.current()->external_session_ref, "ref-2");
  ASSERT_TRUE(report({{}, "m-2", false, false}, 2));
  EXPECT_EQ(model.current()->model, "m-2");
  ASSERT_TRUE(report(body({}, true), 3));
  EXPECT_TRUE(model.current()->started);
  EXPECT_EQ(model.current()->version, 4);
  const auto still = report(body({}, false), 4);
  ASSERT_TRUE(still);
  EXPECT_TRUE(model.current()->started) << "started only moves forward";
  EXPECT_EQ(still->reply.etag, 4);
  EXPECT_EQ(model.events_of("agent_session.changed"), 4U);
  EXPECT_EQ(refusal_of(report(body("x"), 3)), conflict_with(*model.current()));
  EXPECT_EQ(refusal_of(report(body("x"))), conflict_with(*model.current())) << "no If-Match is none of it";
}

TEST_F(Report, AReferenceThatIsCurrentElsewhereIsNotTaken) {
  running("ref");
  model.current_elsewhere("other");
  EXPECT_EQ(refusal_of(report(body("other"), 1)), elsewhere);
  EXPECT_EQ(model.current()->external_session_ref, "ref");
}

TEST_F(Report, ALateReportAfterAResetReachesTheOldRowOnly) {
  running("ref");
  const Id old = model.current()->id;
  ASSERT_TRUE(model.reset(world.alex));
  ASSERT_TRUE(model.bind(world.alex, "mine"));
  const AgentSession mine = *model.current();
  model.current_elsewhere("other");
  ASSERT_TRUE(report(body("other", true), 2)) << "an ended row collides with nothing";
  EXPECT_EQ(model.session(old)->external_session_ref, "other");
  EXPECT_TRUE(model.session(old)->started);
  EXPECT_EQ(model.session(old)->end_reason, EndReason::reset);
  EXPECT_EQ(model.current(), mine);
}

TEST_F(Report, AFailedBindingIsReplaced) {
  const AgentSession bound = on_bound("gone");
  const auto decision = report(failed("fresh"), 1);
  ASSERT_TRUE(decision);
  const auto row = model.current();
  ASSERT_TRUE(row);
  EXPECT_EQ(row->external_session_ref, "fresh");
  EXPECT_TRUE(row->started);
  EXPECT_EQ(row->version, 1);
  EXPECT_EQ(decision->reply.etag, 1);
  EXPECT_EQ(model.session(bound.id)->end_reason, EndReason::rebind);
  EXPECT_EQ(model.last_run().agent_session_id, row->id);
  EXPECT_EQ(model.last_run().state, RunState::running) << "the run goes on";
  EXPECT_EQ(model.lines(SystemCode::resume_failed), 1U);
  const Message& line = model.messages.back();
  EXPECT_EQ(line.author_id, world.lotse.id);
  EXPECT_EQ(line.run_id, model.last_run().id);
  EXPECT_EQ(line.content_md, "");
  EXPECT_EQ(decision->events.at(0).type, "agent_session.changed");
  EXPECT_THAT(decision->events.at(0).payload, testing::HasSubstr(bound.id.str())) << "the old row first";
  EXPECT_THAT(decision->events.at(1).payload, testing::HasSubstr(row->id.str()));
  ASSERT_TRUE(model.finish());
  ASSERT_TRUE(model.trigger(world.alex));
  EXPECT_EQ(model.last_told().mode, "resume");
}

TEST_F(Report, ABindingFailsOnceARun) {
  on_bound("gone");
  ASSERT_TRUE(report(failed("fresh"), 1));
  EXPECT_EQ(refusal_of(report(failed("fresher"), 1)), not_bound);
  EXPECT_TRUE(report(body("fresher"), 1)) << "everything else goes on";
  EXPECT_EQ(model.lines(SystemCode::resume_failed), 1U);
  ASSERT_TRUE(model.finish());
  running();
  EXPECT_TRUE(report(failed("again"), 2)) << "another run, another binding";
}

TEST_F(Report, WhatWasNeverStartedCannotFailToBind) {
  running("ref");
  EXPECT_EQ(refusal_of(report(failed("fresh"), 1)), not_bound);
  EXPECT_EQ(refusal_of(report(failed("fresh"), 2)), conflict_with(*model.current())) << "412 comes first";
}

TEST_F(Report, AFailedBindingToWhatIsCurrentElsewhere) {
  const AgentSession bound = on_bound("gone");
  model.current_elsewhere("taken");
  EXPECT_EQ(refusal_of(report(failed("taken"), 1)), elsewhere);
  EXPECT_EQ(model.current(), bound);
  ASSERT_TRUE(report(failed("gone"), 1)) << "the same reference is free as soon as its row has ended";
  EXPECT_EQ(model.current()->external_session_ref, "gone");
}

TEST_F(Report, AFailedBindingAfterAResetLeavesTheThreadWithoutASession) {
  const AgentSession bound = on_bound("gone");
  ASSERT_TRUE(model.reset(world.alex));
  ASSERT_TRUE(report(failed("fresh"), bound.version + 1));
  EXPECT_FALSE(model.current());
  const auto row = model.session(model.last_run().agent_session_id);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->external_session_ref, "fresh");
  EXPECT_EQ(row->end_reason, EndReason::reset) << "the human's decision stays in force";
  EXPECT_EQ(model.lines(SystemCode::resume_failed), 1U);
  ASSERT_TRUE(report(body({}, true), 1));
}

TEST_F(Report, AFailedBindingAfterABindMayNameWhatTheThreadIsOnNow) {
  const AgentSession bound = on_bound("gone");
  ASSERT_TRUE(model.bind(world.alex, "mine"));
  const AgentSession mine = *model.current();
  ASSERT_TRUE(report(failed("mine"), bound.version + 1)) << "it is current here, and the new row is not current";
  EXPECT_EQ(model.current(), mine);
  EXPECT_EQ(model.session(model.last_run().agent_session_id)->end_reason, EndReason::rebind);
}

TEST_F(Report, TheLineOpensNothing) {
  on_bound("gone");
  model.facts.thread.state = ThreadState::closed;
  ASSERT_TRUE(report(failed("fresh"), 1));
  EXPECT_EQ(model.facts.thread.state, ThreadState::closed);
  EXPECT_EQ(model.lines(SystemCode::thread_reopened), 0U);
  EXPECT_EQ(model.events_of("thread.changed"), 0U);
}

TEST_F(Report, ABadBodyIsRefusedToWhoMayReport) {
  running("ref");
  const auto refused = [&](const Principal& actor) {
    const RequestContext request{std::make_shared<const Principal>(actor), "test", {}, 7};
    CountingIds ids;
    RunFacts known;
    known.active = model.last_run();
    known.active_session = model.current();
    const ReportSession command{request, model.facts.thread.id, refuse({{"/model", FieldCode::invalid_format}})};
    return refusal_of(rules::report({model.facts, known}, command, {request, noon, ids, model.options}));
  };
  EXPECT_EQ(refused(world.lotse), invalid({{"/model", FieldCode::invalid_format}})) << "before the 412";
  EXPECT_EQ(refused(world.aide), nothing_there);
}

} // namespace
} // namespace cleat::unit
