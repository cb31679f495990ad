/// Two servers on one database: what one process cannot see of the other, PostgreSQL decides.
#include <algorithm>
#include <array>
#include <latch>
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

TEST_F(TwoServers, ATurnIsTakenOnce) {
  for (int round = 0; round < rounds; ++round) {
    const auto turn = clients_[0].run_facts_of(world_.threads[0].id).turn;
    std::array<std::vector<Decision>, 2> decisions;
    for (std::size_t i = 0; i < 8; ++i) {
      const auto message = message_in(world_, world_.threads[0]);
      decisions[i % 2].push_back(trigger(world_, message, run_in(world_, message, RunState::held), turn));
    }
    EXPECT_EQ(race(decisions), (Counts{{committed, 1}, {stale, 7}}));
  }
  EXPECT_EQ(clients_[1].runs_of(world_.threads[0].id).size(), static_cast<std::size_t>(rounds));
  EXPECT_EQ(Sql(url_).number("SELECT count(*) FROM agent_events"), rounds);
}

TEST_F(TwoServers, AHeldRunIsReleasedOnceWhenTheActiveOneEnds) {
  auto message = message_in(world_, world_.threads[0]);
  auto active = run_in(world_, message, RunState::running);
  ASSERT_EQ(clients_[0].commit(trigger(world_, message, active, 1)), committed);
  for (int round = 0; round < rounds; ++round) {
    message = message_in(world_, world_.threads[0]);
    const auto held = run_in(world_, message, RunState::held);
    const auto turn = clients_[0].run_facts_of(world_.threads[0].id).turn;
    ASSERT_EQ(clients_[0].commit(trigger(world_, message, held, turn)), committed);
    // One server hears that the run is done, the other that it is cancelled; both would release the next one.
    const auto release = [&](RunState end) {
      auto decision = move(world_, active, moved(active, end), turn + 1);
      decision.run_updates.push_back(update_of(held, moved(held, RunState::queued)));
      return decision;
    };
    EXPECT_EQ(race({{{release(RunState::succeeded)}, {release(RunState::cancelled)}}}),
              (Counts{{committed, 1}, {stale, 1}}));
    active = moved(held, RunState::queued);
    EXPECT_EQ(clients_[1].run_facts_of(world_.threads[0].id).active, active);
  }
}

TEST_F(TwoServers, WithoutATurnTheIndexAllowsOneActiveRun) {
  for (int round = 0; round < rounds; ++round) {
    std::array<std::vector<Decision>, 2> decisions;
    std::vector<cleat::Run> runs;
    for (std::size_t server = 0; server < 2; ++server) {
      const auto message = message_in(world_, world_.threads[0]);
      runs.push_back(run_in(world_, message));
      auto decision = trigger(world_, message, runs.back(), 1);
      decision.turn.reset();
      decisions[server].push_back(std::move(decision));
    }
    EXPECT_EQ(race(decisions), (Counts{{committed, 1}, {lost_race, 1}}));
    const auto active = clients_[0].run_facts_of(world_.threads[0].id).active.value();
    Decision end;
    end.run_updates = {update_of(active, moved(active, RunState::cancelled))};
    ASSERT_EQ(clients_[0].commit(end), committed);
  }
}

TEST_F(TwoServers, SessionsThatWantEachOthersReferenceNeverFail) {
  for (std::size_t thread = 0; thread < 4; ++thread)
    ASSERT_EQ(clients_[0].commit(world_.bind(world_.session(world_.threads[thread], "ref-" + std::to_string(thread)))),
              committed);
  for (int round = 0; round < rounds; ++round) {
    const auto report = [&](std::size_t thread, const std::string& reference) {
      auto row = current(thread).value();
      row.external_session_ref = reference;
      ++row.version;
      Decision decision;
      decision.session_updates = {{row}};
      return decision;
    };
    const auto reference = [&](std::size_t thread) { return current(thread)->external_session_ref; };
    EXPECT_EQ(
      race({{{report(0, reference(1)), report(2, reference(3))}, {report(1, reference(0)), report(3, reference(2))}}}),
      (Counts{{lost_race, 4}}))
      << "each is current with the other";
    const auto fresh = "new-" + std::to_string(round);
    EXPECT_EQ(race({{{report(0, fresh)}, {report(1, fresh)}}}), (Counts{{committed, 1}, {lost_race, 1}}));
  }
  expect_invariants();
}

TEST_F(TwoServers, ADecisionDoesNotOutliveTheSessionThatItReliesOn) {
  for (int round = 0; round < rounds; ++round) {
    const auto row = world_.session(world_.threads[0], "ref-" + std::to_string(round), at(round));
    ASSERT_EQ(clients_[0].commit(world_.bind(row)), committed);
    Decision relying;
    relying.current_guards = {{row.thread_id, row.id, 1}};
    relying.events = {world_.event("run.changed", row.thread_id)};
    const auto reset = world_.reset(row);
    auto counts = race({{{relying}, {reset}}});
    EXPECT_EQ(counts[committed] + counts[stale], 2);
    if (counts[committed] == 2) {
      const auto events = servers_[0]->events();
      const auto position = [&](const Event& event) {
        return std::ranges::find(events, event_text(event), &EventLine::text) - events.begin();
      };
      EXPECT_LT(position(relying.events[0]), position(reset.events[0])) << "it came before";
    }
    EXPECT_EQ(clients_[1].commit(relying), stale);
  }
}

TEST_F(TwoServers, AReferenceDoesNotGrowBehindTheBackOfAGuard) {
  const auto old = world_.session(world_.threads[1], "old");
  ASSERT_EQ(clients_[0].commit(world_.bind(old)), committed);
  auto reset = world_.reset(old);
  ASSERT_EQ(clients_[0].commit(reset), committed);
  auto row = ended(old, reset.ends[0]);
  for (int round = 0; round < rounds; ++round) {
    // A report moves the ended row to a reference of which a bind knows that there is none.
    row.external_session_ref = "ref-" + std::to_string(round);
    ++row.version;
    Decision report;
    report.session_updates = {{row}};
    report.events = {world_.event("agent_session.changed", row.thread_id)};
    auto bind = World::only(RaiseSpaceFacts{world_.space.id});
    bind.reference_guards = {{world_.lotse.id, row.external_session_ref, std::nullopt}};
    bind.events = {world_.event("agent_session.changed", world_.main.id)};
    auto counts = race({{{report}, {bind}}});
    EXPECT_EQ(counts[committed] + counts[stale], 2);
    const auto events = servers_[0]->events();
    const auto position = [&](const Decision& decision) {
      return std::ranges::find(events, event_text(decision.events[0]), &EventLine::text) - events.begin();
    };
    EXPECT_LT(position(report), std::ssize(events)) << "nothing guards it";
    if (counts[committed] == 2) {
      EXPECT_LT(position(bind), position(report)) << "it came before";
    }
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
