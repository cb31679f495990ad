#pragma once

#include <string>

#include "storage/options.hpp"

namespace cleat::test {

/// A migrated and empty database of the shared cluster for one test, given back at the end. Databases are emptied and
/// used again, because to make one costs much more than to empty one.
class LeasedDatabase {
public:
  LeasedDatabase();
  ~LeasedDatabase();

  LeasedDatabase(const LeasedDatabase&) = delete;
  LeasedDatabase& operator=(const LeasedDatabase&) = delete;

  [[nodiscard]] const std::string& url() const { return url_; }

private:
  std::string url_;
};

/// The product's defaults for this database.
storage::DatabaseOptions options_for(const std::string& url);

} // namespace cleat::test
