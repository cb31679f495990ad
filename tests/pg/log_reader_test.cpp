/// What only a real database does to readers of its logs: transactions that commit late, or never.
#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "tests/pg/databases.hpp"
#include "tests/pg/runs.hpp"
#include "tests/pg/storage_fixture.hpp"
#include "tests/support/sql.hpp"

namespace cleat::test {

namespace {

using enum storage::CommitOutcome;

/// Three servers on one database: two write, and the third, which has not been asked for anything yet, reads.
class LogReader : public testing::Test {
protected:
  void SetUp() override { ASSERT_EQ(writers_[0].commit(world_.provision()), committed); }

  /// A decision with one event and one agent event of Lotse, which tell its number.
  Decision numbered(int number) {
    const auto payload = "{\"n\":" + std::to_string(number) + "}";
    Decision decision;
    decision.events = {world_.event("thread.changed", world_.main.id, payload)};
    decision.agent_events = {told(world_.lotse, payload)};
    return decision;
  }

  void commit(int number) { ASSERT_EQ(writers_[0].commit(numbered(number)), committed); }

  /// Writes the same by hand, in a transaction that is left open.
  void write_by_hand(Sql& hand, int number) {
    const auto payload = "{\"n\":" + std::to_string(number) + "}";
    hand.script("BEGIN");
    hand.run("INSERT INTO events (id, type, time, space_id, channel_id, thread_id, resource_kind, resource_id,"
             " actor_kind, actor_id, payload)"
             " VALUES (gen_random_uuid(), 'thread.changed', now(), $1, $2, $3, 'thread', $3, 'human', $4, $5)",
             {world_.space.id.str(), world_.channel.id.str(), world_.main.id.str(), world_.alex.id.str(), payload});
    hand.run("INSERT INTO agent_events (agent_id, type, time, payload) VALUES ($1, 'agent.invocation', now(), $2)",
             {world_.lotse.id.str(), payload});
  }

  /// The payloads of what is new to a reader, whose positions move on.
  std::vector<std::string> new_events(std::int64_t limit = 100) {
    const auto found = reader_.find(storage::FindEvents{world_.alex.id, {}, after_, limit});
    EXPECT_GE(found.next_after, after_);
    after_ = found.next_after;
    return payloads(found.events);
  }
  std::vector<std::string> new_agent_events(std::int64_t limit = 100) {
    const auto found = reader_.find(storage::FindAgentEvents{world_.lotse.id, agent_after_, limit});
    EXPECT_GE(found.next_after, agent_after_);
    agent_after_ = found.next_after;
    return payloads(found.events);
  }

  template <class Logged>
  static std::vector<std::string> payloads(const std::vector<Logged>& rows) {
    std::vector<std::string> texts;
    for (const auto& row : rows)
      texts.push_back(row.event.payload);
    return texts;
  }

  static std::vector<std::string> numbers(std::initializer_list<int> all) {
    std::vector<std::string> texts;
    for (const int number : all)
      texts.push_back("{\"n\":" + std::to_string(number) + "}");
    return texts;
  }

  LeasedDatabase database_;
  const std::string& url_ = database_.url();
  StorageConfig config_;
  caf::actor_system system_{config_};
  std::array<std::unique_ptr<Backend>, 3> servers_{open_postgres_backend(system_, options_for(url_)),
                                                   open_postgres_backend(system_, options_for(url_)),
                                                   open_postgres_backend(system_, options_for(url_))};
  std::array<Client, 2> writers_{Client{system_, servers_[0]->store()}, Client{system_, servers_[1]->store()}};
  Client reader_{system_, servers_[2]->store()};
  World world_;
  std::int64_t after_ = 0;
  std::int64_t agent_after_ = 0;
};

/// Ends every connection of storage, and no other.
void terminate_storage(const std::string& url) {
  Sql(url).run("SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
               " WHERE datname = current_database() AND application_name = 'cleat'");
}

} // namespace

TEST_F(LogReader, WhatCommitsLateComesBeforeWhatCommittedMeanwhile) {
  commit(1);
  EXPECT_EQ(new_events(), numbers({1}));
  EXPECT_EQ(new_agent_events(), numbers({1}));
  const auto before = reader_.advance();

  Sql hand(url_);
  write_by_hand(hand, 2);
  commit(3);
  commit(4);
  for (int look = 0; look < 3; ++look) {
    EXPECT_TRUE(new_events().empty()) << "2 may still come";
    EXPECT_TRUE(new_agent_events().empty());
    EXPECT_TRUE(reader_.advance().agents.empty());
    EXPECT_EQ(reader_.advance().events, before.events);
    EXPECT_EQ(reader_.advance().agent_events, before.agent_events);
  }
  hand.script("COMMIT");
  EXPECT_EQ(reader_.advance().agents, std::vector{world_.lotse.id});
  EXPECT_EQ(new_events(), numbers({2, 3, 4}));
  EXPECT_EQ(new_agent_events(), numbers({2, 3, 4}));
  EXPECT_TRUE(new_events().empty());
}

TEST_F(LogReader, WhatIsRolledBackHoldsUpNobodyForEver) {
  Sql hand(url_);
  write_by_hand(hand, 1);
  commit(2);
  EXPECT_TRUE(new_events().empty());
  EXPECT_TRUE(new_agent_events().empty());
  hand.script("ROLLBACK");
  EXPECT_EQ(new_events(), numbers({2}));
  EXPECT_EQ(new_agent_events(), numbers({2}));
  commit(3);
  EXPECT_EQ(new_events(1), numbers({3}));
  EXPECT_EQ(new_agent_events(1), numbers({3}));
}

TEST_F(LogReader, TransactionsWithoutAGapBetweenThemHoldUpNobody) {
  // There is always one open, but none for ever: what was written before it began comes out when the one before ends.
  std::array<std::unique_ptr<Sql>, 2> hands{std::make_unique<Sql>(url_), std::make_unique<Sql>(url_)};
  write_by_hand(*hands[0], 0);
  std::vector<std::string> seen;
  for (int number = 1; number <= 6; ++number) {
    const auto now = static_cast<std::size_t>(number) % 2;
    write_by_hand(*hands[now], number);
    const auto some = new_events();
    seen.insert(seen.end(), some.begin(), some.end());
    hands[1 - now]->script("COMMIT");
    const auto more = new_events();
    seen.insert(seen.end(), more.begin(), more.end());
    EXPECT_GE(std::ssize(seen), number - 1) << "at most the one before is still waited for";
  }
  hands[0]->script("COMMIT");
  const auto rest = new_events();
  seen.insert(seen.end(), rest.begin(), rest.end());
  EXPECT_EQ(seen, numbers({0, 1, 2, 3, 4, 5, 6}));
}

TEST_F(LogReader, AnAgentThatAskedTooEarlyIsNamed) {
  Sql hand(url_);
  write_by_hand(hand, 1);
  hand.script("COMMIT");
  write_by_hand(hand, 2); // before the reader has looked for the first time
  EXPECT_TRUE(new_agent_events().empty()) << "not even the first is known to be safe";
  EXPECT_TRUE(reader_.advance().agents.empty());
  hand.script("ROLLBACK");
  const auto agents = reader_.advance().agents;
  EXPECT_EQ(std::ranges::count(agents, world_.lotse.id), 1);
  EXPECT_EQ(new_agent_events(), numbers({1}));
}

TEST_F(LogReader, ALostConnectionLosesNoEvent) {
  commit(1);
  EXPECT_EQ(new_events(), numbers({1}));
  reader_.advance();
  Sql hand(url_);
  write_by_hand(hand, 2);
  commit(3);
  EXPECT_TRUE(new_events().empty());
  const auto before = reader_.advance();
  terminate_storage(url_);
  EXPECT_TRUE(new_events().empty()) << "the transaction is still there";
  EXPECT_EQ(reader_.advance().events, before.events) << "and what was safe stays it";
  hand.script("COMMIT");
  terminate_storage(url_);
  EXPECT_EQ(reader_.advance().agents, std::vector{world_.lotse.id});
  EXPECT_EQ(new_events(), numbers({2, 3}));
  EXPECT_EQ(new_agent_events(), numbers({1, 2, 3}));
}

TEST_F(LogReader, AReaderWhoMaySeeNothingGetsOnInSteps) {
  constexpr std::int64_t rows = 25'000;
  Sql(url_).run(
    "INSERT INTO events (id, type, time, space_id, resource_kind, resource_id, actor_kind, actor_id, payload)"
    " SELECT gen_random_uuid(), 'space.changed', now(), $1, 'space', $1, 'human', $2, '{}'"
    " FROM generate_series(1, $3::bigint)",
    {world_.space.id.str(), world_.alex.id.str(), std::to_string(rows)});
  std::int64_t after = 0;
  int questions = 0;
  for (; after < rows && questions < 10; ++questions) {
    const auto found = reader_.find(storage::FindEvents{world_.sam.id, {}, after, 1});
    EXPECT_TRUE(found.events.empty());
    EXPECT_GT(found.next_after, after);
    EXPECT_LE(found.next_after, after + 10'000) << "no question looks through the whole log";
    after = found.next_after;
  }
  EXPECT_EQ(after, rows);
  EXPECT_EQ(questions, 3);
  const auto found = reader_.find(storage::FindEvents{world_.alex.id, {}, rows - 2, 1});
  EXPECT_EQ(found.next_after, rows - 1);
}

TEST_F(LogReader, EveryEventOfSeveralWritersIsSeenOnceAndInOrder) {
  constexpr int rounds = 60;
  constexpr int at_once = 8;
  std::atomic<int> writing = 2;
  // The decisions are made before the threads start, because the world makes ids for one of them only.
  std::array<std::vector<std::vector<Decision>>, 2> decisions;
  for (int number = 0; number < 2 * rounds * at_once; ++number) {
    auto& of_writer = decisions[static_cast<std::size_t>(number) % 2];
    if (of_writer.empty() || of_writer.back().size() == at_once)
      of_writer.emplace_back();
    of_writer.back().push_back(numbered(number));
    if (number % 7 == 0)
      of_writer.back().back().guards = {{GuardedRow::thread, world_.main.id, 9}}; // a gap: its batch is rolled back
  }
  std::array<std::atomic<int>, 2> written{};
  std::atomic<int> written_by_hand = 0;
  std::atomic<bool> hand_is_done = false;
  const auto write = [&](std::size_t writer) {
    for (const auto& some : decisions[writer]) {
      const auto outcomes = writers_[writer].commit_at_once(some);
      written[writer] += static_cast<int>(std::ranges::count(outcomes, committed));
    }
    --writing;
  };
  // Somebody who takes his time between a `seq` and the end of his transaction, and does not always commit.
  const auto write_slowly = [&] {
    Sql hand(url_);
    for (int number = 1'000'000; writing > 0; ++number) {
      write_by_hand(hand, number);
      hand.run("SELECT pg_sleep(0.002)");
      hand.script(number % 3 == 0 ? "ROLLBACK" : "COMMIT");
      written_by_hand += number % 3 == 0 ? 0 : 1;
    }
    hand_is_done = true;
  };
  std::thread first(write, 0U);
  std::thread second(write, 1U);
  std::thread third(write_slowly);

  std::vector<std::string> seen;
  std::vector<std::string> agent_seen = new_agent_events();
  for (bool last = false; !last;) {
    last = writing == 0 && hand_is_done; // what is there by now is seen by this round or by none
    for (auto some = new_events(7); !some.empty(); some = new_events(7))
      seen.insert(seen.end(), some.begin(), some.end());
    // This one reads only when it is named, as those do who wait.
    for (const auto& agent : reader_.advance().agents)
      if (agent == world_.lotse.id)
        for (auto some = new_agent_events(7); !some.empty(); some = new_agent_events(7))
          agent_seen.insert(agent_seen.end(), some.begin(), some.end());
  }
  first.join();
  second.join();
  third.join();

  std::vector<std::string> truth;
  for (const auto& row : Sql(url_).run("SELECT payload FROM events ORDER BY seq"))
    truth.push_back(row.at(0).value());
  EXPECT_EQ(std::ssize(truth), written[0] + written[1] + written_by_hand);
  EXPECT_EQ(seen, truth);
  truth.clear();
  for (const auto& row : Sql(url_).run("SELECT payload FROM agent_events ORDER BY seq"))
    truth.push_back(row.at(0).value());
  EXPECT_EQ(agent_seen, truth);
  EXPECT_GT(Sql(url_).number("SELECT max(seq) FROM events"), std::ssize(seen)) << "there were gaps";
}

TEST_F(LogReader, ADatabaseThatIsAwayIsTold) {
  commit(1);
  EXPECT_EQ(new_events(), numbers({1}));
  Sql administrator(url_);
  administrator.script("ALTER TABLE events RENAME TO gone; ALTER TABLE runs RENAME TO gone_too");
  terminate_storage(url_);
  EXPECT_EQ(reader_.find(storage::FindEvents{world_.alex.id, {}, 0, 1}).status, storage::ReadStatus::unavailable);
  EXPECT_EQ(reader_.find(storage::FindAgentEvents{world_.lotse.id, 0, 1}).status, storage::ReadStatus::unavailable);
  EXPECT_EQ(reader_.find(storage::FindOverdueRuns{1, 1}).status, storage::ReadStatus::unavailable);
  EXPECT_EQ(reader_.advance().status, storage::ReadStatus::unavailable);
  administrator.script("ALTER TABLE gone RENAME TO events; ALTER TABLE gone_too RENAME TO runs");
  commit(2);
  EXPECT_EQ(new_events(), numbers({2}));
}

} // namespace cleat::test
