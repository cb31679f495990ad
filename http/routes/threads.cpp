#include "http/routes/tables.hpp"
#include "protocol/bodies.hpp"

/// Threads (spec 05 "Shapes").
namespace cleat::http {
namespace {

Result<Reply> create(Call& call) {
  return call.ask(op::CreateThread{call.ids[0], bodies::thread(call.body)});
}

Result<Reply> list(Call& call) {
  return call.ask(op::ListThreads{call.ids[0], page_of(call.query)});
}

Result<Reply> get(Call& call) {
  return call.ask(op::GetThread{call.ids[0]});
}

Result<Reply> update(Call& call) {
  return call.ask(op::UpdateThread{call.ids[0], bodies::thread_patch(call.body)});
}

Result<Reply> close(Call& call) {
  return call.ask(op::CloseThread{call.ids[0], bodies::empty(call.body)});
}

} // namespace

std::span<const Route> thread_routes() {
  static const std::array table{
    Route{"POST", "/v1/channels/{id}/threads", "createThread", RateClass::admin, true, true, {}, &create},
    Route{"GET", "/v1/channels/{id}/threads", "listThreads", RateClass::read, false, false, page_parameters, &list},
    Route{"GET", "/v1/threads/{id}", "getThread", RateClass::read, false, false, {}, &get},
    Route{"PATCH", "/v1/threads/{id}", "updateThread", RateClass::admin, true, true, {}, &update},
    Route{"POST", "/v1/threads/{id}/close", "closeThread", RateClass::admin, true, true, {}, &close},
  };
  return table;
}

} // namespace cleat::http
