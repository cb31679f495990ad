#include "storage/migrator.hpp"

#include <array>
#include <charconv>
#include <map>

#include "base/crash_points.hpp"
#include "base/encoding.hpp"
#include "base/log.hpp"
#include "generated/migrations.hpp"
#include "storage/pg/connection.hpp"
#include "storage/pg/statements.hpp"

namespace cleat::storage {
namespace {

/// The session-level lock that migrators share, in the space of two-part keys; the librarian's bootstrap uses 1.
constexpr const char* take_lock = "SELECT pg_advisory_lock(1667591540, 0)";

/// A migration as the database remembers it.
struct Applied {
  std::string name;
  Digest checksum{};
};
using AppliedByVersion = std::map<std::int64_t, Applied>;

/// The number in a file name `V001__name.sql`.
std::int64_t version_of(std::string_view file) {
  std::int64_t version = 0;
  std::from_chars(file.data() + 1, file.data() + file.size(), version);
  return version;
}

AppliedByVersion read_applied(pg::Connection& connection) {
  AppliedByVersion applied;
  const pg::Result result = pg::execute(connection, pg::statements::list_schema_migrations);
  for (int i = 0; i < result.rows(); ++i) {
    pg::RowReader in(result, i);
    Applied& entry = applied[in.next<std::int64_t>()];
    entry.name = in.next<std::string>();
    entry.checksum = in.next<Digest>();
  }
  return applied;
}

/// Refuses a history that is not the beginning of ours.
void check_history(const AppliedByVersion& applied, std::span<const Migration> migrations) {
  if (applied.empty())
    return;
  std::map<std::int64_t, const Migration*> known;
  for (const Migration& migration : migrations)
    known.emplace(migration.version, &migration);
  const std::int64_t newest = applied.rbegin()->first;
  for (const auto& [version, entry] : applied) {
    const auto ours = known.find(version);
    if (ours == known.end())
      throw MigrationError("the database has migration " + entry.name +
                           ", which this program does not know; start the release that made it, or a newer one");
    if (entry.checksum != sha256(ours->second->sql))
      throw MigrationError("migration " + entry.name +
                           " was changed after this database had applied it; restore the file as it was and put the "
                           "change into a new migration");
  }
  for (const auto& [version, migration] : known)
    if (version < newest && !applied.contains(version))
      throw MigrationError("the database has never applied migration " + std::string(migration->name) +
                           ", but later ones; restore it from a backup or let this program fill an empty database");
}

void apply(pg::Connection& connection, const Migration& migration) {
  const std::string name(migration.name);
  try {
    connection.run_script("BEGIN");
    connection.run_script(std::string(migration.sql));
    crash_point(CrashPoint::migration_run);
    pg::execute(connection, pg::statements::insert_schema_migration,
                pg::Params().add(migration.version).add(migration.name).add(sha256(migration.sql)));
    crash_point(CrashPoint::migration_recorded);
    connection.run_script("COMMIT");
    crash_point(CrashPoint::migration_committed);
  } catch (const pg::SqlError& error) {
    throw MigrationError("migration " + name + " failed and changed nothing: " + error.what() +
                         "; PostgreSQL's log has the details");
  }
  log::get().info("database: applied migration {}", name);
}

MigrationReport migrate_on(pg::Connection& connection, std::span<const Migration> migrations) {
  connection.lift_timeouts();
  connection.run_script(take_lock); // held until the connection closes
  connection.run_script(std::string(pg::sql::create_schema_migrations_sql));
  crash_point(CrashPoint::migrations_locked);
  connection.prepare(pg::statements::migrator);
  const AppliedByVersion applied = read_applied(connection);
  check_history(applied, migrations);
  MigrationReport report;
  for (const Migration& migration : migrations) {
    report.version = migration.version;
    if (applied.contains(migration.version))
      continue;
    apply(connection, migration);
    report.applied.push_back(migration.version);
  }
  return report;
}

} // namespace

std::span<const Migration> embedded_migrations() {
  static const std::vector<Migration> all = [] {
    std::vector<Migration> migrations;
    for (const auto& [file, sql] : migrations::all)
      migrations.push_back({version_of(file), file, sql});
    return migrations;
  }();
  return all;
}

MigrationReport migrate(const DatabaseOptions& options) {
  return migrate(options, embedded_migrations());
}

void expect_migrated(pg::Connection& connection) {
  AppliedByVersion applied;
  try {
    connection.prepare(std::array{pg::statements::list_schema_migrations});
    applied = read_applied(connection);
  } catch (const pg::SqlError&) {
    throw MigrationError("the database has never been used by cleatd; check database.url");
  }
  check_history(applied, embedded_migrations());
  if (applied.size() != embedded_migrations().size())
    throw MigrationError("the database has the schema of an older release; start this cleatd on it first");
}

MigrationReport migrate(const DatabaseOptions& options, std::span<const Migration> migrations) {
  if (const auto wrong = options.validate())
    throw MigrationError(*wrong);
  try {
    pg::Connection connection(options, {});
    return migrate_on(connection, migrations);
  } catch (const pg::ConnectionLost& error) {
    throw MigrationError(std::string("the database cannot be reached, check database.url: ") + error.what());
  } catch (const pg::SqlError& error) {
    throw MigrationError(std::string("the database cannot be prepared: ") + error.what() +
                         "; the role in database.url needs the right to create tables");
  }
}

} // namespace cleat::storage
