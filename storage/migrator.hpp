#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "storage/options.hpp"

namespace cleat::storage {

/// A numbered script of the folder `migrations`, compiled in. Forward only, never edited after it landed.
struct Migration {
  std::int64_t version = 0;
  std::string_view name;
  std::string_view sql;
};

/// What `migrate` did.
struct MigrationReport {
  /// The versions that were applied now, in order.
  std::vector<std::int64_t> applied;
  /// The version that the schema has.
  std::int64_t version = 0;
};

/// The database's schema does not fit this program. The message says what to do.
class MigrationError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The migrations of this program in ascending order.
std::span<const Migration> embedded_migrations();

/// Brings the schema up to date: each missing migration in a transaction of its own, under a lock, so that any number
/// of servers may start at once (spec 02 "PostgreSQL"). Throws `MigrationError` when an applied migration was changed
/// or skipped, when the schema is newer than this program, when a script fails, and when the database is away.
MigrationReport migrate(const DatabaseOptions& options);

/// The same with other migrations, in ascending order.
MigrationReport migrate(const DatabaseOptions& options, std::span<const Migration> migrations);

namespace pg {
class Connection;
}

/// Throws `MigrationError` unless the schema behind `connection` is exactly the one of this program. Reads only.
void expect_migrated(pg::Connection& connection);

} // namespace cleat::storage
