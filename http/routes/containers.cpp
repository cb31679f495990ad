#include "http/routes/parameters.hpp"
#include "http/routes/tables.hpp"
#include "protocol/bodies.hpp"

/// Containers, and what reconciliation could not tie to an owner (spec 04 section 8, spec 05 "Shapes").
namespace cleat::http {
namespace {

constexpr std::array<std::string_view, 3> orphan_parameters{"resolved", "limit", "cursor"};

Result<Reply> create(Call& call) {
  return call.ask(op::CreateContainer{bodies::container(call.body)});
}

Result<Reply> list(Call& call) {
  return call.ask(op::ListContainers{page_of(call.query)});
}

Result<Reply> get(Call& call) {
  return call.ask(op::GetContainer{call.texts[0]});
}

Result<Reply> remove(Call& call) {
  return call.backend.remove_container({std::move(call.context), call.texts[0]});
}

Result<OrphansPage> orphans_page(const Query& query) {
  OrphansPage page;
  std::vector<FieldError> errors;
  if (const auto resolved = query.get("resolved")) {
    if (*resolved != "true" && *resolved != "false")
      errors.push_back({"/resolved", FieldCode::unknown_value});
    page.resolved = *resolved == "true";
  }
  auto range = page_with(query, std::move(errors));
  if (!range)
    return tl::unexpected(std::move(range).error());
  page.range = *range;
  return page;
}

Result<Reply> list_orphans(Call& call) {
  return call.ask(op::ListOrphans{orphans_page(call.query)});
}

Result<Reply> resolve(Call& call) {
  return call.backend.resolve_orphan({std::move(call.context), call.ids[0], bodies::empty(call.body), {}});
}

constexpr std::string_view one = "/v1/containers/{name}";
constexpr std::string_view orphans = "/v1/orphan-diagnostics";
constexpr std::string_view resolution = "/v1/orphan-diagnostics/{id}/resolve";

} // namespace

std::span<const Route> container_routes() {
  constexpr auto admin = RateClass::admin;
  constexpr auto read = RateClass::read;
  static const std::array table{
    Route{"POST", "/v1/containers", "createContainer", admin, true, true, {}, &create},
    Route{"GET", "/v1/containers", "listContainers", read, false, false, page_parameters, &list},
    Route{"GET", one, "getContainer", read, false, false, {}, &get},
    Route{"DELETE", one, "removeContainer", admin, true, false, {}, &remove},
    Route{"GET", orphans, "listOrphanDiagnostics", read, false, false, orphan_parameters, &list_orphans},
    Route{"POST", resolution, "resolveOrphanDiagnostic", admin, true, true, {}, &resolve},
  };
  return table;
}

} // namespace cleat::http
