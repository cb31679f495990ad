/// The rows of provisioning, one write at a time, in both implementations.
#include <gtest/gtest.h>

#include "tests/pg/storage_fixture.hpp"

namespace cleat::test {

namespace {

using enum storage::CommitOutcome;

class RowsSuite : public StorageTest {
protected:
  /// The one write as a decision of its own.
  storage::CommitOutcome write(RowWrite row) { return client_->commit(World::only(std::move(row))); }

  DirectoryFacts directory(storage::LoadDirectory question) {
    question.actor_id = world_.alex.id;
    return client_->load(question).facts;
  }
  std::optional<Principal> principal(const Id& id) {
    storage::LoadDirectory question;
    question.subject_id = id;
    return directory(question).subject;
  }
  DirectoryFacts thread(const Id& id) {
    storage::LoadDirectory question;
    question.thread_id = id;
    return directory(question);
  }
};

} // namespace

TEST_P(RowsSuite, PrincipalsAreInsertedAndUpdated) {
  Principal row;
  row.id = world_.ids.next();
  row.kind = PrincipalKind::agent;
  row.name = "Pilot \"P\" {x,y}";
  row.created_at = at(77);
  row.agent = AgentProfile{ToolClass::host, BillingMode::personal, world_.sam.id, true, false, "model-2"};
  ASSERT_EQ(write(InsertPrincipal{row}), committed);
  EXPECT_EQ(principal(row.id), row);
  EXPECT_EQ(write(InsertPrincipal{row}), lost_race);

  row.name = "Pilot";
  row.agent = AgentProfile{ToolClass::container, BillingMode::shared, std::nullopt, false, true, std::nullopt};
  row.version = 2;
  EXPECT_EQ(write(UpdatePrincipal{row}), committed);
  EXPECT_EQ(principal(row.id), row);
  EXPECT_EQ(write(UpdatePrincipal{row}), stale);
  row.id = world_.ids.next();
  EXPECT_EQ(write(UpdatePrincipal{row}), stale) << "there is no such row";
}

TEST_P(RowsSuite, AnAppHasNoProfile) {
  Principal row;
  row.id = world_.ids.next();
  row.kind = PrincipalKind::app;
  row.name = "Importer";
  row.created_at = at(78);
  ASSERT_EQ(write(InsertPrincipal{row}), committed);
  EXPECT_EQ(principal(row.id), row);
}

TEST_P(RowsSuite, OneInstanceOwner) {
  Principal row = world_.sam;
  row.id = world_.ids.next();
  row.instance_owner = true;
  EXPECT_EQ(write(InsertPrincipal{row}), lost_race);
}

TEST_P(RowsSuite, TokensAreFoundByDigestAndRevokedOnce) {
  auto token = token_of(world_.ids.next(), world_.sam, "secret");
  token.expires_at = at(5'000'000);
  ASSERT_EQ(write(InsertToken{token}), committed);
  const auto found = client_->find(storage::FindToken{sha256("secret")});
  EXPECT_EQ(found.token, token);
  EXPECT_EQ(found.principal, world_.sam);
  EXPECT_FALSE(client_->find(storage::FindToken{sha256("other")}).token.has_value());
  EXPECT_FALSE(client_->find(storage::FindToken{sha256("other")}).principal.has_value());

  auto same_digest = token;
  same_digest.id = world_.ids.next();
  EXPECT_EQ(write(InsertToken{same_digest}), lost_race);

  ASSERT_EQ(write(RevokeToken{token.id, at(60)}), committed);
  token.revoked_at = at(60);
  EXPECT_EQ(client_->find(storage::FindToken{token.digest}).token, token) << "revoked ones are found as well";
  EXPECT_EQ(write(RevokeToken{token.id, at(61)}), stale);
  EXPECT_EQ(write(RevokeToken{world_.ids.next(), at(61)}), stale);
  EXPECT_EQ(client_->find(storage::FindToken{token.digest}).token, token);
}

TEST_P(RowsSuite, SpacesChannelsAndThreadsAreUpdated) {
  auto space = world_.space;
  space.name = "Renamed";
  space.version = 2;
  EXPECT_EQ(write(UpdateSpace{space}), committed);
  EXPECT_EQ(write(UpdateSpace{space}), stale);
  auto channel = world_.channel;
  channel.name = "Help";
  channel.mode = ChannelMode::read_only;
  channel.operator_agent_id = world_.builder.id;
  channel.version = 2;
  EXPECT_EQ(write(UpdateChannel{channel}), committed);
  EXPECT_EQ(write(UpdateChannel{channel}), stale);
  auto thread_row = world_.threads[0];
  thread_row.title = "Other";
  thread_row.state = ThreadState::closed;
  thread_row.operator_agent_id.reset();
  thread_row.version = 2;
  EXPECT_EQ(write(UpdateThread{thread_row}), committed);
  EXPECT_EQ(write(UpdateThread{thread_row}), stale);

  const auto facts = thread(thread_row.id);
  EXPECT_EQ(facts.space, space);
  EXPECT_EQ(facts.channel, channel);
  EXPECT_EQ(facts.thread, thread_row);
}

TEST_P(RowsSuite, SecondInsertsLoseTheRace) {
  EXPECT_EQ(write(InsertSpace{world_.space}), lost_race);
  EXPECT_EQ(write(InsertChannel{world_.channel}), lost_race);
  EXPECT_EQ(write(InsertThread{world_.threads[0]}), lost_race);
  auto second_main = world_.main;
  second_main.id = world_.ids.next();
  EXPECT_EQ(write(InsertThread{second_main}), lost_race) << "a channel has one main thread";
}

TEST_P(RowsSuite, FactsAreRaisedByOne) {
  EXPECT_EQ(write(RaiseSpaceFacts{world_.space.id}), committed);
  EXPECT_EQ(write(RaiseSpaceFacts{world_.space.id}), committed);
  EXPECT_EQ(thread(world_.main.id).space->facts_version, 3);
  EXPECT_EQ(thread(world_.main.id).space->version, 1);
  EXPECT_EQ(write(RaiseSpaceFacts{world_.ids.next()}), stale);
}

TEST_P(RowsSuite, ARenameDoesNotSetTheFactsBack) {
  ASSERT_EQ(write(RaiseSpaceFacts{world_.space.id}), committed);
  auto space = world_.space; // made from the row as it was before the facts were raised
  space.name = "Renamed";
  space.version = 2;
  ASSERT_EQ(write(UpdateSpace{space}), committed);
  EXPECT_EQ(thread(world_.main.id).space->facts_version, 2);
  EXPECT_EQ(thread(world_.main.id).space->name, "Renamed");
}

TEST_P(RowsSuite, GrantsAreSetChangedAndTakenAway) {
  const auto level = [&] {
    storage::LoadThread question;
    question.thread_id = world_.threads[0].id;
    question.principals = {world_.sam.id};
    return client_->load(question).levels.at(0);
  };
  const auto set = [&](Level value) {
    return write(SetGrant{grant_on(ScopeKind::thread, world_.threads[0].id, world_.space, world_.sam, value)});
  };
  EXPECT_EQ(level(), Level::none);
  EXPECT_EQ(set(Level::none), committed) << "taking away what is not there";
  EXPECT_EQ(set(Level::read), committed);
  EXPECT_EQ(level(), Level::read);
  EXPECT_EQ(set(Level::trigger), committed);
  EXPECT_EQ(level(), Level::trigger);
  EXPECT_EQ(set(Level::none), committed);
  EXPECT_EQ(level(), Level::none);
}

TEST_P(RowsSuite, SeveralRowsOfOneDecisionComeTogether) {
  World other(2); // ids of its own would collide with the first world's, so they are replaced
  Decision decision;
  auto space = other.space;
  auto channel = other.channel;
  auto main = other.main;
  space.id = world_.ids.next();
  space.owner_id = world_.sam.id;
  channel.id = world_.ids.next();
  main.id = world_.ids.next();
  channel.space_id = main.space_id = space.id;
  main.channel_id = channel.id;
  channel.main_thread_id = main.id;
  channel.operator_agent_id = world_.builder.id;
  decision.rows = {InsertSpace{space}, InsertChannel{channel}, InsertThread{main},
                   SetGrant{grant_on(ScopeKind::channel, channel.id, space, world_.sam, Level::manage)}};
  ASSERT_EQ(client_->commit(decision), committed);
  const auto facts = client_->facts_of(main.id);
  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(facts->space, space);
  EXPECT_EQ(facts->channel, channel);
  EXPECT_EQ(facts->thread, main);
  EXPECT_EQ(facts->operator_agent, world_.builder);
}

TEST_P(RowsSuite, ARefusedRowTakesTheOthersBack) {
  auto space = world_.space;
  space.name = "Renamed";
  space.version = 2;
  auto thread_row = world_.threads[0];
  thread_row.version = 9;
  Decision decision;
  decision.rows = {UpdateSpace{space}, UpdateThread{thread_row},
                   SetGrant{grant_on(ScopeKind::space, space.id, space, world_.sam, Level::read)}};
  EXPECT_EQ(client_->commit(decision), stale);
  EXPECT_EQ(thread(world_.main.id).space, world_.space);
}

TEST_P(RowsSuite, ARowThatTheDatabaseForbidsIsFailed) {
  auto token = token_of(world_.ids.next(), world_.sam, "secret");
  token.principal_id = world_.ids.next();
  EXPECT_EQ(write(InsertToken{token}), failed);
  auto channel = world_.channel;
  channel.id = world_.ids.next();
  channel.space_id = world_.ids.next();
  EXPECT_EQ(write(InsertChannel{channel}), failed);
}

TEST_P(RowsSuite, TheFirstPrincipalIsMadeOnce) {
  auto owner = world_.alex;
  owner.id = world_.ids.next();
  const storage::Bootstrap question{owner, token_of(world_.ids.next(), owner, "owner")};
  const auto answer = client_->bootstrap(question);
  EXPECT_EQ(answer.status, storage::ReadStatus::ok);
  EXPECT_FALSE(answer.created) << "there are principals already";
  EXPECT_FALSE(client_->find(storage::FindToken{sha256("owner")}).token.has_value());
}

INSTANTIATE_TEST_SUITE_P(Storage, RowsSuite, testing::Values(BackendKind::memory, BackendKind::postgres));

/// Without the world, because only an empty instance gets its owner.
class BootstrapSuite : public StorageTest {
protected:
  void SetUp() override { open(); }
};

TEST_P(BootstrapSuite, OneOfManyFirstStartsMakesTheOwner) {
  std::vector<storage::Bootstrap> questions;
  for (int i = 0; i < 8; ++i) {
    auto owner = world_.alex;
    owner.id = world_.ids.next();
    questions.push_back({owner, token_of(world_.ids.next(), owner, "secret " + std::to_string(i))});
  }
  const auto answers = client_->bootstrap_at_once(questions);
  int created = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i].status, storage::ReadStatus::ok);
    created += answers[i].created ? 1 : 0;
    const auto found = client_->find(storage::FindToken{questions[i].token.digest});
    EXPECT_EQ(found.token.has_value(), answers[i].created);
    if (found.principal) {
      EXPECT_EQ(*found.principal, questions[i].owner);
    }
  }
  EXPECT_EQ(created, 1);
}

INSTANTIATE_TEST_SUITE_P(Storage, BootstrapSuite, testing::Values(BackendKind::memory, BackendKind::postgres));

} // namespace cleat::test
