#include <utility>

#include "actors/rules/authorize.hpp"
#include "actors/rules/fleet_parts.hpp"
#include "protocol/render.hpp"
#include "protocol/render_fleet.hpp"
#include "protocol/validate.hpp"

/// Accounts and their secrets. A secret's value is sealed before it gets here and never leaves again over HTTP.
namespace cleat::rules::directory {
namespace {

Targets of_account(const Id& id) {
  return {.account_id = id};
}

/// A name that no secret has is not even looked for.
Targets of_secret(const Id& account_id, const std::string& name) {
  Targets targets = of_account(account_id);
  if (!validate::secret_name(name))
    targets.secret_name = name;
  return targets;
}

bool may_use(const DirectoryFacts& facts, const Principal& actor) {
  return facts.account && (actor.instance_owner || facts.account->actor_id == actor.id);
}

/// Its actor and the owner of the instance; others do not learn that there is such an account.
std::optional<Refusal> require_use(const Case& c) {
  return may_use(c.facts, c.actor()) ? std::nullopt : std::optional(Refusal{Code::not_found});
}

void record(Decision& decision, std::string_view action, const Account& account, const Case& c,
            const std::vector<render::Detail>& members = {}) {
  decision.audit.push_back(allow_entry(action, {"account", account.id}, c.context, render::details(members)));
}

/// Whoever acted for the account while this was decided must still do so when it is committed.
void guard_account(Decision& decision, const Account& account) {
  decision.guards.push_back({GuardedRow::account, account.id, account.version});
}

AuditSubject on_instance(std::string_view action, const Principal& actor) {
  return {action, AuditResource{"principal", actor.id}};
}

/// Who may use an account is denied nothing about its secrets: what they do not find there does not exist.
AuditSubject on_secrets(std::string_view action, const DirectoryFacts& facts, const Principal& actor) {
  if (!facts.account || may_use(facts, actor))
    return {action, std::nullopt};
  return {action, AuditResource{"account", facts.account->id}};
}

} // namespace

Targets targets_of(const op::CreateAccount&) {
  return {};
}
Targets targets_of(const op::ListAccounts&) {
  return {};
}
Targets targets_of(const op::PutSubscriber& operation) {
  Targets targets = of_account(operation.account_id);
  if (operation.body)
    targets.referred_id = operation.body->principal_id;
  return targets;
}
Targets targets_of(const op::PutAccountSecret& operation) {
  return of_account(operation.account_id);
}
Targets targets_of(const op::GetAccountSecret& operation) {
  return of_secret(operation.account_id, operation.name);
}
Targets targets_of(const op::ListAccountSecrets& operation) {
  return of_account(operation.account_id);
}
Targets targets_of(const op::DeleteAccountSecret& operation) {
  return of_secret(operation.account_id, operation.name);
}

Result<Step> decide(const op::CreateAccount& operation, const Case& c) {
  if (auto refusal = require_instance_owner(c.actor()))
    return because(std::move(*refusal));
  if (!operation.body)
    return because(operation.body.error());
  Account row;
  row.id = c.context.new_id();
  row.name = operation.body->name;
  row.created_at = c.context.now;
  Decision decision;
  decision.rows.emplace_back(fleet::InsertAccount{row});
  record(decision, "account.create", row, c);
  finish(decision, shown(201, render::account(row), row.version), c.context);
  return Step{std::move(decision)};
}

Result<Step> decide(const op::ListAccounts& operation, const Case& c) {
  if (auto refusal = require_instance_owner(c.actor()))
    return because(std::move(*refusal));
  return list(operation.range, AccountsPage{operation.range.value_or(PageRange{})});
}

Result<Step> decide(const op::PutSubscriber& operation, const Case& c) {
  if (auto refusal = require_use(c))
    return because(std::move(*refusal));
  if (auto refusal = require_instance_owner(c.actor()))
    return because(std::move(*refusal));
  if (!operation.body)
    return because(operation.body.error());
  if (!c.facts.referred)
    return refuse({{"/principal_id", FieldCode::unknown_reference}});
  const Account& before = *c.facts.account;
  if (auto refusal = check_if_match(c.context, before.version, render::account(before)))
    return because(std::move(*refusal));
  if (before.actor_id == operation.body->principal_id)
    return Step{shown(200, render::account(before), before.version)};
  Account after = before;
  after.actor_id = operation.body->principal_id;
  after.version += 1;
  Decision decision;
  decision.rows.emplace_back(fleet::UpdateAccount{after});
  record(decision, "account.subscribe", after, c, {{"principal_id", after.actor_id->str()}});
  finish(decision, shown(200, render::account(after), after.version), c.context);
  return Step{std::move(decision)};
}

Result<Step> decide(const op::PutAccountSecret& operation, const Case& c) {
  if (auto refusal = require_use(c))
    return because(std::move(*refusal));
  if (!operation.body)
    return because(operation.body.error());
  if (const auto wrong = validate::secret_name(operation.name))
    return refuse({{"/name", *wrong}});
  if (!c.secret.sealed)
    return refuse(Code::not_ready, Reason::no_master_key);
  const AccountSecret row{operation.account_id, operation.name, *c.secret.sealed, c.context.now};
  Decision decision;
  guard_account(decision, *c.facts.account);
  decision.rows.emplace_back(fleet::PutSecret{row});
  record(decision, "secret.put", *c.facts.account, c, {{"name", row.name}});
  finish(decision, {200, render::secret(row), std::nullopt, false}, c.context);
  return Step{std::move(decision)};
}

Result<Step> decide(const op::GetAccountSecret&, const Case& c) {
  if (auto refusal = require_use(c))
    return because(std::move(*refusal));
  if (!c.facts.secret)
    return refuse(Code::not_found);
  return Step{Reply{200, render::secret(*c.facts.secret), std::nullopt, false}};
}

Result<Step> decide(const op::ListAccountSecrets& operation, const Case& c) {
  if (auto refusal = require_use(c))
    return because(std::move(*refusal));
  return Step{ReadList{SecretsPage{operation.account_id, limits::account_secrets_max}, limits::account_secrets_max}};
}

Result<Step> decide(const op::DeleteAccountSecret& operation, const Case& c) {
  if (auto refusal = require_use(c))
    return because(std::move(*refusal));
  if (validate::secret_name(operation.name))
    return refuse(Code::not_found);
  const Reply done{204, "", std::nullopt, false};
  // A secret that is gone already is what was asked for; so a repetition is answered like the first time.
  if (!c.facts.secret)
    return Step{done};
  Decision decision;
  guard_account(decision, *c.facts.account);
  decision.rows.emplace_back(fleet::DeleteSecret{operation.account_id, operation.name});
  record(decision, "secret.delete", *c.facts.account, c, {{"name", operation.name}});
  finish(decision, done, c.context);
  return Step{std::move(decision)};
}

AuditSubject audit_of(const op::CreateAccount&, const DirectoryFacts&, const Principal& actor) {
  return on_instance("account.create", actor);
}
AuditSubject audit_of(const op::ListAccounts&, const DirectoryFacts&, const Principal& actor) {
  return on_instance("account.list", actor);
}
AuditSubject audit_of(const op::PutSubscriber&, const DirectoryFacts& facts, const Principal&) {
  const std::string_view action = "account.subscribe";
  return facts.account ? AuditSubject{action, AuditResource{"account", facts.account->id}}
                       : AuditSubject{action, std::nullopt};
}
AuditSubject audit_of(const op::PutAccountSecret&, const DirectoryFacts& facts, const Principal& actor) {
  return on_secrets("secret.put", facts, actor);
}
AuditSubject audit_of(const op::GetAccountSecret&, const DirectoryFacts& facts, const Principal& actor) {
  return on_secrets("secret.read", facts, actor);
}
AuditSubject audit_of(const op::ListAccountSecrets&, const DirectoryFacts& facts, const Principal& actor) {
  return on_secrets("secret.list", facts, actor);
}
AuditSubject audit_of(const op::DeleteAccountSecret&, const DirectoryFacts& facts, const Principal& actor) {
  return on_secrets("secret.delete", facts, actor);
}

} // namespace cleat::rules::directory
