#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/fleet_decision.hpp"
#include "protocol/resources.hpp"

/// A decision is data (spec 02): what a rule wants committed, all or nothing, and the reply that is true once
/// it is. Rules make them, owners adopt them, storage commits them; nobody else looks inside.
namespace cleat {

/// An answer that is ready to be sent: status, body and, for a single versioned resource, its ETag.
struct Reply {
  int status = 200;
  std::string body;
  /// The version for `ETag: "<version>"`; absent for lists and empty answers.
  std::optional<std::int64_t> etag;
  /// Set when the stored answer of an earlier request with the same Idempotency-Key is sent again.
  bool replay = false;

  bool operator==(const Reply&) const = default;
};

/// The row that must still have this version when the decision commits.
enum class GuardedRow : std::uint8_t {
  space_facts, ///< `spaces.facts_version`
  space,       ///< `spaces.version`
  channel,     ///< `channels.version`
  thread,      ///< `threads.version`
  principal,   ///< `principals.version`
  account,     ///< `accounts.version`
  runner,      ///< `runners.version`
};

/// A row and the version that it must still have.
struct VersionGuard {
  GuardedRow row{};
  Id id;
  std::int64_t version = 0;

  bool operator==(const VersionGuard&) const = default;
};

/// The newest session of a reference must still be this one (none: there must be no session), in any thread.
/// It keeps the cost baseline and the right to open the conversation true (spec 03 section 5).
struct ReferenceGuard {
  Id agent_id;
  std::string external_session_ref;
  std::optional<Id> newest_session_id;

  bool operator==(const ReferenceGuard&) const = default;
};

/// A current row that ends; its version rises by one.
struct EndSession {
  Id id;
  Id thread_id;
  std::int64_t expected_version = 0;
  Timestamp ended_at;
  EndReason reason{};

  bool operator==(const EndSession&) const = default;
};

/// Runs of a thread change one decision after the other: the thread's counter must still be this one, and the decision
/// raises it. So no server releases a held run twice, or ends a run without seeing what is held behind it.
struct RunTurn {
  Id thread_id;
  std::int64_t expected = 0;

  bool operator==(const RunTurn&) const = default;
};

/// The thread's current session must still be this one, in this version; none: there must be no current session.
struct CurrentGuard {
  Id thread_id;
  std::optional<Id> session_id;
  std::int64_t version = 0;

  bool operator==(const CurrentGuard&) const = default;
};

/// A row of `agent_sessions` that changes without ending: reference, model and `started` become those of `row`, whose
/// version is one higher than the one that must still be there.
struct UpdateSession {
  AgentSession row;

  bool operator==(const UpdateSession&) const = default;
};

/// What must be true, by the database's clock, for a run to be failed by the server itself (spec 03 section 10).
enum class RunExpiry : std::uint8_t {
  none,
  lease,  ///< `lease_expires_at` has passed
  queued, ///< nobody has started it for `queued_timeout_s`
};

/// A run as it shall be, its version one higher than the one that must still be there.
struct UpdateRun {
  Run row;
  /// The state that it must still have.
  RunState from{};
  RunExpiry expiry = RunExpiry::none;
  /// `runs.queued_timeout_s`, for `RunExpiry::queued`.
  std::int64_t queued_timeout_s = 0;

  bool operator==(const UpdateRun&) const = default;
};

/// What an agent's adapter is told (spec 03 section 10). `seq` is given by the database.
struct AgentEvent {
  Id agent_id;
  std::string type;
  Timestamp time;
  std::string payload; ///< rendered JSON object

  bool operator==(const AgentEvent&) const = default;
};

/// A denial that is found while something else is decided. Equal ones inside one window share an entry, as with
/// refused requests (spec 03 section 2).
struct Denial {
  AuditEntry entry;
  std::int64_t window_s = 0;

  bool operator==(const Denial&) const = default;
};

/// A change as readers of the event log see it (spec 03 section 11). `seq` is given by the database.
struct Event {
  Id id;
  std::string type;
  Timestamp time;
  Id space_id;
  std::optional<Id> channel_id;
  std::optional<Id> thread_id;
  std::string resource_kind;
  Id resource_id;
  std::optional<std::int64_t> resource_version;
  PrincipalKind actor_kind{};
  Id actor_id;
  std::string payload; ///< rendered JSON object

  bool operator==(const Event&) const = default;
};

/// Who used which Idempotency-Key for what; the fingerprint covers operation, target and body (spec 05).
struct IdempotencyKey {
  Id principal_id;
  std::string key;
  Digest fingerprint{};

  bool operator==(const IdempotencyKey&) const = default;
};

/// The stored answer of a success, committed with its effect.
struct IdempotencyRecord {
  IdempotencyKey key;
  Reply reply;
  Timestamp created_at;
  Timestamp expires_at;

  bool operator==(const IdempotencyRecord&) const = default;
};

/// Rows of provisioning. Inserts have version 1; updates carry the row as it shall be, with the version raised
/// by one, and are guarded by the version before.
struct InsertPrincipal {
  Principal row;
  bool operator==(const InsertPrincipal&) const = default;
};
struct UpdatePrincipal {
  Principal row;
  bool operator==(const UpdatePrincipal&) const = default;
};
struct InsertToken {
  Token row;
  bool operator==(const InsertToken&) const = default;
};
struct RevokeToken {
  Id id;
  Timestamp revoked_at;
  bool operator==(const RevokeToken&) const = default;
};
struct InsertSpace {
  Space row;
  bool operator==(const InsertSpace&) const = default;
};
struct UpdateSpace {
  Space row;
  bool operator==(const UpdateSpace&) const = default;
};
struct InsertChannel {
  Channel row;
  bool operator==(const InsertChannel&) const = default;
};
struct UpdateChannel {
  Channel row;
  bool operator==(const UpdateChannel&) const = default;
};
struct InsertThread {
  Thread row;
  bool operator==(const InsertThread&) const = default;
};
struct UpdateThread {
  Thread row;
  bool operator==(const UpdateThread&) const = default;
};
/// Sets the level of a principal on a resource, or takes it away (`Level::none`).
struct SetGrant {
  Grant row;
  bool operator==(const SetGrant&) const = default;
};
/// Raises `spaces.facts_version` by one, so that every cached right in the space is looked at anew.
struct RaiseSpaceFacts {
  Id space_id;
  bool operator==(const RaiseSpaceFacts&) const = default;
};

using RowWrite =
  std::variant<InsertPrincipal, UpdatePrincipal, InsertToken, RevokeToken, InsertSpace, UpdateSpace, InsertChannel,
               UpdateChannel, InsertThread, UpdateThread, SetGrant, RaiseSpaceFacts, fleet::Write>;

/// What is committed together or not at all.
struct Decision {
  std::vector<VersionGuard> guards = {};
  std::vector<ReferenceGuard> reference_guards = {};
  /// Present where runs change.
  std::optional<RunTurn> turn = {};
  std::vector<CurrentGuard> current_guards = {};
  /// Rows of `agent_sessions` that end, in ascending id (spec 03 section 13).
  std::vector<EndSession> ends = {};
  /// Rows of `agent_sessions` that change and do not end.
  std::vector<UpdateSession> session_updates = {};
  /// New rows of `agent_sessions`. At most one is current.
  std::vector<AgentSession> sessions = {};
  std::vector<RowWrite> rows = {};
  std::vector<Message> messages = {};
  /// New runs, and runs that change. At most one of the thread is active afterwards.
  std::vector<Run> runs = {};
  std::vector<UpdateRun> run_updates = {};
  std::vector<Event> events = {};
  std::vector<AgentEvent> agent_events = {};
  std::vector<AuditEntry> audit = {};
  std::vector<Denial> denials = {};
  std::optional<IdempotencyRecord> idempotency = {};
  Reply reply = {};

  bool operator==(const Decision&) const = default;
};

} // namespace cleat
