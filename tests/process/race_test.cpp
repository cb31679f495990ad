#include <gtest/gtest.h>

#include <map>

#include "tests/process/crowd.hpp"
#include "tests/process/suite.hpp"

/// 64 clients that want the same at the same moment, at one server and at two over one database (issue 2).
namespace cleat::test {
namespace {

constexpr int racers = 64;
constexpr int rounds = 25;

/// How often each answer came, as `201` or `409 conflict/session_changed`.
using Tally = std::map<std::string, int>;

Tally tally_of(const std::vector<Response>& answers) {
  Tally tally;
  for (const auto& answer : answers)
    ++tally[std::to_string(answer.status) + (answer.status == 201 ? "" : " " + answer.problem())];
  return tally;
}

class BindRace : public testing::TestWithParam<std::size_t> {
protected:
  BindRace() {
    for (std::size_t i = 0; i < GetParam(); ++i)
      servers_.push_back(std::make_unique<Server>(ServerOptions{url_}));
    world_ = std::make_unique<World>(servers_.front()->endpoint(), servers_.front()->owner_token());
    for (int i = 0; i < racers; ++i)
      clients_.push_back(servers_[static_cast<std::size_t>(i) % servers_.size()]->client(world_->alex.token));
  }

  Client& client(int i) { return clients_[static_cast<std::size_t>(i)]; }

  /// No thread and no reference is current twice, whoever claims what.
  void expect_nothing_twice() {
    Sql database(url_);
    for (const char* key : {"thread_id", "agent_id, external_session_ref"})
      EXPECT_EQ(database.number("SELECT count(*) FROM (SELECT 1 FROM agent_sessions WHERE is_current GROUP BY " +
                                std::string(key) + " HAVING count(*) > 1) AS twice"),
                0)
        << key;
  }

  const std::string url_ = shared_cluster().createdb(fresh_database_name());
  std::vector<std::unique_ptr<Server>> servers_;
  std::unique_ptr<World> world_;
  std::vector<Client> clients_;
};

TEST_P(BindRace, TestBindRace) {
  const std::string thread = world_->thread(world_->support);
  std::string expected;
  for (int round = 0; round < rounds; ++round) {
    const auto answers = at_once(racers, [&](int i) { return bind(client(i), thread, {fresh_reference(), expected}); });
    ASSERT_EQ(tally_of(answers), (Tally{{"201", 1}, {"409 conflict/session_changed", racers - 1}})) << round;
    for (const auto& answer : answers)
      if (answer.status == 201)
        expected = answer.json()["id"].string();
    EXPECT_EQ(current_session(client(0), thread)["id"].string(), expected);
    expect_nothing_twice();
  }
  EXPECT_EQ(sessions_of(client(0), thread).size(), static_cast<std::size_t>(rounds));
}

TEST_P(BindRace, OneReferenceForManyThreads) {
  std::vector<std::string> threads;
  for (int i = 0; i < racers; ++i)
    threads.push_back(world_->thread(world_->support));
  for (int round = 0; round < rounds; ++round) {
    const std::string reference = fresh_reference();
    const auto answers =
      at_once(racers, [&](int i) { return bind(client(i), threads[static_cast<std::size_t>(i)], {reference}); });
    ASSERT_EQ(tally_of(answers), (Tally{{"201", 1}, {"409 conflict/session_bound_elsewhere", racers - 1}})) << round;
    expect_nothing_twice();
    for (std::size_t i = 0; i < answers.size(); ++i)
      if (answers[i].status == 201) {
        ASSERT_EQ(reset(client(0), threads[i]).status, 201);
      }
  }
}

TEST_P(BindRace, EverybodyTakesOver) {
  // All want one reference in their own thread and may take it over: it moves around and is never in two places.
  constexpr int few = 8;
  std::vector<std::string> threads;
  for (int i = 0; i < few; ++i)
    threads.push_back(world_->thread(world_->support));
  const std::string reference = fresh_reference();
  for (int round = 0; round < rounds; ++round) {
    const auto answers = at_once(few, [&](int i) {
      const auto& thread = threads[static_cast<std::size_t>(i)];
      const auto sessions = sessions_of(client(i), thread);
      const bool current = !sessions.empty() && sessions[0]["is_current"].boolean();
      return bind(client(i), thread, {reference, current ? sessions[0]["id"].string() : "", true});
    });
    int won = 0;
    for (const auto& [answer, count] : tally_of(answers)) {
      EXPECT_TRUE(answer == "201" || answer == "409 conflict/session_changed") << answer;
      won += answer == "201" ? count : 0;
    }
    EXPECT_GE(won, 1);
    expect_nothing_twice();
  }
}

std::string servers_of(const testing::TestParamInfo<std::size_t>& test) {
  return test.param == 1 ? "One" : "Two";
}

INSTANTIATE_TEST_SUITE_P(Servers, BindRace, testing::Values(1, 2), servers_of);

} // namespace
} // namespace cleat::test
