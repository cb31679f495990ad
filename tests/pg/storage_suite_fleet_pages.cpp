/// Lists of accounts, Runners, containers and orphans, and what provisioning is told about them.
#include <gtest/gtest.h>

#include "tests/pg/fleet_suite.hpp"

namespace cleat::test {

namespace {

class FleetPagesSuite : public FleetTest {
protected:
  static PageRange part(std::int64_t limit, std::optional<Id> after = {}) { return {limit, after}; }
};

} // namespace

TEST_P(FleetPagesSuite, AccountsAndTokensComeInParts) {
  std::vector<Account> accounts{fleet_.account};
  std::vector<RunnerToken> tokens;
  for (int i = 0; i < 3; ++i) {
    accounts.push_back({world_.ids.next(), "Another", std::nullopt, at(1)});
    tokens.push_back({world_.ids.next(), fleet_.runner.id, "Example", digest(70 + i), at(1), at(2), std::nullopt});
    commit(fleet::InsertAccount{accounts.back()}, fleet::InsertRunnerToken{tokens.back()});
  }
  EXPECT_EQ(client_->page<Account>(AccountsPage{part(2)}), (std::vector{accounts[0], accounts[1], accounts[2]}));
  EXPECT_EQ(client_->page<Account>(AccountsPage{part(2, accounts[1].id)}), (std::vector{accounts[2], accounts[3]}));
  EXPECT_EQ(client_->page<RunnerToken>(RunnerTokensPage{fleet_.runner.id, part(1)}),
            (std::vector{tokens[0], tokens[1]}));
  EXPECT_EQ(client_->page<RunnerToken>(RunnerTokensPage{fleet_.runner.id, part(5, tokens[1].id)}),
            std::vector{tokens[2]});
  EXPECT_TRUE(client_->page<RunnerToken>(RunnerTokensPage{world_.ids.next(), part(5)}).empty());
}

TEST_P(FleetPagesSuite, SecretsComeByName) {
  for (const char* name : {"b", "B", "a_1", "a1"})
    commit(fleet::PutSecret{{fleet_.account.id, name, "sealed", at(1)}});
  std::vector<std::string> names;
  for (const auto& row : client_->page<AccountSecret>(SecretsPage{fleet_.account.id, 2}))
    names.push_back(row.name);
  EXPECT_EQ(names, (std::vector<std::string>{"B", "a1", "a_1"}));
}

TEST_P(FleetPagesSuite, RunnersSayWhetherTheyAreConnected) {
  Runner other{world_.ids.next(), "Another Runner", at(20)};
  commit(fleet::InsertRunner{other});
  const auto runners = [&] { return client_->page<RunnerRow>(RunnersPage{part(5)}); };
  EXPECT_EQ(runners(), (std::vector<RunnerRow>{{fleet_.runner, false}, {other, false}}));
  client_->beat(fleet_.node);
  EXPECT_EQ(runners(), (std::vector<RunnerRow>{{fleet_.runner, true}, {other, false}}));
  EXPECT_EQ(std::get<std::vector<RunnerRow>>(client_->read(RunnersPage{part(1)}, -1).rows),
            (std::vector<RunnerRow>{{fleet_.runner, false}, {other, false}}));
}

TEST_P(FleetPagesSuite, ContainersComeWithWhatTheirStateIsMadeOf) {
  const auto live = start(0);
  const auto stop = fleet_.stop(live.session_id);
  const auto other_stop = fleet_.stop(session_id(800));
  auto cleanup = with_failure(fleet_.fresh(1));
  cleanup.cleanup = Cleanup::claimed;
  cleanup.cleanup_deadline = at(1);
  commit(fleet::InsertOperation{other_stop}, fleet::InsertOperation{stop}, fleet::InsertOperation{cleanup});
  client_->beat(fleet_.node);
  ContainersPage page{std::nullopt, part(1)};
  const ContainerRow first{fleet_.containers[0], fleet_.account, true, live, {stop, other_stop}};
  const ContainerRow second{fleet_.containers[1], fleet_.account, true, std::nullopt, {}};
  const ContainerRow third{fleet_.containers[2], fleet_.account, true, std::nullopt, {}};
  EXPECT_EQ(client_->page<ContainerRow>(page), (std::vector{first, second}));
  page.range.after = fleet_.containers[0].id;
  EXPECT_EQ(client_->page<ContainerRow>(page), (std::vector{second, third}));
  page.range = part(10);
  page.visible_to = world_.sam.id;
  EXPECT_EQ(client_->page<ContainerRow>(page), (std::vector{first, second, third}));
  page.visible_to = world_.alex.id;
  EXPECT_TRUE(client_->page<ContainerRow>(page).empty());
}

TEST_P(FleetPagesSuite, OrphansComeNewestFirst) {
  const auto operation = fleet_.fresh();
  std::vector<Orphan> orphans;
  for (int i = 0; i < 3; ++i) {
    orphans.push_back(fleet_.orphan_of(operation));
    if (i == 1)
      orphans.back().resolved_at = at(1);
    commit(fleet::InsertOrphan{orphans.back()});
  }
  EXPECT_EQ(client_->page<Orphan>(OrphansPage{std::nullopt, part(1)}), (std::vector{orphans[2], orphans[1]}));
  EXPECT_EQ(client_->page<Orphan>(OrphansPage{std::nullopt, part(5, orphans[1].id)}), std::vector{orphans[0]});
  EXPECT_EQ(client_->page<Orphan>(OrphansPage{true, part(5)}), std::vector{orphans[1]});
  EXPECT_EQ(client_->page<Orphan>(OrphansPage{false, part(5)}), (std::vector{orphans[2], orphans[0]}));
}

TEST_P(FleetPagesSuite, ProvisioningIsToldWhatAContainerBrings) {
  const auto live = start(0);
  const auto stop = fleet_.stop(live.session_id);
  commit(fleet::InsertOperation{stop});
  client_->beat(fleet_.node);
  storage::LoadDirectory question;
  question.actor_id = world_.alex.id;
  question.container_name = "box-0";
  question.node_timeout_s = 60;
  auto facts = client_->load(question).facts;
  EXPECT_EQ(facts.container, fleet_.containers[0]);
  EXPECT_EQ(facts.account, fleet_.account);
  EXPECT_EQ(facts.runner, fleet_.runner);
  EXPECT_EQ(facts.live, live);
  EXPECT_EQ(facts.open, std::vector{stop});
  EXPECT_TRUE(facts.connected);
  question.node_timeout_s = -1;
  EXPECT_FALSE(client_->load(question).facts.connected);
  question.container_name = "nowhere";
  EXPECT_EQ(client_->load(question).facts, DirectoryFacts{});
}

TEST_P(FleetPagesSuite, WhatIsNamedItselfCountsMoreThanWhatAContainerBrings) {
  const Account account{world_.ids.next(), "Another", std::nullopt, at(1)};
  const Runner runner{world_.ids.next(), "Another Runner", at(20)};
  const RunnerToken token{world_.ids.next(), runner.id, "Example", digest(70), at(1), at(2), at(3)};
  const AccountSecret secret{account.id, "API_KEY", "sealed", at(1)};
  const auto orphan = fleet_.orphan_of(fleet_.fresh());
  commit(fleet::InsertAccount{account}, fleet::InsertRunner{runner}, fleet::InsertRunnerToken{token},
         fleet::PutSecret{secret}, fleet::InsertOrphan{orphan});
  client_->beat(fleet_.node);
  storage::LoadDirectory question;
  question.actor_id = world_.alex.id;
  question.container_name = "box-0";
  question.account_id = account.id;
  question.secret_name = "API_KEY";
  question.runner_id = runner.id;
  question.runner_token_id = token.id;
  question.orphan_id = orphan.id;
  question.node_timeout_s = 60;
  const auto facts = client_->load(question).facts;
  EXPECT_EQ(facts.container, fleet_.containers[0]);
  EXPECT_EQ(facts.account, account);
  EXPECT_EQ(facts.secret, secret);
  EXPECT_EQ(facts.runner, runner);
  EXPECT_FALSE(facts.connected) << "of the Runner that is named";
  EXPECT_EQ(facts.runner_token, token);
  EXPECT_EQ(facts.orphan, orphan);
  question.account_id = question.runner_id = world_.ids.next();
  EXPECT_FALSE(client_->load(question).facts.account);
  EXPECT_FALSE(client_->load(question).facts.runner);
  EXPECT_FALSE(client_->load(question).facts.secret);
  question.account_id.reset();
  question.runner_id = fleet_.runner.id;
  EXPECT_TRUE(client_->load(question).facts.connected);
}

INSTANTIATE_TEST_SUITE_P(Storage, FleetPagesSuite, testing::Values(BackendKind::memory, BackendKind::postgres));

} // namespace cleat::test
