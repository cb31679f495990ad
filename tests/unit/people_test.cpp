#include <gtest/gtest.h>

#include "protocol/render.hpp"
#include "tests/unit/world.hpp"

/// Principals, tokens, grants and the audit log (spec 05 "Surface").
namespace cleat::unit {
namespace {

AgentPatch billed(std::optional<BillingMode> mode, std::optional<Id> holder) {
  AgentPatch patch;
  patch.billing_mode = mode;
  patch.holder_id = holder;
  return patch;
}

/// Facts about a principal whom a path names, and about a holder whom a body names.
DirectoryFacts about(std::optional<Principal> subject, std::optional<Principal> referred = std::nullopt) {
  DirectoryFacts facts;
  facts.subject = std::move(subject);
  facts.referred = std::move(referred);
  return facts;
}

TEST(People, CreateAHuman) {
  const World world;
  const Call call(world.owner);
  const Decision decision =
    decision_of(decide(op::CreatePrincipal{PrincipalBody{PrincipalKind::human, "Robin", {}}}, {}, call));
  const Principal row = only<InsertPrincipal>(decision).row;
  EXPECT_TRUE(is_new(row.id));
  EXPECT_EQ(row, (Principal{row.id, PrincipalKind::human, "Robin", {}, false, noon, 1}));
  EXPECT_EQ(decision.reply, (Reply{201, render::principal(row), 1, false}));
  ASSERT_EQ(decision.audit.size(), 1U);
  EXPECT_EQ(decision.audit[0].action, "principal.create");
  EXPECT_EQ(decision.audit[0].resource_id, row.id);
  EXPECT_TRUE(decision.events.empty());
}

TEST(People, CreateAnAgent) {
  const World world;
  const Call call(world.owner);
  const AgentPatch patch{ToolClass::host, BillingMode::personal, world.sam.id, false, false, "m"};
  const Decision decision = decision_of(
    decide(op::CreatePrincipal{PrincipalBody{PrincipalKind::agent, "A", patch}}, about({}, world.sam), call));
  EXPECT_EQ(only<InsertPrincipal>(decision).row.kind, PrincipalKind::agent);
  EXPECT_EQ(only<InsertPrincipal>(decision).row.agent,
            (AgentProfile{ToolClass::host, BillingMode::personal, world.sam.id, false, false, "m"}));
  // What is not said takes its default.
  const Decision plain =
    decision_of(decide(op::CreatePrincipal{PrincipalBody{PrincipalKind::agent, "A", AgentPatch{}}}, {}, call));
  EXPECT_EQ(only<InsertPrincipal>(plain).row.agent,
            (AgentProfile{ToolClass::container, BillingMode::shared, {}, true, true, {}}));
}

TEST(People, APersonalAgentHasAHumanHolder) {
  const World world;
  const Call call(world.owner);
  const auto told = [&](const AgentPatch& patch, std::optional<Principal> referred) {
    return refusal_of(decide(op::CreatePrincipal{PrincipalBody{PrincipalKind::agent, "A", patch}},
                             about({}, std::move(referred)), call));
  };
  const auto wrong = [](FieldCode code) { return invalid({{"/agent/holder_id", code}}); };
  EXPECT_EQ(told(billed(BillingMode::personal, {}), {}), wrong(FieldCode::required));
  EXPECT_EQ(told(billed(BillingMode::personal, world.sam.id), {}), wrong(FieldCode::unknown_reference));
  EXPECT_EQ(told(billed(BillingMode::personal, world.lotse.id), world.lotse), wrong(FieldCode::unknown_reference));
  EXPECT_EQ(told(billed(BillingMode::shared, world.sam.id), world.sam), wrong(FieldCode::not_applicable));
  EXPECT_EQ(told(billed({}, world.sam.id), world.sam), wrong(FieldCode::not_applicable)) << "shared is the default";
}

TEST(People, UpdateAnAgentsBilling) {
  const World world;
  const Call call(world.owner);
  const auto update = [&](const Principal& agent, const AgentPatch& patch, std::optional<Principal> referred) {
    return decide(op::UpdatePrincipal{agent.id, PrincipalPatch{{}, patch}}, about(agent, std::move(referred)), call);
  };
  const auto profile = [&](const Result<rules::Step>& step) {
    return *only<UpdatePrincipal>(decision_of(step)).row.agent;
  };
  // The holder changes, stays when nobody speaks of him, and goes when the agent becomes shared.
  EXPECT_EQ(profile(update(world.aide, billed({}, world.sam.id), world.sam)).holder_id, world.sam.id);
  AgentPatch disabled;
  disabled.enabled = false;
  const AgentProfile off = profile(update(world.aide, disabled, {}));
  EXPECT_FALSE(off.enabled);
  EXPECT_EQ(off.holder_id, world.alex.id);
  const AgentProfile shared = profile(update(world.aide, billed(BillingMode::shared, {}), {}));
  EXPECT_EQ(shared.billing_mode, BillingMode::shared);
  EXPECT_EQ(shared.holder_id, std::nullopt);
  const auto wrong = [](FieldCode code) { return invalid({{"/agent/holder_id", code}}); };
  EXPECT_EQ(refusal_of(update(world.lotse, billed(BillingMode::personal, {}), {})), wrong(FieldCode::required));
  EXPECT_EQ(refusal_of(update(world.lotse, billed({}, world.sam.id), world.sam)), wrong(FieldCode::not_applicable));
  EXPECT_EQ(refusal_of(update(world.aide, billed(BillingMode::shared, world.sam.id), world.sam)),
            wrong(FieldCode::not_applicable));
  EXPECT_EQ(refusal_of(update(world.aide, billed({}, world.sam.id), {})), wrong(FieldCode::unknown_reference));
}

TEST(People, UpdateReplacesOnlyWhatIsGiven) {
  const World world;
  Principal agent = world.builder;
  agent.agent->default_model = "old";
  const Call call(world.owner);
  const auto updated = [&](const PrincipalPatch& patch) {
    return only<UpdatePrincipal>(decision_of(decide(op::UpdatePrincipal{agent.id, patch}, about(agent), call))).row;
  };
  Principal expected = agent;
  expected.version += 1;
  expected.name = "New";
  EXPECT_EQ(updated({"New", {}}), expected);
  expected.name = agent.name;
  expected.agent->default_model = "new";
  expected.agent->reachable = false;
  expected.agent->tool_class = ToolClass::container;
  AgentPatch patch;
  patch.default_model = "new";
  patch.reachable = false;
  patch.tool_class = ToolClass::container;
  EXPECT_EQ(updated({{}, patch}), expected);
}

TEST(People, UpdateAPrincipal) {
  const World world;
  Call call(world.owner);
  const op::UpdatePrincipal rename{world.sam.id, PrincipalPatch{"Samira", {}}};
  const Decision decision = decision_of(decide(rename, about(world.sam), call));
  const Principal row = only<UpdatePrincipal>(decision).row;
  EXPECT_EQ(decision.reply, (Reply{200, render::principal(row), world.sam.version + 1, false}));
  ASSERT_EQ(decision.audit.size(), 1U);
  EXPECT_EQ(decision.audit[0].action, "principal.update");
  EXPECT_EQ(decision.audit[0].resource_id, world.sam.id);
  // Only an agent has a profile.
  EXPECT_EQ(
    refusal_of(decide(op::UpdatePrincipal{world.sam.id, PrincipalPatch{{}, AgentPatch{}}}, about(world.sam), call)),
    invalid({{"/agent", FieldCode::not_applicable}}));
  // Nothing changed: the same version, and nothing to commit.
  const Reply same{200, render::principal(world.sam), world.sam.version, false};
  EXPECT_EQ(reply_of(decide(op::UpdatePrincipal{world.sam.id, PrincipalPatch{}}, about(world.sam), call)), same);
  EXPECT_EQ(reply_of(decide(op::UpdatePrincipal{world.sam.id, PrincipalPatch{"Sam", {}}}, about(world.sam), call)),
            same);
  EXPECT_EQ(refusal_of(decide(rename, about(world.sam), call.if_match(99))),
            (Refusal{Code::version_conflict, Reason::none, {}, render::principal(world.sam)}));
  EXPECT_TRUE(decide(rename, about(world.sam), call.if_match(world.sam.version)));
}

TEST(People, CreateATokenShowsItsSecretOnce) {
  const World world;
  Call call(world.owner);
  const rules::Secret secret{"s3cret", sha256("s3cret")};
  const Timestamp later = noon + std::chrono::hours{1};
  const op::CreateToken create{world.sam.id, TokenBody{"laptop", later}};
  const Decision decision = decision_of(decide(create, about(world.sam), call.with_key(), secret));
  const Token row = only<InsertToken>(decision).row;
  EXPECT_TRUE(is_new(row.id));
  EXPECT_EQ(row, (Token{row.id, world.sam.id, "laptop", secret.digest, noon, later, {}}));
  EXPECT_EQ(decision.reply, (Reply{201, render::token(row, "s3cret"), std::nullopt, false}));
  ASSERT_TRUE(decision.idempotency);
  EXPECT_EQ(decision.idempotency->reply, (Reply{201, render::token(row), std::nullopt, false}));
  EXPECT_EQ(decision.idempotency->reply.body.find("s3cret"), std::string::npos) << "the stored answer omits the secret";
  ASSERT_EQ(decision.audit.size(), 1U);
  EXPECT_EQ(decision.audit[0].action, "token.create");
  EXPECT_EQ(decision.audit[0].resource_id, world.sam.id);
  EXPECT_EQ(decision.audit[0].details, "{\"token_id\":\"" + row.id.str() + "\"}");
}

TEST(People, ATokenExpiresInTheFuture) {
  const World world;
  const Call call(world.owner);
  const auto create = [&](Timestamp expires) {
    return decide(op::CreateToken{world.sam.id, TokenBody{"laptop", expires}}, about(world.sam), call);
  };
  EXPECT_EQ(refusal_of(create(noon)), invalid({{"/expires_at", FieldCode::out_of_range}}));
  EXPECT_TRUE(create(noon + std::chrono::microseconds{1}));
}

TEST(People, RevokeAToken) {
  const World world;
  Call call(world.sam);
  DirectoryFacts facts = about(world.sam);
  facts.token = Token{id_of(70), world.sam.id, "laptop", {}, noon, {}, {}};
  const op::RevokeToken revoke{world.sam.id, id_of(70)};
  const Reply done{204, "", std::nullopt, false};
  const Decision decision = decision_of(decide(revoke, facts, call));
  EXPECT_EQ(only<RevokeToken>(decision), (RevokeToken{id_of(70), noon}));
  EXPECT_EQ(decision.reply, done);
  EXPECT_EQ(decision.audit.at(0).action, "token.revoke");
  EXPECT_EQ(decision.audit.at(0).details, "{\"token_id\":\"" + id_of(70).str() + "\"}");
  facts.token->revoked_at = noon;
  EXPECT_EQ(reply_of(decide(revoke, facts, call)), done) << "it stays revoked";
  // A token of somebody else is not found under this principal, and so is none at all.
  facts.token->principal_id = world.alex.id;
  EXPECT_EQ(refusal_of(decide(revoke, facts, call)), denied(Code::not_found));
  facts.token.reset();
  EXPECT_EQ(refusal_of(decide(revoke, facts, call)), denied(Code::not_found));
}

/// Sam's grant on a thread, as someone sees it who manages the thread.
struct Grants {
  World world;
  Id thread = world.thread(1).thread.id;
  Grant grant{ScopeKind::thread, thread, world.space.id, world.sam.id, Level::write};
  DirectoryFacts facts = about(world.sam);
  op::PutGrant put{ScopeKind::thread, thread, world.sam.id, GrantBody{Level::write}};
  op::DeleteGrant remove{ScopeKind::thread, thread, world.sam.id};
  op::GetGrant get{ScopeKind::thread, thread, world.sam.id};

  Grants() {
    facts.space = world.space;
    facts.channel = world.channel;
    facts.thread = world.thread(1).thread;
    facts.level = Level::manage;
  }
};

TEST(Grants, Put) {
  Grants grants;
  const Call call(grants.world.alex);
  const Decision decision = decision_of(decide(grants.put, grants.facts, call));
  EXPECT_EQ(only<SetGrant>(decision).row, grants.grant);
  EXPECT_EQ(only<RaiseSpaceFacts>(decision).space_id, grants.world.space.id) << "rights changed";
  EXPECT_EQ(decision.guards, (std::vector<VersionGuard>{{GuardedRow::space_facts, grants.world.space.id, 7}}));
  EXPECT_EQ(decision.reply, (Reply{200, render::grant(grants.grant), std::nullopt, false}));
  ASSERT_EQ(decision.audit.size(), 1U);
  EXPECT_EQ(decision.audit[0].action, "grant.put");
  EXPECT_EQ(decision.audit[0].resource_kind, "thread");
  EXPECT_EQ(decision.audit[0].resource_id, grants.thread);
  EXPECT_EQ(decision.audit[0].details, "{\"principal_id\":\"" + grants.world.sam.id.str() + "\",\"level\":\"write\"}");
  // Another level replaces it; the same one is nothing new.
  grants.facts.subject_grant = grants.grant;
  EXPECT_EQ(reply_of(decide(grants.put, grants.facts, call)), decision.reply);
  grants.facts.subject_grant->level = Level::read;
  EXPECT_EQ(only<SetGrant>(decision_of(decide(grants.put, grants.facts, call))).row.level, Level::write);
}

TEST(Grants, Delete) {
  Grants grants;
  grants.facts.subject_grant = grants.grant;
  const Call call(grants.world.alex);
  const Decision decision = decision_of(decide(grants.remove, grants.facts, call));
  EXPECT_EQ(only<SetGrant>(decision).row.level, Level::none);
  EXPECT_EQ(only<SetGrant>(decision).row.principal_id, grants.world.sam.id);
  EXPECT_EQ(only<RaiseSpaceFacts>(decision).space_id, grants.world.space.id);
  EXPECT_EQ(decision.guards.size(), 1U);
  EXPECT_EQ(decision.reply, (Reply{204, "", std::nullopt, false}));
  EXPECT_EQ(decision.audit.at(0).action, "grant.delete");
  EXPECT_EQ(decision.audit.at(0).details, "{\"principal_id\":\"" + grants.world.sam.id.str() + "\"}");
  grants.facts.subject_grant.reset();
  EXPECT_EQ(reply_of(decide(grants.remove, grants.facts, call)), (Reply{204, "", std::nullopt, false}));
}

TEST(Grants, Get) {
  Grants grants;
  const Call call(grants.world.alex);
  EXPECT_EQ(refusal_of(decide(grants.get, grants.facts, call)), denied(Code::not_found));
  grants.facts.subject_grant = grants.grant;
  EXPECT_EQ(reply_of(decide(grants.get, grants.facts, call)),
            (Reply{200, render::grant(grants.grant), std::nullopt, false}));
}

TEST(Grants, AreForPrincipalsThatExist) {
  Grants grants;
  grants.facts.subject.reset();
  const Call call(grants.world.alex);
  for (const DirectoryOperation& operation : std::vector<DirectoryOperation>{grants.put, grants.remove, grants.get})
    EXPECT_EQ(refusal_of(decide(operation, grants.facts, call)), denied(Code::not_found)) << operation.index();
}

TEST(People, AreShownAndListed) {
  const World world;
  const Call call(world.owner);
  const PageRange range{20, id_of(5)};
  const DirectoryFacts facts = about(world.sam);
  EXPECT_EQ(reply_of(decide(op::GetPrincipal{world.sam.id}, facts, call)),
            (Reply{200, render::principal(world.sam), world.sam.version, false}));
  EXPECT_EQ(list_of(decide(op::ListPrincipals{range}, {}, call)).query, PageQuery(PrincipalsPage{range}));
  EXPECT_EQ(list_of(decide(op::ListTokens{world.sam.id, range}, facts, call)).query,
            PageQuery(TokensPage{world.sam.id, range}));
  EXPECT_EQ(list_of(decide(op::GetMe{range}, {}, call)).query, PageQuery(GrantsPage{world.owner.id, range}));
  const AuditPage audit{world.sam.id, "space.read", false, id_of(31), range};
  const rules::ReadList list = list_of(decide(op::ListAudit{audit}, {}, call));
  EXPECT_EQ(list.query, PageQuery(audit));
  EXPECT_EQ(list.limit, 20);
}

} // namespace
} // namespace cleat::unit
