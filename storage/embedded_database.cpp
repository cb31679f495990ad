#include "storage/embedded_database.hpp"

#include <memory>
#include <stdexcept>

#include <libpq-fe.h>

namespace cleat::storage {
namespace {

using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;
using QueryResult = std::unique_ptr<PGresult, decltype(&PQclear)>;

Connection connect(const std::string& url) {
  Connection connection(PQconnectdb(url.c_str()), &PQfinish);
  if (PQstatus(connection.get()) != CONNECTION_OK)
    throw std::runtime_error(std::string("The embedded PostgreSQL takes no connection: ") +
                             PQerrorMessage(connection.get()));
  return connection;
}

} // namespace

std::string connection_string(const std::string& host) {
  std::string quoted;
  for (const char c : host) {
    if (c == '\'' || c == '\\')
      quoted.push_back('\\');
    quoted.push_back(c);
  }
  return "host='" + quoted + "' port=5432 user=cleat dbname=cleat";
}

bool takes_connections(const std::string& url) {
  const Connection connection(PQconnectdb(url.c_str()), &PQfinish);
  return PQstatus(connection.get()) == CONNECTION_OK;
}

void make_database(const std::string& url) {
  // Later words win, so the same address with another database behind it leads to one that always exists.
  const auto connection = connect(url + " dbname=template1");
  const QueryResult found(PQexec(connection.get(), "SELECT FROM pg_database WHERE datname = 'cleat'"), &PQclear);
  if (PQresultStatus(found.get()) == PGRES_TUPLES_OK && PQntuples(found.get()) == 1)
    return;
  const QueryResult made(PQexec(connection.get(), "CREATE DATABASE cleat TEMPLATE template0 ENCODING 'UTF8'"),
                         &PQclear);
  if (PQresultStatus(made.get()) != PGRES_COMMAND_OK)
    throw std::runtime_error(std::string("The database could not be made: ") + PQerrorMessage(connection.get()));
}

} // namespace cleat::storage
