#include <gtest/gtest.h>

#include "protocol/render.hpp"
#include "protocol/render_fleet.hpp"
#include "tests/unit/fleet_world.hpp"

/// Accounts, their subscribers and their secrets (spec 05 "Surface").
namespace cleat::unit {
namespace {

const FleetWorld world;

rules::Secret sealed(std::string text) {
  rules::Secret secret;
  secret.sealed = std::move(text);
  return secret;
}

TEST(FleetAccounts, CreateAnAccount) {
  Call call(world.owner);
  const Decision decision = decision_of(decide(op::CreateAccount{NameBody{"Example"}}, {}, call.with_key()));
  const Account row = only<fleet::Write>(decision).index() == 0
                        ? std::get<fleet::InsertAccount>(only<fleet::Write>(decision)).row
                        : Account{};
  EXPECT_TRUE(is_new(row.id));
  EXPECT_EQ(row, (Account{row.id, "Example", {}, noon, 1}));
  EXPECT_EQ(decision.reply, (Reply{201, render::account(row), 1, false}));
  EXPECT_EQ(decision.idempotency->reply, decision.reply);
  ASSERT_EQ(decision.audit.size(), 1U);
  EXPECT_EQ(decision.audit[0].action, "account.create");
  EXPECT_EQ(decision.audit[0].resource_kind, "account");
  EXPECT_EQ(decision.audit[0].resource_id, row.id);
}

TEST(FleetAccounts, ListAccounts) {
  const Call call(world.owner);
  const auto list = list_of(decide(op::ListAccounts{PageRange{7, id_of(1)}}, {}, call));
  EXPECT_EQ(list.query, PageQuery(AccountsPage{PageRange{7, id_of(1)}}));
  EXPECT_EQ(list.limit, 7);
}

TEST(FleetAccounts, ASubscriberIsSomebodyWhoExists) {
  Call call(world.owner);
  const op::PutSubscriber put{world.account.id, SubscriberBody{world.alex.id}};
  const Decision decision = decision_of(decide(put, world.all(), call));
  Account after = world.account;
  after.actor_id = world.alex.id;
  after.version += 1;
  EXPECT_EQ(only<fleet::Write>(decision), fleet::Write(fleet::UpdateAccount{after}));
  EXPECT_EQ(decision.reply, (Reply{200, render::account(after), after.version, false}));
  ASSERT_EQ(decision.audit.size(), 1U);
  EXPECT_EQ(decision.audit[0].action, "account.subscribe");
  EXPECT_EQ(decision.audit[0].details, "{\"principal_id\":\"" + world.alex.id.str() + "\"}");
  DirectoryFacts facts = world.all();
  facts.referred.reset();
  EXPECT_EQ(refusal_of(decide(put, facts, call)), invalid({{"/principal_id", FieldCode::unknown_reference}}));
}

TEST(FleetAccounts, ASubscriberChangesTheVersionThatOneHasSeen) {
  Call call(world.owner);
  const op::PutSubscriber put{world.account.id, SubscriberBody{world.alex.id}};
  EXPECT_EQ(refusal_of(decide(put, world.all(), call.if_match(3))),
            (Refusal{Code::version_conflict, Reason::none, {}, render::account(world.account)}));
  EXPECT_TRUE(decide(put, world.all(), call.if_match(4)));
  const Call plain(world.owner);
  EXPECT_EQ(reply_of(decide(op::PutSubscriber{world.account.id, SubscriberBody{world.sam.id}}, world.all(), plain)),
            (Reply{200, render::account(world.account), 4, false}))
    << "who subscribes already changes nothing";
}

TEST(FleetAccounts, PutASecret) {
  Call call(world.sam);
  const op::PutAccountSecret put{world.account.id, "API_KEY", SecretBody{"plain"}};
  const Decision decision = decision_of(decide(put, world.all(), call.with_key(), sealed("new")));
  const AccountSecret row{world.account.id, "API_KEY", "new", noon};
  EXPECT_EQ(only<fleet::Write>(decision), fleet::Write(fleet::PutSecret{row}));
  EXPECT_EQ(decision.guards, (std::vector<VersionGuard>{{GuardedRow::account, world.account.id, 4}}))
    << "whose actor changes meanwhile may not put any more";
  EXPECT_EQ(decision.reply, (Reply{200, render::secret(row), {}, false}));
  EXPECT_EQ(decision.idempotency->reply, decision.reply);
  ASSERT_EQ(decision.audit.size(), 1U);
  EXPECT_EQ(decision.audit[0].action, "secret.put");
  EXPECT_EQ(decision.audit[0].details, R"({"name":"API_KEY"})");
  for (const std::string& text : {decision.reply.body, decision.audit[0].details})
    for (const char* kept_back : {"plain", "new"})
      EXPECT_EQ(text.find(kept_back), std::string::npos);
}

TEST(FleetAccounts, ASecretNeedsANameAndAKey) {
  const Call call(world.sam);
  EXPECT_EQ(refusal_of(decide(op::PutAccountSecret{world.account.id, "api_key", SecretBody{"x"}}, world.all(), call,
                              sealed("s"))),
            invalid({{"/name", FieldCode::invalid_format}}));
  EXPECT_EQ(refusal_of(decide(op::PutAccountSecret{world.account.id, "API_KEY", SecretBody{"x"}}, world.all(), call)),
            (Refusal{Code::not_ready, Reason::no_master_key}));
}

TEST(FleetAccounts, ReadSecrets) {
  const Call call(world.sam);
  EXPECT_EQ(reply_of(decide(op::GetAccountSecret{world.account.id, "API_KEY"}, world.all(), call)),
            (Reply{200, render::secret(world.secret), {}, false}));
  DirectoryFacts facts = world.all();
  facts.secret.reset();
  EXPECT_EQ(refusal_of(decide(op::GetAccountSecret{world.account.id, "API_KEY"}, facts, call)),
            denied(Code::not_found));
  EXPECT_EQ(list_of(decide(op::ListAccountSecrets{world.account.id}, world.all(), call)).query,
            PageQuery(SecretsPage{world.account.id, limits::account_secrets_max}));
}

TEST(FleetAccounts, DeleteASecret) {
  const Call call(world.sam);
  const op::DeleteAccountSecret remove{world.account.id, "API_KEY"};
  const Decision decision = decision_of(decide(remove, world.all(), call));
  EXPECT_EQ(only<fleet::Write>(decision), fleet::Write(fleet::DeleteSecret{world.account.id, "API_KEY"}));
  EXPECT_EQ(decision.guards, (std::vector<VersionGuard>{{GuardedRow::account, world.account.id, 4}}));
  EXPECT_EQ(decision.reply, (Reply{204, "", {}, false}));
  EXPECT_EQ(decision.audit.at(0).action, "secret.delete");
  DirectoryFacts facts = world.all();
  facts.secret.reset();
  EXPECT_EQ(reply_of(decide(remove, facts, call)), (Reply{204, "", {}, false})) << "gone is gone";
  EXPECT_EQ(refusal_of(decide(op::DeleteAccountSecret{world.account.id, "x"}, facts, call)), denied(Code::not_found));
}

} // namespace
} // namespace cleat::unit
