#include "http/routes/tables.hpp"
#include "protocol/bodies.hpp"

/// Humans, agents and apps, and their tokens (spec 05 "Shapes").
namespace cleat::http {
namespace {

Result<Reply> create(Call& call) {
  return call.ask(op::CreatePrincipal{bodies::principal(call.body)});
}

Result<Reply> list(Call& call) {
  return call.ask(op::ListPrincipals{page_of(call.query)});
}

Result<Reply> get(Call& call) {
  return call.ask(op::GetPrincipal{call.ids[0]});
}

Result<Reply> update(Call& call) {
  call.identity_changes = true;
  return call.ask(op::UpdatePrincipal{call.ids[0], bodies::principal_patch(call.body)});
}

Result<Reply> create_token(Call& call) {
  return call.ask(op::CreateToken{call.ids[0], bodies::token(call.body)});
}

Result<Reply> list_tokens(Call& call) {
  return call.ask(op::ListTokens{call.ids[0], page_of(call.query)});
}

Result<Reply> revoke_token(Call& call) {
  call.identity_changes = true;
  return call.ask(op::RevokeToken{call.ids[0], call.ids[1]});
}

Result<Reply> me(Call& call) {
  return call.ask(op::GetMe{page_of(call.query)});
}

} // namespace

std::span<const Route> principal_routes() {
  static const std::array table{
    Route{"POST", "/v1/principals", "createPrincipal", RateClass::admin, true, true, {}, &create},
    Route{"GET", "/v1/principals", "listPrincipals", RateClass::read, false, false, page_parameters, &list},
    Route{"GET", "/v1/principals/{id}", "getPrincipal", RateClass::read, false, false, {}, &get},
    Route{"PATCH", "/v1/principals/{id}", "updatePrincipal", RateClass::admin, true, true, {}, &update},
    Route{"POST", "/v1/principals/{id}/tokens", "createToken", RateClass::admin, true, true, {}, &create_token},
    Route{"GET", "/v1/principals/{id}/tokens", "listTokens", RateClass::read, false, false, page_parameters,
          &list_tokens},
    Route{"DELETE",
          "/v1/principals/{id}/tokens/{token_id}",
          "revokeToken",
          RateClass::admin,
          true,
          false,
          {},
          &revoke_token},
    Route{"GET", "/v1/me", "getMe", RateClass::read, false, false, page_parameters, &me},
  };
  return table;
}

} // namespace cleat::http
