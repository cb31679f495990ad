#include <utility>

#include "actors/rules/authorize.hpp"
#include "actors/rules/directory_parts.hpp"
#include "protocol/render.hpp"

/// Principals, tokens, grants and the audit log. The owner of the instance makes principals and tokens; everybody
/// may look at themselves; whoever holds `manage` on a path grants levels on it (spec 05).
namespace cleat::rules::directory {
namespace {

void record(Decision& decision, std::string_view action, AuditResource resource, const Case& c,
            const std::vector<render::Detail>& members = {}) {
  decision.audit.push_back(allow_entry(action, resource, c.context, render::details(members)));
}

/// Others do not learn who exists: what is not oneself is not found (spec 05, uniform 404).
std::optional<Refusal> require_owner_or_self(const Case& c) {
  if (c.facts.subject && (c.actor().instance_owner || c.actor().id == c.facts.subject->id))
    return std::nullopt;
  return Refusal{Code::not_found};
}

/// The owner changes principals; others are told so about themselves and nothing about anybody else.
std::optional<Refusal> require_owner_of(const Case& c) {
  if (auto refusal = require_owner_or_self(c))
    return refusal;
  return require_instance_owner(c.actor());
}

/// The profile with the given members replaced.
AgentProfile merged(AgentProfile profile, const AgentPatch& patch) {
  profile.tool_class = patch.tool_class.value_or(profile.tool_class);
  profile.billing_mode = patch.billing_mode.value_or(profile.billing_mode);
  profile.enabled = patch.enabled.value_or(profile.enabled);
  profile.reachable = patch.reachable.value_or(profile.reachable);
  if (patch.holder_id)
    profile.holder_id = patch.holder_id;
  if (patch.default_model)
    profile.default_model = patch.default_model;
  // A shared agent has no holder, so turning one shared lets its holder go.
  if (patch.billing_mode == BillingMode::shared && !patch.holder_id)
    profile.holder_id.reset();
  return profile;
}

/// A personal agent has a holder, who is a human that exists; a shared one has none.
std::optional<Refusal> check_profile(const AgentProfile& profile, const AgentPatch& patch,
                                     const DirectoryFacts& facts) {
  const auto wrong = [](FieldCode code) {
    return Refusal{Code::validation_failed, Reason::none, {{"/agent/holder_id", code}}, {}};
  };
  if (patch.holder_id && (!facts.referred || facts.referred->kind != PrincipalKind::human))
    return wrong(FieldCode::unknown_reference);
  if (profile.billing_mode == BillingMode::personal && !profile.holder_id)
    return wrong(FieldCode::required);
  if (profile.billing_mode == BillingMode::shared && profile.holder_id)
    return wrong(FieldCode::not_applicable);
  return std::nullopt;
}

/// A grant as its path names it, for a subject that exists.
Grant named_grant(ScopeKind scope, const Id& resource_id, const Case& c, Level level) {
  return {scope, resource_id, c.facts.space->id, c.facts.subject->id, level};
}

/// Grants are seen and changed by whoever manages the resource; a grant for nobody is not found.
std::optional<Refusal> may_manage_grant(const Case& c) {
  if (auto refusal = require_level(c.facts.level, Level::manage))
    return refusal;
  return c.facts.subject ? std::nullopt : std::optional(Refusal{Code::not_found});
}

/// Commits a level, or its absence, on a resource.
Decision set_grant(const Grant& grant, std::string_view action, const Case& c) {
  Decision decision;
  decision.guards.push_back({GuardedRow::space_facts, c.facts.space->id, c.facts.space->facts_version});
  decision.rows.emplace_back(SetGrant{grant});
  decision.rows.emplace_back(RaiseSpaceFacts{grant.space_id});
  std::vector<render::Detail> members{{"principal_id", grant.principal_id.str()}};
  if (grant.level != Level::none)
    members.push_back({"level", std::string(to_string(grant.level))});
  record(decision, action, {to_string(grant.scope), grant.resource_id}, c, members);
  return decision;
}

} // namespace

Result<Step> decide(const op::CreatePrincipal& operation, const Case& c) {
  if (auto refusal = require_instance_owner(c.actor()))
    return because(std::move(*refusal));
  if (!operation.body)
    return because(operation.body.error());
  Principal row;
  row.id = c.context.new_id();
  row.kind = operation.body->kind;
  row.name = operation.body->name;
  row.created_at = c.context.now;
  if (operation.body->agent) {
    row.agent = merged({}, *operation.body->agent);
    if (auto refusal = check_profile(*row.agent, *operation.body->agent, c.facts))
      return because(std::move(*refusal));
  }
  Decision decision;
  decision.rows.emplace_back(InsertPrincipal{row});
  record(decision, "principal.create", {"principal", row.id}, c);
  finish(decision, shown(201, render::principal(row), row.version), c.context);
  return Step{std::move(decision)};
}

Result<Step> decide(const op::ListPrincipals& operation, const Case& c) {
  if (auto refusal = require_instance_owner(c.actor()))
    return because(std::move(*refusal));
  return list(operation.range, PrincipalsPage{operation.range.value_or(PageRange{})});
}

Result<Step> decide(const op::GetPrincipal&, const Case& c) {
  if (auto refusal = require_owner_or_self(c))
    return because(std::move(*refusal));
  return Step{shown(200, render::principal(*c.facts.subject), c.facts.subject->version)};
}

Result<Step> decide(const op::UpdatePrincipal& operation, const Case& c) {
  if (auto refusal = require_owner_of(c))
    return because(std::move(*refusal));
  if (!operation.body)
    return because(operation.body.error());
  const Principal& before = *c.facts.subject;
  if (operation.body->agent && !before.agent)
    return refuse({{"/agent", FieldCode::not_applicable}});
  if (auto refusal = check_if_match(c.context, before.version, render::principal(before)))
    return because(std::move(*refusal));
  Principal after = before;
  after.name = operation.body->name.value_or(before.name);
  if (operation.body->agent) {
    after.agent = merged(*before.agent, *operation.body->agent);
    if (auto refusal = check_profile(*after.agent, *operation.body->agent, c.facts))
      return because(std::move(*refusal));
  }
  if (after == before)
    return Step{shown(200, render::principal(before), before.version)};
  after.version += 1;
  Decision decision;
  decision.rows.emplace_back(cleat::UpdatePrincipal{after});
  record(decision, "principal.update", {"principal", after.id}, c);
  finish(decision, shown(200, render::principal(after), after.version), c.context);
  return Step{std::move(decision)};
}

Result<Step> decide(const op::CreateToken& operation, const Case& c) {
  if (auto refusal = require_owner_of(c))
    return because(std::move(*refusal));
  if (!operation.body)
    return because(operation.body.error());
  if (operation.body->expires_at && *operation.body->expires_at <= c.context.now)
    return refuse({{"/expires_at", FieldCode::out_of_range}});
  Token row;
  row.id = c.context.new_id();
  row.principal_id = c.facts.subject->id;
  row.label = operation.body->label;
  row.digest = c.secret.digest;
  row.created_at = c.context.now;
  row.expires_at = operation.body->expires_at;
  Decision decision;
  decision.rows.emplace_back(InsertToken{row});
  record(decision, "token.create", {"principal", row.principal_id}, c, {{"token_id", row.id.str()}});
  // The secret is shown once: the stored answer, which a replay sends, goes without it (spec 05).
  finish_with_secret(decision, {201, render::token(row, c.secret.text), std::nullopt, false},
                     {201, render::token(row), std::nullopt, false}, c.context);
  return Step{std::move(decision)};
}

Result<Step> decide(const op::ListTokens& operation, const Case& c) {
  if (auto refusal = require_owner_or_self(c))
    return because(std::move(*refusal));
  return list(operation.range, TokensPage{operation.principal_id, operation.range.value_or(PageRange{})});
}

Result<Step> decide(const op::RevokeToken&, const Case& c) {
  if (auto refusal = require_owner_or_self(c))
    return because(std::move(*refusal));
  const auto& token = c.facts.token;
  if (!token || token->principal_id != c.facts.subject->id)
    return refuse(Code::not_found);
  const Reply done{204, "", std::nullopt, false};
  if (token->revoked_at)
    return Step{done};
  Decision decision;
  decision.rows.emplace_back(cleat::RevokeToken{token->id, c.context.now});
  record(decision, "token.revoke", {"principal", token->principal_id}, c, {{"token_id", token->id.str()}});
  finish(decision, done, c.context);
  return Step{std::move(decision)};
}

Result<Step> decide(const op::PutGrant& operation, const Case& c) {
  if (auto refusal = may_manage_grant(c))
    return because(std::move(*refusal));
  if (!operation.body)
    return because(operation.body.error());
  const Grant grant = named_grant(operation.scope, operation.resource_id, c, operation.body->level);
  const Reply reply{200, render::grant(grant), std::nullopt, false};
  if (c.facts.subject_grant == grant)
    return Step{reply};
  Decision decision = set_grant(grant, "grant.put", c);
  finish(decision, reply, c.context);
  return Step{std::move(decision)};
}

Result<Step> decide(const op::DeleteGrant& operation, const Case& c) {
  if (auto refusal = may_manage_grant(c))
    return because(std::move(*refusal));
  const Reply done{204, "", std::nullopt, false};
  // A grant that is gone already is what was asked for; so a repetition is answered like the first time.
  if (!c.facts.subject_grant)
    return Step{done};
  Decision decision = set_grant(named_grant(operation.scope, operation.resource_id, c, Level::none), "grant.delete", c);
  finish(decision, done, c.context);
  return Step{std::move(decision)};
}

Result<Step> decide(const op::GetGrant&, const Case& c) {
  const bool own = c.facts.subject && c.facts.subject->id == c.actor().id;
  if (auto refusal = own ? require_level(c.facts.level, Level::read) : may_manage_grant(c))
    return because(std::move(*refusal));
  if (!c.facts.subject_grant)
    return refuse(Code::not_found);
  return Step{Reply{200, render::grant(*c.facts.subject_grant), std::nullopt, false}};
}

Result<Step> decide(const op::GetMe& operation, const Case& c) {
  return list(operation.range, GrantsPage{c.actor().id, operation.range.value_or(PageRange{})});
}

Result<Step> decide(const op::ListAudit& operation, const Case& c) {
  if (auto refusal = require_instance_owner(c.actor()))
    return because(std::move(*refusal));
  if (!operation.query)
    return because(operation.query.error());
  return Step{ReadList{*operation.query, operation.query->range.limit}};
}

} // namespace cleat::rules::directory
