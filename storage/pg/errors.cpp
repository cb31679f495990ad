#include "storage/pg/errors.hpp"

#include <utility>

namespace cleat::storage::pg {

SqlCategory categorize(std::string_view sqlstate) {
  if (sqlstate == "40001" || sqlstate == "40P01")
    return SqlCategory::retry;
  if (sqlstate == "23505")
    return SqlCategory::unique;
  if (sqlstate == "25006") // read only: a primary that became a standby
    return SqlCategory::unavailable;
  // Connection, resources, operator intervention (statement timeout included), system errors.
  for (const std::string_view prefix : {"08", "53", "57", "58"})
    if (sqlstate.starts_with(prefix))
      return SqlCategory::unavailable;
  return SqlCategory::mistake;
}

SqlError::SqlError(std::string sqlstate, std::string constraint)
  : std::runtime_error("PostgreSQL refused a statement with SQLSTATE " + sqlstate +
                       (constraint.empty() ? "" : ", constraint " + constraint)),
    sqlstate_(std::move(sqlstate)) {}

} // namespace cleat::storage::pg
