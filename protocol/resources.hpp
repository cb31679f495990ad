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
