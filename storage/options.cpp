#include "storage/options.hpp"

#include <array>
#include <utility>

namespace cleat::storage {

std::optional<std::string> DatabaseOptions::validate() const {
  if (url.empty())
    return "database.url is empty; give a libpq connection string or leave the key out for the embedded PostgreSQL";
  const std::array<std::pair<const char*, std::int64_t>, 5> positive{
    {{"database.max_batch", max_batch},
     {"database.max_pending", max_pending},
     {"database.connect_timeout_s", connect_timeout_s},
     {"database.statement_timeout_s", statement_timeout_s},
     {"database.resolve_timeout_s", resolve_timeout_s}}};
  for (const auto& [key, value] : positive)
    if (value < 1)
      return std::string(key) + " is " + std::to_string(value) + "; it must be at least 1";
  if (tx_retry_max < 0)
    return "database.tx_retry_max is negative; it must be 0 or more";
  if (max_batch > max_pending)
    return "database.max_batch is greater than database.max_pending; no batch could ever be that large";
  return std::nullopt;
}

} // namespace cleat::storage
