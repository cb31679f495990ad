#include "http/routes/tables.hpp"
#include "protocol/bodies.hpp"

/// Spaces (spec 05 "Shapes").
namespace cleat::http {
namespace {

Result<Reply> create(Call& call) {
  return call.ask(op::CreateSpace{bodies::space(call.body)});
}

Result<Reply> list(Call& call) {
  return call.ask(op::ListSpaces{page_of(call.query)});
}

Result<Reply> get(Call& call) {
  return call.ask(op::GetSpace{call.ids[0]});
}

Result<Reply> update(Call& call) {
  return call.ask(op::UpdateSpace{call.ids[0], bodies::space_patch(call.body)});
}

} // namespace

std::span<const Route> space_routes() {
  static const std::array table{
    Route{"POST", "/v1/spaces", "createSpace", RateClass::admin, true, true, {}, &create},
    Route{"GET", "/v1/spaces", "listSpaces", RateClass::read, false, false, page_parameters, &list},
    Route{"GET", "/v1/spaces/{id}", "getSpace", RateClass::read, false, false, {}, &get},
    Route{"PATCH", "/v1/spaces/{id}", "updateSpace", RateClass::admin, true, true, {}, &update},
  };
  return table;
}

} // namespace cleat::http
