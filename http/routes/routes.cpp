#include "http/routes/tables.hpp"

#include "protocol/bodies.hpp"

namespace cleat::http {

std::span<const Route> routes() {
  static const std::vector<Route> all = [] {
    std::vector<Route> joined;
    for (const auto& table : {session_routes(), run_routes(), event_routes(), space_routes(), channel_routes(),
                              thread_routes(), principal_routes(), grant_routes(), audit_routes(), operating_routes()})
      joined.insert(joined.end(), table.begin(), table.end());
    return joined;
  }();
  return all;
}

Result<PageRange> page_of(const Query& query) {
  return bodies::page_range(query.get("limit"), query.get("cursor"));
}

} // namespace cleat::http
