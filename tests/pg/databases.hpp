#pragma once

#include <string>

#include "storage/options.hpp"

namespace cleat::test {

/// The URL of a fresh database of the shared cluster with all migrations applied.
std::string migrated_database();

/// The product's defaults for this database.
storage::DatabaseOptions options_for(const std::string& url);

} // namespace cleat::test
