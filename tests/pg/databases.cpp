#include "tests/pg/databases.hpp"

#include "storage/migrator.hpp"
#include "tests/support/cluster.hpp"

namespace cleat::test {

std::string migrated_database() {
  // Migrated once and then copied, which is faster than to migrate for every test.
  static const std::string original = [] {
    const std::string name = "migrated";
    storage::migrate(options_for(shared_cluster().createdb(name)));
    return name;
  }();
  return shared_cluster().createdb(fresh_database_name(), original);
}

storage::DatabaseOptions options_for(const std::string& url) {
  storage::DatabaseOptions options;
  options.url = url;
  return options;
}

} // namespace cleat::test
