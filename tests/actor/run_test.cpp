#include <algorithm>
#include <string>
#include <vector>

#include <caf/typed_event_based_actor.hpp>

#include "tests/actor/fixture.hpp"

/// Runs through their owners: who finds whom, what is decided again, and what happens when nobody comes.
namespace cleat::test {
namespace {

using storage::CommitOutcome;

class RunOwner : public ActorTest {
public:
  const Thread& thread() const { return world.threads[0]; }

  std::vector<cleat::Run> runs() const { return tables->runs_of(thread().id); }
  const cleat::Run last() const { return runs().back(); }

  cleat::Run triggered(WhenActive when_active = WhenActive::reject) {
    EXPECT_EQ(status_of(ask(trigger(world.alex, thread(), when_active))), 201);
    return last();
  }
  Answer operate(const Principal& actor, const Id& run_id, const RunOperation& operation) {
    return ask(RunCommand{by(actor), run_id, operation});
  }
  cleat::Run started(const std::optional<std::string>& reference = {}) {
    const cleat::Run run = triggered();
    EXPECT_EQ(status_of(operate(world.lotse, run.id, run_op::Start{StartBody{reference, {}}})), 200);
    return last();
  }
  Answer report(const ReportBody& body, std::optional<std::int64_t> if_match) {
    ReportSession command{by(world.lotse), thread().id, body};
    command.context.if_match = if_match;
    return ask(command);
  }
};

TEST_F(RunOwner, GoesThroughALife) {
  const cleat::Run run = started("ref");
  EXPECT_EQ(run.agent_session_id, current(thread())->id);
  EXPECT_EQ(status_of(report({{}, {}, true, false}, 1)), 200);
  EXPECT_TRUE(current(thread())->started);
  EXPECT_EQ(status_of(operate(world.lotse, run.id, run_op::Wait{})), 200);
  EXPECT_EQ(status_of(operate(world.lotse, run.id, run_op::Resume{})), 200);
  EXPECT_EQ(status_of(operate(world.lotse, run.id, run_op::Post{PostBody{"Done."}})), 201);
  EXPECT_EQ(status_of(operate(world.lotse, run.id, run_op::Finish{FinishBody{}})), 200);
  EXPECT_EQ(last().state, RunState::succeeded);
  EXPECT_EQ(tables->messages_of(thread().id).size(), 2U);
}

TEST_F(RunOwner, LetsOneOfManyTriggersWin) {
  std::vector<std::shared_ptr<std::optional<Answer>>> answers;
  for (int i = 0; i < 64; ++i)
    answers.push_back(send(trigger(world.alex, thread())));
  run();
  const auto won =
    std::count_if(answers.begin(), answers.end(), [](const auto& a) { return (*a)->result.has_value(); });
  EXPECT_EQ(won, 1);
  for (const auto& answer : answers)
    EXPECT_TRUE((*answer)->result || (*answer)->result.error() == (Refusal{Code::conflict, Reason::run_active}));
  EXPECT_EQ(runs().size(), 1U);
}

TEST_F(RunOwner, SeesWhatAnotherServerHasDone) {
  const cleat::Run run = started();
  Decision elsewhere;
  elsewhere.turn = RunTurn{thread().id, 3};
  cleat::Run cancelled = run;
  cancelled.state = RunState::cancelled;
  cancelled.finished_at = clock->now();
  cancelled.lease_expires_at.reset();
  cancelled.version += 1;
  elsewhere.run_updates.push_back({cancelled, RunState::running, RunExpiry::none, 0});
  ASSERT_EQ(tables->commit(elsewhere), CommitOutcome::committed);
  EXPECT_EQ(refusal_of(operate(world.lotse, run.id, run_op::Heartbeat{})),
            (Refusal{Code::conflict, Reason::run_state}));
  EXPECT_EQ(status_of(ask(trigger(world.alex, thread()))), 201);
}

TEST_F(RunOwner, DecidesAgainWhenAGuardWasStale) {
  for (const CommitOutcome outcome : {CommitOutcome::stale, CommitOutcome::lost_race}) {
    tables->script({{outcome}, {outcome}});
    const cleat::Run run = triggered();
    tables->script({{outcome}});
    EXPECT_EQ(status_of(operate(world.alex, run.id, run_op::Cancel{})), 200);
  }
}

TEST_F(RunOwner, AFoundRunNeedsNoDatabaseToBeFoundAgain) {
  const cleat::Run run = triggered();
  EXPECT_EQ(status_of(operate(world.lotse, run.id, run_op::Start{StartBody{}})), 200);
  EXPECT_EQ(refusal_of(operate(world.lotse, world.ids.next(), run_op::Wait{})), Refusal{Code::not_found});
  tables->set_unavailable(true);
  EXPECT_EQ(refusal_of(operate(world.lotse, run.id, run_op::Wait{})).code, Code::unavailable);
  EXPECT_EQ(refusal_of(operate(world.lotse, world.ids.next(), run_op::Wait{})).code, Code::unavailable)
    << "a run that cannot be looked up may be there";
}

TEST_F(RunOwner, DenialsNameTheRun) {
  const cleat::Run run = triggered();
  EXPECT_EQ(refusal_of(operate(world.sam, run.id, run_op::Cancel{})), Refusal{Code::not_found});
  EXPECT_EQ(refusal_of(operate(world.builder, run.id, run_op::Start{StartBody{}})), Refusal{Code::not_found});
  EXPECT_EQ(refusal_of(ask(trigger(world.sam, thread()))), Refusal{Code::not_found});
  std::vector<std::string> denied;
  for (const AuditEntry& entry : tables->audit())
    if (!entry.allowed)
      denied.push_back(entry.action + " " + entry.resource_kind + " " + entry.resource_id.str());
  EXPECT_EQ(denied, (std::vector<std::string>{"run.cancel run " + run.id.str(), "run.start run " + run.id.str(),
                                              "run.trigger thread " + thread().id.str()}));
}

TEST_F(RunOwner, ALeaseRunsOutAndTheNextRunIsReleased) {
  const cleat::Run first = started();
  triggered(WhenActive::enqueue);
  advance(std::chrono::seconds(limits::run_lease_s - 5));
  EXPECT_EQ(runs().front().state, RunState::running);
  EXPECT_EQ(status_of(operate(world.lotse, first.id, run_op::Heartbeat{})), 200);
  advance(std::chrono::seconds(limits::run_lease_s - 5));
  EXPECT_EQ(runs().front().state, RunState::running) << "a heartbeat renews the lease";
  advance(std::chrono::seconds(10));
  EXPECT_EQ(runs().front().failure, (RunFailure{"lease_expired", {}}));
  EXPECT_EQ(last().state, RunState::queued);
  advance(std::chrono::seconds(limits::run_queued_timeout_s + 5));
  EXPECT_EQ(last().failure, (RunFailure{"not_accepted", {}}));
}

TEST_F(RunOwner, WhoIsLateFindsTheRunFailed) {
  const cleat::Run run = started();
  clock->advance(std::chrono::seconds(limits::run_lease_s + 1));
  const auto expiry = send(RunCommand{by(world.lotse), run.id, run_op::Expire{}});
  const auto finish = send(RunCommand{by(world.lotse), run.id, run_op::Finish{FinishBody{}}});
  ActorTest::run();
  EXPECT_EQ(status_of(**expiry), 200);
  EXPECT_EQ(refusal_of(**finish), (Refusal{Code::conflict, Reason::run_state}));
}

TEST_F(RunOwner, AFinishThatCameFirstStands) {
  const cleat::Run run = started();
  clock->advance(std::chrono::seconds(limits::run_lease_s + 1));
  const auto finish = send(RunCommand{by(world.lotse), run.id, run_op::Finish{FinishBody{}}});
  const auto expiry = send(RunCommand{by(world.lotse), run.id, run_op::Expire{}});
  ActorTest::run();
  EXPECT_EQ(status_of(**finish), 200);
  EXPECT_EQ(refusal_of(**expiry), (Refusal{Code::conflict, Reason::run_state}));
}

TEST_F(RunOwner, OutOfTwoFirstReportsOneMakesTheRow) {
  started();
  const auto first = send(ReportSession{by(world.lotse), thread().id, ReportBody{"ref", {}, false, false}});
  const auto second = send(ReportSession{by(world.lotse), thread().id, ReportBody{"ref", {}, false, false}});
  run();
  EXPECT_EQ(status_of(**first), 200);
  EXPECT_EQ(refusal_of(**second).code, Code::version_conflict);
  EXPECT_NE(refusal_of(**second).current.find(current(thread())->id.str()), std::string::npos);
}

TEST_F(RunOwner, AStartAndASessionOfTheOwnerShareTheMemory) {
  // What a run decided is what the next bind of the same owner is decided on.
  started("ref");
  const AgentSession row = *current(thread());
  EXPECT_EQ(status_of(ask(bind(world.alex, thread(), "other", row.id))), 201);
  EXPECT_EQ(status_of(report({{}, "late-model", false, false}, row.version + 1)), 200);
  EXPECT_EQ(current(thread())->external_session_ref, "other");
}

} // namespace
} // namespace cleat::test
