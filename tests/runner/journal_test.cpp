#include "apps/cleat-runner/journal.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

#include "base/ids.hpp"
#include "tests/support/child.hpp"

namespace cleat::runner {
namespace {

class JournalTest : public ::testing::Test {
protected:
  [[nodiscard]] std::string path() const { return (folder_.path() / "journal.db").string(); }

  static OperationRow row(const std::string& operation, RowState state) {
    OperationRow result;
    result.key = {operation, "attempt"};
    result.container = "one";
    result.kind = RowKind::resume;
    result.dispatch = 3;
    result.session_id = "session";
    result.state = state;
    result.acknowledged = wire::AckOutcome::already_running;
    result.failure = {true, "code", "detail"};
    result.exit_code = 7;
    result.pid = 11;
    result.process_start = 12;
    result.said_through = 13;
    result.input_through = 14;
    return result;
  }

  test::TemporaryFolder folder_;
};

TEST_F(JournalTest, RowsComeBackAsTheyWereAfterTheyWereCommitted) {
  std::string id;
  {
    Journal journal(path());
    id = journal.id();
    EXPECT_TRUE(Id::parse(id));
    journal.put(row("committed", RowState::exited), 100);
    journal.commit();
    journal.put(row("lost", RowState::exited), 100);
  }
  Journal journal(path());
  EXPECT_EQ(journal.id(), id);
  EXPECT_EQ(journal.find({"committed", "attempt"}), row("committed", RowState::exited));
  EXPECT_FALSE(journal.find({"committed", "another"}));
  EXPECT_FALSE(journal.find({"lost", "attempt"}));
}

TEST_F(JournalTest, ItIsAWriteAheadLog) {
  const Journal journal(path());
  const auto question = "sqlite3 " + path() + " 'pragma journal_mode' | grep -qx wal";
  EXPECT_EQ(std::system(question.c_str()), 0);
}

TEST_F(JournalTest, UnfinishedAreTheAcceptedAndTheStarted) {
  Journal journal(path());
  for (const auto state : {RowState::accepted, RowState::started, RowState::exited, RowState::stopped, RowState::failed,
                           RowState::tombstone})
    journal.put(row(std::to_string(static_cast<int>(state)), state), 1);
  const auto rows = journal.unfinished();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].state, RowState::accepted);
  EXPECT_EQ(rows[1].state, RowState::started);
}

TEST_F(JournalTest, LinesAreReadInOrderAndForgottenWhenAcknowledged) {
  Journal journal(path());
  const OperationKey key{"operation", "attempt"};
  auto started = row("operation", RowState::started);
  started.said_through = 0;
  journal.put(started, 1);
  const std::string bytes("\0\xff", 2);
  for (std::int64_t seq = 1; seq <= 5; ++seq)
    journal.add_line(key, {seq, seq * 10, bytes, {}});
  journal.add_line(key, {6, 60, "", 9});
  auto lines = journal.lines_after(key, 2, 2, 1000);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], (wire::RelayedLine{3, 30, bytes, {}}));
  EXPECT_EQ(journal.lines_after(key, 0, 100, 3).size(), 2U) << "no more once there are three bytes";
  journal.forget_lines(key, 4);
  lines = journal.lines_after(key, 0, 100, 1000);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1], (wire::RelayedLine{6, 60, "", 9}));
  EXPECT_EQ(journal.find(key)->said_through, 4) << "numbers go on even when no line is left";
  const auto backlogs = journal.backlogs();
  ASSERT_EQ(backlogs.size(), 1U);
  EXPECT_EQ(backlogs[0].first, 5);
  EXPECT_EQ(backlogs[0].last, 6);
  EXPECT_EQ(backlogs[0].bytes, 2);
  EXPECT_EQ(backlogs[0].session_id, "session");
}

TEST_F(JournalTest, OnlyOldRowsThatHaveEndedAndWaitForNothingAreRemoved) {
  Journal journal(path());
  journal.put(row("old", RowState::exited), 99);
  journal.put(row("old tombstone", RowState::tombstone), 99);
  journal.put(row("young", RowState::exited), 100);
  journal.put(row("live", RowState::started), 1);
  journal.put(row("accepted", RowState::accepted), 1);
  journal.put(row("waits", RowState::exited), 1);
  journal.add_line({"waits", "attempt"}, {1, 1, "line", {}});
  journal.prune(100);
  const auto is_there = [&](const char* operation) { return journal.find({operation, "attempt"}).has_value(); };
  EXPECT_FALSE(is_there("old"));
  EXPECT_FALSE(is_there("old tombstone"));
  EXPECT_TRUE(is_there("young"));
  EXPECT_TRUE(is_there("live"));
  EXPECT_TRUE(is_there("accepted"));
  EXPECT_TRUE(is_there("waits"));
}

TEST_F(JournalTest, AJournalOfAnotherLayoutIsRefused) {
  { Journal journal(path()); }
  const auto edit = "sqlite3 " + path() + " \"update meta set value = '99' where key = 'layout'\"";
  ASSERT_EQ(std::system(edit.c_str()), 0);
  EXPECT_THROW(Journal{path()}, JournalError);
}

TEST_F(JournalTest, AFileThatIsNoDatabaseIsRefusedAndNamed) {
  test::write_file(path(), std::string(10'000, 'x'));
  try {
    const Journal journal(path());
    FAIL() << "it was opened";
  } catch (const JournalError& error) {
    EXPECT_NE(std::string(error.what()).find(path()), std::string::npos);
  }
}

} // namespace
} // namespace cleat::runner
