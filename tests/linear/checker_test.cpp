#include "tests/linear/checker.hpp"

#include <gtest/gtest.h>

/// The search itself, on the smallest model that there is: a register.
namespace cleat::linear {
namespace {

struct RegisterOperation {
  bool is_write = false;
  int value = 0; ///< what is written, or what was read
};

struct Register {
  using State = int;
  using Operation = RegisterOperation;

  static std::vector<int> after(int state, const RegisterOperation& operation) {
    if (operation.is_write)
      return {operation.value};
    return state == operation.value ? std::vector<int>{state} : std::vector<int>{};
  }
  static std::size_t hash(int state) { return static_cast<std::size_t>(state); }
  static std::optional<RegisterOperation> without_answer(const RegisterOperation& operation) {
    return operation.is_write ? std::optional(operation) : std::nullopt;
  }
};

using History = std::vector<Timed<RegisterOperation>>;

Timed<RegisterOperation> write(int value, Moment invoked, Moment returned = never) {
  return {{true, value}, invoked, returned};
}

Timed<RegisterOperation> read(int value, Moment invoked, Moment returned) {
  return {{false, value}, invoked, returned};
}

Answered answered(const History& history) {
  return check<Register>(history, 0).answered;
}

TEST(Checker, AcceptsNothing) {
  EXPECT_EQ(answered({}), Answered::linearizable);
}

TEST(Checker, AcceptsAnyOrderOfWhatOverlaps) {
  EXPECT_EQ(answered({write(1, 0, 10), read(0, 1, 9), read(1, 2, 8)}), Answered::linearizable);
  EXPECT_EQ(answered({write(1, 0, 10), write(2, 0, 10), read(1, 11, 12)}), Answered::linearizable);
  EXPECT_EQ(answered({write(1, 0, 10), write(2, 0, 10), read(2, 11, 12)}), Answered::linearizable);
}

TEST(Checker, RefusesToReadBackwards) {
  EXPECT_EQ(answered({write(1, 0, 10), read(1, 1, 2), read(0, 3, 4)}), Answered::impossible);
}

TEST(Checker, RefusesAStaleRead) {
  EXPECT_EQ(answered({write(1, 0, 1), read(0, 2, 3)}), Answered::impossible);
}

TEST(Checker, SpansThatTouchOverlap) {
  EXPECT_EQ(answered({write(1, 0, 2), read(0, 2, 3)}), Answered::linearizable);
}

TEST(Checker, AWriteWithoutAnAnswerMayTakeEffectLateOrNever) {
  EXPECT_EQ(answered({write(1, 0), read(0, 5, 6), read(1, 7, 8)}), Answered::linearizable);
  EXPECT_EQ(answered({write(1, 0), read(0, 5, 6), read(0, 7, 8)}), Answered::linearizable);
  EXPECT_EQ(answered({write(1, 0), read(1, 5, 6), read(0, 7, 8)}), Answered::impossible) << "only once";
  EXPECT_EQ(answered({write(1, 5), read(1, 2, 3)}), Answered::impossible) << "not before it is sent";
}

TEST(Checker, AWriteWithAnAnswerMustTakeEffect) {
  EXPECT_EQ(answered({write(1, 0, 1), write(2, 2, 3), read(1, 4, 5)}), Answered::impossible);
}

TEST(Checker, KeepsTheLongestOrder) {
  const auto verdict = check<Register>(History{write(1, 0, 1), read(1, 2, 3), read(7, 4, 5)}, 0);
  EXPECT_EQ(verdict.answered, Answered::impossible);
  EXPECT_EQ(verdict.longest, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(verdict.state, 1);
}

TEST(Checker, GivesUpAtTheBound) {
  History history;
  for (int i = 1; i <= 20; ++i)
    history.push_back(write(i, 0, 100));
  history.push_back(read(99, 101, 102));
  EXPECT_EQ(check<Register>(history, 0, 1000).answered, Answered::undecided);
}

TEST(Checker, RemembersWhereItHasBeen) {
  // Twelve writes have half a billion orders and 12 * 2^12 configurations.
  History history;
  for (int i = 1; i <= 12; ++i)
    history.push_back(write(i, 0, 100));
  history.push_back(read(99, 101, 102));
  const auto verdict = check<Register>(history, 0, 1'000'000);
  EXPECT_EQ(verdict.answered, Answered::impossible);
  EXPECT_LT(verdict.steps, 13U * 12U * 4096U);
}

TEST(Checker, FindsTheShortestBeginningThatFails) {
  const History history{write(1, 0, 1), read(0, 2, 3), write(2, 2, 9), read(2, 10, 11), read(5, 12, 13)};
  const History shortest = shortest_failure<Register>(history, 0);
  ASSERT_EQ(shortest.size(), 3U) << "the write that was under way is there, without its answer";
  EXPECT_TRUE(shortest[2].is_pending());
  EXPECT_EQ(answered(shortest), Answered::impossible);
}

} // namespace
} // namespace cleat::linear
