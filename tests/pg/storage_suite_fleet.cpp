/// What decisions write around Runners: guards, unique indexes, foreign keys, checks, all or nothing.
#include <gtest/gtest.h>

#include "tests/pg/fleet_suite.hpp"

namespace cleat::test {

namespace {

using enum storage::CommitOutcome;

class FleetSuite : public FleetTest {
protected:
  /// The tables as their readers see them, to tell that a refused decision wrote nothing.
  ContainerFacts facts() { return load(0); }
};

} // namespace

TEST_P(FleetSuite, EverythingThatWasWrittenIsReadAgain) {
  const auto facts = load(1);
  EXPECT_EQ(facts.container, fleet_.containers[1]);
  EXPECT_EQ(facts.account, fleet_.account);
  EXPECT_EQ(facts.runner, fleet_.runner);
  EXPECT_FALSE(facts.live);
  EXPECT_FALSE(facts.account_is_live);
  EXPECT_TRUE(facts.open.empty());
}

TEST_P(FleetSuite, UpdatesNeedTheVersionBefore) {
  auto account = fleet_.account;
  auto runner = fleet_.runner;
  auto container = fleet_.containers[0];
  for (const std::int64_t version : {1, 3}) {
    account.version = runner.version = container.version = version;
    EXPECT_EQ(client_->commit(decide(fleet::UpdateAccount{account})), stale);
    EXPECT_EQ(client_->commit(decide(fleet::UpdateRunner{runner})), stale);
    EXPECT_EQ(client_->commit(decide(fleet::UpdateContainer{container})), stale);
  }
  account.version = runner.version = container.version = 2;
  account.actor_id = world_.alex.id;
  runner.epoch = 9;
  runner.node_id.reset();
  runner.disconnected_at = at(77);
  container.attempt_id.reset();
  ASSERT_EQ(client_->commit(
              decide(fleet::UpdateAccount{account}, fleet::UpdateRunner{runner}, fleet::UpdateContainer{container})),
            committed);
  EXPECT_EQ(facts().account, account);
  EXPECT_EQ(facts().runner, runner);
  EXPECT_EQ(facts().container, container);
}

TEST_P(FleetSuite, GuardsOfAccountsAndRunnersHold) {
  for (const auto& [row, id] :
       {std::pair(GuardedRow::account, fleet_.account.id), {GuardedRow::runner, fleet_.runner.id}}) {
    auto decision = decide(fleet::InsertOperation{fleet_.fresh()});
    decision.guards = {{row, id, 2}};
    EXPECT_EQ(client_->commit(decision), stale);
    decision.guards = {{row, world_.ids.next(), 1}};
    EXPECT_EQ(client_->commit(decision), stale);
    EXPECT_TRUE(facts().open.empty());
  }
  auto decision = decide(fleet::InsertOperation{fleet_.fresh()});
  decision.guards = {{GuardedRow::account, fleet_.account.id, 1}, {GuardedRow::runner, fleet_.runner.id, 1}};
  EXPECT_EQ(client_->commit(decision), committed);
}

TEST_P(FleetSuite, SecretsAreReplacedAndRemoved) {
  AccountSecret secret{fleet_.account.id, "API_KEY", std::string("\0\xff sealed", 9), at(1)};
  const auto stored = [&] { return client_->page<AccountSecret>(SecretsPage{fleet_.account.id, 10}); };
  ASSERT_EQ(client_->commit(decide(fleet::PutSecret{secret})), committed);
  secret.sealed += '\0';
  secret.updated_at = at(2);
  ASSERT_EQ(client_->commit(decide(fleet::PutSecret{secret})), committed);
  EXPECT_EQ(stored(), std::vector{secret});
  ASSERT_EQ(client_->commit(decide(fleet::DeleteSecret{secret.account_id, secret.name})), committed);
  EXPECT_TRUE(stored().empty());
  EXPECT_EQ(client_->commit(decide(fleet::DeleteSecret{secret.account_id, secret.name})), stale);
  secret.account_id = world_.ids.next();
  EXPECT_EQ(client_->commit(decide(fleet::PutSecret{secret})), failed);
}

TEST_P(FleetSuite, ARunnersTokenIsRevokedOnce) {
  const RunnerToken token{world_.ids.next(), fleet_.runner.id, "Example", digest(70), at(1), {}, {}};
  auto same_digest = token;
  same_digest.id = world_.ids.next();
  auto foreign = token;
  foreign.id = foreign.runner_id = world_.ids.next();
  foreign.digest = digest(71);
  ASSERT_EQ(client_->commit(decide(fleet::InsertRunnerToken{token})), committed);
  EXPECT_EQ(client_->commit(decide(fleet::InsertRunnerToken{same_digest})), lost_race);
  EXPECT_EQ(client_->commit(decide(fleet::InsertRunnerToken{foreign})), failed);
  EXPECT_EQ(client_->commit(decide(fleet::RevokeRunnerToken{token.id, at(5)})), committed);
  EXPECT_EQ(client_->commit(decide(fleet::RevokeRunnerToken{token.id, at(6)})), stale);
  EXPECT_EQ(client_->load(storage::LoadEnrolment{token.digest, {}}).token->revoked_at, at(5));
}

TEST_P(FleetSuite, ANameIsOneContainers) {
  auto container = fleet_.containers[0];
  container.id = world_.ids.next();
  EXPECT_EQ(client_->commit(decide(fleet::InsertContainer{container})), lost_race);
  container.name = std::string(64, 'x');
  EXPECT_EQ(client_->commit(decide(fleet::InsertContainer{container})), failed);
  container.name = std::string(63, 'x');
  container.account_id = world_.ids.next();
  EXPECT_EQ(client_->commit(decide(fleet::InsertContainer{container})), failed);
  container.account_id = fleet_.account.id;
  EXPECT_EQ(client_->commit(decide(fleet::InsertContainer{container})), committed);
}

TEST_P(FleetSuite, AContainerHasOneStartInFlight) {
  const auto first = fleet_.fresh();
  commit(fleet::InsertOperation{first});
  EXPECT_EQ(client_->commit(decide(fleet::InsertOperation{fleet_.fresh()})), lost_race);
  EXPECT_EQ(client_->commit(decide(fleet::InsertOperation{fleet_.resume(session_id(900))})), lost_race);
  EXPECT_EQ(client_->commit(decide(fleet::InsertOperation{fleet_.fresh(1)})), committed) << "another container";
  EXPECT_EQ(client_->commit(decide(fleet::InsertOperation{fleet_.stop(session_id(900))})), committed) << "no start";
  auto under_another_attempt = fleet_.fresh();
  under_another_attempt.container_attempt_id = world_.ids.next();
  EXPECT_EQ(client_->commit(decide(fleet::InsertOperation{under_another_attempt})), committed);

  const auto second = fleet_.fresh();
  ASSERT_EQ(client_->commit(decide(fleet::UpdateOperation{with_failure(first)}, fleet::InsertOperation{second})),
            committed)
    << "what ends is written before what begins";
  EXPECT_EQ(client_->commit(decide(fleet::UpdateOperation{moved(with_failure(first), OperationState::reserved)})),
            lost_race);
}

TEST_P(FleetSuite, ASessionHasOneStopInFlight) {
  const auto stop = fleet_.stop(session_id(1));
  commit(fleet::InsertOperation{stop});
  EXPECT_EQ(client_->commit(decide(fleet::InsertOperation{fleet_.stop(session_id(1))})), lost_race);
  EXPECT_EQ(client_->commit(decide(fleet::InsertOperation{fleet_.stop(session_id(2))})), committed);
  commit(fleet::UpdateOperation{moved(stop, OperationState::promoted)});
  EXPECT_EQ(client_->commit(decide(fleet::InsertOperation{fleet_.stop(session_id(1))})), committed);
}

TEST_P(FleetSuite, IdsAndHandlesAreUsedOnce) {
  const auto first = fleet_.fresh();
  commit(fleet::InsertOperation{with_failure(first)});
  const auto with = [&](auto member) {
    auto other = fleet_.fresh(1);
    other.*member = first.*member;
    return client_->commit(decide(fleet::InsertOperation{other}));
  };
  EXPECT_EQ(with(&Operation::id), lost_race);
  EXPECT_EQ(with(&Operation::relay_request_id), lost_race);
  EXPECT_EQ(with(&Operation::fresh_session_id), lost_race);
  EXPECT_EQ(with(&Operation::handle_digest), lost_race);
}

TEST_P(FleetSuite, AnOperationChangesAsItWasSeenAndStaysWhatItIs) {
  const auto first = fleet_.fresh();
  commit(fleet::InsertOperation{first});
  auto dispatched = moved(first, OperationState::dispatched);
  dispatched.reconciling = true;
  dispatched.journal_id = world_.ids.next();
  dispatched.handle_digest = digest(500);
  for (const auto member :
       {&Operation::account_id, &Operation::actor_id, &Operation::runner_id, &Operation::container_attempt_id}) {
    auto foreign = dispatched;
    foreign.*member = world_.ids.next();
    EXPECT_EQ(client_->commit(decide(fleet::UpdateOperation{foreign})), stale);
  }
  auto elsewhere = dispatched;
  elsewhere.container_name = "box-1";
  EXPECT_EQ(client_->commit(decide(fleet::UpdateOperation{elsewhere})), stale);
  commit(fleet::UpdateOperation{dispatched});
  EXPECT_EQ(facts().open, std::vector{dispatched});
  EXPECT_EQ(client_->commit(decide(fleet::UpdateOperation{dispatched})), stale);
}

TEST_P(FleetSuite, APromotionMakesPublicWhatWasReserved) {
  const auto operation = fleet_.fresh();
  commit(fleet::InsertOperation{operation});
  auto promoted = moved(operation, OperationState::promoted);
  promoted.session_id = session_id(999);
  EXPECT_EQ(client_->commit(decide(fleet::UpdateOperation{promoted})), failed) << "another id than the derived one";
  promoted.session_id.reset();
  EXPECT_EQ(client_->commit(decide(fleet::UpdateOperation{promoted})), failed);
  promoted.session_id = operation.fresh_session_id;
  const auto binding = fleet_.binding_of(operation);
  commit(fleet::UpdateOperation{promoted}, fleet::InsertBinding{binding});
  EXPECT_EQ(facts().live, binding);
  EXPECT_TRUE(facts().open.empty());
  EXPECT_TRUE(load(1).account_is_live) << "the account's, in another container";
}

TEST_P(FleetSuite, AContainerHasOneLiveBinding) {
  const auto first = start(0);
  auto second = fleet_.binding_of(fleet_.fresh());
  EXPECT_EQ(client_->commit(decide(fleet::InsertBinding{second})), lost_race);
  auto same_session = first;
  same_session.container_name = "box-1";
  EXPECT_EQ(client_->commit(decide(fleet::InsertBinding{same_session})), lost_race);

  commit(fleet::UpdateBinding{moved(first, BindingState::released)}, fleet::InsertBinding{second});
  EXPECT_EQ(facts().live, second);
  const auto again = moved(moved(first, BindingState::released), BindingState::live);
  EXPECT_EQ(client_->commit(decide(fleet::UpdateBinding{again})), lost_race);
}

TEST_P(FleetSuite, ABindingStaysItsOwners) {
  const auto live = start(0);
  for (const auto member : {&Binding::account_id, &Binding::actor_id}) {
    auto foreign = next(live);
    foreign.*member = world_.alex.id;
    EXPECT_EQ(client_->commit(decide(fleet::UpdateBinding{foreign})), stale);
  }
  auto elsewhere = next(live);
  elsewhere.container_name = "box-1";
  EXPECT_EQ(client_->commit(decide(fleet::UpdateBinding{elsewhere})), stale);
  EXPECT_EQ(client_->commit(decide(fleet::UpdateBinding{live})), stale);

  auto relayed = next(live);
  relayed.relayed_through = 4;
  relayed.transcript_through = 6;
  relayed.input_through = 5;
  relayed.operation_id = world_.ids.next();
  relayed.container_attempt_id = world_.ids.next();
  commit(fleet::UpdateBinding{relayed});
  EXPECT_EQ(facts().live, relayed);
}

TEST_P(FleetSuite, TranscriptsTakeEachPlaceOnce) {
  const auto live = start(0);
  const auto lines = lines_of(live.session_id, 0, {"one", std::string("t\0w\xff", 4), ""});
  commit(fleet::AppendTranscript{lines});
  EXPECT_EQ(transcript(live.session_id), lines);
  EXPECT_EQ(client_->commit(decide(fleet::AppendTranscript{lines_of(live.session_id, 2, {"again", "four"})})),
            lost_race);
  EXPECT_EQ(transcript(live.session_id), lines) << "all or nothing";
  auto end = lines_of(live.session_id, 3, {"text"});
  end[0].exit_code = 1;
  EXPECT_EQ(client_->commit(decide(fleet::AppendTranscript{end})), failed) << "the end has no text";
  end[0].line.clear();
  EXPECT_EQ(client_->commit(decide(fleet::AppendTranscript{end})), committed);
}

TEST_P(FleetSuite, AnOrphanIsResolvedOnce) {
  const auto orphan = fleet_.orphan_of(fleet_.fresh());
  commit(fleet::InsertOrphan{orphan});
  EXPECT_EQ(facts().orphans, std::vector{orphan});
  auto resolved = next(orphan);
  resolved.resolved_by = world_.alex.id;
  EXPECT_EQ(client_->commit(decide(fleet::UpdateOrphan{resolved})), failed) << "by whom and not when";
  resolved.resolved_at = at(9);
  commit(fleet::UpdateOrphan{resolved});
  EXPECT_TRUE(facts().orphans.empty());
  EXPECT_EQ(client_->commit(decide(fleet::UpdateOrphan{resolved})), stale);
  EXPECT_EQ(client_->commit(decide(fleet::InsertOrphan{orphan})), lost_race);
}

TEST_P(FleetSuite, ANewEnrolmentEndsWhatWasBefore) {
  const auto live = start(0);
  const auto in_flight = fleet_.fresh(1);
  commit(fleet::InsertOperation{in_flight});
  auto enrolment = enrol();
  enrolment.attempts.pop_back(); // the last container gets none
  ASSERT_EQ(client_->commit(decide(enrolment)), committed);

  for (std::size_t i = 0; i < fleet_.containers.size(); ++i) {
    auto expected = next(fleet_.containers[i]);
    expected.attempt_id = i < enrolment.attempts.size() ? std::optional(enrolment.attempts[i].id) : std::nullopt;
    EXPECT_EQ(load(i).container, expected);
    EXPECT_EQ(load(i).runner, enrolment.row);
  }
  EXPECT_FALSE(facts().live);
  EXPECT_EQ(binding(live.session_id), moved(live, BindingState::suspended));
  EXPECT_EQ(load(1).open, std::vector{in_flight}) << "what is in flight is asked about, not ended";
}

TEST_P(FleetSuite, AnEnrolmentIsDecidedOnTheContainersThatThereAre) {
  auto enrolment = enrol();
  enrolment.attempts.push_back({world_.ids.next(), "box-9", fleet_.runner.id, 2, true, at(50)});
  EXPECT_EQ(client_->commit(decide(enrolment)), stale) << "a container that is not the Runner's";
  EXPECT_EQ(facts().container, fleet_.containers[0]);
  enrolment = enrol();
  enrolment.row.version = 3;
  EXPECT_EQ(client_->commit(decide(enrolment)), stale);
  EXPECT_EQ(facts().container, fleet_.containers[0]);
}

TEST_P(FleetSuite, AnEnrolmentLeavesOtherRunnersAlone) {
  Fleet other(world_, 1);
  other.containers[0].name = other.attempts[0].container_name = "other";
  ASSERT_EQ(client_->commit(other.provision()), committed);
  const auto operation = other.fresh();
  const auto live = other.binding_of(operation);
  commit(fleet::InsertBinding{live});
  ASSERT_EQ(client_->commit(decide(enrol())), committed);
  EXPECT_EQ(load("other").container, other.containers[0]);
  EXPECT_EQ(load("other").live, live);
  auto second = other.attempts[0];
  second.id = world_.ids.next();
  EXPECT_EQ(client_->commit(decide(fleet::InsertAttempt{second})), committed) << "the current one ends first";
}

TEST_P(FleetSuite, AttemptsThatEndSuspendWhatIsStillLive) {
  const auto live = start(0);
  const auto other = start(1);
  auto closed = next(fleet_.containers[0]);
  closed.attempt_id.reset();
  commit(fleet::UpdateContainer{closed}, fleet::EndAttempts{closed.name});
  EXPECT_EQ(binding(live.session_id), moved(live, BindingState::suspended));
  EXPECT_EQ(binding(other.session_id), other);

  commit(fleet::EndAttempts{"box-1"}, fleet::UpdateBinding{moved(other, BindingState::released)});
  EXPECT_EQ(binding(other.session_id), moved(other, BindingState::released)) << "released before it could be suspended";
}

TEST_P(FleetSuite, ANewAttemptSuspendsNothing) {
  const auto live = start(0);
  const ContainerAttempt attempt{world_.ids.next(), "box-0", fleet_.runner.id, 1, true, at(90)};
  commit(fleet::InsertAttempt{attempt});
  EXPECT_EQ(facts().live, live);
}

TEST_P(FleetSuite, AContainerIsRemovedAsItWasSeen) {
  const auto& container = fleet_.containers[0];
  EXPECT_EQ(client_->commit(decide(fleet::DeleteContainer{container.name, 2})), stale);
  EXPECT_EQ(facts().container, container);
  commit(fleet::DeleteContainer{container.name, 1});
  EXPECT_FALSE(facts().container);
  EXPECT_EQ(client_->commit(decide(fleet::DeleteContainer{container.name, 1})), stale);
  EXPECT_EQ(client_->commit(decide(fleet::UpdateContainer{next(container)})), stale);

  auto anew = container;
  anew.id = world_.ids.next();
  anew.attempt_id.reset();
  const ContainerAttempt attempt{world_.ids.next(), anew.name, fleet_.runner.id, 1, true, at(90)};
  commit(fleet::InsertContainer{anew}, fleet::InsertAttempt{attempt});
  EXPECT_EQ(client_->commit(decide(fleet::UpdateContainer{next(container)})), stale)
    << "of the name, not the container";
}

TEST_P(FleetSuite, WhatIsUnsoundIsWrittenNeverAndNothingWithIt) {
  using Change = std::function<void(Operation&)>;
  const std::vector<Change> changes{
    [](Operation& row) { row.relay_request_id.reset(); },
    [](Operation& row) { row.fresh_session_id.reset(), row.resume_session_id = session_id(5); },
    [](Operation& row) { row.fresh_session_id = std::string(64, 'A'); },
    [](Operation& row) { row.stop_session_id = session_id(5); },
    [](Operation& row) { row.finished_at = at(1); },
    [](Operation& row) { row.state = OperationState::failed, row.finished_at = at(1); },
    [](Operation& row) { row.failure = OperationFailure{}; },
    [](Operation& row) { row.session_id = row.fresh_session_id; },
    [](Operation& row) { row.cleanup = Cleanup::claimed; },
    [](Operation& row) { row.dispatch = 0; },
    [&](Operation& row) { row.account_id = world_.ids.next(); },
    [&](Operation& row) { row.actor_id = world_.ids.next(); },
    [&](Operation& row) { row.runner_id = world_.ids.next(); },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    auto row = fleet_.fresh();
    changes[i](row);
    EXPECT_EQ(client_->commit(decide(fleet::UpdateContainer{next(fleet_.containers[0])}, fleet::InsertOperation{row})),
              failed)
      << "change " << i;
  }
  auto stop = fleet_.stop(session_id(1));
  stop.handle_digest = digest(1);
  EXPECT_EQ(client_->commit(decide(fleet::InsertOperation{stop})), failed);
  auto binding = fleet_.binding_of(fleet_.fresh());
  binding.released_at = at(1);
  EXPECT_EQ(client_->commit(decide(fleet::InsertBinding{binding})), failed);
  binding = fleet_.binding_of(fleet_.fresh());
  binding.session_id = "short";
  EXPECT_EQ(client_->commit(decide(fleet::InsertBinding{binding})), failed);
  EXPECT_EQ(facts().container, fleet_.containers[0]);
  EXPECT_TRUE(facts().open.empty());
}

INSTANTIATE_TEST_SUITE_P(Storage, FleetSuite, testing::Values(BackendKind::memory, BackendKind::postgres));

} // namespace cleat::test
