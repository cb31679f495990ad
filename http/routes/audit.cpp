#include "http/routes/parameters.hpp"
#include "http/routes/tables.hpp"

/// The audit log (spec 05 "Surface").
namespace cleat::http {
namespace {

constexpr std::array<std::string_view, 6> audit_parameters{"actor_id",    "action", "outcome",
                                                           "resource_id", "limit",  "cursor"};

/// The filters and the page, or every parameter that is wrong.
Result<AuditPage> audit_page(const Query& query) {
  Parameters parameters(query);
  auto& errors = parameters.errors;
  AuditPage page;
  page.actor_id = parameters.id("actor_id");
  page.resource_id = parameters.id("resource_id");
  page.action = parameters.text("action");
  if (const auto outcome = query.get("outcome")) {
    if (*outcome != "allow" && *outcome != "deny")
      errors.push_back({"/outcome", FieldCode::unknown_value});
    page.allowed = *outcome == "allow";
  }
  auto range = page_with(query, std::move(errors));
  if (!range)
    return tl::unexpected(std::move(range).error());
  page.range = *range;
  return page;
}

Result<Reply> list(Call& call) {
  return call.ask(op::ListAudit{audit_page(call.query)});
}

} // namespace

std::span<const Route> audit_routes() {
  static const std::array table{
    Route{"GET", "/v1/audit", "listAudit", RateClass::read, false, false, audit_parameters, &list},
  };
  return table;
}

} // namespace cleat::http
