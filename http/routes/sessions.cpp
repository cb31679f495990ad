#include "http/routes/tables.hpp"
#include "protocol/bodies.hpp"

/// The sessions of a thread (spec 03 sections 3 to 5, 8 and 12).
namespace cleat::http {
namespace {

Result<Reply> list(Call& call) {
  return call.backend.list({std::move(call.context), call.ids[0]});
}

Result<Reply> reset(Call& call) {
  return call.backend.reset({std::move(call.context), call.ids[0], bodies::reset(call.body)});
}

Result<Reply> bind(Call& call) {
  auto body = bodies::bind(call.body, call.options.session_ref_max_bytes);
  return call.backend.bind({std::move(call.context), call.ids[0], std::move(body)});
}

Result<Reply> import_sessions(Call& call) {
  auto body = bodies::import_sessions(call.body, call.options.session_ref_max_bytes, call.options.import_max_items);
  return call.backend.import_sessions({std::move(call.context), call.ids[0], std::move(body)});
}

Result<Reply> report(Call& call) {
  auto body = bodies::report(call.body, call.options.session_ref_max_bytes);
  return call.backend.report({std::move(call.context), call.ids[0], std::move(body)});
}

} // namespace

std::span<const Route> session_routes() {
  static const std::array table{
    Route{"GET", "/v1/threads/{id}/agent-sessions", "listAgentSessions", RateClass::read, false, false, {}, &list},
    Route{
      "POST", "/v1/threads/{id}/agent-sessions/reset", "resetAgentSession", RateClass::trigger, true, true, {}, &reset},
    Route{
      "POST", "/v1/threads/{id}/agent-sessions/bind", "bindAgentSession", RateClass::trigger, true, true, {}, &bind},
    Route{"POST",
          "/v1/threads/{id}/agent-sessions/import",
          "importAgentSessions",
          RateClass::admin,
          true,
          true,
          {},
          &import_sessions},
    Route{"POST",
          "/v1/threads/{id}/agent-sessions/report",
          "reportAgentSession",
          RateClass::agent_runtime,
          true,
          true,
          {},
          &report},
  };
  return table;
}

} // namespace cleat::http
