#include "http/routes/tables.hpp"
#include "protocol/bodies.hpp"

/// Runners and the tokens that they enrol with (spec 05 "Shapes").
namespace cleat::http {
namespace {

Result<Reply> create(Call& call) {
  return call.ask(op::CreateRunner{bodies::named(call.body)});
}

Result<Reply> list(Call& call) {
  return call.ask(op::ListRunners{page_of(call.query)});
}

Result<Reply> create_token(Call& call) {
  return call.ask(op::CreateRunnerToken{call.ids[0], bodies::runner_token(call.body)});
}

Result<Reply> list_tokens(Call& call) {
  return call.ask(op::ListRunnerTokens{call.ids[0], page_of(call.query)});
}

Result<Reply> revoke_token(Call& call) {
  return call.ask(op::RevokeRunnerToken{call.ids[0], call.ids[1]});
}

constexpr std::string_view tokens = "/v1/runners/{id}/tokens";
constexpr std::string_view one_token = "/v1/runners/{id}/tokens/{token_id}";

} // namespace

std::span<const Route> runner_routes() {
  constexpr auto admin = RateClass::admin;
  constexpr auto read = RateClass::read;
  static const std::array table{
    Route{"POST", "/v1/runners", "createRunner", admin, true, true, {}, &create},
    Route{"GET", "/v1/runners", "listRunners", read, false, false, page_parameters, &list},
    Route{"POST", tokens, "createRunnerToken", admin, true, true, {}, &create_token},
    Route{"GET", tokens, "listRunnerTokens", read, false, false, page_parameters, &list_tokens},
    Route{"DELETE", one_token, "revokeRunnerToken", admin, true, false, {}, &revoke_token},
  };
  return table;
}

} // namespace cleat::http
