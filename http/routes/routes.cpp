#include "http/routes/tables.hpp"

#include "protocol/bodies.hpp"

namespace cleat::http {

std::span<const Route> routes() {
  static const std::vector<Route> all = [] {
    std::vector<Route> joined;
    for (const auto& table : {session_routes(), run_routes(), event_routes(), space_routes(), channel_routes(),
                              thread_routes(), principal_routes(), grant_routes(), audit_routes(), account_routes(),
                              runner_routes(), container_routes(), agent_session_routes(), operating_routes()})
      joined.insert(joined.end(), table.begin(), table.end());
    return joined;
  }();
  return all;
}

Result<PageRange> page_of(const Query& query) {
  return bodies::page_range(query.get("limit"), query.get("cursor"));
}

Result<PageRange> page_with(const Query& query, std::vector<FieldError> errors) {
  auto range = page_of(query);
  // A cursor that no page gave is a refusal of its own.
  if (!range && range.error().code != Code::validation_failed)
    return range;
  if (!range)
    errors.insert(errors.end(), range.error().errors.begin(), range.error().errors.end());
  if (!errors.empty())
    return refuse(std::move(errors));
  return range;
}

} // namespace cleat::http
