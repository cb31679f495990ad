#include "http/routes/tables.hpp"
#include "protocol/bodies.hpp"

/// Grants on spaces, channels and threads (spec 01 "level", spec 05 "Shapes").
namespace cleat::http {
namespace {

template <ScopeKind scope>
Result<Reply> put(Call& call) {
  return call.ask(op::PutGrant{scope, call.ids[0], call.ids[1], bodies::grant(call.body)});
}

template <ScopeKind scope>
Result<Reply> get(Call& call) {
  return call.ask(op::GetGrant{scope, call.ids[0], call.ids[1]});
}

template <ScopeKind scope>
Result<Reply> remove(Call& call) {
  return call.ask(op::DeleteGrant{scope, call.ids[0], call.ids[1]});
}

constexpr std::string_view on_space = "/v1/spaces/{id}/grants/{principal}";
constexpr std::string_view on_channel = "/v1/channels/{id}/grants/{principal}";
constexpr std::string_view on_thread = "/v1/threads/{id}/grants/{principal}";

} // namespace

std::span<const Route> grant_routes() {
  static const std::array table{
    Route{"PUT", on_space, "putSpaceGrant", RateClass::admin, true, true, {}, &put<ScopeKind::space>},
    Route{"GET", on_space, "getSpaceGrant", RateClass::read, false, false, {}, &get<ScopeKind::space>},
    Route{"DELETE", on_space, "deleteSpaceGrant", RateClass::admin, true, false, {}, &remove<ScopeKind::space>},
    Route{"PUT", on_channel, "putChannelGrant", RateClass::admin, true, true, {}, &put<ScopeKind::channel>},
    Route{"GET", on_channel, "getChannelGrant", RateClass::read, false, false, {}, &get<ScopeKind::channel>},
    Route{"DELETE", on_channel, "deleteChannelGrant", RateClass::admin, true, false, {}, &remove<ScopeKind::channel>},
    Route{"PUT", on_thread, "putThreadGrant", RateClass::admin, true, true, {}, &put<ScopeKind::thread>},
    Route{"GET", on_thread, "getThreadGrant", RateClass::read, false, false, {}, &get<ScopeKind::thread>},
    Route{"DELETE", on_thread, "deleteThreadGrant", RateClass::admin, true, false, {}, &remove<ScopeKind::thread>},
  };
  return table;
}

} // namespace cleat::http
