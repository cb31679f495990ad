#include "tests/linear/sessions.hpp"

#include <gtest/gtest.h>

/// Histories made by hand, good ones and bad ones.
namespace cleat::linear {
namespace {

SessionRow row(const std::string& id, const std::string& reference, std::int64_t version = 1,
               Standing standing = Standing::current, bool started = true) {
  return {id, reference, "", version, started, standing};
}

/// A history whose operations get their numbers in turn.
class Book {
public:
  /// Writes an operation down; returns it, so that a test can say more about it.
  SessionOperation& add(SessionVerb verb, const std::string& thread, Moment invoked, Moment returned = never) {
    Timed<SessionOperation> one;
    one.operation.verb = verb;
    one.operation.thread = thread;
    one.operation.number = static_cast<int>(history.size()) + 1;
    one.invoked = invoked;
    one.returned = returned;
    history.push_back(one);
    return history.back().operation;
  }

  /// A bind that made this row.
  SessionOperation& bound(const std::string& thread, const SessionRow& made, const std::string& expected,
                          Moment invoked, Moment returned) {
    SessionOperation& bind = lost_bind(thread, made.reference, expected, invoked);
    history.back().returned = returned;
    bind.answer = SessionAnswer{SessionOutcome::done, {made}};
    return bind;
  }

  SessionOperation& refused_bind(const std::string& thread, const std::string& reference, const std::string& expected,
                                 SessionOutcome outcome, Moment invoked, Moment returned) {
    SessionOperation& bind = lost_bind(thread, reference, expected, invoked);
    history.back().returned = returned;
    bind.answer = SessionAnswer{outcome, {}};
    return bind;
  }

  SessionOperation& lost_bind(const std::string& thread, const std::string& reference, const std::string& expected,
                              Moment invoked) {
    SessionOperation& bind = add(SessionVerb::bind, thread, invoked);
    bind.reference = reference;
    if (!expected.empty())
      bind.expected = expected;
    return bind;
  }

  void listed(const std::string& thread, std::vector<SessionRow> rows, Moment invoked, Moment returned) {
    add(SessionVerb::list, thread, invoked, returned).answer = SessionAnswer{SessionOutcome::done, std::move(rows)};
  }

  void was_reset(const std::string& thread, const SessionRow& ended, Moment invoked, Moment returned) {
    add(SessionVerb::reset, thread, invoked, returned).answer = SessionAnswer{SessionOutcome::done, {ended}};
  }

  /// A run that begins, with or without a reference.
  void started(const std::string& thread, const std::string& reference, Moment invoked, Moment returned) {
    add(SessionVerb::start, thread, invoked, returned).reference = reference;
  }

  SessionOperation& reported(const std::string& thread, const std::string& reference,
                             std::optional<std::int64_t> if_match, SessionOutcome outcome, std::vector<SessionRow> rows,
                             Moment invoked, Moment returned) {
    SessionOperation& report = add(SessionVerb::report, thread, invoked, returned);
    report.reference = reference;
    report.if_match = if_match;
    report.answer = SessionAnswer{outcome, std::move(rows)};
    return report;
  }

  [[nodiscard]] Answered verdict() const { return check<SessionModel>(history, {}).answered; }

  SessionHistory history;
};

constexpr auto good = Answered::linearizable;
constexpr auto bad = Answered::impossible;
constexpr auto rebind = Standing::rebind;

TEST(Histories, OneAfterTheOther) {
  Book book;
  book.bound("T", row("1", "x"), "", 0, 1);
  book.bound("T", row("2", "y"), "1", 2, 3);
  book.listed("T", {row("2", "y"), row("1", "x", 2, rebind)}, 4, 5);
  book.was_reset("T", row("2", "y", 2, Standing::reset), 6, 7);
  book.listed("T", {row("1", "x", 2, rebind), row("2", "y", 2, Standing::reset)}, 8, 9);
  EXPECT_EQ(book.verdict(), good);
}

TEST(Histories, TwoBindsCannotBothWin) {
  Book book;
  book.bound("T", row("1", "x"), "", 0, 10);
  book.bound("T", row("2", "y"), "", 0, 10);
  EXPECT_EQ(book.verdict(), bad);
}

TEST(Histories, TheLoserOfARaceSeesTheWinner) {
  Book book;
  book.bound("T", row("1", "x"), "", 0, 10);
  book.refused_bind("T", "y", "", SessionOutcome::session_changed, 0, 10);
  EXPECT_EQ(book.verdict(), good);
}

TEST(Histories, ARefusalThatWasNeverTrue) {
  Book book;
  book.refused_bind("T", "y", "", SessionOutcome::session_changed, 0, 4);
  book.bound("T", row("1", "x"), "", 5, 10);
  EXPECT_EQ(book.verdict(), bad);
}

TEST(Histories, AnAcknowledgedRowThatIsGone) {
  Book book;
  book.bound("T", row("1", "x"), "", 0, 1);
  book.listed("T", {}, 2, 3);
  EXPECT_EQ(book.verdict(), bad);
}

TEST(Histories, AnIdThatComesTwice) {
  Book book;
  book.bound("T", row("1", "x"), "", 0, 1);
  book.bound("U", row("1", "y"), "", 2, 3);
  EXPECT_EQ(book.verdict(), bad);
}

TEST(Histories, AReferenceInTwoThreads) {
  Book book;
  book.bound("T", row("1", "x"), "", 0, 1);
  book.bound("U", row("2", "x"), "", 2, 3);
  EXPECT_EQ(book.verdict(), bad);
  book.history.back().operation.take_over = true;
  EXPECT_EQ(book.verdict(), good);
  book.listed("T", {row("1", "x", 2, rebind)}, 4, 5);
  EXPECT_EQ(book.verdict(), good);
  book.listed("T", {row("1", "x")}, 6, 7);
  EXPECT_EQ(book.verdict(), bad) << "it has been taken over";
}

TEST(Histories, BoundElsewhereIsTrueOnlyThere) {
  Book book;
  book.bound("T", row("1", "x"), "", 0, 1);
  book.refused_bind("U", "x", "", SessionOutcome::session_bound_elsewhere, 2, 3);
  EXPECT_EQ(book.verdict(), good);
  book.refused_bind("U", "y", "", SessionOutcome::session_bound_elsewhere, 4, 5);
  EXPECT_EQ(book.verdict(), bad);
}

TEST(Histories, TheOrderOfTwoRefusalReasons) {
  Book book;
  book.bound("T", row("1", "x"), "", 0, 1);
  book.bound("U", row("2", "y"), "", 0, 1);
  book.refused_bind("U", "x", "9", SessionOutcome::session_changed, 2, 3);
  EXPECT_EQ(book.verdict(), bad) << "elsewhere is said first";
}

TEST(Histories, ALateResetEndsNothingNewer) {
  Book book;
  book.bound("T", row("1", "x"), "", 0, 1);
  SessionOperation& late = book.add(SessionVerb::reset, "T", 2, 9);
  late.expected = "1";
  late.answer = SessionAnswer{SessionOutcome::session_changed, {}};
  EXPECT_EQ(book.verdict(), bad);
  book.bound("T", row("2", "y"), "1", 3, 4);
  EXPECT_EQ(book.verdict(), good);
}

TEST(Histories, ARowEndsOnce) {
  Book book;
  book.bound("T", row("1", "x"), "", 0, 1);
  book.was_reset("T", row("1", "x", 2, Standing::reset), 2, 9);
  book.was_reset("T", row("1", "x", 2, Standing::reset), 2, 9);
  EXPECT_EQ(book.verdict(), bad);
}

TEST(Histories, ALostBindShowsUpOrNot) {
  Book book;
  book.lost_bind("T", "x", "", 0);
  book.listed("T", {}, 1, 2);
  EXPECT_EQ(book.verdict(), good);
  book.listed("T", {row("7", "x")}, 3, 4);
  EXPECT_EQ(book.verdict(), good) << "it took effect later, and the list tells its id";
  book.bound("T", row("8", "y"), "7", 5, 6);
  EXPECT_EQ(book.verdict(), good);
  book.listed("T", {row("9", "x", 2, rebind), row("8", "y")}, 7, 8);
  EXPECT_EQ(book.verdict(), bad) << "its id is 7";
}

TEST(Histories, ALostBindIsSeenByWhatItRefuses) {
  Book book;
  book.lost_bind("T", "x", "", 0);
  book.refused_bind("T", "y", "", SessionOutcome::session_changed, 1, 2);
  EXPECT_EQ(book.verdict(), good);
  book.bound("T", row("2", "y"), "", 3, 4);
  EXPECT_EQ(book.verdict(), bad) << "nothing has ended it";
}

TEST(Histories, TwoLostBindsAreToldApartByWhatIsSeen) {
  Book book;
  book.lost_bind("T", "x", "", 0);
  book.lost_bind("U", "x", "", 0).take_over = true;
  book.listed("T", {row("1", "x", 2, rebind)}, 5, 6);
  book.listed("U", {row("2", "x")}, 7, 8);
  EXPECT_EQ(book.verdict(), good);
  book.listed("T", {row("1", "x", 3, rebind)}, 9, 10);
  EXPECT_EQ(book.verdict(), bad);
}

TEST(Histories, ALostResetMayHaveEndedWhatIsThere) {
  Book book;
  book.bound("T", row("1", "x"), "", 0, 1);
  book.add(SessionVerb::reset, "T", 2);
  book.listed("T", {row("1", "x", 2, Standing::reset)}, 5, 6);
  EXPECT_EQ(book.verdict(), good);
  book.listed("T", {row("1", "x", 2, rebind)}, 7, 8);
  EXPECT_EQ(book.verdict(), bad);
}

TEST(Reports, TwoWithOneVersion) {
  Book book;
  book.started("T", "x", 0, 1);
  const SessionRow fresh = row("1", "x", 1, Standing::current, false);
  const SessionRow after = row("1", "x", 2);
  book.reported("T", "", 1, SessionOutcome::done, {after}, 2, 10).started = true;
  SessionOperation& second = book.reported("T", "y", 1, SessionOutcome::version_conflict, {after}, 2, 10);
  EXPECT_EQ(book.verdict(), good);
  second.answer = SessionAnswer{SessionOutcome::version_conflict, {fresh}};
  EXPECT_EQ(book.verdict(), bad) << "a conflict shows a version that differs";
  second.answer = SessionAnswer{SessionOutcome::done, {row("1", "y", 2, Standing::current, false)}};
  EXPECT_EQ(book.verdict(), bad) << "both cannot win";
}

TEST(Reports, TheFirstMakesTheRow) {
  Book book;
  book.started("T", "", 0, 1);
  book.reported("T", "x", {}, SessionOutcome::done, {row("1", "x", 1, Standing::current, false)}, 2, 3);
  EXPECT_EQ(book.verdict(), good);
  book.reported("T", "y", {}, SessionOutcome::done, {row("2", "y", 1, Standing::current, false)}, 4, 5);
  EXPECT_EQ(book.verdict(), bad) << "without If-Match there is no second one";
}

TEST(Reports, ARowThatAHumanHasEndedStaysEnded) {
  Book book;
  book.started("T", "x", 0, 1);
  book.reported("T", "", 1, SessionOutcome::done, {row("1", "x", 2)}, 2, 3).started = true;
  book.was_reset("T", row("1", "x", 3, Standing::reset), 4, 5);
  book.reported("T", "y", 3, SessionOutcome::done, {row("2", "y", 1, Standing::reset, false)}, 6, 7).bind_failed = true;
  EXPECT_EQ(book.verdict(), good);
  book.listed("T", {row("2", "y", 1, Standing::current, false), row("1", "x", 3, Standing::reset)}, 8, 9);
  EXPECT_EQ(book.verdict(), bad);
}

TEST(Reports, OneReplacementARun) {
  Book book;
  book.started("T", "x", 0, 1);
  book.reported("T", "", 1, SessionOutcome::done, {row("1", "x", 2)}, 2, 3).started = true;
  SessionOperation& first = book.reported("T", "y", 2, SessionOutcome::done, {row("2", "y")}, 4, 5);
  first.bind_failed = true;
  first.started = true;
  EXPECT_EQ(book.verdict(), good);
  book.listed("T", {row("2", "y"), row("1", "x", 3, rebind)}, 6, 7);
  book.reported("T", "z", 1, SessionOutcome::session_not_bound, {}, 8, 9).bind_failed = true;
  EXPECT_EQ(book.verdict(), good);
  book.reported("T", "z", 1, SessionOutcome::done, {row("3", "z", 1, Standing::current, false)}, 10, 11).bind_failed =
    true;
  EXPECT_EQ(book.verdict(), bad);
}

TEST(Parts, ShareNeitherThreadsNorReferences) {
  Book book;
  book.bound("T", row("1", "x"), "", 0, 1);
  book.bound("U", row("2", "y"), "", 2, 3);
  book.bound("V", row("3", "z"), "", 4, 5);
  book.listed("T", {row("1", "x")}, 6, 7);
  EXPECT_EQ(parts_of(book.history).size(), 3U);
  book.refused_bind("U", "x", "2", SessionOutcome::session_bound_elsewhere, 8, 9);
  const auto parts = parts_of(book.history);
  ASSERT_EQ(parts.size(), 2U) << "x has brought T and U together";
  EXPECT_EQ(parts[0].size() + parts[1].size(), book.history.size());
}

TEST(Explanations, ShowTheShortestFailure) {
  Book book;
  book.bound("T", row("1", "x"), "", 0, 1'000'000);
  book.listed("T", {}, 2'000'000, 3'000'000);
  book.bound("T", row("2", "x"), "1", 4'000'000, 5'000'000);
  const std::string text = explain(book.history);
  EXPECT_NE(text.find("has 2 operations"), std::string::npos) << text;
  EXPECT_NE(text.find("? 2.000 to 3.000: list thread T -> 0 rows"), std::string::npos) << text;
  EXPECT_NE(text.find("current 1 (x, version 1, current)"), std::string::npos) << text;
}

} // namespace
} // namespace cleat::linear
