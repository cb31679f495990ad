#include "storage/pg/database.hpp"

#include <chrono>
#include <thread>

#include "base/log.hpp"

namespace cleat::storage::pg {
namespace {

/// The pause between two looks at a database that is away: there is nothing whose return could be awaited instead.
constexpr std::chrono::milliseconds look_again{20};

/// PostgreSQL's words for a transaction id that it has not given out: the end of its log is lost, and with it
/// everything that the transaction did.
constexpr std::string_view invalid_parameter = "22023";

} // namespace

Database::Database(DatabaseOptions options, std::span<const Statement> statements, std::shared_ptr<Metrics> metrics)
  : options_(std::move(options)), statements_(statements), metrics_(std::move(metrics)) {}

Connection* Database::connection() {
  if (connection_)
    return &*connection_;
  try {
    connection_.emplace(options_, statements_);
  } catch (const ConnectionLost& error) {
    metrics_->database_up.Set(0);
    if (last_failure_ != error.what()) // said once, however many requests come while it is away
      log::get().warn("database: {}", error.what());
    last_failure_ = error.what();
    return nullptr;
  }
  last_failure_.clear();
  if (connections_++ > 0)
    metrics_->database_reconnects.Increment();
  metrics_->database_up.Set(1);
  return &*connection_;
}

void Database::drop() {
  connection_.reset();
}

bool Database::may_try_again(const ConnectionLost& error, int attempt) {
  drop();
  metrics_->database_up.Set(0);
  log::get().warn("database: connection lost: {}", error.what());
  return attempt == 0 && !error.timed_out();
}

void Database::refused(const SqlError& error) {
  drop(); // the transaction around the refused statement ends with the connection
  log::get().error("database: {}", error.what());
}

Truth Database::resolve(const std::string& xid, const Id& marker) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(options_.resolve_timeout_s);
  do {
    drop();
    try {
      if (const auto truth = ask_for_truth(xid, marker))
        return *truth;
    } catch (const ConnectionLost& error) {
      log::get().warn("database: connection lost while a transaction's fate was asked for: {}", error.what());
    } catch (const SqlError& error) {
      log::get().warn("database: {}", error.what());
    }
    std::this_thread::sleep_for(look_again);
  } while (std::chrono::steady_clock::now() < deadline);
  return Truth::unknown;
}

std::optional<Truth> Database::ask_for_truth(const std::string& xid, const Id& marker) {
  Connection* const open = connection();
  if (!open)
    return std::nullopt;
  std::optional<std::string> status;
  Pipeline pipeline(*open);
  pipeline.add(statements::xact_status, Params().add(xid),
               [&](const Result& result) { status = RowReader(result, 0).next<std::optional<std::string>>(); });
  const auto refusal = pipeline.try_run();
  if (refusal && refusal->sqlstate() != invalid_parameter)
    throw SqlError(*refusal);
  if (status == "in progress") {
    execute(*open, statements::end_backend_of_xact, Params().add(xid));
    return std::nullopt;
  }
  // The transaction is over, so whether its marker is visible is final. The status alone would not do: after a crash
  // the id may belong to another transaction.
  const Result found = execute(*open, statements::find_commit_marker, Params().add(marker));
  return RowReader(found, 0).next<bool>() ? Truth::committed : Truth::not_committed;
}

} // namespace cleat::storage::pg
