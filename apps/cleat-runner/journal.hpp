#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "protocol/runner_messages.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace cleat::runner {

/// What the journal's rows are keyed by (spec 04 section 7).
struct OperationKey {
  std::string operation_id;
  std::string attempt_id;

  auto operator<=>(const OperationKey&) const = default;
};

enum class RowKind : std::uint8_t { fresh, resume, stop };

/// Where an operation stands. `accepted`: begun, and nobody can tell yet; `started`: its agent runs; `exited`: its
/// agent started and has ended since; `stopped`: its target has ended, as told; `tombstone`: never arrived, and a
/// dispatch up to this number is refused.
enum class RowState : std::uint8_t { accepted, started, exited, stopped, failed, tombstone };

/// An operation as the journal keeps it.
struct OperationRow {
  OperationKey key;
  std::string container;
  RowKind kind{};
  /// The highest dispatch number that was taken.
  std::int64_t dispatch = 0;
  /// The session that is started, resumed or stopped.
  std::string session_id;
  RowState state{};
  /// How the dispatch was acknowledged.
  wire::AckOutcome acknowledged{};
  wire::Failed failure = {};
  std::optional<std::int64_t> exit_code = {};
  /// The agent's process, and when it began, in clock ticks since the machine's start.
  std::int64_t pid = 0;
  std::int64_t process_start = 0;
  /// The last line that the agent said; acknowledged ones are no longer there.
  std::int64_t said_through = 0;
  /// The last input line that was taken for the agent.
  std::int64_t input_through = 0;

  bool operator==(const OperationRow&) const = default;
};

/// Lines that wait for their acknowledgement, of one lifetime.
struct Backlog {
  OperationKey key;
  std::string session_id;
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t bytes = 0;
};

/// A journal that cannot be read or written: the Runner cannot go on.
struct JournalError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The Runner's durable memory: an SQLite database. Writes collect in one transaction until `commit`, which is durable
/// when it returns. All members throw `JournalError`.
class Journal {
public:
  /// Opens or makes the journal.
  explicit Journal(const std::string& path);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Made once, a UUID: which journal this is.
  [[nodiscard]] const std::string& id() const { return id_; }

  [[nodiscard]] std::optional<OperationRow> find(const OperationKey& key);
  /// Inserts or replaces; `now_s` counts for its age.
  void put(const OperationRow& row, std::int64_t now_s);
  /// Operations that were accepted or started and have not ended.
  [[nodiscard]] std::vector<OperationRow> unfinished();

  /// Adds what an agent has said.
  void add_line(const OperationKey& key, const wire::RelayedLine& line);
  /// Lines after `seq`, in order, at most `max_lines` of them, and no more once they have `max_bytes`.
  [[nodiscard]] std::vector<wire::RelayedLine> lines_after(const OperationKey& key, std::int64_t seq,
                                                           std::int64_t max_lines, std::int64_t max_bytes);
  /// Removes acknowledged lines; the operation's row remembers how far they went.
  void forget_lines(const OperationKey& key, std::int64_t through);
  [[nodiscard]] std::vector<Backlog> backlogs();

  /// Removes rows that have ended and did not change since `before_s`, unless lines of them wait.
  void prune(std::int64_t before_s);

  /// Makes everything since the last call durable.
  void commit();
  /// Whether there is something to commit.
  [[nodiscard]] bool dirty() const { return dirty_; }

private:
  class Statement;
  struct Statements;

  void execute(const char* sql);
  void begin();
  [[noreturn]] void fail(const std::string& what) const;

  sqlite3* database_ = nullptr;
  std::unique_ptr<Statements> statements_;
  std::string path_;
  std::string id_;
  bool dirty_ = false;
};

} // namespace cleat::runner
