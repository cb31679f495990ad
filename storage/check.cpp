#include "storage/check.hpp"

#include <algorithm>
#include <array>

#include "base/limits.hpp"
#include "generated/invariants.hpp"
#include "storage/migrator.hpp"
#include "storage/pg/connection.hpp"
#include "storage/pg/statements.hpp"

namespace cleat::storage {
namespace {

/// The comment that a script begins with, as one line.
std::string rule_of(std::string_view sql) {
  std::string rule;
  while (sql.starts_with("--")) {
    const auto end = sql.find('\n');
    rule += sql.substr(2, end - 2);
    sql.remove_prefix(end + 1);
  }
  return rule.substr(rule.find_first_not_of(' '));
}

/// These queries read whole tables, for which the plans that hot statements are kept to are the wrong ones.
constexpr const char* free_plans = "RESET enable_seqscan; RESET enable_bitmapscan; RESET enable_hashjoin; "
                                   "RESET enable_mergejoin; RESET plan_cache_mode";

/// Prepared under the whole name of its file, which ends with a zero byte.
pg::Statement statement_of(const Invariant& invariant) {
  return {invariant.name.data(), invariant.sql};
}

void ask(pg::Connection& connection, const Invariant& invariant, CheckReport& report) {
  const pg::Result result = pg::execute(connection, statement_of(invariant));
  const auto listed = std::min<std::int64_t>(result.rows(), limits::check_findings_max);
  for (int row = 0; row < listed; ++row)
    report.findings.push_back({invariant.name, pg::RowReader(result, row).next<std::string>()});
  if (listed < result.rows())
    report.shortened.push_back(invariant.name);
}

} // namespace

std::span<const Invariant> invariants() {
  static const std::vector<Invariant> all = [] {
    std::vector<Invariant> rules;
    for (const auto& [file, sql] : invariant_files::all)
      rules.push_back({file.substr(0, file.rfind('.')), rule_of(sql), sql});
    return rules;
  }();
  return all;
}

CheckReport check(const DatabaseOptions& options) {
  if (const auto wrong = options.validate())
    throw MigrationError(*wrong);
  try {
    pg::Connection connection(options, std::array{pg::statements::begin_snapshot});
    connection.lift_timeouts();
    connection.run_script(free_plans);
    pg::execute(connection, pg::statements::begin_snapshot);
    expect_migrated(connection);
    CheckReport report;
    for (const Invariant& invariant : invariants()) {
      connection.prepare(std::array{statement_of(invariant)});
      ask(connection, invariant, report);
    }
    return report;
  } catch (const pg::ConnectionLost& error) {
    throw MigrationError(std::string("the database cannot be reached, check database.url: ") + error.what());
  } catch (const pg::SqlError& error) {
    throw MigrationError(std::string("the database cannot be checked: ") + error.what() +
                         "; the role in database.url needs the right to read every table");
  }
}

} // namespace cleat::storage
