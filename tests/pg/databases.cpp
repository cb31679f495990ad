#include "tests/pg/databases.hpp"

#include <vector>

#include "storage/migrator.hpp"
#include "tests/support/cluster.hpp"
#include "tests/support/sql.hpp"

namespace cleat::test {

namespace {

/// Databases that nobody leases now. Tests run one after the other, so it needs no lock.
std::vector<std::string>& free_databases() {
  static std::vector<std::string> urls;
  return urls;
}

void empty_tables(const std::string& url) {
  Sql sql(url);
  const auto tables = sql.value("SELECT string_agg(quote_ident(tablename), ', ') FROM pg_tables"
                                " WHERE schemaname = 'public' AND tablename <> 'schema_migrations'");
  sql.script("TRUNCATE " + tables + " RESTART IDENTITY");
}

} // namespace

LeasedDatabase::LeasedDatabase() {
  auto& free = free_databases();
  if (free.empty()) {
    url_ = shared_cluster().createdb(fresh_database_name());
    storage::migrate(options_for(url_));
    return;
  }
  url_ = free.back();
  free.pop_back();
  empty_tables(url_);
}

LeasedDatabase::~LeasedDatabase() {
  free_databases().push_back(url_);
}

storage::DatabaseOptions options_for(const std::string& url) {
  storage::DatabaseOptions options;
  options.url = url;
  return options;
}

} // namespace cleat::test
