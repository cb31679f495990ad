#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/problem.hpp"
#include "protocol/decision.hpp"
#include "protocol/fleet_commands.hpp"
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

/// What becomes of a trigger while another run is active.
enum class WhenActive : std::uint8_t { reject, enqueue };
/// The body of a trigger. Without an agent it goes to the thread's operator.
struct TriggerBody {
  std::string content_md;
  std::optional<Id> agent_id;
  WhenActive when_active = WhenActive::reject;
};
/// The body of a run's start: the session that the adapter begins with, if it knows already.
struct StartBody {
  std::optional<std::string> external_session_ref;
  std::optional<std::string> model;
};
/// The body of a run's end. A code and a detail belong to failures.
struct FinishBody {
  bool succeeded = true;
  std::optional<std::string> code;
  std::optional<std::string> detail;
};
/// A message that a run posts.
struct PostBody {
  std::string content_md;
};
/// The body of a report (spec 03 section 8). `bind_failed` has one value, `session_missing`.
struct ReportBody {
  std::optional<std::string> external_session_ref;
  std::optional<std::string> model;
  bool started = false;
  bool bind_failed = false;
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

/// `POST /v1/threads/{id}/runs` (spec 03 section 10).
struct TriggerRun {
  RequestContext context;
  Id thread_id;
  Result<TriggerBody> body;
};
/// `POST /v1/threads/{id}/agent-sessions/report` (spec 03 section 8).
struct ReportSession {
  RequestContext context;
  Id thread_id;
  Result<ReportBody> body;
};

/// What is done with a run (spec 03 section 10).
namespace run_op {
struct Start {
  Result<StartBody> body;
};
/// These four take no members; a body that has some is refused behind the rights like any other.
struct Wait {
  Result<std::monostate> body = {};
};
struct Resume {
  Result<std::monostate> body = {};
};
struct Heartbeat {
  Result<std::monostate> body = {};
};
struct Cancel {
  Result<std::monostate> body = {};
};
struct Finish {
  Result<FinishBody> body;
};
struct Post {
  Result<PostBody> body;
};
/// By the server itself, in the name of the run's agent: its lease has run out, or nobody has started it.
struct Expire {};
} // namespace run_op

using RunOperation = std::variant<run_op::Start, run_op::Wait, run_op::Resume, run_op::Heartbeat, run_op::Cancel,
                                  run_op::Finish, run_op::Post, run_op::Expire>;

/// `POST /v1/runs/{id}/...`. The registry finds the run's thread and agent; whoever sends the command need not know
/// them.
struct RunCommand {
  RequestContext context;
  Id run_id;
  RunOperation operation;
  std::optional<Id> thread_id = {};
  std::optional<Id> agent_id = {};
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
struct GetRun {
  Id id;
};
struct ListRuns {
  Id thread_id;
  Result<PageRange> range;
};
struct ListMessages {
  Id thread_id;
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
               op::ListAudit, op::GetRun, op::ListRuns, op::ListMessages, op::CreateAccount, op::ListAccounts,
               op::PutSubscriber, op::PutAccountSecret, op::GetAccountSecret, op::ListAccountSecrets,
               op::DeleteAccountSecret, op::CreateRunner, op::ListRunners, op::CreateRunnerToken, op::ListRunnerTokens,
               op::RevokeRunnerToken, op::CreateContainer, op::ListContainers, op::GetContainer, op::ListOrphans>;

/// One operation of provisioning or reading.
struct DirectoryCommand {
  RequestContext context;
  DirectoryOperation operation;
};

/// What a command comes to.
struct Answer {
  Result<Reply> result;
};

/// Which events a reader wants; absent is all (spec 05, `GET /v1/events`).
struct EventFilter {
  std::optional<Id> space_id;
  std::optional<Id> channel_id;
  std::optional<Id> thread_id;
  std::optional<std::string> type;

  bool operator==(const EventFilter&) const = default;
};

/// A part of the event log, of the changes that the actor may see.
struct ReadEvents {
  RequestContext context;
  EventFilter filter;
  std::int64_t after = 0;
  std::int64_t limit = 0;
};

/// A part of the actor's own agent events: `GET /v1/agent/events`.
struct ReadAgentEvents {
  RequestContext context;
  std::int64_t after = 0;
  std::int64_t limit = 0;
};

/// An entry of a log as clients get it.
struct LogItem {
  std::int64_t seq = 0;
  std::string type;
  std::string json; ///< the whole entry
};

/// What was read of a log. `next_after` is where to go on; there may be nothing to show up to there.
struct LogItems {
  std::vector<LogItem> items;
  std::int64_t next_after = 0;
  /// Nothing will ever come behind this: the end of a log that has one.
  bool ended = false;
};

/// The answer to the two reads.
struct LogAnswer {
  Result<LogItems> result;
};

/// Wait until there may be something behind `after`: in the event log or, with an agent, in its agent events. Answered
/// at the latest after `patience_ms`.
struct AwaitLog {
  std::optional<Id> agent_id;
  std::int64_t after = 0;
  std::int64_t patience_ms = 0;
  /// With a session: in its transcript.
  std::optional<std::string> session_id = {};
};

/// The answer: whether there may be something, or only the time is over.
struct LogMoved {
  bool moved = false;
};

} // namespace cleat
