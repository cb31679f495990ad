#include "actors/rules/directory.hpp"

#include <utility>

#include "actors/rules/directory_parts.hpp"
#include "actors/rules/fleet_parts.hpp"

namespace cleat::rules {
namespace directory {

std::optional<Refusal> check_if_match(const RuleContext& context, std::int64_t version, const std::string& current) {
  if (!context.request.if_match || *context.request.if_match == version)
    return std::nullopt;
  return Refusal{Code::version_conflict, Reason::none, {}, current};
}

Reply shown(int status, std::string body, std::int64_t version) {
  return {status, std::move(body), version, false};
}

Result<Step> list(const Result<PageRange>& range, PageQuery query) {
  if (!range)
    return because(range.error());
  return Step{ReadList{std::move(query), range->limit}};
}

} // namespace directory

namespace {

/// Calls one function out of many by the type of the operation.
template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

Targets in_space(const Id& id) {
  return {.space_id = id};
}
Targets in_channel(const Id& id) {
  return {.channel_id = id};
}
Targets in_thread(const Id& id) {
  return {.thread_id = id};
}
Targets of_principal(const Id& id) {
  return {.subject_id = id};
}

Targets of_grant(ScopeKind scope, const Id& resource_id, const Id& principal_id) {
  Targets targets = scope == ScopeKind::space     ? in_space(resource_id)
                    : scope == ScopeKind::channel ? in_channel(resource_id)
                                                  : in_thread(resource_id);
  targets.subject_id = principal_id;
  return targets;
}

/// Adds the operator that a body names, if the body is good and names one.
template <class Body>
Targets with_operator(Targets targets, const Result<Body>& body) {
  if (body)
    targets.referred_id = body->operator_agent_id;
  return targets;
}

/// Adds the holder that a body names.
template <class Body>
Targets with_holder(Targets targets, const Result<Body>& body) {
  if (body && body->agent)
    targets.referred_id = body->agent->holder_id;
  return targets;
}

/// The deepest place that exists.
std::optional<AuditResource> deepest_place(const DirectoryFacts& facts) {
  if (facts.thread)
    return AuditResource{"thread", facts.thread->id};
  if (facts.channel)
    return AuditResource{"channel", facts.channel->id};
  if (facts.space)
    return AuditResource{"space", facts.space->id};
  return std::nullopt;
}

std::optional<AuditResource> subject_of(const DirectoryFacts& facts) {
  return facts.subject ? std::optional(AuditResource{"principal", facts.subject->id}) : std::nullopt;
}

} // namespace

Targets targets(const DirectoryOperation& operation) {
  return std::visit(Overloaded{
                      [](const op::GetSpace& o) { return in_space(o.id); },
                      [](const op::UpdateSpace& o) { return in_space(o.id); },
                      [](const op::CreateChannel& o) { return with_operator(in_space(o.space_id), o.body); },
                      [](const op::ListChannels& o) { return in_space(o.space_id); },
                      [](const op::GetChannel& o) { return in_channel(o.id); },
                      [](const op::UpdateChannel& o) { return with_operator(in_channel(o.id), o.body); },
                      [](const op::CreateThread& o) { return with_operator(in_channel(o.channel_id), o.body); },
                      [](const op::ListThreads& o) { return in_channel(o.channel_id); },
                      [](const op::GetThread& o) { return in_thread(o.id); },
                      [](const op::UpdateThread& o) { return with_operator(in_thread(o.id), o.body); },
                      [](const op::CloseThread& o) { return in_thread(o.id); },
                      [](const op::GetRun& o) { return Targets{.run_id = o.id}; },
                      [](const op::ListRuns& o) { return in_thread(o.thread_id); },
                      [](const op::ListMessages& o) { return in_thread(o.thread_id); },
                      [](const op::CreatePrincipal& o) { return with_holder({}, o.body); },
                      [](const op::GetPrincipal& o) { return of_principal(o.id); },
                      [](const op::UpdatePrincipal& o) { return with_holder(of_principal(o.id), o.body); },
                      [](const op::CreateToken& o) { return of_principal(o.principal_id); },
                      [](const op::ListTokens& o) { return of_principal(o.principal_id); },
                      [](const op::RevokeToken& o) {
                        Targets found = of_principal(o.principal_id);
                        found.token_id = o.token_id;
                        return found;
                      },
                      [](const op::PutGrant& o) { return of_grant(o.scope, o.resource_id, o.principal_id); },
                      [](const op::DeleteGrant& o) { return of_grant(o.scope, o.resource_id, o.principal_id); },
                      [](const op::GetGrant& o) { return of_grant(o.scope, o.resource_id, o.principal_id); },
                      // What is about nobody and nowhere.
                      [](const op::CreateSpace&) { return Targets{}; },
                      [](const op::ListSpaces&) { return Targets{}; },
                      [](const op::ListPrincipals&) { return Targets{}; },
                      [](const op::GetMe&) { return Targets{}; },
                      [](const op::ListAudit&) { return Targets{}; },
                      [](const auto& o) { return directory::targets_of(o); },
                    },
                    operation);
}

Result<Step> decide(const DirectoryOperation& operation, const DirectoryFacts& facts, const Secret& secret,
                    const RuleContext& context) {
  const directory::Case c{facts, secret, context};
  Result<Step> step = std::visit([&](const auto& o) { return directory::decide(o, c); }, operation);
  // A write that changes nothing is a success as well: with a key, its answer is kept like any other (spec 05).
  if (step && context.request.idempotency && std::holds_alternative<Reply>(*step)) {
    Decision decision;
    finish(decision, std::get<Reply>(std::move(*step)), context);
    return Step{std::move(decision)};
  }
  return step;
}

AuditSubject audit_subject(const DirectoryOperation& operation, const DirectoryFacts& facts, const Principal& actor) {
  const auto place = [&](std::string_view action) { return AuditSubject{action, deepest_place(facts)}; };
  const auto person = [&](std::string_view action) { return AuditSubject{action, subject_of(facts)}; };
  // Who manages a place is denied nothing about its grants: what they do not find there does not exist.
  const auto grant = [&](std::string_view action, Level needed) {
    return facts.level < needed ? place(action) : AuditSubject{action, std::nullopt};
  };
  // What is asked of the instance as a whole is filed under who asked.
  const auto instance = [&](std::string_view action) {
    return AuditSubject{action, AuditResource{"principal", actor.id}};
  };
  return std::visit(Overloaded{
                      [&](const op::CreateSpace&) { return instance("space.create"); },
                      [&](const op::ListSpaces&) { return instance("space.list"); },
                      [&](const op::GetSpace&) { return place("space.read"); },
                      [&](const op::UpdateSpace&) { return place("space.update"); },
                      [&](const op::CreateChannel&) { return place("channel.create"); },
                      [&](const op::ListChannels&) { return place("channel.list"); },
                      [&](const op::GetChannel&) { return place("channel.read"); },
                      [&](const op::UpdateChannel&) { return place("channel.update"); },
                      [&](const op::CreateThread&) { return place("thread.create"); },
                      [&](const op::ListThreads&) { return place("thread.list"); },
                      [&](const op::GetThread&) { return place("thread.read"); },
                      [&](const op::UpdateThread&) { return place("thread.update"); },
                      [&](const op::CloseThread&) { return place("thread.close"); },
                      [&](const op::GetRun&) { return place("run.read"); },
                      [&](const op::ListRuns&) { return place("run.list"); },
                      [&](const op::ListMessages&) { return place("message.list"); },
                      [&](const op::CreatePrincipal&) { return instance("principal.create"); },
                      [&](const op::ListPrincipals&) { return instance("principal.list"); },
                      [&](const op::GetPrincipal&) { return person("principal.read"); },
                      [&](const op::UpdatePrincipal&) { return person("principal.update"); },
                      [&](const op::CreateToken&) { return person("token.create"); },
                      [&](const op::ListTokens&) { return person("token.list"); },
                      // The same holds for tokens and for who may revoke them.
                      [&](const op::RevokeToken& o) {
                        const bool may = actor.instance_owner || actor.id == o.principal_id;
                        return may ? AuditSubject{"token.revoke", std::nullopt} : person("token.revoke");
                      },
                      [&](const op::PutGrant&) { return grant("grant.put", Level::manage); },
                      [&](const op::DeleteGrant&) { return grant("grant.delete", Level::manage); },
                      [&](const op::GetGrant& o) {
                        return grant("grant.read", o.principal_id == actor.id ? Level::read : Level::manage);
                      },
                      [&](const op::GetMe&) { return instance("me.read"); },
                      [&](const op::ListAudit&) { return instance("audit.list"); },
                      [&](const auto& o) { return directory::audit_of(o, facts, actor); },
                    },
                    operation);
}

} // namespace cleat::rules
