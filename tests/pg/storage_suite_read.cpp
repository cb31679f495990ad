/// What storage answers to questions: facts, levels, references, pages.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/pg/storage_fixture.hpp"

namespace cleat::test {

namespace {

using enum storage::CommitOutcome;

class ReadSuite : public StorageTest {
protected:
  void commit(const Decision& decision) { ASSERT_EQ(client_->commit(decision), committed); }

  void give(ScopeKind scope, const Id& resource, const Principal& principal, Level level) {
    commit(World::only(SetGrant{grant_on(scope, resource, world_.space, principal, level)}));
  }

  std::vector<Level> levels(const Thread& thread, std::vector<Id> principals) {
    storage::LoadThread question;
    question.thread_id = thread.id;
    question.principals = std::move(principals);
    return client_->load(question).levels;
  }

  storage::LoadThread probe(const Thread& thread, const Principal& principal, std::string reference) {
    storage::LoadThread question;
    question.thread_id = thread.id;
    question.references = {{principal.id, std::move(reference)}};
    return question;
  }
};

template <class Row>
std::vector<Id> ids_of(const std::vector<Row>& rows) {
  std::vector<Id> ids;
  for (const auto& row : rows)
    ids.push_back(row.id);
  return ids;
}

} // namespace

TEST_P(ReadSuite, FactsOfAThread) {
  const auto facts = client_->facts_of(world_.threads[0].id);
  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(*facts, (ThreadFacts{world_.threads[0], world_.channel, world_.space, world_.lotse, {}, {}}));
}

TEST_P(ReadSuite, AMainThreadHasItsChannelsOperator) {
  EXPECT_EQ(client_->facts_of(world_.main.id)->operator_agent, world_.lotse);
  auto thread = world_.threads[0];
  thread.operator_agent_id.reset();
  thread.version = 2;
  commit(World::only(UpdateThread{thread}));
  EXPECT_FALSE(client_->facts_of(thread.id)->operator_agent.has_value()) << "an ordinary thread has its own or none";
}

TEST_P(ReadSuite, AnUnknownThreadHasNothing) {
  storage::LoadThread question = probe(world_.threads[0], world_.alex, "ref-1");
  question.thread_id = world_.ids.next();
  question.principals = {world_.alex.id, world_.sam.id};
  question.with_sessions = true;
  const auto answer = client_->load(question);
  EXPECT_EQ(answer.status, storage::ReadStatus::ok);
  EXPECT_FALSE(answer.facts.has_value());
  EXPECT_EQ(answer.levels, (std::vector{Level::none, Level::none}));
  ASSERT_EQ(answer.references.size(), 1U);
  EXPECT_FALSE(answer.references[0].current.has_value());
  EXPECT_FALSE(answer.references[0].newest.has_value());
  EXPECT_TRUE(answer.sessions.empty());
}

TEST_P(ReadSuite, TheHighestGrantOnThePathCounts) {
  const auto& thread = world_.threads[0];
  const auto level = [&] { return levels(thread, {world_.sam.id}).at(0); };
  EXPECT_EQ(level(), Level::none);
  give(ScopeKind::thread, world_.threads[1].id, world_.sam, Level::manage);
  EXPECT_EQ(level(), Level::none) << "a grant on another thread is none here";
  give(ScopeKind::channel, world_.channel.id, world_.sam, Level::write);
  EXPECT_EQ(level(), Level::write);
  give(ScopeKind::thread, thread.id, world_.sam, Level::read);
  EXPECT_EQ(level(), Level::write) << "a lower grant below takes nothing away";
  give(ScopeKind::thread, thread.id, world_.sam, Level::trigger);
  EXPECT_EQ(level(), Level::trigger);
  give(ScopeKind::space, world_.space.id, world_.sam, Level::manage);
  EXPECT_EQ(level(), Level::manage);
  give(ScopeKind::space, world_.space.id, world_.sam, Level::none);
  EXPECT_EQ(level(), Level::trigger);
}

TEST_P(ReadSuite, LevelsComeInTheOrderOfTheQuestion) {
  give(ScopeKind::space, world_.space.id, world_.sam, Level::read);
  EXPECT_EQ(levels(world_.main, {world_.sam.id, world_.alex.id, world_.lotse.id, world_.sam.id, world_.ids.next()}),
            (std::vector{Level::read, Level::manage, Level::none, Level::read, Level::none}));
}

TEST_P(ReadSuite, TheInstanceOwnerHasNoRightsInSpacesOfOthers) {
  auto space = world_.space;
  space.id = world_.ids.next();
  space.owner_id = world_.sam.id;
  commit(World::only(InsertSpace{space}));
  storage::LoadDirectory question;
  question.space_id = space.id;
  question.actor_id = world_.alex.id;
  EXPECT_EQ(client_->load(question).facts.level, Level::none);
  question.actor_id = world_.sam.id;
  EXPECT_EQ(client_->load(question).facts.level, Level::manage);
}

TEST_P(ReadSuite, SessionsComeNewestFirst) {
  std::vector<AgentSession> rows;
  for (const auto microseconds : {20, 10, 30, 20})
    rows.push_back(world_.imported(world_.threads[0], "ref-" + std::to_string(rows.size()), at(microseconds)));
  for (const auto& row : rows)
    commit(world_.bind(row));
  commit(world_.bind(world_.imported(world_.threads[1], "elsewhere")));
  EXPECT_EQ(client_->sessions_of(world_.threads[0].id), (std::vector{rows[2], rows[3], rows[0], rows[1]}))
    << "at one moment the later id is the newer";
  EXPECT_EQ(client_->facts_of(world_.threads[0].id)->newest_session_at, at(30));
  EXPECT_FALSE(client_->facts_of(world_.threads[0].id)->current.has_value());
}

TEST_P(ReadSuite, AReferenceIsFoundInAnotherThread) {
  give(ScopeKind::thread, world_.threads[1].id, world_.sam, Level::trigger);
  const auto current = world_.session(world_.threads[1], "ref-1", at(10));
  const auto newest = world_.imported(world_.threads[2], "ref-1", at(20));
  commit(world_.bind(current));
  commit(world_.bind(newest));

  const auto answer = client_->load(probe(world_.threads[0], world_.sam, "ref-1"));
  ASSERT_EQ(answer.references.size(), 1U);
  const auto& reference = answer.references[0];
  EXPECT_EQ(reference.agent_id, world_.lotse.id);
  EXPECT_EQ(reference.external_session_ref, "ref-1");
  EXPECT_EQ(reference.current, current);
  EXPECT_EQ(reference.newest, newest);
  const ThreadFacts there{world_.threads[1], world_.channel, world_.space, world_.lotse, current, current.created_at};
  EXPECT_EQ(reference.current_thread, (OtherThread{there, Level::trigger}));
  const ThreadFacts newest_there{world_.threads[2], world_.channel, world_.space, world_.lotse, {}, newest.created_at};
  EXPECT_EQ(reference.newest_thread, (OtherThread{newest_there, Level::none}));
}

TEST_P(ReadSuite, OfTwoRowsOfOneMomentTheLaterIdIsTheNewest) {
  const auto first = world_.imported(world_.threads[1], "ref-1", at(10));
  const auto second = world_.imported(world_.threads[2], "ref-1", at(10));
  commit(world_.bind(second));
  commit(world_.bind(first));
  EXPECT_EQ(client_->load(probe(world_.threads[0], world_.alex, "ref-1")).references.at(0).newest, second);
}

TEST_P(ReadSuite, AReferenceOfTheThreadItselfNamesNoOther) {
  const auto row = world_.session(world_.threads[0], "ref-1");
  commit(world_.bind(row));
  const auto reference = client_->load(probe(world_.threads[0], world_.alex, "ref-1")).references.at(0);
  EXPECT_EQ(reference.current, row);
  EXPECT_EQ(reference.newest, row);
  EXPECT_FALSE(reference.current_thread.has_value());
  EXPECT_FALSE(reference.newest_thread.has_value());
}

TEST_P(ReadSuite, AReferenceOfAnotherAgentIsNotFound) {
  auto row = world_.session(world_.threads[1], "ref-1");
  row.agent_id = world_.builder.id;
  commit(world_.bind(row));
  const auto reference = client_->load(probe(world_.threads[0], world_.alex, "ref-1")).references.at(0);
  EXPECT_FALSE(reference.current.has_value());
  EXPECT_FALSE(reference.newest.has_value());
}

TEST_P(ReadSuite, WithAKnownOperatorReferencesAreLookedUpAlone) {
  auto row = world_.session(world_.threads[1], "ref-1");
  row.agent_id = world_.builder.id;
  commit(world_.bind(row));
  auto question = probe(world_.threads[0], world_.alex, "ref-1");
  question.known_operator = world_.builder.id;
  const auto reference = client_->load(question).references.at(0);
  EXPECT_EQ(reference.agent_id, world_.builder.id);
  EXPECT_EQ(reference.current, row);
  ASSERT_TRUE(reference.current_thread.has_value());
  EXPECT_EQ(reference.current_thread->facts.thread, world_.threads[1]);
  EXPECT_EQ(reference.current_thread->level, Level::manage);
}

TEST_P(ReadSuite, AThreadWithoutOperatorHasNoReferences) {
  auto channel = world_.channel;
  channel.operator_agent_id.reset();
  channel.version = 2;
  commit(World::only(UpdateChannel{channel}));
  commit(world_.bind(world_.session(world_.threads[1], "ref-1")));
  const auto answer = client_->load(probe(world_.main, world_.alex, "ref-1"));
  EXPECT_FALSE(answer.facts->operator_agent.has_value());
  ASSERT_EQ(answer.references.size(), 1U);
  EXPECT_FALSE(answer.references[0].current.has_value());
  EXPECT_FALSE(answer.references[0].newest.has_value());
}

TEST_P(ReadSuite, ReferencesComeInTheOrderOfTheQuestion) {
  give(ScopeKind::channel, world_.channel.id, world_.sam, Level::read);
  const auto row = world_.session(world_.threads[1], "ref-2");
  commit(world_.bind(row));
  auto question = probe(world_.threads[0], world_.sam, "ref-1");
  question.references.push_back({world_.sam.id, "ref-2"});
  question.references.push_back({world_.alex.id, "ref-2"});
  question.references.push_back({world_.ids.next(), "ref-2"});
  question.references.push_back({world_.sam.id, "REF-2"});
  const auto references = client_->load(question).references;
  ASSERT_EQ(references.size(), 5U);
  for (std::size_t i = 0; i < references.size(); ++i) {
    EXPECT_EQ(references[i].external_session_ref, question.references[i].external_session_ref);
    EXPECT_EQ(references[i].current.has_value(), i >= 1 && i <= 3) << i;
  }
  EXPECT_EQ(references[1].current_thread->level, Level::read);
  EXPECT_EQ(references[2].current_thread->level, Level::manage);
  EXPECT_EQ(references[3].current_thread->level, Level::none);
}

TEST_P(ReadSuite, TheDeepestResourceOfAPathDecides) {
  give(ScopeKind::channel, world_.channel.id, world_.sam, Level::read);
  give(ScopeKind::thread, world_.threads[0].id, world_.sam, Level::write);
  storage::LoadDirectory question;
  question.actor_id = world_.sam.id;
  question.subject_id = world_.sam.id;

  question.space_id = world_.space.id;
  auto facts = client_->load(question).facts;
  EXPECT_EQ(facts.space, world_.space);
  EXPECT_FALSE(facts.channel.has_value());
  EXPECT_EQ(facts.level, Level::none);
  EXPECT_FALSE(facts.subject_grant.has_value());

  question.space_id.reset();
  question.channel_id = world_.channel.id;
  facts = client_->load(question).facts;
  EXPECT_EQ(facts.space, world_.space) << "a channel brings its space";
  EXPECT_EQ(facts.channel, world_.channel);
  EXPECT_EQ(facts.level, Level::read);
  EXPECT_EQ(facts.subject_grant,
            grant_on(ScopeKind::channel, world_.channel.id, world_.space, world_.sam, Level::read));

  question.channel_id.reset();
  question.thread_id = world_.threads[0].id;
  facts = client_->load(question).facts;
  EXPECT_EQ(facts.space, world_.space);
  EXPECT_EQ(facts.channel, world_.channel);
  EXPECT_EQ(facts.thread, world_.threads[0]);
  EXPECT_EQ(facts.level, Level::write);
  EXPECT_EQ(facts.subject, world_.sam);

  question.thread_id = world_.main.id;
  facts = client_->load(question).facts;
  EXPECT_EQ(facts.level, Level::read);
  EXPECT_FALSE(facts.subject_grant.has_value()) << "the grant on the channel is not one on the thread";
}

TEST_P(ReadSuite, WhatDoesNotExistIsAbsent) {
  storage::LoadDirectory question;
  question.actor_id = world_.alex.id;
  question.thread_id = world_.ids.next();
  question.subject_id = world_.ids.next();
  question.token_id = world_.ids.next();
  question.referred_id = world_.ids.next();
  EXPECT_EQ(client_->load(question).facts, DirectoryFacts{});
  question.thread_id.reset();
  question.channel_id = world_.ids.next();
  EXPECT_EQ(client_->load(question).facts, DirectoryFacts{});
  question.channel_id.reset();
  question.space_id = world_.ids.next();
  EXPECT_EQ(client_->load(question).facts, DirectoryFacts{});
}

TEST_P(ReadSuite, PrincipalsTokensAndWhoIsReferredTo) {
  const auto token = token_of(world_.ids.next(), world_.sam, "secret");
  commit(World::only(InsertToken{token}));
  storage::LoadDirectory question;
  question.actor_id = world_.alex.id;
  question.subject_id = world_.sam.id;
  question.token_id = token.id;
  question.referred_id = world_.builder.id;
  const auto facts = client_->load(question).facts;
  EXPECT_EQ(facts.subject, world_.sam);
  EXPECT_EQ(facts.token, token);
  EXPECT_EQ(facts.referred, world_.builder);
  EXPECT_EQ(facts.level, Level::none);
  EXPECT_FALSE(facts.space.has_value());
}

TEST_P(ReadSuite, PagesHoldOneRowMoreThanAskedForAndGoOnBehindTheCursor) {
  std::vector<Id> expected = {world_.main.id};
  for (const auto& thread : world_.threads)
    expected.push_back(thread.id);
  ThreadsPage query{world_.channel.id, {2, std::nullopt}};
  EXPECT_EQ(ids_of(client_->page<Thread>(query)), (std::vector{expected[0], expected[1], expected[2]}));
  query.range.after = expected[1];
  EXPECT_EQ(ids_of(client_->page<Thread>(query)), (std::vector{expected[2], expected[3], expected[4]}));
  query.range.after = expected[3];
  EXPECT_EQ(ids_of(client_->page<Thread>(query)), (std::vector{expected[4]}));
  query.range.after = expected[4];
  EXPECT_TRUE(client_->page<Thread>(query).empty());
  query.channel_id = world_.ids.next();
  EXPECT_TRUE(client_->page<Thread>(query).empty());
}

TEST_P(ReadSuite, SpacesAreThoseThatOneOwnsOrHoldsAGrantOn) {
  auto of_sam = world_.space;
  of_sam.id = world_.ids.next();
  of_sam.owner_id = world_.sam.id;
  auto hidden = of_sam;
  hidden.id = world_.ids.next();
  hidden.owner_id = world_.alex.id;
  commit(World::only(InsertSpace{of_sam}));
  commit(World::only(InsertSpace{hidden}));
  const SpacesPage query{world_.sam.id, {50, std::nullopt}};
  EXPECT_EQ(client_->page<Space>(query), std::vector{of_sam});
  give(ScopeKind::space, world_.space.id, world_.sam, Level::read);
  EXPECT_EQ(client_->page<Space>(query), (std::vector{world_.space, of_sam}));
}

TEST_P(ReadSuite, ChannelsPrincipalsAndTokens) {
  EXPECT_EQ(client_->page<Channel>(ChannelsPage{world_.space.id, {50, std::nullopt}}), std::vector{world_.channel});
  EXPECT_EQ(client_->page<Principal>(PrincipalsPage{{50, std::nullopt}}),
            (std::vector{world_.alex, world_.sam, world_.lotse, world_.builder}));
  EXPECT_EQ(client_->page<Principal>(PrincipalsPage{{1, world_.alex.id}}), (std::vector{world_.sam, world_.lotse}));
  const auto first = token_of(world_.ids.next(), world_.sam, "first");
  const auto second = token_of(world_.ids.next(), world_.sam, "second");
  commit(World::only(InsertToken{second}));
  commit(World::only(InsertToken{first}));
  commit(World::only(InsertToken{token_of(world_.ids.next(), world_.alex, "of another")}));
  EXPECT_EQ(client_->page<Token>(TokensPage{world_.sam.id, {50, std::nullopt}}), (std::vector{first, second}));
}

TEST_P(ReadSuite, GrantsOfAPrincipal) {
  give(ScopeKind::thread, world_.threads[0].id, world_.sam, Level::write);
  give(ScopeKind::space, world_.space.id, world_.sam, Level::read);
  give(ScopeKind::space, world_.space.id, world_.lotse, Level::read);
  const auto on_space = grant_on(ScopeKind::space, world_.space.id, world_.space, world_.sam, Level::read);
  const auto on_thread = grant_on(ScopeKind::thread, world_.threads[0].id, world_.space, world_.sam, Level::write);
  EXPECT_EQ(client_->page<Grant>(GrantsPage{world_.sam.id, {50, std::nullopt}}), (std::vector{on_space, on_thread}));
  EXPECT_EQ(client_->page<Grant>(GrantsPage{world_.sam.id, {50, world_.space.id}}), std::vector{on_thread});
}

TEST_P(ReadSuite, TheAuditLogComesNewestFirstAndFiltered) {
  std::vector<AuditEntry> entries;
  Decision decision;
  for (int i = 0; i < 5; ++i) {
    auto entry = world_.audit(i % 2 == 0 ? "grant.set" : "space.created", world_.threads[0].id);
    entry.actor_id = i < 3 ? world_.alex.id : world_.sam.id;
    entry.details = "{\"note\":\"" + std::to_string(i) + "\"}";
    decision.audit.push_back(entry);
    entries.push_back(entry);
  }
  entries[1].resource_id = decision.audit[1].resource_id = world_.threads[1].id;
  commit(decision);
  const auto denial = world_.denial(world_.sam, "grant.set", "level_insufficient", at(0));
  ASSERT_EQ(client_->deny(denial, 300), committed);
  entries.push_back(denial);

  AuditPage query;
  query.range.limit = 2;
  EXPECT_EQ(client_->page<AuditEntry>(query), (std::vector{entries[5], entries[4], entries[3]}));
  query.range.after = entries[4].id;
  EXPECT_EQ(client_->page<AuditEntry>(query), (std::vector{entries[3], entries[2], entries[1]}));
  query.range = {50, std::nullopt};
  query.actor_id = world_.sam.id;
  EXPECT_EQ(client_->page<AuditEntry>(query), (std::vector{entries[5], entries[4], entries[3]}));
  query.allowed = false;
  EXPECT_EQ(client_->page<AuditEntry>(query), std::vector{entries[5]});
  query = {};
  query.range.limit = 50;
  query.action = "space.created";
  EXPECT_EQ(client_->page<AuditEntry>(query), (std::vector{entries[3], entries[1]}));
  query.resource_id = world_.threads[1].id;
  EXPECT_EQ(client_->page<AuditEntry>(query), std::vector{entries[1]});
  query.allowed = false;
  EXPECT_TRUE(client_->page<AuditEntry>(query).empty());
}

TEST_P(ReadSuite, RecordsGoWhenTheirTimeIsOver) {
  // The machine's time and not the test's calendar, because the database may have more to collect by its own clock.
  const Timestamp start = SystemClock().now();
  for (int i = 0; i < 5; ++i) {
    Decision decision;
    decision.idempotency = World::record(world_.alex, "key-" + std::to_string(i));
    decision.idempotency->expires_at = start + std::chrono::seconds{i};
    commit(decision);
  }
  const auto found = [&](int number) {
    return client_->find(storage::FindIdempotency{world_.alex.id, "key-" + std::to_string(number)}).record.has_value();
  };
  auto answer = client_->collect({start - std::chrono::microseconds{1}, 100});
  EXPECT_EQ(answer.status, storage::ReadStatus::ok);
  EXPECT_EQ(answer.removed, 0);
  EXPECT_EQ(client_->collect({start + std::chrono::seconds{2}, 2}).removed, 2) << "no more than the limit at once";
  EXPECT_EQ(client_->collect({start + std::chrono::seconds{2}, 2}).removed, 1);
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(found(i), i > 2) << i;
}

TEST_P(ReadSuite, PingAnswers) {
  EXPECT_EQ(client_->ping().status, storage::ReadStatus::ok);
}

INSTANTIATE_TEST_SUITE_P(Storage, ReadSuite, testing::Values(BackendKind::memory, BackendKind::postgres));

} // namespace cleat::test
