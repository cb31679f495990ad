#include <set>

#include <gtest/gtest.h>

#include "tests/unit/fleet_world.hpp"

/// Who may do what around Runners, what is loaded for it, and what a denial of it is filed under.
namespace cleat::unit {
namespace {

using Operations = std::vector<DirectoryOperation>;
using Denial = std::optional<Refusal>;

const FleetWorld world;
const PageRange range{50, {}};
const Id account = world.account.id;
const Id runner = world.runner.id;

const Refusal owner_only = denied(Code::forbidden, Reason::owner_required);
const Refusal hidden = denied(Code::not_found);

/// For the owner of the instance; others are told so.
Operations of_the_instance() {
  return {op::CreateAccount{NameBody{"A"}},
          op::ListAccounts{range},
          op::CreateRunner{NameBody{"R"}},
          op::ListRunners{range},
          op::CreateContainer{ContainerBody{"box", account, runner}},
          op::ListOrphans{OrphansPage{{}, range}}};
}
/// For the owner; others are told nothing.
Operations of_runners() {
  return {op::CreateRunnerToken{runner, RunnerTokenBody{"host", {}}}, op::ListRunnerTokens{runner, range},
          op::RevokeRunnerToken{runner, world.token.id}};
}
/// For the owner and the account's actor.
Operations of_accounts() {
  return {op::PutAccountSecret{account, "API_KEY", SecretBody{"x"}}, op::GetAccountSecret{account, "API_KEY"},
          op::ListAccountSecrets{account}, op::DeleteAccountSecret{account, "API_KEY"}, op::GetContainer{"box"}};
}
const op::PutSubscriber subscribe{account, SubscriberBody{world.alex.id}};

Denial told(const DirectoryOperation& operation, DirectoryFacts facts, const Principal& actor) {
  if (std::holds_alternative<op::CreateContainer>(operation))
    facts.container.reset();
  const Call call(actor);
  rules::Secret secret;
  secret.sealed = "sealed";
  const auto step = decide(operation, facts, call, secret);
  return step ? Denial{} : Denial{step.error()};
}

TEST(FleetRights, TheInstanceBelongsToItsOwner) {
  for (const auto& operation : of_the_instance()) {
    EXPECT_EQ(told(operation, world.all(), world.owner), std::nullopt) << operation.index();
    for (const Principal& actor : {world.sam, world.alex, world.lotse, world.app})
      EXPECT_EQ(told(operation, world.all(), actor), owner_only) << operation.index();
  }
}

TEST(FleetRights, RunnersAreHiddenFromEverybodyElse) {
  for (const auto& operation : of_runners()) {
    EXPECT_EQ(told(operation, world.all(), world.owner), std::nullopt) << operation.index();
    EXPECT_EQ(told(operation, world.all(), world.sam), hidden) << operation.index();
    EXPECT_EQ(told(operation, {}, world.owner), hidden) << operation.index();
  }
}

TEST(FleetRights, AccountsAreTheirActorsAsWell) {
  for (const auto& operation : of_accounts()) {
    for (const Principal& actor : {world.owner, world.sam})
      EXPECT_EQ(told(operation, world.all(), actor), std::nullopt) << operation.index() << " by " << actor.name;
    for (const Principal& actor : {world.alex, world.lotse, world.app})
      EXPECT_EQ(told(operation, world.all(), actor), hidden) << operation.index() << " by " << actor.name;
    EXPECT_EQ(told(operation, {}, world.owner), hidden) << operation.index();
    DirectoryFacts without_actor = world.all();
    without_actor.account->actor_id.reset();
    EXPECT_EQ(told(operation, without_actor, world.sam), hidden) << operation.index();
    EXPECT_EQ(told(operation, without_actor, world.owner), std::nullopt) << operation.index();
  }
}

TEST(FleetRights, AnActorIsToldThatItMayNotNameItsSuccessor) {
  EXPECT_EQ(told(subscribe, world.all(), world.owner), std::nullopt);
  EXPECT_EQ(told(subscribe, world.all(), world.sam), owner_only);
  EXPECT_EQ(told(subscribe, world.all(), world.alex), hidden);
  EXPECT_EQ(told(subscribe, {}, world.owner), hidden);
}

TEST(FleetRights, EverybodyListsTheirContainers) {
  for (const Principal& actor : {world.owner, world.robin, world.lotse})
    EXPECT_EQ(told(op::ListContainers{range}, {}, actor), std::nullopt);
}

TEST(FleetRights, RightsComeBeforeTheBody) {
  const Refusal body = invalid({{"/name", FieldCode::required}});
  const auto wrong = [&] { return tl::unexpected(body); };
  for (const DirectoryOperation& operation :
       Operations{op::CreateAccount{wrong()}, op::ListAccounts{wrong()}, op::CreateRunner{wrong()},
                  op::ListRunners{wrong()}, op::CreateContainer{wrong()}, op::ListOrphans{wrong()}}) {
    EXPECT_EQ(told(operation, {}, world.sam), owner_only) << operation.index();
    EXPECT_EQ(told(operation, {}, world.owner), body) << operation.index();
  }
  for (const DirectoryOperation& operation :
       Operations{op::CreateRunnerToken{runner, wrong()}, op::ListRunnerTokens{runner, wrong()},
                  op::PutAccountSecret{account, "x", wrong()}, op::PutSubscriber{account, wrong()}}) {
    EXPECT_EQ(told(operation, world.all(), world.alex), hidden) << operation.index();
    EXPECT_EQ(told(operation, world.all(), world.owner), body) << operation.index();
  }
  EXPECT_EQ(told(op::PutSubscriber{account, wrong()}, world.all(), world.sam), owner_only);
  EXPECT_EQ(told(op::ListContainers{wrong()}, {}, world.sam), body);
}

TEST(FleetRights, TargetsAreWhatPathAndBodyName) {
  const auto named = [](const DirectoryOperation& operation) {
    const rules::Targets found = rules::targets(operation);
    std::string text;
    const auto add = [&](std::string_view name, const auto& value) {
      if (value)
        text += std::string(text.empty() ? "" : " ") + std::string(name);
    };
    add("account", found.account_id);
    add("secret", found.secret_name);
    add("runner", found.runner_id);
    add("token", found.runner_token_id);
    add("container", found.container_name);
    add("referred", found.referred_id);
    return text;
  };
  EXPECT_EQ(named(subscribe), "account referred");
  EXPECT_EQ(named(op::PutSubscriber{account, tl::unexpected(hidden)}), "account");
  EXPECT_EQ(named(op::PutAccountSecret{account, "API_KEY", SecretBody{"x"}}), "account");
  EXPECT_EQ(named(op::GetAccountSecret{account, "API_KEY"}), "account secret");
  EXPECT_EQ(named(op::GetAccountSecret{account, "api\xff"}), "account") << "the database is not asked for nonsense";
  EXPECT_EQ(named(op::DeleteAccountSecret{account, "API_KEY"}), "account secret");
  EXPECT_EQ(named(op::ListAccountSecrets{account}), "account");
  EXPECT_EQ(named(op::CreateRunnerToken{runner, RunnerTokenBody{}}), "runner");
  EXPECT_EQ(named(op::ListRunnerTokens{runner, range}), "runner");
  EXPECT_EQ(named(op::RevokeRunnerToken{runner, world.token.id}), "runner token");
  EXPECT_EQ(named(op::CreateContainer{ContainerBody{"box", account, runner}}), "account runner container");
  EXPECT_EQ(named(op::CreateContainer{tl::unexpected(hidden)}), "");
  EXPECT_EQ(named(op::GetContainer{"box"}), "container");
  for (const DirectoryOperation& operation :
       Operations{op::CreateAccount{NameBody{}}, op::ListAccounts{range}, op::CreateRunner{NameBody{}},
                  op::ListRunners{range}, op::ListContainers{range}, op::ListOrphans{OrphansPage{}}})
    EXPECT_EQ(named(operation), "") << operation.index();
}

TEST(FleetRights, ADenialIsFiledUnderWhatItIsAbout) {
  const auto filed = [](const DirectoryOperation& operation, const DirectoryFacts& facts, const Principal& actor) {
    const auto found = rules::audit_subject(operation, facts, actor);
    return found.resource ? std::string(found.resource->kind) + " " + found.resource->id.str() : "";
  };
  std::set<std::string_view> actions;
  const auto note = [&](const DirectoryOperation& operation) {
    actions.insert(rules::audit_subject(operation, world.all(), world.alex).action);
  };
  for (const auto& operation : of_the_instance()) {
    EXPECT_EQ(filed(operation, world.all(), world.alex), "principal " + world.alex.id.str()) << operation.index();
    note(operation);
  }
  for (const auto& operation : of_runners()) {
    EXPECT_EQ(filed(operation, world.all(), world.alex), "runner " + runner.str()) << operation.index();
    EXPECT_EQ(filed(operation, world.all(), world.owner), "") << "the owner is denied nothing";
    EXPECT_EQ(filed(operation, {}, world.alex), "") << "what does not exist denies nothing";
    note(operation);
  }
  for (const auto& operation : of_accounts()) {
    const bool container = std::holds_alternative<op::GetContainer>(operation);
    const std::string expected = container ? "container " + world.container.id.str() : "account " + account.str();
    EXPECT_EQ(filed(operation, world.all(), world.alex), expected) << operation.index();
    EXPECT_EQ(filed(operation, world.all(), world.sam), "") << "its actor is denied nothing";
    EXPECT_EQ(filed(operation, {}, world.alex), "") << operation.index();
    note(operation);
  }
  EXPECT_EQ(filed(subscribe, world.all(), world.sam), "account " + account.str());
  EXPECT_EQ(filed(subscribe, {}, world.sam), "");
  note(subscribe);
  note(op::ListContainers{range});
  EXPECT_EQ(actions.size(), 16U) << "each operation has a name of its own";
}

} // namespace
} // namespace cleat::unit
