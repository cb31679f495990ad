#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/encoding.hpp"
#include "base/ids.hpp"
#include "base/time.hpp"

/// The resources of the API as the server knows them (spec 05 "Shapes", spec 03 section 1). Plain data: how
/// they are rendered stands in `render.hpp`, how they are stored in the storage room.
namespace cleat {

/// What a grant allows; each level holds the ones before it (spec 01). `none` is the absence of a grant.
enum class Level : std::uint8_t { none, read, write, trigger, manage };

/// What a principal is, what an agent may touch and who pays for it, what a place is and takes, and why a session ended
/// (spec 01 "Words", spec 03 section 1).
enum class PrincipalKind : std::uint8_t { human, agent, app };
enum class ToolClass : std::uint8_t { container, host };
enum class BillingMode : std::uint8_t { shared, personal };
enum class ChannelMode : std::uint8_t { open, read_only, archived };
enum class ThreadKind : std::uint8_t { main, thread };
enum class ThreadState : std::uint8_t { open, closed };
enum class EndReason : std::uint8_t { reset, rebind, import, agent_changed };

/// Whether a run works for the thread's operator or for a guest, and where it stands (spec 03 section 10).
enum class RunKind : std::uint8_t { operator_run, guest };
enum class RunState : std::uint8_t { held, queued, running, waiting_input, succeeded, failed, cancelled };

/// What a message is, who it comes from, and what a system line says (spec 03 section 1).
enum class MessageKind : std::uint8_t { message, system };
enum class MessageOrigin : std::uint8_t { human, agent, system };
enum class SystemCode : std::uint8_t { thread_reopened, resume_failed };

/// How an adapter begins a run: with a new session, the one it had, or one that was bound for it (spec 03 section 6).
enum class SessionMode : std::uint8_t { new_session, resume, bind };

/// What a grant can be given on.
enum class ScopeKind : std::uint8_t { space, channel, thread };

/// The names as they stand on the wire and in the database.
std::string_view to_string(Level value);
std::string_view to_string(PrincipalKind value);
std::string_view to_string(ToolClass value);
std::string_view to_string(BillingMode value);
std::string_view to_string(ChannelMode value);
std::string_view to_string(ThreadKind value);
std::string_view to_string(ThreadState value);
std::string_view to_string(EndReason value);
std::string_view to_string(ScopeKind value);
std::string_view to_string(RunKind value);
std::string_view to_string(RunState value);
std::string_view to_string(MessageKind value);
std::string_view to_string(MessageOrigin value);
std::string_view to_string(SystemCode value);
std::string_view to_string(SessionMode value);

/// The value of enumeration `E` that has this name, if one has.
template <class E>
std::optional<E> from_string(std::string_view name);

/// `none` is the absence of a grant and no name that anybody may send.
template <>
std::optional<Level> from_string<Level>(std::string_view name);

/// What makes a principal an agent.
struct AgentProfile {
  ToolClass tool_class = ToolClass::container;
  BillingMode billing_mode = BillingMode::shared;
  std::optional<Id> holder_id;
  bool enabled = true;
  bool reachable = true;
  std::optional<std::string> default_model;

  bool operator==(const AgentProfile&) const = default;
};

/// A human, an agent or an app: everything that holds a token.
struct Principal {
  Id id;
  PrincipalKind kind = PrincipalKind::human;
  std::string name;
  std::optional<AgentProfile> agent;
  /// The one human who owns the instance: creates spaces, principals and tokens, reads the audit log.
  bool instance_owner = false;
  Timestamp created_at;
  std::int64_t version = 1;

  bool operator==(const Principal&) const = default;
};

/// A token as it is kept: the digest only.
struct Token {
  Id id;
  Id principal_id;
  std::string label;
  Digest digest{};
  Timestamp created_at;
  std::optional<Timestamp> expires_at;
  std::optional<Timestamp> revoked_at;

  bool operator==(const Token&) const = default;
};

/// A space: where channels live and who owns everything in it.
struct Space {
  Id id;
  std::string name;
  Id owner_id;
  Timestamp created_at;
  std::int64_t version = 1;
  /// Raised by every change that authorization in this space depends on: grants, channel modes, operators.
  /// Decisions are guarded by it, so a stale cache costs a retry and never a right (spec 02, invariant 2).
  std::int64_t facts_version = 1;

  bool operator==(const Space&) const = default;
};

/// A channel of a space, with its main thread and the agent that works there.
struct Channel {
  Id id;
  Id space_id;
  std::string name;
  ChannelMode mode = ChannelMode::open;
  std::optional<Id> operator_agent_id;
  Id main_thread_id;
  Timestamp created_at;
  std::int64_t version = 1;

  bool operator==(const Channel&) const = default;
};

/// A thread of a channel: one conversation.
struct Thread {
  Id id;
  Id space_id;
  Id channel_id;
  ThreadKind kind = ThreadKind::thread;
  std::string title;
  ThreadState state = ThreadState::open;
  std::optional<Id> operator_agent_id;
  Timestamp created_at;
  std::int64_t version = 1;

  bool operator==(const Thread&) const = default;
};

/// A principal's level on a space, a channel or a thread.
struct Grant {
  ScopeKind scope = ScopeKind::space;
  Id resource_id;
  Id space_id;
  Id principal_id;
  Level level = Level::read;

  bool operator==(const Grant&) const = default;
};

/// A row that ties a thread to a session of the agent's runtime (spec 03 section 1). Amounts are in millionths
/// of the currency's unit.
struct AgentSession {
  Id id;
  Id thread_id;
  Id agent_id;
  std::string external_session_ref;
  bool started = false;
  std::optional<std::string> model;
  std::int64_t cost_baseline_micros = 0;
  std::int64_t cumulative_cost_micros = 0;
  bool cost_is_estimate = false;
  std::string currency;
  Timestamp created_at;
  std::optional<Timestamp> ended_at;
  std::optional<EndReason> end_reason;
  std::int64_t version = 1;

  /// `is_current = (ended_at IS NULL)`, as the database checks it.
  [[nodiscard]] bool is_current() const { return !ended_at.has_value(); }

  bool operator==(const AgentSession&) const = default;
};

/// Why a run failed: a code of ours or of its agent, and what the agent says about it.
struct RunFailure {
  std::string code;
  std::optional<std::string> detail;

  bool operator==(const RunFailure&) const = default;
};

/// One time that an agent works on a thread (spec 03 section 10).
struct Run {
  Id id;
  Id thread_id;
  Id agent_id;
  RunKind kind = RunKind::operator_run;
  RunState state = RunState::queued;
  /// The human who triggered it, whoever releases it later.
  Id triggered_by;
  Id message_id;
  std::optional<Id> agent_session_id;
  /// Whether its agent has reported a failed binding; it may do so once. Not shown to clients.
  bool bind_failed = false;
  std::optional<RunFailure> failure;
  Timestamp created_at;
  /// When its agent was invoked; absent while it is held. Not shown to clients.
  std::optional<Timestamp> queued_at;
  std::optional<Timestamp> started_at;
  std::optional<Timestamp> finished_at;
  /// Until when its agent holds it; present in `running` and `waiting_input`.
  std::optional<Timestamp> lease_expires_at;
  std::int64_t version = 1;

  /// Whether it is the one run that its thread may have in `queued`, `running` or `waiting_input`.
  [[nodiscard]] bool is_active() const {
    return state == RunState::queued || state == RunState::running || state == RunState::waiting_input;
  }

  bool operator==(const Run&) const = default;
};

/// A message or system line of a thread. A system line has a code and no content (spec 03 section 1).
struct Message {
  Id id;
  Id thread_id;
  Id author_id;
  MessageKind kind = MessageKind::message;
  MessageOrigin origin = MessageOrigin::human;
  std::string content_md;
  std::optional<SystemCode> system_code;
  /// The run that wrote it.
  std::optional<Id> run_id;
  Timestamp created_at;

  bool operator==(const Message&) const = default;
};

/// An entry of the audit log. `details` is a JSON object of ids and codes, never a reference or a secret.
struct AuditEntry {
  Id id;
  Timestamp time;
  Id actor_id;
  std::string action;
  bool allowed = true;
  std::string resource_kind;
  Id resource_id;
  std::string reason;
  std::int64_t count = 1;
  std::string details = "{}";

  bool operator==(const AuditEntry&) const = default;
};

} // namespace cleat
