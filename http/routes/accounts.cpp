#include "http/routes/tables.hpp"
#include "protocol/bodies.hpp"

/// Accounts, who acts for them, and their secrets (spec 05 "Shapes").
namespace cleat::http {
namespace {

Result<Reply> create(Call& call) {
  return call.ask(op::CreateAccount{bodies::named(call.body)});
}

Result<Reply> list(Call& call) {
  return call.ask(op::ListAccounts{page_of(call.query)});
}

Result<Reply> put_subscriber(Call& call) {
  return call.ask(op::PutSubscriber{call.ids[0], bodies::subscriber(call.body)});
}

Result<Reply> list_secrets(Call& call) {
  return call.ask(op::ListAccountSecrets{call.ids[0]});
}

Result<Reply> put_secret(Call& call) {
  auto body = bodies::secret(call.body, call.options.secret_max_bytes);
  return call.ask(op::PutAccountSecret{call.ids[0], call.texts[0], std::move(body)});
}

Result<Reply> get_secret(Call& call) {
  return call.ask(op::GetAccountSecret{call.ids[0], call.texts[0]});
}

Result<Reply> delete_secret(Call& call) {
  return call.ask(op::DeleteAccountSecret{call.ids[0], call.texts[0]});
}

constexpr std::string_view one_secret = "/v1/accounts/{id}/secrets/{secret_name}";

} // namespace

std::span<const Route> account_routes() {
  constexpr auto admin = RateClass::admin;
  constexpr auto read = RateClass::read;
  static const std::array table{
    Route{"POST", "/v1/accounts", "createAccount", admin, true, true, {}, &create},
    Route{"GET", "/v1/accounts", "listAccounts", read, false, false, page_parameters, &list},
    Route{"PUT", "/v1/accounts/{id}/subscriber", "putAccountSubscriber", admin, true, true, {}, &put_subscriber},
    Route{"GET", "/v1/accounts/{id}/secrets", "listAccountSecrets", read, false, false, {}, &list_secrets},
    Route{"PUT", one_secret, "putAccountSecret", admin, true, true, {}, &put_secret},
    Route{"GET", one_secret, "getAccountSecret", read, false, false, {}, &get_secret},
    Route{"DELETE", one_secret, "deleteAccountSecret", admin, true, false, {}, &delete_secret},
  };
  return table;
}

} // namespace cleat::http
