/// What storage answers while its database dies, comes back, hangs or is cut off: whatever it says must be true.
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "base/metrics.hpp"
#include "storage/migrator.hpp"
#include "storage/postgres.hpp"
#include "tests/pg/databases.hpp"
#include "tests/pg/storage_fixture.hpp"
#include "tests/support/cluster.hpp"
#include "tests/support/cutting_proxy.hpp"
#include "tests/support/sql.hpp"

namespace cleat::test {

namespace {

using enum storage::CommitOutcome;
using storage::CommitOutcome;
using storage::ReadStatus;

/// The rows of all tables that a decision writes to, by id or key.
class WrittenRows {
public:
  explicit WrittenRows(const std::string& url) {
    Sql sql(url);
    for (const auto& row : sql.run("SELECT id::text FROM agent_sessions UNION ALL SELECT id::text FROM events"
                                   " UNION ALL SELECT id::text FROM audit_log"
                                   " UNION ALL SELECT key FROM idempotency_records"))
      rows_.insert(row.at(0).value());
  }

  /// How many of the decision's rows are there: all of them or none.
  [[nodiscard]] std::size_t count(const Decision& decision) const {
    return rows_.count(decision.sessions.at(0).id.str()) + rows_.count(decision.events.at(0).id.str()) +
           rows_.count(decision.audit.at(0).id.str()) + rows_.count(decision.idempotency.value().key.key);
  }
  static constexpr std::size_t all = 4;

private:
  std::multiset<std::string> rows_;
};

/// A database of the cluster with the world in it, and storage on top, possibly by way of another socket.
class Installation {
public:
  explicit Installation(Cluster& cluster, const std::function<void(storage::DatabaseOptions&)>& change = {})
    : url(cluster.createdb(fresh_database_name())) {
    auto options = options_for(url);
    storage::migrate(options);
    options.resolve_timeout_s = 2;
    if (change)
      change(options);
    backend_ = open_postgres_backend(system, options);
    client.emplace(system, backend_->store());
    if (client->commit(world.provision()) != committed)
      throw std::runtime_error("no world");
  }

  Client another_client() { return {system, backend_->store()}; }

  /// An import that only this call makes, so that its row tells whether it was committed.
  Decision unique_decision() {
    const auto number = std::to_string(++count_);
    auto decision = world.bind(
      world.imported(world.threads[static_cast<std::size_t>(count_) % world.threads.size()], "ref-" + number));
    decision.idempotency = World::record(world.alex, "key-" + number);
    return decision;
  }

  std::string url;
  StorageConfig config;
  caf::actor_system system{config};
  World world;

private:
  std::unique_ptr<Backend> backend_;
  std::int64_t count_ = 0;

public:
  std::optional<Client> client;
};

/// Commits without pause until it is told to stop, and remembers what was answered.
class Load {
public:
  explicit Load(Installation& installation)
    : installation_(installation), client_(installation.another_client()), thread_([this] { run(); }) {}

  ~Load() {
    if (thread_.joinable())
      finish();
  }

  /// Returns once `count` more decisions than now were answered with `outcome`; false when that takes too long.
  bool wait_for(CommitOutcome outcome, std::size_t count) {
    std::unique_lock lock(mutex_);
    const std::size_t goal = counts_[outcome] + count;
    return changed_.wait_for(lock, std::chrono::minutes{1}, [&] { return counts_[outcome] >= goal; });
  }

  /// Returns once any further decision was answered with something else than `committed`.
  bool wait_for_trouble() {
    std::unique_lock lock(mutex_);
    const std::size_t before = refused();
    return changed_.wait_for(lock, std::chrono::minutes{1}, [&] { return refused() > before; });
  }

  void finish() {
    stopping_ = true;
    thread_.join();
  }

  /// Compares every answer with the rows. Only after `finish`.
  void expect_truth() {
    const WrittenRows written(installation_.url);
    for (const auto& [decision, outcome] : answers_) {
      const auto rows = written.count(decision);
      if (outcome == committed)
        EXPECT_EQ(rows, WrittenRows::all) << "acknowledged and lost";
      else if (outcome == unavailable)
        EXPECT_EQ(rows, 0U) << "denied and written";
      else
        EXPECT_TRUE(outcome == unknown && (rows == 0 || rows == WrittenRows::all)) << storage::to_string(outcome);
    }
  }

private:
  [[nodiscard]] std::size_t refused() {
    std::size_t sum = 0;
    for (const auto& [outcome, count] : counts_)
      sum += outcome == committed ? 0 : count;
    return sum;
  }

  void run() {
    while (!stopping_) {
      std::vector<Decision> decisions;
      for (int i = 0; i < 16; ++i)
        decisions.push_back(installation_.unique_decision());
      const auto outcomes = client_.commit_at_once(decisions);
      const std::lock_guard lock(mutex_);
      for (std::size_t i = 0; i < decisions.size(); ++i) {
        ++counts_[outcomes[i]];
        answers_.emplace_back(std::move(decisions[i]), outcomes[i]);
      }
      changed_.notify_all();
    }
  }

  Installation& installation_;
  Client client_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<CommitOutcome, std::size_t> counts_;
  std::vector<std::pair<Decision, CommitOutcome>> answers_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

/// Reads the event log all the time, as far as it can.
class Reader {
public:
  explicit Reader(Installation& installation)
    : installation_(installation), client_(installation.another_client()), thread_([this] { run(); }) {}

  ~Reader() {
    if (thread_.joinable())
      finish();
  }

  void finish() {
    stopping_ = true;
    thread_.join();
  }

  /// Compares what was read with the whole log. Only after `finish`, which is after the last commit.
  void expect_everything_once() {
    while (read_some()) {
    }
    std::vector<std::string> truth;
    for (const auto& row : Sql(installation_.url).run("SELECT id FROM events ORDER BY seq"))
      truth.push_back(row.at(0).value());
    EXPECT_EQ(seen_, truth);
  }

private:
  /// Whether there was anything new.
  bool read_some() {
    const auto found = client_.find(storage::FindEvents{installation_.world.alex.id, {}, after_, 50});
    if (found.status == ReadStatus::unavailable)
      return false;
    for (const auto& logged : found.events)
      seen_.push_back(logged.event.id.str());
    return std::exchange(after_, found.next_after) != found.next_after;
  }

  void run() {
    while (!stopping_)
      if (!read_some())
        std::this_thread::sleep_for(std::chrono::milliseconds{2}); // as anybody does who polls
  }

  Installation& installation_;
  Client client_;
  std::int64_t after_ = 0;
  std::vector<std::string> seen_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

/// Ends every backend that works for storage.
void terminate_backends(const std::string& url) {
  Sql(url).run("SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
               " WHERE datname = current_database() AND pid <> pg_backend_pid()");
}

} // namespace

TEST(DatabaseTrouble, PostgresIsKilledUnderLoad) {
  Cluster cluster;
  Installation installation(cluster);
  Load load(installation);
  Reader reader(installation);
  for (int round = 0; round < 4; ++round) {
    ASSERT_TRUE(load.wait_for(committed, 200)) << "round " << round;
    cluster.kill();
    // Every other time it stays away for long enough that somebody is told.
    if (round % 2 == 0) {
      ASSERT_TRUE(load.wait_for_trouble());
    }
    cluster.start();
  }
  ASSERT_TRUE(load.wait_for(committed, 200)) << "it recovers by itself";
  load.finish();
  reader.finish();
  load.expect_truth();
  reader.expect_everything_once();
  EXPECT_EQ(Sql(installation.url)
              .number("SELECT count(*) FROM (SELECT FROM agent_sessions GROUP BY external_session_ref"
                      " HAVING count(*) > 1) twice"),
            0);
}

TEST(DatabaseTrouble, BackendsAreTerminatedUnderLoad) {
  Installation installation(shared_cluster());
  Load load(installation);
  Reader reader(installation);
  for (int round = 0; round < 25; ++round) {
    ASSERT_TRUE(load.wait_for(committed, 20)) << "round " << round;
    terminate_backends(installation.url);
  }
  ASSERT_TRUE(load.wait_for(committed, 20));
  load.finish();
  reader.finish();
  load.expect_truth();
  reader.expect_everything_once();
}

TEST(DatabaseTrouble, AnIdleConnectionThatWasTerminatedIsNotNoticed) {
  Installation installation(shared_cluster());
  terminate_backends(installation.url);
  EXPECT_EQ(installation.client->commit(installation.unique_decision()), committed);
  terminate_backends(installation.url);
  EXPECT_EQ(installation.client->load(storage::LoadThread{installation.world.main.id, {}, {}, {}, true}).status,
            ReadStatus::ok);
  EXPECT_EQ(installation.client->ping().status, ReadStatus::ok);
}

TEST(DatabaseTrouble, AServerThatIsAwayIsToldAndComesBack) {
  Cluster cluster({.fsync = false});
  Installation installation(cluster);
  cluster.stop();
  const auto decision = installation.unique_decision();
  EXPECT_EQ(installation.client->commit(decision), unavailable);
  EXPECT_EQ(installation.client->deny(
              installation.world.denial(installation.world.sam, "agent_session.bind", "not_self", at(0)), 300),
            unavailable);
  EXPECT_EQ(installation.client->load(storage::LoadThread{installation.world.main.id, {}, {}, {}, false}).status,
            ReadStatus::unavailable);
  EXPECT_EQ(installation.client->find(storage::FindToken{}).status, ReadStatus::unavailable);
  EXPECT_EQ(installation.client->find(storage::FindIdempotency{}).status, ReadStatus::unavailable);
  EXPECT_EQ(installation.client->load(storage::LoadDirectory{}).status, ReadStatus::unavailable);
  EXPECT_EQ(installation.client->read(PrincipalsPage{{1, {}}}).status, ReadStatus::unavailable);
  EXPECT_EQ(installation.client->collect({at(0), 1}).status, ReadStatus::unavailable);
  EXPECT_EQ(installation.client->ping().status, ReadStatus::unavailable);
  EXPECT_EQ(installation.client->find(storage::LocateRun{}).status, ReadStatus::unavailable);
  EXPECT_EQ(installation.client->find(storage::FindEvents{}).status, ReadStatus::unavailable);
  EXPECT_EQ(installation.client->find(storage::FindAgentEvents{}).status, ReadStatus::unavailable);
  EXPECT_EQ(installation.client->find(storage::FindOverdueRuns{}).status, ReadStatus::unavailable);
  EXPECT_EQ(installation.client->advance().status, ReadStatus::unavailable);
  cluster.start();
  EXPECT_EQ(installation.client->ping().status, ReadStatus::ok);
  EXPECT_EQ(installation.client->commit(decision), committed);
  EXPECT_EQ(installation.client->facts_of(installation.world.main.id)->thread, installation.world.main);
}

/// Storage behind a proxy that cuts a connection around COMMIT.
class CutCommit : public testing::Test {
protected:
  void through_proxy(storage::DatabaseOptions& options) {
    const std::string direct = shared_cluster().socket_folder().string();
    options.url.replace(options.url.find(direct), direct.size(), proxy_.folder().string());
    options.resolve_timeout_s = 1;
  }

  std::size_t rows_of(const Decision& decision) { return WrittenRows(installation_.url).count(decision); }

  CuttingProxy proxy_{shared_cluster().socket()};
  Installation installation_{shared_cluster(), [this](storage::DatabaseOptions& options) { through_proxy(options); }};
};

TEST_F(CutCommit, ALostAnswerIsFoundOut) {
  const auto decision = installation_.unique_decision();
  proxy_.cut_next_commit(Loss::answer);
  EXPECT_EQ(installation_.client->commit(decision), committed);
  EXPECT_TRUE(proxy_.wait_for_cuts(1));
  EXPECT_EQ(rows_of(decision), WrittenRows::all);
}

TEST_F(CutCommit, ALostRequestIsMadeAgain) {
  const auto decision = installation_.unique_decision();
  proxy_.cut_next_commit(Loss::request);
  EXPECT_EQ(installation_.client->commit(decision), committed);
  EXPECT_TRUE(proxy_.wait_for_cuts(1));
  EXPECT_EQ(rows_of(decision), WrittenRows::all);
}

TEST_F(CutCommit, AWholeBatchGetsTheTruth) {
  for (const auto loss : {Loss::answer, Loss::request}) {
    std::vector<Decision> decisions;
    for (int i = 0; i < 20; ++i)
      decisions.push_back(installation_.unique_decision());
    proxy_.cut_next_commit(loss);
    EXPECT_EQ(installation_.client->commit_at_once(decisions), std::vector<CommitOutcome>(decisions.size(), committed));
    for (const auto& decision : decisions)
      EXPECT_EQ(rows_of(decision), WrittenRows::all);
  }
  EXPECT_TRUE(proxy_.wait_for_cuts(2));
}

TEST_F(CutCommit, WhatCannotBeFoundOutIsUnknown) {
  for (const auto loss : {Loss::answer, Loss::request}) {
    const auto decision = installation_.unique_decision();
    proxy_.cut_next_commit(loss);
    proxy_.refuse_connections(true);
    EXPECT_EQ(installation_.client->commit(decision), unknown);
    EXPECT_EQ(installation_.client->commit(installation_.unique_decision()), unavailable)
      << "nothing was sent of this one";
    proxy_.refuse_connections(false);
    EXPECT_EQ(rows_of(decision), loss == Loss::answer ? WrittenRows::all : 0U);
    // Whoever was told that it is unknown asks again with the same key, and is told the truth.
    EXPECT_EQ(installation_.client->commit(decision), loss == Loss::answer ? key_used : committed);
    EXPECT_EQ(rows_of(decision), WrittenRows::all);
  }
}

TEST(DatabaseTrouble, AStatementThatHangsIsNotWritten) {
  Installation installation(shared_cluster(),
                            [](storage::DatabaseOptions& options) { options.statement_timeout_s = 1; });
  Sql blocker(installation.url);
  blocker.script("BEGIN; LOCK TABLE agent_sessions IN ACCESS EXCLUSIVE MODE");
  const auto decision = installation.unique_decision();
  EXPECT_EQ(installation.client->commit(decision), unavailable);
  blocker.script("ROLLBACK");
  EXPECT_EQ(WrittenRows(installation.url).count(decision), 0U);
  EXPECT_EQ(installation.client->commit(decision), committed);
}

TEST(DatabaseTrouble, WaitingDecisionsAreLimited) {
  Installation installation(shared_cluster(), [](storage::DatabaseOptions& options) {
    options.max_batch = 4;
    options.max_pending = 8;
  });
  Sql blocker(installation.url);
  blocker.script("BEGIN; LOCK TABLE agent_sessions IN ACCESS EXCLUSIVE MODE");
  std::vector<Decision> decisions;
  for (int i = 0; i < 200; ++i)
    decisions.push_back(installation.unique_decision());
  std::vector<CommitOutcome> outcomes;
  std::thread sender([&] {
    auto client = installation.another_client();
    outcomes = client.commit_at_once(decisions);
  });
  // The lock is let go once a transaction of storage waits for it, which is when the others have piled up behind it.
  Sql watcher(installation.url);
  while (watcher.number("SELECT count(*) FROM pg_locks WHERE NOT granted") == 0)
    std::this_thread::yield();
  blocker.script("ROLLBACK");
  sender.join();
  const WrittenRows written(installation.url);
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    EXPECT_TRUE(outcomes[i] == committed || outcomes[i] == unavailable) << storage::to_string(outcomes[i]);
    EXPECT_EQ(written.count(decisions[i]), outcomes[i] == committed ? WrittenRows::all : 0U);
  }
  EXPECT_GT(std::ranges::count(outcomes, unavailable), 0);
  EXPECT_GT(std::ranges::count(outcomes, committed), 0);
  EXPECT_EQ(installation.client->commit(installation.unique_decision()), committed);
}

TEST(DatabaseTrouble, ADatabaseThatOnlyReadsIsUnavailableForWrites) {
  Installation installation(shared_cluster());
  // As after a failover, when the old primary has become a standby. From another database, because the sessions of
  // this one are ended.
  Sql administrator(shared_cluster().url("postgres"));
  const auto set_read_only = [&](const std::string& value) {
    const auto database = Sql(installation.url).value("SELECT quote_ident(current_database())");
    administrator.run("ALTER DATABASE " + database + " SET default_transaction_read_only = " + value);
    terminate_backends(installation.url);
  };
  set_read_only("on");
  const auto decision = installation.unique_decision();
  EXPECT_EQ(installation.client->commit(decision), unavailable);
  EXPECT_EQ(WrittenRows(installation.url).count(decision), 0U);
  set_read_only("off");
  EXPECT_EQ(installation.client->commit(decision), committed);
}

TEST(DatabaseTrouble, NoConnectionLeftIsUnavailable) {
  Cluster cluster({.fsync = false, .settings = {"max_connections=4", "superuser_reserved_connections=0"}});
  Installation installation(cluster);
  const auto decision = installation.unique_decision();
  {
    terminate_backends(installation.url);
    std::vector<std::unique_ptr<Sql>> connections;
    try {
      for (;;)
        connections.push_back(std::make_unique<Sql>(installation.url));
    } catch (const SqlError&) {
      EXPECT_GE(connections.size(), 3U);
    }
    EXPECT_EQ(installation.client->commit(decision), unavailable);
  }
  // A closed connection frees its place only when its backend is gone.
  for (auto outcome = unavailable; outcome != committed; outcome = installation.client->commit(decision))
    ASSERT_EQ(outcome, unavailable);
  EXPECT_EQ(WrittenRows(installation.url).count(decision), WrittenRows::all);
}

} // namespace cleat::test
