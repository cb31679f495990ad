#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/problem.hpp"
#include "protocol/decision.hpp"
#include "protocol/pages.hpp"
#include "protocol/resources.hpp"

/// What people and programs ask for: one struct per operation of spec 05. A body that did not validate travels
/// as its refusal, because rights are checked before bodies (spec 03 section 5).
namespace cleat {

/// Who asks, and under which conditions.
struct RequestContext {
  std::shared_ptr<const Principal> actor;
  /// For correlation in logs.
  std::string request_id;
  /// Present when the request carries an `Idempotency-Key`.
  std::optional<IdempotencyKey> idempotency;
  /// The version in `If-Match`, when the request carries one.
  std::optional<std::int64_t> if_match;
};

/// The body of a reset: the session that the caller means to end, if it says.
struct ResetBody {
  std::optional<Id> expected_current_session_id;
};
/// The body of a bind. Without an expected session the caller expects that there is none.
struct BindBody {
  std::string external_session_ref;
  std::optional<Id> expected_current_session_id;
  bool take_over = false;
};
/// An earlier session to import. The cost is in millionths of the currency's unit.
struct ImportItem {
  Id agent_id;
  std::string external_session_ref;
  std::optional<std::string> model;
  std::int64_t cost_baseline_micros = 0;
  /// Absent: the instance's default currency.
  std::optional<std::string> currency;
  Timestamp created_at;
  Timestamp ended_at;
};
/// The body of an import.
struct ImportBody {
  std::vector<ImportItem> items;
};

/// `POST /v1/threads/{id}/agent-sessions/reset` (spec 03 section 4).
struct ResetSession {
  RequestContext context;
  Id thread_id;
  Result<ResetBody> body;
};
/// `POST /v1/threads/{id}/agent-sessions/bind` (spec 03 section 5).
struct BindSession {
  RequestContext context;
  Id thread_id;
  Result<BindBody> body;
};
/// `POST /v1/threads/{id}/agent-sessions/import` (spec 03 section 12).
struct ImportSessions {
  RequestContext context;
  Id thread_id;
  Result<ImportBody> body;
};

/// `GET /v1/threads/{id}/agent-sessions` (spec 03 section 3).
struct ListSessions {
  RequestContext context;
  Id thread_id;
};

/// A space to create.
struct SpaceBody {
  std::string name;
};
/// A space's new name, if it gets one.
struct SpacePatch {
  std::optional<std::string> name;
};
/// A channel to create.
struct ChannelBody {
  std::string name;
  std::optional<Id> operator_agent_id;
  ChannelMode mode = ChannelMode::open;
};
/// What changes of a channel; what is absent keeps its value.
struct ChannelPatch {
  std::optional<std::string> name;
  std::optional<ChannelMode> mode;
  std::optional<Id> operator_agent_id;
};
/// A thread to create. Without an operator it starts with its channel's.
struct ThreadBody {
  std::string title;
  std::optional<Id> operator_agent_id;
};
/// What changes of a thread; what is absent keeps its value.
struct ThreadPatch {
  std::optional<std::string> title;
  std::optional<Id> operator_agent_id;
};
/// Members of `agent` as far as they are given; what is absent keeps its value or takes its default.
struct AgentPatch {
  std::optional<ToolClass> tool_class;
  std::optional<BillingMode> billing_mode;
  std::optional<Id> holder_id;
  std::optional<bool> enabled;
  std::optional<bool> reachable;
  std::optional<std::string> default_model;
};
/// A principal to create; agents bring a profile.
struct PrincipalBody {
  PrincipalKind kind = PrincipalKind::human;
  std::string name;
  std::optional<AgentPatch> agent;
};
/// What changes of a principal; what is absent keeps its value.
struct PrincipalPatch {
  std::optional<std::string> name;
  std::optional<AgentPatch> agent;
};
/// A token to create. Without `expires_at` it holds until it is revoked.
struct TokenBody {
  std::string label;
  std::optional<Timestamp> expires_at;
};
/// The level to grant.
struct GrantBody {
  Level level = Level::read;
};

/// The operations of provisioning and of reading (spec 05 "Surface").
namespace op {
struct CreateSpace {
  Result<SpaceBody> body;
};
struct ListSpaces {
  Result<PageRange> range;
};
struct GetSpace {
  Id id;
};
struct UpdateSpace {
  Id id;
  Result<SpacePatch> body;
};
struct CreateChannel {
  Id space_id;
  Result<ChannelBody> body;
};
struct ListChannels {
  Id space_id;
  Result<PageRange> range;
};
struct GetChannel {
  Id id;
};
struct UpdateChannel {
  Id id;
  Result<ChannelPatch> body;
};
struct CreateThread {
  Id channel_id;
  Result<ThreadBody> body;
};
struct ListThreads {
  Id channel_id;
  Result<PageRange> range;
};
struct GetThread {
  Id id;
};
struct UpdateThread {
  Id id;
  Result<ThreadPatch> body;
};
struct CloseThread {
  Id id;
  /// Takes no members.
  Result<std::monostate> body = {};
};
struct CreatePrincipal {
  Result<PrincipalBody> body;
};
struct ListPrincipals {
  Result<PageRange> range;
};
struct GetPrincipal {
  Id id;
};
struct UpdatePrincipal {
  Id id;
  Result<PrincipalPatch> body;
};
struct CreateToken {
  Id principal_id;
  Result<TokenBody> body;
};
struct ListTokens {
  Id principal_id;
  Result<PageRange> range;
};
struct RevokeToken {
  Id principal_id;
  Id token_id;
};
struct PutGrant {
  ScopeKind scope{};
  Id resource_id;
  Id principal_id;
  Result<GrantBody> body;
};
struct DeleteGrant {
  ScopeKind scope{};
  Id resource_id;
  Id principal_id;
};
struct GetGrant {
  ScopeKind scope{};
  Id resource_id;
  Id principal_id;
};
struct GetMe {
  Result<PageRange> range;
};
struct ListAudit {
  /// `range` included.
  Result<AuditPage> query;
};
} // namespace op

using DirectoryOperation =
  std::variant<op::CreateSpace, op::ListSpaces, op::GetSpace, op::UpdateSpace, op::CreateChannel, op::ListChannels,
               op::GetChannel, op::UpdateChannel, op::CreateThread, op::ListThreads, op::GetThread, op::UpdateThread,
               op::CloseThread, op::CreatePrincipal, op::ListPrincipals, op::GetPrincipal, op::UpdatePrincipal,
               op::CreateToken, op::ListTokens, op::RevokeToken, op::PutGrant, op::DeleteGrant, op::GetGrant, op::GetMe,
               op::ListAudit>;

/// One operation of provisioning or reading.
struct DirectoryCommand {
  RequestContext context;
  DirectoryOperation operation;
};

/// What a command comes to.
struct Answer {
  Result<Reply> result;
};

} // namespace cleat
