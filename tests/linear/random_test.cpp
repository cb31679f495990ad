#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "tests/linear/generated.hpp"

/// Random histories of a system that is right are accepted, in few steps; with one answer changed they are not.
namespace cleat::linear {
namespace {

constexpr std::uint64_t seeds = 300;

Answered verdict(const SessionHistory& history) {
  Answered worst = Answered::linearizable;
  for (const SessionHistory& part : parts_of(history))
    if (const auto answered = check<SessionModel>(part, {}).answered; answered != Answered::linearizable)
      worst = answered;
  return worst;
}

TEST(RandomHistories, OfARightSystemAreAccepted) {
  std::size_t lost = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const SessionHistory history = generate({.seed = seed});
    lost += static_cast<std::size_t>(std::ranges::count_if(history, [](const auto& one) { return one.is_pending(); }));
    ASSERT_EQ(verdict(history), Answered::linearizable) << "seed " << seed << "\n" << explain(history);
  }
  EXPECT_GT(lost, seeds) << "answers are lost in them";
}

TEST(RandomHistories, TakeFewSteps) {
  // The bound that keeps the checker usable: steps grow with the operations and the callers at once, not faster.
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const SessionHistory history = generate({.seed = seed, .operations = 800, .clients = 8, .lost_percent = 1});
    const auto answered = check<SessionModel>(history, {});
    EXPECT_EQ(answered.answered, Answered::linearizable) << "seed " << seed;
    EXPECT_LT(answered.steps, 100 * history.size()) << "seed " << seed;
  }
}

/// Changes one answer of a history into one that cannot be; false where the history has no place for that.
using Mutation = std::function<bool(SessionHistory&, std::mt19937_64&)>;

/// The operations that a mutation may choose from, in a random order.
std::vector<std::size_t> chosen(const SessionHistory& history, std::mt19937_64& random,
                                const std::function<bool(const SessionOperation&)>& suits) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < history.size(); ++i)
    if (!history[i].is_pending() && suits(history[i].operation))
      found.push_back(i);
  std::ranges::shuffle(found, random);
  return found;
}

bool was_done(const SessionOperation& operation, SessionVerb verb) {
  return operation.verb == verb && operation.answer->outcome == SessionOutcome::done;
}

/// A bind that was acknowledged and of which nothing is there.
bool forget_a_bind(SessionHistory& history, std::mt19937_64& random) {
  const auto binds =
    chosen(history, random, [](const SessionOperation& one) { return was_done(one, SessionVerb::bind); });
  if (binds.empty())
    return false;
  const std::string id = history[binds.front()].operation.answer->rows.front().id;
  const std::string thread = history[binds.front()].operation.thread;
  const Moment returned = history[binds.front()].returned;
  bool missed = false;
  for (auto& one : history)
    if (one.operation.verb == SessionVerb::list && one.operation.thread == thread && one.invoked > returned)
      missed =
        std::erase_if(one.operation.answer->rows, [&](const SessionRow& row) { return row.id == id; }) > 0 || missed;
  return missed;
}

/// A row that ends twice.
bool end_twice(SessionHistory& history, std::mt19937_64& random) {
  const auto resets =
    chosen(history, random, [](const SessionOperation& one) { return was_done(one, SessionVerb::reset); });
  if (resets.empty())
    return false;
  history.push_back(history[resets.front()]);
  history.back().operation.number = static_cast<int>(history.size());
  return true;
}

/// A second winner of a race.
bool win_twice(SessionHistory& history, std::mt19937_64& random) {
  const auto binds = chosen(history, random, [](const SessionOperation& one) {
    return was_done(one, SessionVerb::bind) && one.expected.has_value();
  });
  if (binds.empty())
    return false;
  history.push_back(history[binds.front()]);
  history.back().operation.number = static_cast<int>(history.size());
  history.back().operation.answer->rows.front().id = "another";
  return true;
}

/// A list that shows what was there before.
bool show_the_past(SessionHistory& history, std::mt19937_64& random) {
  for (const std::size_t reset :
       chosen(history, random, [](const SessionOperation& one) { return was_done(one, SessionVerb::reset); }))
    for (auto& one : history) {
      if (one.operation.verb != SessionVerb::list || one.invoked <= history[reset].returned)
        continue;
      for (SessionRow& row : one.operation.answer->rows)
        if (row.id == history[reset].operation.answer->rows.front().id) {
          row.standing = Standing::current;
          row.version -= 1;
          return true;
        }
    }
  return false;
}

/// A version that was raised once too often.
bool raise_a_version(SessionHistory& history, std::mt19937_64& random) {
  for (const std::size_t list : chosen(history, random, [](const SessionOperation& one) {
         return one.verb == SessionVerb::list && !one.answer->rows.empty();
       })) {
    history[list].operation.answer->rows.front().version += 1;
    return true;
  }
  return false;
}

/// An id that a row has had before.
bool give_an_id_again(SessionHistory& history, std::mt19937_64& random) {
  const auto binds =
    chosen(history, random, [](const SessionOperation& one) { return was_done(one, SessionVerb::bind); });
  if (binds.size() < 2)
    return false;
  history[binds[0]].operation.answer->rows.front().id = history[binds[1]].operation.answer->rows.front().id;
  return true;
}

class Mutated : public testing::TestWithParam<std::pair<const char*, Mutation>> {};

TEST_P(Mutated, IsRefused) {
  int mutated = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SessionHistory history = generate({.seed = seed, .operations = 120, .clients = 4, .lost_percent = 2});
    std::mt19937_64 random(seed);
    if (!GetParam().second(history, random))
      continue;
    ++mutated;
    ASSERT_EQ(verdict(history), Answered::impossible) << "seed " << seed;
  }
  EXPECT_GT(mutated, static_cast<int>(seeds) / 3);
}

INSTANTIATE_TEST_SUITE_P(EveryKind, Mutated,
                         testing::Values(std::pair("ForgetABind", Mutation(forget_a_bind)),
                                         std::pair("EndTwice", Mutation(end_twice)),
                                         std::pair("WinTwice", Mutation(win_twice)),
                                         std::pair("ShowThePast", Mutation(show_the_past)),
                                         std::pair("RaiseAVersion", Mutation(raise_a_version)),
                                         std::pair("GiveAnIdAgain", Mutation(give_an_id_again))),
                         [](const auto& one) { return one.param.first; });

} // namespace
} // namespace cleat::linear
