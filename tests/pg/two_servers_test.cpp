/// Two servers on one database: what one process cannot see of the other, PostgreSQL decides.
#include <algorithm>
#include <array>
#include <latch>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "tests/pg/databases.hpp"
#include "tests/pg/storage_fixture.hpp"
#include "tests/support/sql.hpp"

namespace cleat::test {

namespace {

using enum storage::CommitOutcome;

class TwoServers : public testing::Test {
protected:
  using Outcomes = std::vector<storage::CommitOutcome>;
  using Counts = std::map<storage::CommitOutcome, int>;
  static constexpr int rounds = 40;

  void SetUp() override { ASSERT_EQ(clients_[0].commit(world_.provision()), committed); }

  /// Sends the decisions of each server at the same moment; the outcomes of both together.
  Counts race(const std::array<std::vector<Decision>, 2>& decisions) {
    std::array<Outcomes, 2> outcomes;
    std::latch start(2);
    const auto send = [&](std::size_t server) {
      start.arrive_and_wait();
      outcomes[server] = clients_[server].commit_at_once(decisions[server]);
    };
    std::thread other(send, 1U);
    send(0);
    other.join();
    Counts counts;
    for (const auto& of_server : outcomes) {
      for (const auto outcome : of_server)
        ++counts[outcome];
    }
    return counts;
  }

  /// The rows that must never be, whatever was raced for.
  void expect_invariants() {
    Sql sql(url_);
    EXPECT_EQ(sql.number("SELECT count(*) FROM (SELECT FROM agent_sessions WHERE is_current GROUP BY thread_id"
                         " HAVING count(*) > 1) twice"),
              0);
    EXPECT_EQ(sql.number("SELECT count(*) FROM (SELECT FROM agent_sessions WHERE is_current"
                         " GROUP BY agent_id, external_session_ref HAVING count(*) > 1) twice"),
              0);
  }

  std::optional<AgentSession> current(std::size_t thread) {
    return clients_[0].facts_of(world_.threads[thread].id)->current;
  }

  LeasedDatabase database_;
  const std::string& url_ = database_.url();
  StorageConfig config_;
  caf::actor_system system_{config_};
  std::array<std::unique_ptr<Backend>, 2> servers_{open_postgres_backend(system_, options_for(url_)),
                                                   open_postgres_backend(system_, options_for(url_))};
  std::array<Client, 2> clients_{Client{system_, servers_[0]->store()}, Client{system_, servers_[1]->store()}};
  World world_;
};

} // namespace

TEST_F(TwoServers, OneOfManyBindsOfAThreadWins) {
  int number = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto before = current(0);
    std::array<std::vector<Decision>, 2> decisions;
    for (int i = 0; i < 16; ++i) {
      ++number;
      const auto row = world_.session(world_.threads[0], "ref-" + std::to_string(number), at(number));
      decisions[static_cast<std::size_t>(i) % 2].push_back(before ? world_.bind(row, {*before}) : world_.bind(row));
    }
    auto counts = race(decisions);
    EXPECT_EQ(counts[committed], 1);
    EXPECT_EQ(counts[stale] + counts[lost_race], 15);
  }
  EXPECT_EQ(clients_[1].sessions_of(world_.threads[0].id).size(), static_cast<std::size_t>(rounds));
  EXPECT_EQ(clients_[1].audit().size(), static_cast<std::size_t>(rounds)) << "who lost has left nothing behind";
  expect_invariants();
}

TEST_F(TwoServers, OneOfManyThreadsGetsAReference) {
  for (int round = 0; round < rounds; ++round) {
    std::array<std::vector<Decision>, 2> decisions;
    for (std::size_t thread = 0; thread < 4; ++thread) {
      const auto before = current(thread);
      const auto row = world_.session(world_.threads[thread], "ref-" + std::to_string(round), at(round));
      decisions[thread % 2].push_back(before ? world_.bind(row, {*before}) : world_.bind(row));
    }
    EXPECT_EQ(race(decisions), (Counts{{committed, 1}, {lost_race, 3}}));
  }
  expect_invariants();
}

TEST_F(TwoServers, TakeOversThatCrossEachOtherNeverFail) {
  for (std::size_t thread = 0; thread < 4; ++thread)
    ASSERT_EQ(clients_[0].commit(world_.bind(world_.session(world_.threads[thread], "ref-" + std::to_string(thread)))),
              committed);
  for (int round = 0; round < rounds; ++round) {
    std::array<AgentSession, 4> rows;
    for (std::size_t thread = 0; thread < 4; ++thread)
      rows[thread] = current(thread).value();
    const auto take_over = [&](std::size_t to, std::size_t from) {
      return world_.bind(world_.session(world_.threads[to], rows[from].external_session_ref, at(round)),
                         {rows[to], rows[from]});
    };
    const auto give_new = [&](std::size_t thread) {
      const auto reference = "new-" + std::to_string(round) + "-" + std::to_string(thread);
      return world_.bind(world_.session(world_.threads[thread], reference, at(round)));
    };
    auto counts = race({{{take_over(0, 1), take_over(2, 3)}, {take_over(1, 0), take_over(3, 2)}}});
    EXPECT_EQ(counts[committed], 2) << "one of each pair";
    EXPECT_EQ(counts[committed] + counts[stale] + counts[lost_race], 4);
    for (std::size_t thread = 0; thread < 4; ++thread) {
      if (!current(thread)) {
        ASSERT_EQ(clients_[0].commit(give_new(thread)), committed);
      }
    }
  }
  expect_invariants();
}

TEST_F(TwoServers, ChangesOfRightsFromTheSameFactsDoNotBothHold) {
  for (int round = 0; round < rounds; ++round) {
    std::array<std::vector<Decision>, 2> decisions;
    for (std::size_t server = 0; server < 2; ++server) {
      auto decision = World::only(
        SetGrant{grant_on(ScopeKind::thread, world_.threads[server].id, world_.space, world_.sam, Level::trigger)});
      decision.rows.emplace_back(RaiseSpaceFacts{world_.space.id});
      decision.guards = {{GuardedRow::space_facts, world_.space.id, round + 1}};
      decisions[server].push_back(std::move(decision));
    }
    EXPECT_EQ(race(decisions), (Counts{{committed, 1}, {stale, 1}}));
  }
}

TEST_F(TwoServers, ABindDoesNotOutliveTheRightsItWasDecidedOn) {
  for (int round = 0; round < rounds; ++round) {
    // Whoever raises the facts also ends the right to bind: a bind that still commits must have come before, so its
    // event is before the event of the raise.
    auto raise = World::only(RaiseSpaceFacts{world_.space.id});
    raise.events.push_back(world_.event("space.changed", world_.main.id));
    auto bind = world_.bind(world_.imported(world_.threads[0], "ref-" + std::to_string(round), at(round)));
    bind.guards = {{GuardedRow::space_facts, world_.space.id, round + 1}};
    const auto bind_event = event_text(bind.events.front());
    const auto raise_event = event_text(raise.events.front());
    auto counts = race({{{raise}, {bind}}});
    EXPECT_EQ(counts[committed] + counts[stale], 2);

    const auto events = servers_[0]->events();
    const auto position = [&](const std::string& text) {
      return std::ranges::find(events, text, &EventLine::text) - events.begin();
    };
    if (counts[committed] == 2) {
      EXPECT_LT(position(bind_event), position(raise_event));
    }
    auto late = world_.bind(world_.imported(world_.threads[1], "late-" + std::to_string(round), at(round)));
    late.guards = bind.guards;
    EXPECT_EQ(clients_[1].commit(late), stale) << "afterwards it is too late";
  }
}

TEST_F(TwoServers, AReferenceGrowsOnceFromNothing) {
  for (int round = 0; round < rounds; ++round) {
    const auto reference = "ref-" + std::to_string(round);
    std::array<std::vector<Decision>, 2> decisions;
    for (std::size_t thread = 0; thread < 4; ++thread) {
      auto decision = world_.bind(world_.imported(world_.threads[thread], reference, at(round)));
      decision.reference_guards = {{world_.lotse.id, reference, std::nullopt}};
      decisions[thread % 2].push_back(std::move(decision));
    }
    EXPECT_EQ(race(decisions), (Counts{{committed, 1}, {stale, 3}})) << "round " << round;
  }
}

TEST_F(TwoServers, AKeyIsUsedOnce) {
  for (int round = 0; round < rounds; ++round) {
    std::array<std::vector<Decision>, 2> decisions;
    for (std::size_t i = 0; i < 8; ++i) {
      const auto reference = "ref-" + std::to_string(round) + "-" + std::to_string(i);
      auto decision = world_.bind(world_.imported(world_.threads[i % 4], reference, at(round)));
      decision.idempotency = World::record(world_.alex, "key-" + std::to_string(round));
      decisions[i % 2].push_back(std::move(decision));
    }
    EXPECT_EQ(race(decisions), (Counts{{committed, 1}, {key_used, 7}}));
  }
}

TEST_F(TwoServers, DenialsOfBothAreCounted) {
  std::vector<AuditEntry> denials;
  for (int i = 0; i < 50; ++i)
    denials.push_back(world_.denial(world_.sam, "agent_session.bind", "level_insufficient", at(i)));
  std::vector<AuditEntry> others = denials;
  for (auto& entry : others)
    entry.id = world_.ids.next();
  std::thread other([&] { clients_[1].deny_at_once(others, 300); });
  clients_[0].deny_at_once(denials, 300);
  other.join();
  const auto entries = clients_[0].audit();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries.front().count, 100);
}

} // namespace cleat::test
