#include <caf/typed_event_based_actor.hpp>

#include "tests/actor/hub_fixture.hpp"

/// Enrolments are decided one after the other, and the database and the connections agree in the end, whatever fails.
namespace cleat::test {
namespace {

using namespace std::chrono_literals;
using storage::CommitOutcome;

class Hub : public HubTest {};

TEST_F(Hub, SaysThatItsServerIsThereBeforeItLetsAnybodyIn) {
  held->hold = true;
  const auto early = connect(hub);
  run();
  ASSERT_EQ(held->waiting.size(), 1U) << "the heartbeat; nothing was asked about the Runner";
  EXPECT_TRUE(tables->fleet().nodes.contains(here.id));
  EXPECT_FALSE(early.told->admitted);
  held->hold = false;
  release_one();
  EXPECT_EQ(early.told->enrolled().epoch, 1);
}

TEST_F(Hub, LetsNobodyInWhileTheDatabaseIsAway) {
  tables->set_unavailable(true);
  const auto early = connect(hub);
  run();
  EXPECT_EQ(early.told->refused(), "unavailable");
  tables->set_unavailable(false);
  beat();
  admitted(hub);
  tables->set_unavailable(true);
  const auto late = connect(hub);
  run();
  EXPECT_EQ(late.told->refused(), "unavailable");
}

TEST_F(Hub, TellsTheRunnerItsContainersAndTheDatabaseWhereItIs) {
  const auto connection = admitted(hub);
  const auto& answer = connection.told->enrolled();
  ASSERT_EQ(answer.containers.size(), 2U);
  EXPECT_EQ(answer.containers[0].container_name, "atlas");
  EXPECT_EQ(answer.containers[0].attempt_id, tables->fleet().containers.at("atlas").attempt_id->str());
  EXPECT_EQ(connection.told->admitted->runner_id, runner.id);
  EXPECT_EQ(connection.told->admitted->epoch, 1);
  EXPECT_EQ(row().node_id, here.id);
  EXPECT_EQ(row().enrollment_secret, sha256(answer.secret));
  EXPECT_EQ(row().enrollment_revision, connection.told->admitted->enrollment_revision);
}

TEST_F(Hub, RefusesAnUnknownToken) {
  const auto stranger = connect(hub, "", "made up");
  run();
  EXPECT_EQ(stranger.told->refused(), "unauthorized");
  EXPECT_EQ(row().epoch, 0);
}

TEST_F(Hub, TheSecondProcessWithOneTokenTakesOver) {
  const auto first = admitted(hub);
  const auto second = admitted(hub);
  EXPECT_EQ(first.told->over, true);
  EXPECT_FALSE(second.told->over);
  EXPECT_EQ(deliver(hub, 1, here), Handed::no);
  EXPECT_EQ(deliver(hub, 2, here), Handed::yes);
  EXPECT_TRUE(first.told->delivered.empty());
  ASSERT_EQ(second.told->delivered.size(), 1U);
  EXPECT_EQ(second.told->delivered[0].envelopes, std::vector<std::string>{"envelope"});
  const auto again = connect(hub, first.told->enrolled().secret);
  run();
  EXPECT_EQ(again.told->refused(), "superseded");
}

TEST_F(Hub, ANewSocketOfTheSameEnrolmentReplacesTheOldOne) {
  const auto first = admitted(hub);
  const auto second = admitted(hub, first.told->enrolled().secret);
  EXPECT_TRUE(second.told->enrolled().continued);
  EXPECT_EQ(first.told->over, false) << "closed, and not told that another process has enrolled";
  EXPECT_EQ(row().enrollment_revision, 1);
  caf::anon_send(hub, actors::RunnerLeft{runner.id, 1});
  run();
  EXPECT_EQ(row().node_id, here.id) << "the old socket's end is not the Runner's";
}

TEST_F(Hub, DecidesAboutOneRunnerOneAfterTheOther) {
  run();
  std::vector<FakeConnection> all;
  for (int i = 0; i < 5; ++i)
    all.push_back(connect(hub));
  run();
  std::vector<std::int64_t> epochs;
  for (const auto& connection : all)
    epochs.push_back(connection.told->enrolled().epoch);
  EXPECT_EQ(epochs, (std::vector<std::int64_t>{1, 2, 3, 4, 5})) << "with two retries, five at once cannot all get in";
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_TRUE(all[i].told->over);
  EXPECT_FALSE(all[4].told->over);
}

TEST_F(Hub, DecidesAgainWhenTheRunnerHasChanged) {
  run();
  tables->script({{CommitOutcome::stale}, {CommitOutcome::lost_race}});
  EXPECT_EQ(admitted(hub).told->enrolled().epoch, 1);
  tables->script({{CommitOutcome::stale}, {CommitOutcome::stale}, {CommitOutcome::stale}});
  const auto unlucky = connect(hub);
  run();
  EXPECT_EQ(unlucky.told->refused(), "unavailable") << "database.tx_retry_max is 2 here";
}

TEST_F(Hub, AnUnknownOutcomeIsNoAdmission) {
  run();
  tables->script({{CommitOutcome::unknown, true}});
  const auto connection = connect(hub);
  run();
  EXPECT_EQ(connection.told->refused(), "unavailable");
  EXPECT_EQ(row().node_id, here.id) << "it was committed, which the hub cannot know";
  EXPECT_EQ(deliver(hub, 1, here), Handed::no);
  beat();
  EXPECT_FALSE(row().node_id);
}

TEST_F(Hub, TellsTheDatabaseThatASocketHasGone) {
  const auto connection = admitted(hub);
  clock->advance(7s);
  caf::anon_send(hub, actors::RunnerLeft{runner.id, 1});
  run();
  EXPECT_FALSE(row().node_id);
  EXPECT_EQ(row().disconnected_at, clock->now());
  EXPECT_EQ(deliver(hub, 1, here), Handed::no);
}

TEST_F(Hub, TellsItLaterWhenTheDatabaseIsAway) {
  admitted(hub);
  tables->set_unavailable(true);
  caf::anon_send(hub, actors::RunnerLeft{runner.id, 1});
  beat(3);
  tables->set_unavailable(false);
  EXPECT_EQ(row().node_id, here.id);
  beat();
  EXPECT_FALSE(row().node_id);
}

TEST_F(Hub, SeesAConnectionThatDies) {
  const auto connection = admitted(hub);
  caf::anon_send_exit(connection.handle, caf::exit_reason::kill);
  run();
  EXPECT_FALSE(row().node_id);
}

TEST_F(Hub, ClosesAConnectionWhoseRunnerIsElsewhere) {
  const auto other = spawn_hub_of(there);
  const auto first = admitted(hub);
  const auto second = admitted(other, first.told->enrolled().secret);
  EXPECT_EQ(row().node_id, there.id);
  EXPECT_FALSE(first.told->over);
  beat();
  EXPECT_EQ(first.told->over, false);
  EXPECT_EQ(row().node_id, there.id);
  EXPECT_FALSE(second.told->over);
  const auto third = admitted(hub);
  beat();
  EXPECT_EQ(second.told->over, true) << "another process has enrolled";
  EXPECT_FALSE(third.told->over);
  EXPECT_EQ(deliver(other, 2, there), Handed::no);
}

TEST_F(Hub, AnOldAnswerToAHeartbeatClosesNoNewConnection) {
  run();
  held->hold = true;
  beat();
  ASSERT_EQ(held->waiting.size(), 1U);
  held->hold = false; // what was looked up waits; the admission does not
  const auto connection = admitted(hub);
  release_one();
  EXPECT_FALSE(connection.told->over);
  beat(2);
  EXPECT_FALSE(connection.told->over);
  EXPECT_EQ(deliver(hub, 1, here), Handed::yes);
}

TEST_F(Hub, AnswersOfAHeartbeatEndNoAdmissionOnItsWay) {
  run();
  held->hold = true;
  const auto connection = connect(hub);
  run();
  ASSERT_EQ(held->waiting.size(), 1U); // LoadEnrolment
  release_one();
  EXPECT_EQ(connection.told->enrolled().epoch, 1);
  beat();
  ASSERT_EQ(held->waiting.size(), 1U);
  release_one();
  EXPECT_EQ(row().node_id, here.id);
}

TEST_F(Hub, SurvivesADatabaseThatIsAwayForManyHeartbeats) {
  const auto connection = admitted(hub);
  tables->set_unavailable(true);
  beat(20);
  tables->set_unavailable(false);
  beat(2);
  EXPECT_FALSE(connection.told->over);
  EXPECT_EQ(row().node_id, here.id);
  EXPECT_EQ(tables->fleet().nodes.at(here.id).heartbeat_at, clock->now());
}

TEST_F(Hub, PassesOnWhatIsForARunnerElsewhere) {
  run();
  EXPECT_EQ(deliver(hub, 1, there), Handed::no) << "without peers nothing has left";
  const auto peers = spawn_peers();
  caf::anon_send(hub, actors::UsePeers{peers.handle});
  EXPECT_EQ(deliver(hub, 1, there), Handed::yes);
  ASSERT_EQ(peers.delivered->size(), 1U);
  EXPECT_EQ(peers.delivered->at(0).node.address, there.address);
  EXPECT_EQ(deliver(hub, 1, here), Handed::no) << "what is not here is nowhere";
  EXPECT_EQ(peers.delivered->size(), 1U);
  admitted(hub);
  EXPECT_EQ(deliver(hub, 1, there), Handed::yes);
  EXPECT_EQ(peers.delivered->size(), 1U) << "what is here stays here";
}

TEST_F(Hub, TellsPeersOfMovedContainers) {
  const auto peers = spawn_peers();
  caf::anon_send(hub, ContainerMoved{"atlas"});
  caf::anon_send(hub, actors::UsePeers{peers.handle});
  caf::anon_send(hub, ContainerMoved{"borealis"});
  run();
  EXPECT_EQ(*peers.moved, std::vector<std::string>{"borealis"});
}

TEST_F(Hub, MarksItsRunnersDisconnectedWhenItEnds) {
  const auto connection = admitted(hub);
  caf::anon_send_exit(hub, caf::exit_reason::user_shutdown);
  run();
  EXPECT_EQ(connection.told->over, false);
  EXPECT_FALSE(row().node_id);
  EXPECT_TRUE(is_gone(hub));
}

TEST_F(Hub, EndsWithoutTheDatabaseAfterAWhile) {
  admitted(hub);
  held->hold = true;
  caf::anon_send_exit(hub, caf::exit_reason::user_shutdown);
  run();
  beat(9);
  EXPECT_FALSE(is_gone(hub)) << "nodes.timeout_s is 5";
  beat();
  EXPECT_TRUE(is_gone(hub));
}

TEST_F(Hub, LetsNobodyInWhileItEnds) {
  admitted(hub);
  held->hold = true;
  const auto on_its_way = connect(hub);
  run();
  caf::anon_send_exit(hub, caf::exit_reason::user_shutdown);
  const auto late = connect(hub);
  run();
  EXPECT_EQ(late.told->refused(), "unavailable");
  held->hold = false;
  while (!held->waiting.empty()) {
    release_one();
  }
  EXPECT_TRUE(on_its_way.told->over) << "admitted, and closed at once";
  EXPECT_FALSE(row().node_id);
  EXPECT_TRUE(is_gone(hub));
}

} // namespace
} // namespace cleat::test
