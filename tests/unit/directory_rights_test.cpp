#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "tests/unit/world.hpp"

/// Who may do what in provisioning (spec 05 "Surface"), what is loaded for it, and what a denial of it is filed under.
namespace cleat::unit {
namespace {

using rules::Targets;

/// Every operation once, on the world's places and on Sam.
struct Operations {
  World world;
  ThreadFacts facts = world.thread(1);
  Id space = world.space.id;
  Id channel = world.channel.id;
  Id thread = facts.thread.id;
  Id sam = world.sam.id;
  Id agent = world.lotse.id;
  PageRange range{50, {}};

  /// Needs this level on the place.
  std::vector<std::pair<DirectoryOperation, Level>> of_places() const {
    return {
      {op::GetSpace{space}, Level::read},
      {op::UpdateSpace{space, SpacePatch{"New"}}, Level::manage},
      {op::CreateChannel{space, ChannelBody{"New", agent, {}}}, Level::manage},
      {op::ListChannels{space, range}, Level::read},
      {op::GetChannel{channel}, Level::read},
      {op::UpdateChannel{channel, ChannelPatch{"New", {}, agent}}, Level::manage},
      {op::CreateThread{channel, ThreadBody{"New", agent}}, Level::manage},
      {op::ListThreads{channel, range}, Level::read},
      {op::GetThread{thread}, Level::read},
      {op::UpdateThread{thread, ThreadPatch{"New", agent}}, Level::manage},
      {op::CloseThread{thread}, Level::write},
      {op::PutGrant{ScopeKind::space, space, sam, GrantBody{Level::write}}, Level::manage},
      {op::DeleteGrant{ScopeKind::channel, channel, sam}, Level::manage},
      {op::GetGrant{ScopeKind::thread, thread, sam}, Level::manage},
    };
  }

  /// Whether a principal may do it to themselves.
  enum class Self { may, may_not };
  /// For the owner of the instance and perhaps oneself.
  std::vector<std::pair<DirectoryOperation, Self>> of_people() const {
    return {
      {op::GetPrincipal{sam}, Self::may},
      {op::ListTokens{sam, range}, Self::may},
      {op::RevokeToken{sam, id_of(70)}, Self::may},
      {op::UpdatePrincipal{sam, PrincipalPatch{"New", {}}}, Self::may_not},
      {op::CreateToken{sam, TokenBody{"laptop", {}}}, Self::may_not},
    };
  }

  /// For the owner of the instance alone.
  std::vector<DirectoryOperation> of_the_instance() const {
    return {op::CreateSpace{SpaceBody{"New"}}, op::CreatePrincipal{PrincipalBody{PrincipalKind::human, "New", {}}},
            op::ListPrincipals{range}, op::ListAudit{AuditPage{{}, {}, {}, {}, range}}};
  }

  /// For everybody.
  std::vector<DirectoryOperation> of_everybody() const { return {op::ListSpaces{range}, op::GetMe{range}}; }

  /// All that a path could name exists.
  DirectoryFacts all(Level level) const {
    DirectoryFacts found;
    found.space = world.space;
    found.channel = world.channel;
    found.thread = facts.thread;
    found.level = level;
    found.subject = world.sam;
    found.subject_grant = Grant{ScopeKind::thread, thread, space, sam, Level::read};
    found.token = Token{id_of(70), sam, "laptop", {}, noon, {}, {}};
    found.referred = world.lotse;
    return found;
  }
};

const Refusal too_low = denied(Code::forbidden, Reason::level_insufficient);
const Refusal owner_only = denied(Code::forbidden, Reason::owner_required);
const Refusal hidden = denied(Code::not_found);

using Denial = std::optional<Refusal>;

Denial told(const DirectoryOperation& operation, const DirectoryFacts& facts, const Principal& actor) {
  const Call call(actor);
  const auto step = decide(operation, facts, call);
  return step ? Denial{} : Denial{step.error()};
}

TEST(DirectoryRights, PlacesNeedALevel) {
  const Operations operations;
  for (const auto& [operation, needed] : operations.of_places())
    for (const Level held : {Level::none, Level::read, Level::write, Level::trigger, Level::manage})
      // Nothing but the level counts: the owner of the instance, an agent and an app are told the same.
      for (const Principal& actor :
           {operations.world.owner, operations.world.alex, operations.world.lotse, operations.world.app}) {
        const Denial expected = held == Level::none ? Denial{hidden} : held < needed ? Denial{too_low} : Denial{};
        EXPECT_EQ(told(operation, operations.all(held), actor), expected)
          << operation.index() << " with " << to_string(held) << " by " << actor.name;
      }
}

TEST(DirectoryRights, WhatDoesNotExistIsAsHiddenAsWhatIsNotSeen) {
  const Operations operations;
  const DirectoryFacts nothing;
  for (const auto& [operation, needed] : operations.of_places())
    EXPECT_EQ(told(operation, nothing, operations.world.owner), hidden) << operation.index();
  for (const auto& [operation, self] : operations.of_people())
    EXPECT_EQ(told(operation, nothing, operations.world.owner), hidden) << operation.index();
}

TEST(DirectoryRights, PeopleBelongToTheOwnerAndToThemselves) {
  const Operations operations;
  const DirectoryFacts facts = operations.all(Level::manage);
  for (const auto& [operation, self] : operations.of_people()) {
    EXPECT_EQ(told(operation, facts, operations.world.owner), std::nullopt) << operation.index();
    EXPECT_EQ(told(operation, facts, operations.world.alex), hidden) << operation.index();
    EXPECT_EQ(told(operation, facts, operations.world.app), hidden) << operation.index();
    const Denial expected = self == Operations::Self::may ? Denial{} : Denial{owner_only};
    EXPECT_EQ(told(operation, facts, operations.world.sam), expected) << operation.index();
  }
}

TEST(DirectoryRights, TheInstanceBelongsToItsOwner) {
  const Operations operations;
  const DirectoryFacts facts = operations.all(Level::manage);
  for (const DirectoryOperation& operation : operations.of_the_instance()) {
    EXPECT_EQ(told(operation, facts, operations.world.owner), std::nullopt) << operation.index();
    for (const Principal& actor : {operations.world.alex, operations.world.lotse, operations.world.app})
      EXPECT_EQ(told(operation, facts, actor), owner_only) << operation.index();
  }
  for (const DirectoryOperation& operation : operations.of_everybody())
    EXPECT_EQ(told(operation, {}, operations.world.robin), std::nullopt) << operation.index();
}

TEST(DirectoryRights, OnesOwnGrantIsReadWithRead) {
  const Operations operations;
  const op::GetGrant own{ScopeKind::thread, operations.thread, operations.sam};
  EXPECT_EQ(told(own, operations.all(Level::read), operations.world.sam), std::nullopt);
  EXPECT_EQ(told(own, operations.all(Level::none), operations.world.sam), hidden);
  EXPECT_EQ(told(own, operations.all(Level::read), operations.world.alex), too_low);
}

TEST(DirectoryRights, RightsComeBeforeTheBody) {
  const Operations operations;
  const auto wrong = [] { return tl::unexpected(invalid({{"/name", FieldCode::required}})); };
  const Refusal body = invalid({{"/name", FieldCode::required}});
  const std::vector<DirectoryOperation> placed{
    op::UpdateSpace{operations.space, wrong()},     op::CreateChannel{operations.space, wrong()},
    op::UpdateChannel{operations.channel, wrong()}, op::CreateThread{operations.channel, wrong()},
    op::UpdateThread{operations.thread, wrong()},   op::PutGrant{{}, operations.space, operations.sam, wrong()}};
  for (const DirectoryOperation& operation : placed) {
    EXPECT_EQ(told(operation, operations.all(Level::none), operations.world.alex), hidden) << operation.index();
    EXPECT_EQ(told(operation, operations.all(Level::trigger), operations.world.alex), too_low) << operation.index();
    EXPECT_EQ(told(operation, operations.all(Level::manage), operations.world.alex), body) << operation.index();
  }
  const std::vector<DirectoryOperation> owned{op::CreateSpace{wrong()},
                                              op::CreatePrincipal{wrong()},
                                              op::UpdatePrincipal{operations.sam, wrong()},
                                              op::CreateToken{operations.sam, wrong()},
                                              op::ListPrincipals{wrong()},
                                              op::ListAudit{wrong()}};
  for (const DirectoryOperation& operation : owned) {
    EXPECT_EQ(told(operation, operations.all(Level::manage), operations.world.sam), owner_only) << operation.index();
    EXPECT_EQ(told(operation, operations.all(Level::manage), operations.world.owner), body) << operation.index();
  }
  const op::CloseThread close{operations.thread, wrong()};
  EXPECT_EQ(told(close, operations.all(Level::none), operations.world.alex), hidden);
  EXPECT_EQ(told(close, operations.all(Level::read), operations.world.alex), too_low);
  EXPECT_EQ(told(close, operations.all(Level::write), operations.world.alex), body);
  const std::vector<DirectoryOperation> listed{op::ListChannels{operations.space, wrong()},
                                               op::ListThreads{operations.channel, wrong()}};
  for (const DirectoryOperation& operation : listed) {
    EXPECT_EQ(told(operation, operations.all(Level::none), operations.world.alex), hidden) << operation.index();
    EXPECT_EQ(told(operation, operations.all(Level::read), operations.world.alex), body) << operation.index();
  }
}

/// The operation's targets as one line a member, for comparison.
void expect_targets(const DirectoryOperation& operation, const Targets& expected) {
  const Targets found = rules::targets(operation);
  EXPECT_EQ(found.space_id, expected.space_id) << operation.index();
  EXPECT_EQ(found.channel_id, expected.channel_id) << operation.index();
  EXPECT_EQ(found.thread_id, expected.thread_id) << operation.index();
  EXPECT_EQ(found.subject_id, expected.subject_id) << operation.index();
  EXPECT_EQ(found.token_id, expected.token_id) << operation.index();
  EXPECT_EQ(found.referred_id, expected.referred_id) << operation.index();
}

TEST(DirectoryRights, TargetsAreWhatPathAndBodyName) {
  const Operations o;
  const auto places = o.of_places();
  const std::vector<Targets> of_places{
    {.space_id = o.space},
    {.space_id = o.space},
    {.space_id = o.space, .referred_id = o.agent},
    {.space_id = o.space},
    {.channel_id = o.channel},
    {.channel_id = o.channel, .referred_id = o.agent},
    {.channel_id = o.channel, .referred_id = o.agent},
    {.channel_id = o.channel},
    {.thread_id = o.thread},
    {.thread_id = o.thread, .referred_id = o.agent},
    {.thread_id = o.thread},
    {.space_id = o.space, .subject_id = o.sam},
    {.channel_id = o.channel, .subject_id = o.sam},
    {.thread_id = o.thread, .subject_id = o.sam},
  };
  ASSERT_EQ(places.size(), of_places.size());
  for (std::size_t i = 0; i < places.size(); ++i)
    expect_targets(places[i].first, of_places[i]);
  for (const auto& [operation, self] : o.of_people()) {
    const bool revokes = std::holds_alternative<op::RevokeToken>(operation);
    expect_targets(operation, {.subject_id = o.sam, .token_id = revokes ? std::optional(id_of(70)) : std::nullopt});
  }
  for (const DirectoryOperation& operation : o.of_the_instance())
    expect_targets(operation, {});
  for (const DirectoryOperation& operation : o.of_everybody())
    expect_targets(operation, {});
  // A holder is loaded, and a body that is wrong names nobody.
  const AgentPatch patch{{}, {}, o.sam, {}, {}, {}};
  expect_targets(op::CreatePrincipal{PrincipalBody{PrincipalKind::agent, "A", patch}}, {.referred_id = o.sam});
  expect_targets(op::UpdatePrincipal{o.agent, PrincipalPatch{{}, patch}},
                 {.subject_id = o.agent, .referred_id = o.sam});
  expect_targets(op::CreateThread{o.channel, tl::unexpected(hidden)}, {.channel_id = o.channel});
  expect_targets(op::UpdatePrincipal{o.agent, tl::unexpected(hidden)}, {.subject_id = o.agent});
}

TEST(DirectoryRights, ADenialIsFiledUnderTheDeepestPlace) {
  const Operations o;
  DirectoryFacts facts = o.all(Level::read);
  const auto subject = [&](const DirectoryOperation& operation) {
    const auto found = rules::audit_subject(operation, facts, o.world.alex);
    return found.resource ? std::string(found.resource->kind) + " " + found.resource->id.str() : "";
  };
  std::set<std::string_view> actions;
  for (const auto& [operation, needed] : o.of_places()) {
    EXPECT_EQ(subject(operation), "thread " + o.thread.str());
    actions.insert(rules::audit_subject(operation, facts, o.world.alex).action);
  }
  for (const auto& [operation, self] : o.of_people()) {
    EXPECT_EQ(subject(operation), "principal " + o.sam.str());
    actions.insert(rules::audit_subject(operation, facts, o.world.alex).action);
  }
  for (const DirectoryOperation& operation : o.of_the_instance()) {
    EXPECT_EQ(subject(operation), "principal " + o.world.alex.id.str());
    actions.insert(rules::audit_subject(operation, facts, o.world.alex).action);
  }
  EXPECT_EQ(actions.size(), o.of_places().size() + o.of_people().size() + o.of_the_instance().size())
    << "each operation has a name of its own";
  facts.thread.reset();
  EXPECT_EQ(subject(op::GetChannel{o.channel}), "channel " + o.channel.str());
  facts.channel.reset();
  EXPECT_EQ(subject(op::GetSpace{o.space}), "space " + o.space.str());
  facts.space.reset();
  facts.subject.reset();
  EXPECT_EQ(subject(op::GetSpace{o.space}), "") << "what does not exist denies nothing";
  EXPECT_EQ(subject(op::GetPrincipal{o.sam}), "");
}

TEST(DirectoryRights, WhoMayLookIsNotDeniedWhatIsMissing) {
  const Operations o;
  const auto filed = [&](const DirectoryOperation& operation, Level level, const Principal& actor) {
    return rules::audit_subject(operation, o.all(level), actor).resource.has_value();
  };
  const ScopeKind scope = ScopeKind::thread;
  for (const DirectoryOperation& operation :
       std::vector<DirectoryOperation>{op::PutGrant{scope, o.thread, o.sam, GrantBody{}},
                                       op::DeleteGrant{scope, o.thread, o.sam}, op::GetGrant{scope, o.thread, o.sam}}) {
    EXPECT_FALSE(filed(operation, Level::manage, o.world.alex)) << operation.index();
    EXPECT_TRUE(filed(operation, Level::trigger, o.world.alex)) << operation.index();
    EXPECT_TRUE(filed(operation, Level::none, o.world.alex)) << operation.index();
  }
  EXPECT_FALSE(filed(op::GetGrant{scope, o.thread, o.sam}, Level::read, o.world.sam));
  const op::RevokeToken revoke{o.sam, id_of(70)};
  EXPECT_FALSE(filed(revoke, Level::none, o.world.owner));
  EXPECT_FALSE(filed(revoke, Level::none, o.world.sam));
  EXPECT_TRUE(filed(revoke, Level::none, o.world.alex));
}

} // namespace
} // namespace cleat::unit
