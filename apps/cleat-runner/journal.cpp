#include "apps/cleat-runner/journal.hpp"

#include <sqlite3.h>

#include "base/ids.hpp"

namespace cleat::runner {
namespace {

constexpr const char* schema = R"(
create table if not exists meta (
  key text primary key,
  value text not null
) without rowid;

create table if not exists operations (
  operation_id text not null,
  attempt_id text not null,
  container text not null,
  kind integer not null check (kind between 0 and 2),
  dispatch integer not null,
  session_id text not null,
  state integer not null check (state between 0 and 5),
  acknowledged integer not null check (acknowledged between 0 and 2),
  retryable integer not null,
  code text not null,
  detail text not null,
  exit_code integer,
  pid integer not null,
  process_start integer not null,
  said_through integer not null,
  input_through integer not null,
  changed_at integer not null,
  primary key (operation_id, attempt_id)
) without rowid;
create index if not exists operations_unfinished on operations (state) where state in (0, 1);
create index if not exists operations_changed on operations (changed_at);

create table if not exists relay_lines (
  operation_id text not null,
  attempt_id text not null,
  seq integer not null,
  time_us integer not null,
  line blob not null,
  exit_code integer,
  primary key (operation_id, attempt_id, seq)
) without rowid;
)";

/// The layout of the tables; raised when a later version changes them.
constexpr int layout = 1;

constexpr const char* columns =
  "operation_id, attempt_id, container, kind, dispatch, session_id, state, acknowledged, retryable, code, detail, "
  "exit_code, pid, process_start, said_through, input_through";

} // namespace

/// A prepared statement; each use ends with `reset`, which `Use` sees to.
class Journal::Statement {
public:
  Statement(Journal& journal, const std::string& sql) : journal_(journal) {
    if (sqlite3_prepare_v3(journal.database_, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &handle_, nullptr) !=
        SQLITE_OK)
      journal.fail("cannot prepare a statement");
  }
  ~Statement() { sqlite3_finalize(handle_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  /// One execution: binds in order, steps, reads.
  class Use {
  public:
    explicit Use(Statement& statement) : statement_(statement) {}
    ~Use() {
      sqlite3_reset(statement_.handle_);
      sqlite3_clear_bindings(statement_.handle_);
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

    Use& text(const std::string& value) {
      check(sqlite3_bind_text(statement_.handle_, ++bound_, value.data(), static_cast<int>(value.size()), nullptr));
      return *this;
    }
    Use& blob(const std::string& value) {
      check(sqlite3_bind_blob(statement_.handle_, ++bound_, value.data(), static_cast<int>(value.size()), nullptr));
      return *this;
    }
    Use& number(std::int64_t value) {
      check(sqlite3_bind_int64(statement_.handle_, ++bound_, value));
      return *this;
    }
    Use& number(std::optional<std::int64_t> value) {
      if (value)
        return number(*value);
      check(sqlite3_bind_null(statement_.handle_, ++bound_));
      return *this;
    }
    /// Whether there is a row.
    bool step() {
      const int result = sqlite3_step(statement_.handle_);
      if (result != SQLITE_ROW && result != SQLITE_DONE)
        statement_.journal_.fail("cannot work on the journal");
      return result == SQLITE_ROW;
    }
    [[nodiscard]] std::int64_t number_at(int column) const { return sqlite3_column_int64(statement_.handle_, column); }
    [[nodiscard]] std::optional<std::int64_t> optional_at(int column) const {
      if (sqlite3_column_type(statement_.handle_, column) == SQLITE_NULL)
        return std::nullopt;
      return number_at(column);
    }
    [[nodiscard]] std::string bytes_at(int column) const {
      const void* bytes = sqlite3_column_blob(statement_.handle_, column);
      const auto count = static_cast<std::size_t>(sqlite3_column_bytes(statement_.handle_, column));
      return count == 0 ? std::string() : std::string(static_cast<const char*>(bytes), count);
    }

  private:
    void check(int result) const {
      if (result != SQLITE_OK)
        statement_.journal_.fail("cannot bind a value");
    }
    Statement& statement_;
    int bound_ = 0;
  };

private:
  Journal& journal_;
  sqlite3_stmt* handle_ = nullptr;
};

struct Journal::Statements {
  explicit Statements(Journal& journal)
    : find(journal, std::string("select ") + columns + " from operations where operation_id = ? and attempt_id = ?"),
      put(journal, std::string("insert or replace into operations (") + columns +
                     ", changed_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      unfinished(journal, std::string("select ") + columns + " from operations where state in (0, 1)"),
      add_line(journal, "insert into relay_lines (operation_id, attempt_id, seq, time_us, line, exit_code) "
                        "values (?, ?, ?, ?, ?, ?)"),
      lines(journal, "select seq, time_us, line, exit_code from relay_lines "
                     "where operation_id = ? and attempt_id = ? and seq > ? order by seq limit ?"),
      forget(journal, "delete from relay_lines where operation_id = ? and attempt_id = ? and seq <= ?"),
      said(journal, "update operations set said_through = max(said_through, ?3) "
                    "where operation_id = ?1 and attempt_id = ?2"),
      backlogs(journal,
               "select l.operation_id, l.attempt_id, o.session_id, min(l.seq), max(l.seq), sum(length(l.line)) "
               "from relay_lines l join operations o using (operation_id, attempt_id) "
               "group by l.operation_id, l.attempt_id"),
      prune(journal, "delete from operations where changed_at < ? and state not in (0, 1) and not exists (select 1 "
                     "from relay_lines l where l.operation_id = operations.operation_id and "
                     "l.attempt_id = operations.attempt_id)") {}

  Statement find;
  Statement put;
  Statement unfinished;
  Statement add_line;
  Statement lines;
  Statement forget;
  Statement said;
  Statement backlogs;
  Statement prune;
};

namespace {

/// Reads the columns of `columns`.
template <class Use>
OperationRow row_of(const Use& use) {
  OperationRow row;
  row.key = {use.bytes_at(0), use.bytes_at(1)};
  row.container = use.bytes_at(2);
  row.kind = static_cast<RowKind>(use.number_at(3));
  row.dispatch = use.number_at(4);
  row.session_id = use.bytes_at(5);
  row.state = static_cast<RowState>(use.number_at(6));
  row.acknowledged = static_cast<wire::AckOutcome>(use.number_at(7));
  row.failure = {use.number_at(8) != 0, use.bytes_at(9), use.bytes_at(10)};
  row.exit_code = use.optional_at(11);
  row.pid = use.number_at(12);
  row.process_start = use.number_at(13);
  row.said_through = use.number_at(14);
  row.input_through = use.number_at(15);
  return row;
}

} // namespace

Journal::Journal(const std::string& path) : path_(path) {
  if (sqlite3_open_v2(path.c_str(), &database_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                      nullptr) != SQLITE_OK)
    fail("cannot open the journal");
  execute("pragma journal_mode = wal");
  execute("pragma synchronous = full");
  execute("begin immediate");
  execute(schema);
  execute(("insert or ignore into meta values ('journal_id', '" + RandomIdSource().next(SystemClock().now()).str() +
           "'), ('layout', '" + std::to_string(layout) + "')")
            .c_str());
  execute("commit");
  Statement meta(*this, "select (select value from meta where key = 'journal_id'), "
                        "(select value from meta where key = 'layout')");
  Statement::Use use(meta);
  use.step();
  id_ = use.bytes_at(0);
  if (use.bytes_at(1) != std::to_string(layout))
    throw JournalError("the journal " + path + " was written by another version of cleat-runner; use that one, or " +
                       "another state folder");
  statements_ = std::make_unique<Statements>(*this);
}

Journal::~Journal() {
  statements_.reset();
  sqlite3_close(database_);
}

void Journal::fail(const std::string& what) const {
  throw JournalError(what + " " + path_ + ": " + (database_ != nullptr ? sqlite3_errmsg(database_) : "no memory") +
                     ". Without its journal a Runner starts and stops nothing; see to the disk and start it again.");
}

void Journal::execute(const char* sql) {
  if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    fail("cannot write the journal");
}

void Journal::begin() {
  if (!dirty_)
    execute("begin immediate");
  dirty_ = true;
}

void Journal::commit() {
  if (dirty_)
    execute("commit");
  dirty_ = false;
}

std::optional<OperationRow> Journal::find(const OperationKey& key) {
  Statement::Use use(statements_->find);
  if (!use.text(key.operation_id).text(key.attempt_id).step())
    return std::nullopt;
  return row_of(use);
}

void Journal::put(const OperationRow& row, std::int64_t now_s) {
  begin();
  Statement::Use use(statements_->put);
  use.text(row.key.operation_id).text(row.key.attempt_id).text(row.container);
  use.number(static_cast<std::int64_t>(row.kind)).number(row.dispatch).text(row.session_id);
  use.number(static_cast<std::int64_t>(row.state)).number(static_cast<std::int64_t>(row.acknowledged));
  use.number(static_cast<std::int64_t>(row.failure.retryable)).text(row.failure.code).text(row.failure.detail);
  use.number(row.exit_code).number(row.pid).number(row.process_start);
  use.number(row.said_through).number(row.input_through).number(now_s);
  use.step();
}

std::vector<OperationRow> Journal::unfinished() {
  std::vector<OperationRow> rows;
  Statement::Use use(statements_->unfinished);
  while (use.step())
    rows.push_back(row_of(use));
  return rows;
}

void Journal::add_line(const OperationKey& key, const wire::RelayedLine& line) {
  begin();
  Statement::Use use(statements_->add_line);
  use.text(key.operation_id).text(key.attempt_id).number(line.seq).number(line.time_us).blob(line.line);
  use.number(line.exit_code).step();
}

std::vector<wire::RelayedLine> Journal::lines_after(const OperationKey& key, std::int64_t seq, std::int64_t max_lines,
                                                    std::int64_t max_bytes) {
  std::vector<wire::RelayedLine> lines;
  std::int64_t bytes = 0;
  Statement::Use use(statements_->lines);
  use.text(key.operation_id).text(key.attempt_id).number(seq).number(max_lines);
  while (bytes < max_bytes && use.step()) {
    lines.push_back({use.number_at(0), use.number_at(1), use.bytes_at(2), use.optional_at(3)});
    bytes += std::ssize(lines.back().line);
  }
  return lines;
}

void Journal::forget_lines(const OperationKey& key, std::int64_t through) {
  begin();
  Statement::Use forget(statements_->forget);
  forget.text(key.operation_id).text(key.attempt_id).number(through).step();
  Statement::Use said(statements_->said);
  said.text(key.operation_id).text(key.attempt_id).number(through).step();
}

std::vector<Backlog> Journal::backlogs() {
  std::vector<Backlog> found;
  Statement::Use use(statements_->backlogs);
  while (use.step())
    found.push_back(
      {{use.bytes_at(0), use.bytes_at(1)}, use.bytes_at(2), use.number_at(3), use.number_at(4), use.number_at(5)});
  return found;
}

void Journal::prune(std::int64_t before_s) {
  begin();
  Statement::Use use(statements_->prune);
  use.number(before_s).step();
}

} // namespace cleat::runner
