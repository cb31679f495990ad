#include <gtest/gtest.h>

#include "protocol/render.hpp"
#include "protocol/render_fleet.hpp"
#include "tests/unit/fleet_world.hpp"

/// Runners, their tokens and containers (spec 05 "Surface").
namespace cleat::unit {
namespace {

const FleetWorld world;

/// Nobody has the name of the new container yet.
DirectoryFacts for_a_container() {
  DirectoryFacts facts = world.all();
  facts.container.reset();
  return facts;
}

op::CreateContainer create_container() {
  return {ContainerBody{"box", world.account.id, world.runner.id}};
}

std::vector<fleet::Write> writes_of(const Decision& decision) {
  std::vector<fleet::Write> writes;
  for (const RowWrite& row : decision.rows)
    writes.push_back(std::get<fleet::Write>(row));
  return writes;
}

TEST(FleetRunners, CreateARunner) {
  const Call call(world.owner);
  const Decision decision = decision_of(decide(op::CreateRunner{NameBody{"Host"}}, {}, call));
  const auto writes = writes_of(decision);
  ASSERT_EQ(writes.size(), 1U);
  const Runner row = std::get<fleet::InsertRunner>(writes[0]).row;
  EXPECT_TRUE(is_new(row.id));
  EXPECT_EQ(row.name, "Host");
  EXPECT_EQ(row.created_at, noon);
  EXPECT_EQ(row.version, 1);
  EXPECT_EQ(row.enrollment_revision, 0);
  EXPECT_EQ(decision.reply, (Reply{201, render::runner({row, false}), {}, false}));
  EXPECT_EQ(decision.audit.at(0).action, "runner.create");
  EXPECT_EQ(decision.audit.at(0).resource_id, row.id);
}

TEST(FleetRunners, ListsAreRead) {
  const Call call(world.owner);
  const PageRange range{7, {}};
  EXPECT_EQ(list_of(decide(op::ListRunners{range}, {}, call)).query, PageQuery(RunnersPage{range}));
  EXPECT_EQ(list_of(decide(op::ListRunnerTokens{world.runner.id, range}, world.all(), call)).query,
            PageQuery(RunnerTokensPage{world.runner.id, range}));
  const OrphansPage orphans{true, range};
  const auto list = list_of(decide(op::ListOrphans{orphans}, {}, call));
  EXPECT_EQ(list.query, PageQuery(orphans));
  EXPECT_EQ(list.limit, 7);
}

TEST(FleetRunners, ATokenShowsItsSecretOnce) {
  Call call(world.owner);
  const rules::Secret secret{"s3cret", sha256("s3cret"), {}};
  const Timestamp later = noon + std::chrono::hours{1};
  const op::CreateRunnerToken create{world.runner.id, RunnerTokenBody{"host", later}};
  const Decision decision = decision_of(decide(create, world.all(), call.with_key(), secret));
  const RunnerToken row = std::get<fleet::InsertRunnerToken>(writes_of(decision).at(0)).row;
  EXPECT_TRUE(is_new(row.id));
  EXPECT_EQ(row, (RunnerToken{row.id, world.runner.id, "host", secret.digest, noon, later, {}}));
  EXPECT_EQ(decision.reply, (Reply{201, render::runner_token(row, "s3cret"), {}, false}));
  EXPECT_EQ(decision.idempotency->reply, (Reply{201, render::runner_token(row), {}, false}));
  EXPECT_EQ(decision.audit.at(0).action, "runner_token.create");
  EXPECT_EQ(decision.audit.at(0).resource_id, world.runner.id);
  const Call plain(world.owner);
  EXPECT_EQ(
    refusal_of(decide(op::CreateRunnerToken{world.runner.id, RunnerTokenBody{"host", noon}}, world.all(), plain)),
    invalid({{"/expires_at", FieldCode::out_of_range}}));
}

TEST(FleetRunners, RevokeAToken) {
  const Call call(world.owner);
  const op::RevokeRunnerToken revoke{world.runner.id, world.token.id};
  const Decision decision = decision_of(decide(revoke, world.all(), call));
  EXPECT_EQ(writes_of(decision), (std::vector<fleet::Write>{fleet::RevokeRunnerToken{world.token.id, noon}}));
  EXPECT_EQ(decision.reply, (Reply{204, "", {}, false}));
  EXPECT_EQ(decision.audit.at(0).action, "runner_token.revoke");
  DirectoryFacts facts = world.all();
  facts.runner_token->revoked_at = noon;
  EXPECT_EQ(reply_of(decide(revoke, facts, call)), (Reply{204, "", {}, false})) << "twice changes nothing";
  facts.runner_token->runner_id = id_of(1);
  EXPECT_EQ(refusal_of(decide(revoke, facts, call)), denied(Code::not_found)) << "the token of another Runner";
  facts.runner_token.reset();
  EXPECT_EQ(refusal_of(decide(revoke, facts, call)), denied(Code::not_found));
}

TEST(FleetRunners, AContainerOfARunnerThatHasNeverEnrolled) {
  Call call(world.owner);
  const Decision decision = decision_of(decide(create_container(), for_a_container(), call.with_key()));
  const auto writes = writes_of(decision);
  ASSERT_EQ(writes.size(), 2U);
  Runner runner = world.runner;
  runner.version += 1;
  EXPECT_EQ(writes[0], fleet::Write(fleet::UpdateRunner{runner})) << "an enrolment meanwhile knows the container";
  const Container row = std::get<fleet::InsertContainer>(writes[1]).row;
  EXPECT_TRUE(is_new(row.id));
  EXPECT_EQ(row, (Container{row.id, "box", world.account.id, world.runner.id, {}, noon, 1}));
  EXPECT_EQ(decision.reply, (Reply{201, render::container({row, world.account, false, {}, {}}, {}), {}, false}));
  EXPECT_EQ(decision.idempotency->reply, decision.reply);
  EXPECT_EQ(decision.audit.at(0).action, "container.create");
  EXPECT_EQ(decision.audit.at(0).resource_kind, "container");
  EXPECT_EQ(decision.audit.at(0).resource_id, row.id);
}

TEST(FleetRunners, AContainerJoinsTheEnrolmentInForce) {
  const Call call(world.owner);
  DirectoryFacts facts = for_a_container();
  facts.runner->enrollment_revision = 3;
  facts.connected = true;
  const Decision decision = decision_of(decide(create_container(), facts, call));
  const auto writes = writes_of(decision);
  ASSERT_EQ(writes.size(), 3U);
  const Container row = std::get<fleet::InsertContainer>(writes[1]).row;
  const ContainerAttempt attempt = std::get<fleet::InsertAttempt>(writes[2]).row;
  EXPECT_EQ(row.attempt_id, attempt.id);
  EXPECT_TRUE(is_new(attempt.id));
  EXPECT_NE(attempt.id, row.id);
  EXPECT_EQ(attempt, (ContainerAttempt{attempt.id, "box", world.runner.id, 3, true, noon}));
  EXPECT_NE(decision.reply.body.find("\"idle\""), std::string::npos);
}

TEST(FleetRunners, AContainerNeedsAFreeNameAnAccountAndARunner) {
  const Call call(world.owner);
  EXPECT_EQ(refusal_of(decide(create_container(), world.all(), call)), denied(Code::conflict, Reason::name_taken));
  EXPECT_EQ(refusal_of(decide(create_container(), {}, call)),
            invalid({{"/account_id", FieldCode::unknown_reference}, {"/runner_id", FieldCode::unknown_reference}}));
}

TEST(FleetRunners, LookAtAContainer) {
  DirectoryFacts facts = world.all();
  facts.connected = true;
  facts.live.emplace();
  facts.live->session_id = "s";
  const op::GetContainer get{"box"};
  const ContainerRow row{world.container, world.account, true, facts.live, {}};
  const Call by_actor(world.sam);
  EXPECT_EQ(reply_of(decide(get, facts, by_actor)), (Reply{200, render::container(row, world.sam.id), {}, false}));
  EXPECT_NE(reply_of(decide(get, facts, by_actor)).body.find("session_id"), std::string::npos);
  const Call by_owner(world.owner);
  EXPECT_EQ(reply_of(decide(get, facts, by_owner)).body.find("session_id"), std::string::npos);
  facts.open.emplace_back();
  facts.open[0].container_attempt_id = id_of(50);
  facts.container->attempt_id = id_of(50);
  EXPECT_NE(reply_of(decide(get, facts, by_owner)).body.find("starting"), std::string::npos);
}

TEST(FleetRunners, ListsOfContainersAreOnesOwn) {
  const PageRange range{7, {}};
  const Call by_owner(world.owner);
  EXPECT_EQ(list_of(decide(op::ListContainers{range}, {}, by_owner)).query, PageQuery(ContainersPage{{}, range}));
  const Call by_sam(world.sam);
  EXPECT_EQ(list_of(decide(op::ListContainers{range}, {}, by_sam)).query,
            PageQuery(ContainersPage{world.sam.id, range}));
}

} // namespace
} // namespace cleat::unit
