#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <libpq-fe.h>

#include "storage/options.hpp"
#include "storage/pg/errors.hpp"
#include "storage/pg/params.hpp"
#include "storage/pg/result.hpp"
#include "storage/pg/statements.hpp"

namespace cleat::storage::pg {

/// A connection of libpq that never blocks for longer than it was told to. Used by one thread.
class Connection {
public:
  /// Connects, sets the session up and prepares `statements`. Throws `ConnectionLost` when that is impossible.
  Connection(const DatabaseOptions& options, std::span<const Statement> statements);

  /// Prepares more statements.
  void prepare(std::span<const Statement> statements);

  /// Runs a script of several statements without parameters, however long it takes; for migrations. Throws `SqlError`
  /// or `ConnectionLost`.
  void run_script(const std::string& sql);

  /// Lets statements of this session take as long as they need; for migrations.
  void lift_timeouts();

private:
  friend class Pipeline;

  using Deadline = std::optional<std::chrono::steady_clock::time_point>;

  void send(bool accepted);
  void flush(Deadline deadline);
  void wait(bool also_for_writing, Deadline deadline);
  /// The next result, null at the end of a statement's.
  PGresult* next(Deadline deadline);
  [[nodiscard]] Deadline deadline() const;
  [[noreturn]] void lost() const;

  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  std::unique_ptr<PGconn, Finish> connection_;
  /// How long one round trip may take: the server's own limit for a statement and a second for the way.
  std::chrono::seconds patience_;
  bool unlimited_ = false;
};

/// Statements that travel together: all are sent before the first answer is awaited, so they cost one round trip.
/// After a refused statement PostgreSQL skips the rest.
class Pipeline {
public:
  /// What is done with a statement's result.
  using Handler = std::function<void(const Result&)>;

  explicit Pipeline(Connection& connection) : connection_(connection) {}

  /// Adds a statement that was prepared at connect.
  void add(const Statement& statement, const Params& params = {}, Handler handler = {});

  /// Whether nothing was added since the last run.
  [[nodiscard]] bool empty() const { return handlers_.empty(); }

  /// Sends what was added, waits for all of it and hands the results to their handlers, in order, up to the first
  /// statement that was refused; that refusal is the answer. Throws `ConnectionLost`.
  std::optional<SqlError> try_run();

  /// The same, where a refused statement is an exception.
  void run();

private:
  std::vector<Result> receive(std::optional<SqlError>& refusal);

  Connection& connection_;
  std::vector<Handler> handlers_;
};

/// A handler that reads the only row of a result, if there is one, into `target`.
template <class Row, class Read>
Pipeline::Handler one_row(std::optional<Row>& target, Read read) {
  return [&target, read](const Result& result) {
    if (result.rows() == 0)
      return;
    RowReader in(result, 0);
    target = read(in);
  };
}

/// One statement, one round trip.
Result execute(Connection& connection, const Statement& statement, const Params& params = {});

} // namespace cleat::storage::pg
