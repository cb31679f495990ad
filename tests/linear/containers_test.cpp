#include "tests/linear/containers.hpp"

#include <gtest/gtest.h>

/// Histories of a container made by hand.
namespace cleat::linear {
namespace {

using Verb = ContainerVerb;

Timed<ContainerOperation> at(Moment invoked, Moment returned, Verb verb, int number, std::string session = {},
                             bool refused = false) {
  return {{verb, number, std::move(session), refused, {}, {}}, invoked, returned};
}

Timed<ContainerOperation> seen(Moment invoked, Moment returned, std::string state, std::string session = {}) {
  return {{Verb::look, 0, std::move(session), false, std::move(state), {}}, invoked, returned};
}

Answered verdict(const ContainerHistory& history) {
  return check<ContainerModel>(history, {}).answered;
}

constexpr auto good = Answered::linearizable;
constexpr auto bad = Answered::impossible;

/// A start that has become session `a`.
ContainerHistory started() {
  return {seen(0, 1, "idle"), at(2, 9, Verb::reserve, 1), at(2, 9, Verb::promoted, 1, "a"), seen(10, 11, "live", "a")};
}

ContainerHistory with(ContainerHistory history, std::initializer_list<Timed<ContainerOperation>> more) {
  history.insert(history.end(), more);
  return history;
}

TEST(Containers, AStartBecomesASession) {
  EXPECT_EQ(verdict(started()), good);
  EXPECT_EQ(verdict(with(started(), {seen(12, 13, "idle")})), bad) << "nobody has stopped it";
  EXPECT_EQ(verdict(with(started(), {seen(12, 13, "live", "b")})), bad);
}

TEST(Containers, OneStartAtATime) {
  EXPECT_EQ(verdict({at(0, 9, Verb::reserve, 1), at(0, 9, Verb::reserve, 2, "", true)}), good);
  EXPECT_EQ(verdict(with(started(), {at(12, 13, Verb::reserve, 2)})), bad) << "a session lives there";
  EXPECT_EQ(verdict({at(0, 1, Verb::reserve, 1, "", true)}), bad) << "nothing was there";
}

TEST(Containers, AStartMayFailAndThenAnotherOneGoes) {
  EXPECT_EQ(verdict({at(0, 1, Verb::reserve, 1), seen(2, 3, "starting"), seen(4, 5, "idle"), at(6, 7, Verb::reserve, 2),
                     at(8, 9, Verb::promoted, 2, "b")}),
            good);
  EXPECT_EQ(verdict({at(0, 1, Verb::reserve, 1), seen(4, 5, "idle"), at(8, 9, Verb::promoted, 1, "a")}), bad)
    << "what has failed is never promoted";
}

TEST(Containers, AStopEndsWhatItFound) {
  const auto stopped = with(started(), {at(12, 20, Verb::stopping, 2, "a"), at(12, 20, Verb::stopped, 2)});
  EXPECT_EQ(verdict(with(stopped, {seen(21, 22, "idle")})), good);
  EXPECT_EQ(verdict(with(stopped, {seen(21, 22, "live", "a")})), bad) << "it was acknowledged";
  EXPECT_EQ(verdict(with(stopped, {at(21, 22, Verb::stopping, 3, "a", true)})), good);
  EXPECT_EQ(verdict(with(stopped, {at(21, 22, Verb::stopping, 3, "a"), at(21, 22, Verb::stopped, 3)})), bad)
    << "a second one that comes later finds nothing";
  EXPECT_EQ(verdict(with(stopped, {at(14, 22, Verb::stopping, 3, "a"), at(14, 22, Verb::stopped, 3)})), good)
    << "one that came in time joins it";
  EXPECT_EQ(verdict(with(stopped, {at(21, 22, Verb::reserve, 3, "a"), at(23, 24, Verb::promoted, 3, "a"),
                                   seen(25, 26, "live", "a")})),
            good)
    << "it is resumed under its id";
}

TEST(Containers, AnAgentMayEndBeforeItsStopIsOver) {
  const auto stopping = with(started(), {at(12, 30, Verb::stopping, 2, "a"), seen(14, 15, "stopping")});
  EXPECT_EQ(verdict(with(stopping,
                         {at(16, 17, Verb::reserve, 3, "", true), at(12, 30, Verb::stopped, 2), seen(31, 32, "idle")})),
            good);
  EXPECT_EQ(verdict(with(stopping, {seen(16, 17, "live", "a")})), bad);
  EXPECT_EQ(verdict(with(started(), {seen(14, 15, "stopping")})), bad) << "nobody stops it";
}

TEST(Containers, AStopMayBeTheFirstThatNamesItsSession) {
  EXPECT_EQ(verdict({at(0, 1, Verb::reserve, 1), at(2, never, Verb::stopping, 2, "a"), seen(3, 4, "stopping", "a")}),
            good);
}

TEST(Containers, AnIdIsNeverGivenTwice) {
  const auto stopped = with(started(), {at(12, 20, Verb::stopping, 2, "a"), at(12, 20, Verb::stopped, 2)});
  EXPECT_EQ(verdict(with(stopped, {at(21, 22, Verb::reserve, 3), at(23, 24, Verb::promoted, 3, "b")})), good);
  EXPECT_EQ(verdict(with(stopped, {at(21, 22, Verb::reserve, 3), at(23, 24, Verb::promoted, 3, "a")})), bad);
}

TEST(Containers, AStartHasOneResult) {
  EXPECT_EQ(verdict(with(started(), {at(12, 13, Verb::promoted, 1, "a")})), good);
  EXPECT_EQ(verdict(with(started(), {at(12, 13, Verb::promoted, 1, "b")})), bad);
}

TEST(Containers, WhatIsLostMayHaveHappened) {
  EXPECT_EQ(verdict({at(0, never, Verb::reserve, 1), seen(2, 3, "idle"), seen(4, 5, "live", "x")}), good);
  EXPECT_EQ(verdict({seen(2, 3, "idle"), seen(4, 5, "live", "x")}), bad);
  EXPECT_EQ(verdict(with(started(), {at(12, never, Verb::stopping, 2, "a"), seen(13, 14, "live", "a"),
                                     seen(15, 16, "stopping", "a"), seen(17, 18, "idle")})),
            good);
}

TEST(Containers, AFailureIsExplained) {
  const std::string text = explain(with(started(), {seen(12'000, 13'000, "idle")}));
  EXPECT_NE(text.find("? 12 to 13: look -> idle"), std::string::npos) << text;
}

} // namespace
} // namespace cleat::linear
