#include "http/routes/tables.hpp"
#include "protocol/bodies.hpp"

/// Channels (spec 05 "Shapes").
namespace cleat::http {
namespace {

Result<Reply> create(Call& call) {
  return call.ask(op::CreateChannel{call.ids[0], bodies::channel(call.body)});
}

Result<Reply> list(Call& call) {
  return call.ask(op::ListChannels{call.ids[0], page_of(call.query)});
}

Result<Reply> get(Call& call) {
  return call.ask(op::GetChannel{call.ids[0]});
}

Result<Reply> update(Call& call) {
  return call.ask(op::UpdateChannel{call.ids[0], bodies::channel_patch(call.body)});
}

} // namespace

std::span<const Route> channel_routes() {
  static const std::array table{
    Route{"POST", "/v1/spaces/{id}/channels", "createChannel", RateClass::admin, true, true, {}, &create},
    Route{"GET", "/v1/spaces/{id}/channels", "listChannels", RateClass::read, false, false, page_parameters, &list},
    Route{"GET", "/v1/channels/{id}", "getChannel", RateClass::read, false, false, {}, &get},
    Route{"PATCH", "/v1/channels/{id}", "updateChannel", RateClass::admin, true, true, {}, &update},
  };
  return table;
}

} // namespace cleat::http
