#include "storage/pg/connection.hpp"

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include <poll.h>

namespace cleat::storage::pg {
namespace {

using Clock = std::chrono::steady_clock;

/// Opens a connection with our defaults; what the URL says comes later in the list and so wins. A peer that is gone
/// without a word is noticed within some seconds and not within the kernel's two hours.
PGconn* connect(const DatabaseOptions& options) {
  const std::string timeout = std::to_string(options.connect_timeout_s);
  const std::string silence_ms = std::to_string(options.statement_timeout_s * 1000);
  const std::array<const char*, 10> keywords{
    "fallback_application_name", "client_encoding",  "connect_timeout",  "keepalives", "keepalives_idle",
    "keepalives_interval",       "keepalives_count", "tcp_user_timeout", "dbname",     nullptr};
  const std::array<const char*, 10> values{
    "cleat", "UTF8", timeout.c_str(), "1", "5", "2", "3", silence_ms.c_str(), options.url.c_str(), nullptr};
  return PQconnectdbParams(keywords.data(), values.data(), 1);
}

/// The first line of libpq's words; the others are advice.
std::string words_of(const PGconn* connection) {
  const std::string words = PQerrorMessage(connection);
  return words.substr(0, words.find('\n'));
}

SqlError refusal_of(const PGresult* result) {
  const auto field = [&](int code) {
    const char* const text = PQresultErrorField(result, code);
    return std::string(text ? text : "");
  };
  return {field(PG_DIAG_SQLSTATE), field(PG_DIAG_CONSTRAINT_NAME)};
}

/// How a session differs from PostgreSQL's defaults. Every hot statement finds its rows through indexes; a plan that
/// was made while a table was small must not become a scan of a large one, hence no scans of whole tables and no joins
/// that need them, and planning once is enough. A transaction whose client has fallen silent must not hold its locks
/// for long. Durability is not ours to weaken: whoever switched `synchronous_commit` off for the role gets it back on.
std::string session_settings(const DatabaseOptions& options) {
  const std::string timeout = std::to_string(options.statement_timeout_s * 1000);
  return "SET statement_timeout = " + timeout + "; SET idle_in_transaction_session_timeout = " + timeout +
         "; SET client_min_messages = warning; SET TimeZone = 'UTC'; SET jit = off; SET enable_seqscan = off; SET "
         "enable_bitmapscan = off"
         "; SET enable_hashjoin = off; SET enable_mergejoin = off; SET plan_cache_mode = force_generic_plan; SELECT "
         "set_config('synchronous_commit', 'on', false)"
         " WHERE current_setting('synchronous_commit') = 'off'";
}

} // namespace

Connection::Connection(const DatabaseOptions& options, std::span<const Statement> statements)
  : connection_(connect(options)), patience_(options.statement_timeout_s + 1) {
  if (PQstatus(connection_.get()) != CONNECTION_OK || PQsetnonblocking(connection_.get(), 1) != 0)
    lost();
  try {
    run_script(session_settings(options));
    if (PQenterPipelineMode(connection_.get()) != 1)
      lost();
    prepare(statements);
  } catch (const SqlError& error) {
    throw ConnectionLost(error.what());
  }
}

void Connection::prepare(std::span<const Statement> statements) {
  for (const Statement& statement : statements)
    send(PQsendPrepare(connection_.get(), statement.name, statement.sql.data(), 0, nullptr) == 1);
  Pipeline(*this).run();
}

void Connection::lift_timeouts() {
  unlimited_ = true;
  run_script("SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0");
}

void Connection::run_script(const std::string& sql) {
  PGconn* const connection = connection_.get();
  const bool pipelined = PQpipelineStatus(connection) != PQ_PIPELINE_OFF;
  if (pipelined && PQexitPipelineMode(connection) != 1)
    lost();
  send(PQsendQuery(connection, sql.c_str()) == 1);
  std::optional<SqlError> error;
  while (PGresult* const raw = next(deadline())) {
    const Result result(raw);
    if (PQresultStatus(raw) == PGRES_FATAL_ERROR && !error)
      error = refusal_of(raw);
  }
  if (PQstatus(connection) != CONNECTION_OK || (pipelined && PQenterPipelineMode(connection) != 1))
    lost();
  if (error)
    throw SqlError(*error);
}

Connection::Deadline Connection::deadline() const {
  return unlimited_ ? Deadline() : Deadline(Clock::now() + patience_);
}

void Connection::lost() const {
  throw ConnectionLost(words_of(connection_.get()));
}

void Connection::send(bool accepted) {
  if (!accepted)
    lost();
}

void Connection::wait(bool also_for_writing, Deadline deadline) {
  const short events = also_for_writing ? POLLIN | POLLOUT : POLLIN;
  pollfd descriptor{PQsocket(connection_.get()), events, 0};
  int timeout_ms = -1;
  if (deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
    timeout_ms = static_cast<int>(left > 0 ? left : 0);
  }
  const int ready = poll(&descriptor, 1, timeout_ms);
  if (ready == 0)
    throw ConnectionLost("PostgreSQL did not answer in time", true);
  if (ready < 0 && errno != EINTR)
    throw ConnectionLost("the socket of the connection cannot be polled");
}

void Connection::flush(Deadline deadline) {
  PGconn* const connection = connection_.get();
  for (;;) {
    const int left = PQflush(connection);
    if (left == 0)
      return;
    if (left < 0)
      lost();
    // The server may stop reading until we read, so both directions are served here.
    wait(true, deadline);
    if (PQconsumeInput(connection) != 1)
      lost();
  }
}

PGresult* Connection::next(Deadline deadline) {
  flush(deadline);
  while (PQisBusy(connection_.get()) == 1) {
    wait(false, deadline);
    if (PQconsumeInput(connection_.get()) != 1)
      lost();
  }
  return PQgetResult(connection_.get());
}

void Pipeline::add(const Statement& statement, const Params& params, Handler handler) {
  const auto size = params.size();
  std::vector<const char*> values(size);
  std::vector<int> lengths(size);
  const std::vector<int> binary(size, 1);
  for (std::size_t i = 0; i < size; ++i) {
    values[i] = params.is_null(i) ? nullptr : params.value(i).data();
    lengths[i] = static_cast<int>(params.value(i).size());
  }
  connection_.send(PQsendQueryPrepared(connection_.connection_.get(), statement.name, static_cast<int>(size),
                                       values.data(), lengths.data(), binary.data(), 1) == 1);
  handlers_.push_back(std::move(handler));
}

std::vector<Result> Pipeline::receive(std::optional<SqlError>& refusal) {
  PGconn* const connection = connection_.connection_.get();
  connection_.send(PQpipelineSync(connection) == 1);
  const auto deadline = connection_.deadline();
  std::vector<Result> results;
  for (;;) {
    PGresult* const raw = connection_.next(deadline);
    if (PQstatus(connection) != CONNECTION_OK) {
      PQclear(raw);
      connection_.lost();
    }
    if (!raw) // the end of one statement's results
      continue;
    Result result(raw);
    const ExecStatusType status = PQresultStatus(raw);
    if (status == PGRES_PIPELINE_SYNC)
      return results;
    if (status == PGRES_FATAL_ERROR && !refusal)
      refusal = refusal_of(raw);
    if (!refusal)
      results.push_back(std::move(result));
  }
}

std::optional<SqlError> Pipeline::try_run() {
  std::optional<SqlError> refusal;
  const std::vector<Result> results = receive(refusal);
  const std::vector<Handler> handlers = std::exchange(handlers_, {});
  for (std::size_t i = 0; i < results.size() && i < handlers.size(); ++i)
    if (handlers[i])
      handlers[i](results[i]);
  return refusal;
}

void Pipeline::run() {
  if (const auto refusal = try_run())
    throw SqlError(*refusal);
}

Result execute(Connection& connection, const Statement& statement, const Params& params) {
  std::optional<Result> result;
  Pipeline pipeline(connection);
  pipeline.add(statement, params, [&](const Result& received) { result = received; });
  pipeline.run();
  return std::move(*result);
}

} // namespace cleat::storage::pg
