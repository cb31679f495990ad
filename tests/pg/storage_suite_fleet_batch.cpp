/// Many decisions about containers at once: they share transactions, and still each gets its own outcome.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "tests/pg/fleet_suite.hpp"

namespace cleat::test {

namespace {

using enum storage::CommitOutcome;

class FleetBatchSuite : public FleetTest {
protected:
  using Counts = std::map<storage::CommitOutcome, int>;

  Counts count(const std::vector<Decision>& decisions) {
    Counts counts;
    for (const auto outcome : client_->commit_at_once(decisions))
      ++counts[outcome];
    return counts;
  }

  /// A start as owners decide it.
  Decision start_of(const Operation& operation, const Container& container) {
    auto decision = decide(fleet::UpdateContainer{next(container)}, fleet::InsertOperation{operation});
    decision.guards = {{GuardedRow::account, fleet_.account.id, 1}};
    return decision;
  }
};

} // namespace

TEST_P(FleetBatchSuite, StartsInDifferentContainersShareATransaction) {
  Fleet many(world_, 200);
  for (std::size_t i = 0; i < many.containers.size(); ++i)
    many.containers[i].name = many.attempts[i].container_name = "many-" + std::to_string(i);
  ASSERT_EQ(client_->commit(many.provision()), committed);
  std::vector<Decision> decisions;
  std::vector<Operation> operations;
  for (std::size_t i = 0; i < many.containers.size(); ++i) {
    operations.push_back(many.fresh(i));
    decisions.push_back(
      decide(fleet::UpdateContainer{next(many.containers[i])}, fleet::InsertOperation{operations.back()}));
  }
  decisions[20].guards = {{GuardedRow::account, many.account.id, 2}};
  std::get<fleet::InsertOperation>(std::get<fleet::Write>(decisions[60].rows[1])).row.runner_id = world_.ids.next();
  std::get<fleet::InsertOperation>(std::get<fleet::Write>(decisions[90].rows[1])).row.handle_digest =
    operations[91].handle_digest;
  const auto outcomes = client_->commit_at_once(decisions);
  std::vector<storage::CommitOutcome> expected(decisions.size(), committed);
  expected[20] = stale;
  expected[60] = failed;
  expected[91] = lost_race;
  EXPECT_EQ(outcomes, expected);
  EXPECT_EQ(load("many-21").open, std::vector{operations[21]});
  EXPECT_TRUE(load("many-91").open.empty());
  EXPECT_EQ(load("many-91").container, many.containers[91]);
}

TEST_P(FleetBatchSuite, OneOfManyStartsOfAContainerWins) {
  std::vector<Decision> decisions;
  for (int i = 0; i < 40; ++i)
    decisions.push_back(start_of(fleet_.fresh(), fleet_.containers[0]));
  EXPECT_EQ(count(decisions), (Counts{{committed, 1}, {stale, 39}}));
  EXPECT_EQ(load(0).open.size(), 1U);
}

TEST_P(FleetBatchSuite, OneOfManyStartsWinsWithoutVersionsToo) {
  std::vector<Decision> decisions;
  for (int i = 0; i < 40; ++i)
    decisions.push_back(decide(fleet::InsertOperation{fleet_.fresh()}));
  EXPECT_EQ(count(decisions), (Counts{{committed, 1}, {lost_race, 39}}));
}

TEST_P(FleetBatchSuite, OneOfManyUpdatesOfEachRowWins) {
  const auto live = start(0);
  const auto operation = fleet_.fresh(1);
  const auto orphan = fleet_.orphan_of(operation);
  commit(fleet::InsertOperation{operation}, fleet::InsertOrphan{orphan});
  const std::vector<Decision> kinds{decide(fleet::UpdateAccount{next(fleet_.account)}),
                                    decide(fleet::UpdateRunner{next(fleet_.runner)}),
                                    decide(fleet::UpdateContainer{next(fleet_.containers[2])}),
                                    decide(fleet::UpdateOperation{moved(operation, OperationState::dispatched)}),
                                    decide(fleet::UpdateBinding{next(live)}),
                                    decide(fleet::UpdateOrphan{next(orphan)})};
  for (const auto& decision : kinds)
    EXPECT_EQ(count(std::vector<Decision>(8, decision)), (Counts{{committed, 1}, {stale, 7}}));
}

TEST_P(FleetBatchSuite, ALineOfATranscriptIsWrittenOnce) {
  const auto live = start(0);
  auto decision =
    decide(fleet::UpdateBinding{next(live)}, fleet::AppendTranscript{lines_of(live.session_id, 0, {"one", "two"})});
  EXPECT_EQ(count(std::vector<Decision>(8, decision)), (Counts{{committed, 1}, {stale, 7}}));
  decision = decide(fleet::AppendTranscript{lines_of(live.session_id, 2, {"three"})});
  EXPECT_EQ(count(std::vector<Decision>(8, decision)), (Counts{{committed, 1}, {lost_race, 7}}));
  EXPECT_EQ(transcript(live.session_id).size(), 3U);
}

TEST_P(FleetBatchSuite, AnEnrolmentBehindStartsCountsThem) {
  EXPECT_EQ(client_->commit_at_once({start_of(fleet_.fresh(0), fleet_.containers[0]),
                                     start_of(fleet_.fresh(1), fleet_.containers[1]), decide(enrol())}),
            (std::vector{committed, committed, committed}));
  EXPECT_EQ(load(0).container->version, 3);
}

TEST_P(FleetBatchSuite, AStartBehindAnEnrolmentComesAgain) {
  auto enrolment = enrol();
  enrolment.attempts.pop_back(); // the last container is changed without being named
  EXPECT_EQ(client_->commit_at_once({decide(enrolment), start_of(fleet_.fresh(0), fleet_.containers[0]),
                                     start_of(fleet_.fresh(2), fleet_.containers[2])}),
            (std::vector{committed, stale, stale}));
  EXPECT_TRUE(load(0).open.empty());
}

TEST_P(FleetBatchSuite, AnEnrolmentOfAThousandContainers) {
  Fleet many(world_, 1000);
  for (std::size_t i = 0; i < many.containers.size(); ++i)
    many.containers[i].name = many.attempts[i].container_name = "many-" + std::to_string(i);
  ASSERT_EQ(client_->commit(many.provision()), committed);
  fleet::Enrol enrolment{next(many.runner), {}};
  for (const auto& container : many.containers)
    enrolment.attempts.push_back({world_.ids.next(), container.name, many.runner.id, 2, true, at(60)});
  std::vector<Decision> decisions{decide(enrolment)};
  for (std::size_t i = 0; i < 50; ++i)
    decisions.push_back(decide(fleet::UpdateContainer{next(many.containers[i])}));
  const auto outcomes = client_->commit_at_once(decisions);
  EXPECT_EQ(outcomes.front(), committed);
  EXPECT_EQ(std::ranges::count(outcomes, stale), 50);
  EXPECT_EQ(load("many-999").container->attempt_id, enrolment.attempts[999].id);
  EXPECT_EQ(load("many-999").container->version, 2);
}

TEST_P(FleetBatchSuite, AGuardOfAnAccountIsOfBeforeOrComesAgain) {
  std::vector<Decision> decisions{start_of(fleet_.fresh(0), fleet_.containers[0]),
                                  decide(fleet::UpdateAccount{next(fleet_.account)}),
                                  start_of(fleet_.fresh(1), fleet_.containers[1])};
  EXPECT_EQ(client_->commit_at_once(decisions), (std::vector{committed, committed, stale}));
}

INSTANTIATE_TEST_SUITE_P(Storage, FleetBatchSuite, testing::Values(BackendKind::memory, BackendKind::postgres));

} // namespace cleat::test
