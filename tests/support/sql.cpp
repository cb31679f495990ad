#include "tests/support/sql.hpp"

#include <libpq-fe.h>

namespace cleat::test {

namespace {

struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using ResultPtr = std::unique_ptr<PGresult, ClearResult>;

std::string field(const PGresult* result, int code) {
  const char* text = PQresultErrorField(result, code);
  return text == nullptr ? std::string() : std::string(text);
}

void check(const PGresult* result, PGconn* connection) {
  const auto status = PQresultStatus(result);
  if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK)
    return;
  throw SqlError(PQerrorMessage(connection), field(result, PG_DIAG_SQLSTATE), field(result, PG_DIAG_CONSTRAINT_NAME));
}

} // namespace

void Sql::Close::operator()(pg_conn* connection) const {
  PQfinish(connection);
}

Sql::Sql(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
  if (PQstatus(connection_.get()) != CONNECTION_OK)
    throw SqlError(PQerrorMessage(connection_.get()), "", "");
  PQsetNoticeProcessor(
    connection_.get(), [](void*, const char*) {}, nullptr);
}

Sql::~Sql() = default;

std::vector<Sql::Row> Sql::run(const std::string& statement, const std::vector<Value>& parameters) {
  std::vector<const char*> values;
  for (const auto& parameter : parameters)
    values.push_back(parameter ? parameter->c_str() : nullptr);
  const ResultPtr result(PQexecParams(connection_.get(), statement.c_str(), static_cast<int>(values.size()), nullptr,
                                      values.data(), nullptr, nullptr, 0));
  check(result.get(), connection_.get());
  std::vector<Row> rows(static_cast<std::size_t>(PQntuples(result.get())));
  for (int row = 0; row < PQntuples(result.get()); ++row) {
    for (int column = 0; column < PQnfields(result.get()); ++column) {
      auto& cells = rows[static_cast<std::size_t>(row)];
      if (PQgetisnull(result.get(), row, column) != 0)
        cells.emplace_back(std::nullopt);
      else
        cells.emplace_back(PQgetvalue(result.get(), row, column));
    }
  }
  return rows;
}

std::string Sql::value(const std::string& statement, const std::vector<Value>& parameters) {
  const auto rows = run(statement, parameters);
  if (rows.size() != 1 || rows.front().empty())
    throw std::runtime_error("not one value: " + statement);
  return rows.front().front().value_or("");
}

std::int64_t Sql::number(const std::string& statement, const std::vector<Value>& parameters) {
  return std::stoll(value(statement, parameters));
}

void Sql::script(const std::string& statements) {
  const ResultPtr result(PQexec(connection_.get(), statements.c_str()));
  check(result.get(), connection_.get());
}

} // namespace cleat::test
