#include <utility>

#include "actors/rules/authorize.hpp"
#include "actors/rules/fleet_parts.hpp"
#include "protocol/render.hpp"
#include "protocol/render_fleet.hpp"

/// Runners, their tokens, containers and orphan diagnostics. The owner of the instance makes them; the actor of an
/// account looks at its containers. What happens in containers is decided by their owners.
namespace cleat::rules::directory {
namespace {

void record(Decision& decision, std::string_view action, AuditResource resource, const Case& c,
            const std::vector<render::Detail>& members = {}) {
  decision.audit.push_back(allow_entry(action, resource, c.context, render::details(members)));
}

/// Runners are the owner's; others do not learn that there is such a Runner.
std::optional<Refusal> require_runner(const Case& c) {
  if (c.facts.runner && c.actor().instance_owner)
    return std::nullopt;
  return Refusal{Code::not_found};
}

bool may_look(const DirectoryFacts& facts, const Principal& actor) {
  return facts.container && (actor.instance_owner || (facts.account && facts.account->actor_id == actor.id));
}

/// What the body of a new container refers to must be there.
std::optional<Refusal> check_references(const DirectoryFacts& facts) {
  std::vector<FieldError> errors;
  if (!facts.account)
    errors.push_back({"/account_id", FieldCode::unknown_reference});
  if (!facts.runner)
    errors.push_back({"/runner_id", FieldCode::unknown_reference});
  if (errors.empty())
    return std::nullopt;
  return Refusal{Code::validation_failed, Reason::none, std::move(errors)};
}

AuditSubject on_instance(std::string_view action, const Principal& actor) {
  return {action, AuditResource{"principal", actor.id}};
}

/// The owner is denied nothing: what they do not find does not exist.
AuditSubject on_runner(std::string_view action, const DirectoryFacts& facts, const Principal& actor) {
  if (!facts.runner || actor.instance_owner)
    return {action, std::nullopt};
  return {action, AuditResource{"runner", facts.runner->id}};
}

} // namespace

Targets targets_of(const op::CreateRunner&) {
  return {};
}
Targets targets_of(const op::ListRunners&) {
  return {};
}
Targets targets_of(const op::CreateRunnerToken& operation) {
  return {.runner_id = operation.runner_id};
}
Targets targets_of(const op::ListRunnerTokens& operation) {
  return {.runner_id = operation.runner_id};
}
Targets targets_of(const op::RevokeRunnerToken& operation) {
  return {.runner_id = operation.runner_id, .runner_token_id = operation.token_id};
}
Targets targets_of(const op::CreateContainer& operation) {
  if (!operation.body)
    return {};
  return {.account_id = operation.body->account_id,
          .runner_id = operation.body->runner_id,
          .container_name = operation.body->name};
}
Targets targets_of(const op::ListContainers&) {
  return {};
}
Targets targets_of(const op::GetContainer& operation) {
  return {.container_name = operation.name};
}
Targets targets_of(const op::ListOrphans&) {
  return {};
}

Result<Step> decide(const op::CreateRunner& operation, const Case& c) {
  if (auto refusal = require_instance_owner(c.actor()))
    return because(std::move(*refusal));
  if (!operation.body)
    return because(operation.body.error());
  Runner row;
  row.id = c.context.new_id();
  row.name = operation.body->name;
  row.created_at = c.context.now;
  Decision decision;
  decision.rows.emplace_back(fleet::InsertRunner{row});
  record(decision, "runner.create", {"runner", row.id}, c);
  finish(decision, {201, render::runner({row, false}), std::nullopt, false}, c.context);
  return Step{std::move(decision)};
}

Result<Step> decide(const op::ListRunners& operation, const Case& c) {
  if (auto refusal = require_instance_owner(c.actor()))
    return because(std::move(*refusal));
  return list(operation.range, RunnersPage{operation.range.value_or(PageRange{})});
}

Result<Step> decide(const op::CreateRunnerToken& operation, const Case& c) {
  if (auto refusal = require_runner(c))
    return because(std::move(*refusal));
  if (!operation.body)
    return because(operation.body.error());
  if (operation.body->expires_at && *operation.body->expires_at <= c.context.now)
    return refuse({{"/expires_at", FieldCode::out_of_range}});
  RunnerToken row;
  row.id = c.context.new_id();
  row.runner_id = c.facts.runner->id;
  row.label = operation.body->label;
  row.digest = c.secret.digest;
  row.created_at = c.context.now;
  row.expires_at = operation.body->expires_at;
  Decision decision;
  decision.rows.emplace_back(fleet::InsertRunnerToken{row});
  record(decision, "runner_token.create", {"runner", row.runner_id}, c, {{"token_id", row.id.str()}});
  // The secret is shown once: the stored answer, which a replay sends, goes without it (spec 05).
  finish_with_secret(decision, {201, render::runner_token(row, c.secret.text), std::nullopt, false},
                     {201, render::runner_token(row), std::nullopt, false}, c.context);
  return Step{std::move(decision)};
}

Result<Step> decide(const op::ListRunnerTokens& operation, const Case& c) {
  if (auto refusal = require_runner(c))
    return because(std::move(*refusal));
  return list(operation.range, RunnerTokensPage{operation.runner_id, operation.range.value_or(PageRange{})});
}

Result<Step> decide(const op::RevokeRunnerToken&, const Case& c) {
  if (auto refusal = require_runner(c))
    return because(std::move(*refusal));
  const auto& token = c.facts.runner_token;
  if (!token || token->runner_id != c.facts.runner->id)
    return refuse(Code::not_found);
  const Reply done{204, "", std::nullopt, false};
  if (token->revoked_at)
    return Step{done};
  Decision decision;
  decision.rows.emplace_back(fleet::RevokeRunnerToken{token->id, c.context.now});
  record(decision, "runner_token.revoke", {"runner", token->runner_id}, c, {{"token_id", token->id.str()}});
  finish(decision, done, c.context);
  return Step{std::move(decision)};
}

Result<Step> decide(const op::CreateContainer& operation, const Case& c) {
  if (auto refusal = require_instance_owner(c.actor()))
    return because(std::move(*refusal));
  if (!operation.body)
    return because(operation.body.error());
  // First, because the container of that name brings an account and a Runner of its own.
  if (c.facts.container)
    return refuse(Code::conflict, Reason::name_taken);
  if (auto refusal = check_references(c.facts))
    return because(std::move(*refusal));
  Runner runner = *c.facts.runner;
  runner.version += 1;
  Container row;
  row.id = c.context.new_id();
  row.name = operation.body->name;
  row.account_id = c.facts.account->id;
  row.runner_id = runner.id;
  row.created_at = c.context.now;
  // Every enrolment knows all containers: one that is under way meanwhile finds the Runner changed and looks again, and
  // one that is in force takes the new container in with an attempt of its own.
  const bool enrolled = runner.enrollment_revision > 0;
  if (enrolled)
    row.attempt_id = c.context.new_id();
  Decision decision;
  decision.rows.emplace_back(fleet::UpdateRunner{runner});
  decision.rows.emplace_back(fleet::InsertContainer{row});
  if (enrolled)
    decision.rows.emplace_back(
      fleet::InsertAttempt{{*row.attempt_id, row.name, runner.id, runner.enrollment_revision, true, c.context.now}});
  record(decision, "container.create", {"container", row.id}, c,
         {{"name", row.name}, {"account_id", row.account_id.str()}, {"runner_id", row.runner_id.str()}});
  const ContainerRow shown{row, *c.facts.account, c.facts.connected, {}, {}};
  finish(decision, {201, render::container(shown, c.actor().id), std::nullopt, false}, c.context);
  return Step{std::move(decision)};
}

Result<Step> decide(const op::ListContainers& operation, const Case& c) {
  const auto visible_to = c.actor().instance_owner ? std::nullopt : std::optional(c.actor().id);
  return list(operation.range, ContainersPage{visible_to, operation.range.value_or(PageRange{})});
}

Result<Step> decide(const op::GetContainer&, const Case& c) {
  if (!may_look(c.facts, c.actor()))
    return refuse(Code::not_found);
  const ContainerRow row{*c.facts.container, *c.facts.account, c.facts.connected, c.facts.live, c.facts.open};
  return Step{Reply{200, render::container(row, c.actor().id), std::nullopt, false}};
}

Result<Step> decide(const op::ListOrphans& operation, const Case& c) {
  if (auto refusal = require_instance_owner(c.actor()))
    return because(std::move(*refusal));
  if (!operation.query)
    return because(operation.query.error());
  return Step{ReadList{*operation.query, operation.query->range.limit}};
}

AuditSubject audit_of(const op::CreateRunner&, const DirectoryFacts&, const Principal& actor) {
  return on_instance("runner.create", actor);
}
AuditSubject audit_of(const op::ListRunners&, const DirectoryFacts&, const Principal& actor) {
  return on_instance("runner.list", actor);
}
AuditSubject audit_of(const op::CreateRunnerToken&, const DirectoryFacts& facts, const Principal& actor) {
  return on_runner("runner_token.create", facts, actor);
}
AuditSubject audit_of(const op::ListRunnerTokens&, const DirectoryFacts& facts, const Principal& actor) {
  return on_runner("runner_token.list", facts, actor);
}
AuditSubject audit_of(const op::RevokeRunnerToken&, const DirectoryFacts& facts, const Principal& actor) {
  return on_runner("runner_token.revoke", facts, actor);
}
AuditSubject audit_of(const op::CreateContainer&, const DirectoryFacts&, const Principal& actor) {
  return on_instance("container.create", actor);
}
AuditSubject audit_of(const op::ListContainers&, const DirectoryFacts&, const Principal& actor) {
  return on_instance("container.list", actor);
}
AuditSubject audit_of(const op::GetContainer&, const DirectoryFacts& facts, const Principal& actor) {
  const std::string_view action = "container.read";
  if (!facts.container || may_look(facts, actor))
    return {action, std::nullopt};
  return {action, AuditResource{"container", facts.container->id}};
}
AuditSubject audit_of(const op::ListOrphans&, const DirectoryFacts&, const Principal& actor) {
  return on_instance("orphan.list", actor);
}

} // namespace cleat::rules::directory
