/// What owners of containers and Runners ask: facts, where containers are, enrolments, transcripts, work to be done.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/pg/fleet_suite.hpp"

namespace cleat::test {

namespace {

class FleetReadSuite : public FleetTest {
protected:
  storage::FindTranscript read_as(const Principal& principal, const Binding& binding) {
    storage::FindTranscript question;
    question.session_id = binding.session_id;
    question.principal_id = principal.id;
    question.limit = 1000;
    return question;
  }

  storage::FindFleetWork work_at(Timestamp now) {
    storage::FindFleetWork question;
    question.now = now;
    question.deadline_s = 86'400;
    question.ask_after_ms = 5'000;
    question.node_id = fleet_.node.id;
    question.node_timeout_s = 60;
    question.limit = 100;
    return question;
  }
};

using Names = std::vector<std::string>;

} // namespace

TEST_P(FleetReadSuite, AContainerShowsWhatIsOpenInItOldestFirst) {
  const auto live = start(0);
  const auto stop = fleet_.stop(live.session_id);
  const auto other_stop = fleet_.stop(session_id(800));
  auto cleanup = with_failure(fleet_.fresh());
  cleanup.cleanup = Cleanup::claimed;
  cleanup.cleanup_deadline = at(5000);
  auto cleaned = with_failure(fleet_.fresh());
  cleaned.cleanup = Cleanup::done;
  cleaned.cleanup_deadline = at(5000);
  const auto orphan = fleet_.orphan_of(stop);
  const auto other_orphan = fleet_.orphan_of(stop);
  auto resolved = fleet_.orphan_of(stop);
  resolved.resolved_at = at(1);
  commit(fleet::InsertOperation{other_stop}, fleet::InsertOperation{stop}, fleet::InsertOperation{cleanup},
         fleet::InsertOperation{cleaned}, fleet::InsertOrphan{other_orphan}, fleet::InsertOrphan{orphan},
         fleet::InsertOrphan{resolved});
  const auto facts = load(0);
  EXPECT_EQ(facts.open, (std::vector{stop, other_stop, cleanup}));
  EXPECT_EQ(facts.orphans, (std::vector{orphan, other_orphan}));
  EXPECT_EQ(facts.live, live);
  EXPECT_TRUE(load(1).open.empty());
  EXPECT_TRUE(load(1).orphans.empty());
}

TEST_P(FleetReadSuite, ARunnerIsConnectedWhereItsNodeIsHeardOf) {
  EXPECT_FALSE(load(0).node) << "no node has this id";
  EXPECT_EQ(client_->beat(fleet_.node), (std::vector{storage::HeldRunner{fleet_.runner.id, 1}}));
  const auto node = load(0).node;
  ASSERT_TRUE(node);
  EXPECT_EQ(node->id, fleet_.node.id);
  EXPECT_EQ(node->address, fleet_.node.address);
  EXPECT_GT(node->heartbeat_at, at(0)) << "by the database's clock";

  auto question = about("box-0");
  question.node_timeout_s = -1; // whatever it says is too old
  EXPECT_FALSE(client_->load(question).node);

  auto away = next(fleet_.runner);
  away.node_id.reset();
  commit(fleet::UpdateRunner{away});
  EXPECT_FALSE(load(0).node);
  EXPECT_TRUE(client_->beat(fleet_.node).empty());
}

TEST_P(FleetReadSuite, ANodeThatComesAgainHasItsNewAddress) {
  client_->beat(fleet_.node);
  const auto first = load(0).node.value();
  auto moved_node = fleet_.node;
  moved_node.address = "127.0.0.1:4712";
  client_->beat(moved_node);
  EXPECT_EQ(load(0).node->address, "127.0.0.1:4712");
  EXPECT_GE(load(0).node->heartbeat_at, first.heartbeat_at);
}

TEST_P(FleetReadSuite, WhatIsNamedIsFoundInWhateverContainer) {
  const auto live = start(1);
  const auto operation = fleet_.fresh(2);
  const auto orphan = fleet_.orphan_of(operation);
  const AccountSecret secret{fleet_.account.id, "API_KEY", "sealed", at(1)};
  commit(fleet::InsertOperation{operation}, fleet::InsertOrphan{orphan}, fleet::PutSecret{secret});

  auto by_handle = about("box-0");
  by_handle.handle = operation.handle_digest;
  by_handle.reroute_of = operation.handle_digest;
  auto by_id = about("box-0");
  by_id.operation_id = operation.id;
  by_id.session_id = live.session_id;
  by_id.secret_name = "API_KEY";
  auto unknown = about("box-0");
  unknown.handle = unknown.reroute_of = digest(4000);
  unknown.session_id = session_id(4000);
  unknown.orphan_id = world_.ids.next();
  auto by_orphan = about("nowhere");
  by_orphan.orphan_id = orphan.id;
  by_orphan.session_id = live.session_id;
  by_orphan.secret_name = "OTHER";
  const auto answers = client_->load_at_once({by_handle, unknown, by_id, by_orphan});
  EXPECT_EQ(answers[0].operation, operation);
  EXPECT_EQ(answers[0].reroute_of, operation);
  EXPECT_FALSE(answers[0].binding);
  EXPECT_EQ(answers[1].container, fleet_.containers[0]);
  EXPECT_FALSE(answers[1].operation || answers[1].reroute_of || answers[1].binding || answers[1].orphan);
  EXPECT_EQ(answers[2].operation, operation);
  EXPECT_EQ(answers[2].binding, live);
  EXPECT_EQ(answers[2].secret, secret);
  EXPECT_FALSE(answers[3].container);
  EXPECT_EQ(answers[3].orphan, orphan);
  EXPECT_EQ(answers[3].binding, live);
  EXPECT_FALSE(answers[3].secret);
}

TEST_P(FleetReadSuite, ManyQuestionsAtOnceGetTheirOwnAnswers) {
  const auto live = start(1);
  std::vector<storage::LoadContainer> questions;
  for (int i = 0; i < 300; ++i)
    questions.push_back(about("box-" + std::to_string(i % 4)));
  const auto answers = client_->load_at_once(questions);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i].container, i % 4 == 3 ? std::nullopt : std::optional(fleet_.containers[i % 4]));
    EXPECT_EQ(answers[i].live, i % 4 == 1 ? std::optional(live) : std::nullopt);
  }
}

TEST_P(FleetReadSuite, AContainerIsLocatedByWhatHappensInIt) {
  const auto live = start(1);
  const auto operation = fleet_.fresh(2);
  const auto orphan = fleet_.orphan_of(operation);
  commit(fleet::InsertOperation{operation}, fleet::InsertOrphan{orphan}, fleet::DeleteContainer{"box-2", 1});
  storage::LocateContainer question;
  question.handle = operation.handle_digest;
  EXPECT_EQ(client_->find(question), "box-2") << "also when it is gone";
  question = {};
  question.operation_id = operation.id;
  EXPECT_EQ(client_->find(question), "box-2");
  question = {};
  question.session_id = live.session_id;
  EXPECT_EQ(client_->find(question), "box-1");
  question = {};
  question.orphan_id = orphan.id;
  EXPECT_EQ(client_->find(question), "box-2");
  question.orphan_id = world_.ids.next();
  EXPECT_EQ(client_->find(question), std::nullopt);
}

TEST_P(FleetReadSuite, AnEnrolmentIsLoadedByTokenOrByRunner) {
  const RunnerToken token{world_.ids.next(), fleet_.runner.id, "Example", digest(70), at(1), at(2), at(3)};
  commit(fleet::InsertRunnerToken{token});
  auto facts = client_->load(storage::LoadEnrolment{token.digest, {}});
  EXPECT_EQ(facts.token, token) << "whatever its state";
  EXPECT_EQ(facts.runner, fleet_.runner);
  EXPECT_EQ(facts.containers, fleet_.containers);
  EXPECT_FALSE(facts.node);

  client_->beat(fleet_.node);
  facts = client_->load(storage::LoadEnrolment{token.digest, fleet_.runner.id});
  EXPECT_FALSE(facts.token) << "asked for by its id";
  EXPECT_EQ(facts.runner, fleet_.runner);
  EXPECT_EQ(facts.containers, fleet_.containers);
  EXPECT_EQ(facts.node->address, fleet_.node.address);

  EXPECT_EQ(client_->load(storage::LoadEnrolment{digest(71), {}}), EnrolmentFacts{});
  EXPECT_EQ(client_->load(storage::LoadEnrolment{{}, world_.ids.next()}), EnrolmentFacts{});
}

TEST_P(FleetReadSuite, ATranscriptIsReadInParts) {
  const auto live = start(0);
  auto lines = lines_of(live.session_id, 0, {"one", "two", "three"});
  const auto typed = lines_of(live.session_id, 3, {"four"}, Direction::in);
  lines.insert(lines.end(), typed.begin(), typed.end());
  auto counted = next(live);
  counted.transcript_through = 4;
  commit(fleet::UpdateBinding{counted}, fleet::AppendTranscript{lines});

  auto question = read_as(world_.sam, live);
  question.after = 1;
  question.limit = 2;
  const auto found = client_->find(question);
  EXPECT_TRUE(found.visible);
  EXPECT_TRUE(found.live);
  EXPECT_EQ(found.lifetime, live.operation_id);
  EXPECT_EQ(found.through, 4);
  EXPECT_EQ(found.lines, (std::vector{lines[1], lines[2]}));
  question.after = 4;
  EXPECT_TRUE(client_->find(question).visible);
  EXPECT_TRUE(client_->find(question).lines.empty());
  question.after = 0;
  question.only_input = true;
  EXPECT_EQ(client_->find(question).lines, typed);
}

TEST_P(FleetReadSuite, OnlyTheActorOfALiveBindingReadsATranscript) {
  const auto live = start(0);
  commit(fleet::AppendTranscript{lines_of(live.session_id, 0, {"one"})});
  EXPECT_EQ(client_->find(read_as(world_.sam, live)).lines.size(), 1U);
  EXPECT_FALSE(client_->find(read_as(world_.alex, live)).visible);
  EXPECT_TRUE(client_->find(read_as(world_.alex, live)).lines.empty());
  auto unknown = live;
  unknown.session_id = session_id(4000);
  EXPECT_FALSE(client_->find(read_as(world_.sam, unknown)).visible);

  auto account = next(fleet_.account);
  account.actor_id = world_.alex.id;
  commit(fleet::UpdateAccount{account});
  EXPECT_FALSE(client_->find(read_as(world_.sam, live)).visible) << "the account has another actor now";
  EXPECT_FALSE(client_->find(read_as(world_.alex, live)).visible) << "the binding is the old one's";
  storage::FindTranscript question = read_as(world_.sam, live);
  question.principal_id.reset();
  EXPECT_TRUE(client_->find(question).visible) << "the server itself asks";
}

TEST_P(FleetReadSuite, ALifetimeThatIsNamedIsReadToItsEnd) {
  const auto live = start(0);
  commit(fleet::AppendTranscript{lines_of(live.session_id, 0, {"one"})});
  const auto released = moved(live, BindingState::released);
  commit(fleet::UpdateBinding{released});
  auto question = read_as(world_.sam, live);
  EXPECT_FALSE(client_->find(question).visible);
  question.lifetime = world_.ids.next();
  EXPECT_FALSE(client_->find(question).visible);
  question.lifetime = live.operation_id;
  const auto found = client_->find(question);
  EXPECT_TRUE(found.visible);
  EXPECT_FALSE(found.live);
  EXPECT_EQ(found.lines.size(), 1U);

  auto resumed = moved(released, BindingState::live);
  resumed.operation_id = world_.ids.next();
  commit(fleet::UpdateBinding{resumed});
  EXPECT_EQ(client_->find(question).lifetime, resumed.operation_id) << "who asks sees that another has begun";
}

TEST_P(FleetReadSuite, ATranscriptOfAnEarlierAttemptIsClosed) {
  const auto live = start(0);
  auto question = read_as(world_.sam, live);
  question.lifetime = live.operation_id;
  ASSERT_TRUE(client_->find(question).visible);
  commit(enrol());
  EXPECT_FALSE(client_->find(question).visible);
}

TEST_P(FleetReadSuite, ATranscriptIsClosedWithItsContainer) {
  const auto live = start(0);
  commit(fleet::UpdateBinding{moved(live, BindingState::released)}, fleet::DeleteContainer{"box-0", 1});
  auto question = read_as(world_.sam, live);
  question.lifetime = live.operation_id;
  EXPECT_FALSE(client_->find(question).visible);
  Account other{world_.ids.next(), "Another account", world_.sam.id, at(1)};
  auto anew = fleet_.containers[0];
  anew.id = world_.ids.next();
  anew.account_id = other.id;
  commit(fleet::InsertAccount{other}, fleet::InsertContainer{anew});
  EXPECT_FALSE(client_->find(question).visible) << "a container of the same name and another account";
}

TEST_P(FleetReadSuite, OperationsAreLookedAfterWhenTheirTimeHasCome) {
  const auto asked = fleet_.fresh(0);
  auto late = fleet_.fresh(1);
  late.dispatched_at = at(-1);
  auto cleanup = with_failure(fleet_.fresh(2));
  cleanup.cleanup = Cleanup::claimed;
  cleanup.cleanup_deadline = at(86'400'000'000);
  commit(fleet::InsertOperation{asked}, fleet::InsertOperation{late}, fleet::InsertOperation{cleanup});
  const auto names = [&](Timestamp now) { return client_->find(work_at(now)).containers; };
  EXPECT_EQ(names(at(4'999'998)), Names{});
  EXPECT_EQ(names(at(4'999'999)), Names{"box-1"}) << "to be asked about";
  EXPECT_EQ(names(at(5'002'001)), (Names{"box-1", "box-0"})) << "the oldest first";
  EXPECT_EQ(names(at(86'399'999'999)), (Names{"box-1", "box-0"})) << "one is past its deadline";
  EXPECT_EQ(names(at(86'400'000'000)), (Names{"box-1", "box-2", "box-0"})) << "the most urgent first";
  auto one = work_at(at(86'400'000'000));
  one.limit = 1;
  EXPECT_EQ(client_->find(one).containers, Names{"box-1"});

  auto elsewhere = work_at(at(86'399'999'998));
  elsewhere.node_id = world_.ids.next();
  EXPECT_EQ(client_->find(elsewhere).containers, Names{}) << "asked about by the node that holds the Runner";
  elsewhere.now = at(86'400'000'000);
  EXPECT_EQ(client_->find(elsewhere).containers, (Names{"box-1", "box-2"}));
}

TEST_P(FleetReadSuite, WhatOperatorsWatchIsCounted) {
  const auto operation = fleet_.fresh(0);
  auto resolved = fleet_.orphan_of(operation);
  resolved.resolved_at = at(1);
  commit(fleet::InsertOperation{operation}, fleet::InsertOperation{moved(fleet_.fresh(1), OperationState::dispatched)},
         fleet::InsertOperation{with_failure(fleet_.fresh(2))}, fleet::InsertOrphan{fleet_.orphan_of(operation)},
         fleet::InsertOrphan{resolved});
  auto work = client_->find(work_at(at(0)));
  EXPECT_EQ(work.in_flight, 2);
  EXPECT_EQ(work.open_orphans, 1);
  EXPECT_EQ(work.connected_runners, 0);
  client_->beat(fleet_.node);
  EXPECT_EQ(client_->find(work_at(at(0))).connected_runners, 1);
}

INSTANTIATE_TEST_SUITE_P(Storage, FleetReadSuite, testing::Values(BackendKind::memory, BackendKind::postgres));

} // namespace cleat::test
