#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding.hpp"
#include "base/ids.hpp"
#include "base/time.hpp"
#include "protocol/resources.hpp"

/// The resources around Runners as the server knows them (spec 04 section 2, spec 05 "Shapes"): accounts, Runners,
/// containers, operations, bindings, transcripts, secrets. Plain data, like `resources.hpp`.
namespace cleat {

/// What an operation does, and where it stands (spec 04 section 2).
enum class OperationKind : std::uint8_t { fresh, resume, stop };
enum class OperationState : std::uint8_t { reserved, dispatched, promoted, failed };

/// Whether a failed operation may be tried again (spec 04 section 6).
enum class FailureClass : std::uint8_t { retryable, terminal };

/// Where a binding stands: suspended by a new enrolment, released by stop, exit or removal (spec 04 section 2).
enum class BindingState : std::uint8_t { live, suspended, released };

/// Whether a line of a transcript was told to the agent or said by it.
enum class Direction : std::uint8_t { in, out };

/// What is done about an agent that was started under another id than the one it was given (spec 04 section 8).
enum class Cleanup : std::uint8_t { none, claimed, done, failed };

/// The names as they stand on the wire and in the database.
std::string_view to_string(OperationKind value);
std::string_view to_string(OperationState value);
std::string_view to_string(FailureClass value);
std::string_view to_string(BindingState value);
std::string_view to_string(Direction value);
std::string_view to_string(Cleanup value);

/// Who a container's agent acts for. Its actor is the account's authorized subscriber.
struct Account {
  Id id;
  std::string name;
  std::optional<Id> actor_id;
  Timestamp created_at;
  std::int64_t version = 1;

  bool operator==(const Account&) const = default;
};

/// A secret of an account, sealed with the master key (`base/sealing.hpp`). Its value leaves the server towards a
/// Runner only.
struct AccountSecret {
  Id account_id;
  std::string name;
  std::string sealed;
  Timestamp updated_at;

  bool operator==(const AccountSecret&) const = default;
};

/// The place that a secret is sealed for: it opens in no other account and under no other name.
std::string secret_place(const Id& account_id, std::string_view name);

/// A process that starts agents, and its enrolment in force.
struct Runner {
  Id id;
  std::string name;
  Timestamp created_at;
  /// Raised by every change, by the creation of a container as well, so that an enrolment knows all containers.
  std::int64_t version = 1;
  /// Rises with each new enrolment; 0 before the first one.
  std::int64_t enrollment_revision = 0;
  /// SHA-256 of the secret by which a dropped socket continues its enrolment.
  std::optional<Digest> enrollment_secret = {};
  /// The journal that the Runner showed when it enrolled.
  std::optional<Id> journal_id = {};
  /// Rises with each connection; frames of lower epochs are dropped.
  std::int64_t epoch = 0;
  /// The server that holds its socket; absent while it has none.
  std::optional<Id> node_id = {};
  std::optional<Timestamp> connected_at = {};
  std::optional<Timestamp> disconnected_at = {};

  bool operator==(const Runner&) const = default;
};

/// A token of a Runner as it is kept: the digest only.
struct RunnerToken {
  Id id;
  Id runner_id;
  std::string label;
  Digest digest{};
  Timestamp created_at;
  std::optional<Timestamp> expires_at;
  std::optional<Timestamp> revoked_at;

  bool operator==(const RunnerToken&) const = default;
};

/// Where a Runner starts agents of one account.
struct Container {
  /// For audit entries; clients know a container by its name.
  Id id;
  std::string name;
  Id account_id;
  Id runner_id;
  /// The current attempt; absent before the first enrolment of its Runner, and while an orphan keeps it closed.
  std::optional<Id> attempt_id = {};
  Timestamp created_at;
  /// Raised by every decision about the container, its operations and its live binding, so that they come one after
  /// the other on any number of servers.
  std::int64_t version = 1;

  bool operator==(const Container&) const = default;
};

/// One generation of a container under one enrolment of its Runner: the fence (spec 01).
struct ContainerAttempt {
  Id id;
  std::string container_name;
  Id runner_id;
  std::int64_t enrollment_revision = 0;
  bool current = true;
  Timestamp created_at;

  bool operator==(const ContainerAttempt&) const = default;
};

/// Why an operation failed.
struct OperationFailure {
  FailureClass failure_class = FailureClass::terminal;
  std::string code;

  bool operator==(const OperationFailure&) const = default;
};

/// One Server-to-Runner attempt to start, resume or stop, and its durable record (spec 04 section 2).
struct Operation {
  Id id;
  OperationKind kind = OperationKind::fresh;
  /// Present for fresh starts: the sole input of the derivation, and what is derived from it.
  std::optional<Id> relay_request_id = {};
  std::optional<std::string> fresh_session_id = {};
  std::optional<std::string> resume_session_id = {};
  std::optional<std::string> stop_session_id = {};
  /// SHA-256 of the retry handle; absent for stops and once its span is over.
  std::optional<Digest> handle_digest = {};
  /// `X-Request-Id`, for correlation only.
  std::optional<std::string> caller_request_id = {};
  Id account_id;
  Id actor_id;
  Id runner_id;
  std::string container_name;
  Id container_attempt_id;
  std::int64_t enrollment_revision = 0;
  /// The journal of the enrolment in force at the last dispatch (spec 04 section 7).
  std::optional<Id> journal_id = {};
  OperationState state = OperationState::reserved;
  /// Rises with each retry.
  std::int64_t dispatch = 1;
  /// Nobody can tell about it at the moment.
  bool reconciling = false;
  std::optional<OperationFailure> failure = {};
  /// The public result.
  std::optional<std::string> session_id = {};
  Cleanup cleanup = Cleanup::none;
  /// Until when the cleanup's Stop is waited for.
  std::optional<Timestamp> cleanup_deadline = {};
  Timestamp created_at;
  /// Of the last dispatch, or of the reservation.
  Timestamp dispatched_at;
  std::optional<Timestamp> finished_at = {};
  std::int64_t version = 1;

  [[nodiscard]] bool in_flight() const {
    return state == OperationState::reserved || state == OperationState::dispatched;
  }
  /// The session that the operation is about: a fresh start's derived id, else the one that was named.
  [[nodiscard]] const std::string& subject() const {
    return kind == OperationKind::fresh    ? *fresh_session_id
           : kind == OperationKind::resume ? *resume_session_id
                                           : *stop_session_id;
  }

  bool operator==(const Operation&) const = default;
};

/// The promoted row that a session id selects (spec 01).
struct Binding {
  std::string session_id;
  Id account_id;
  Id actor_id;
  Id runner_id;
  std::string container_name;
  Id container_attempt_id;
  /// The operation that made it live: a session has one lifetime each.
  Id operation_id;
  BindingState state = BindingState::live;
  /// The last relayed frame of this lifetime that is in the transcript.
  std::int64_t relayed_through = 0;
  /// The last line of the transcript, of all lifetimes.
  std::int64_t transcript_through = 0;
  /// The last input line that the Runner has written to the agent. Later ones are sent again.
  std::int64_t input_through = 0;
  Timestamp created_at;
  std::optional<Timestamp> released_at = {};
  std::int64_t version = 1;

  bool operator==(const Binding&) const = default;
};

/// What an agent was told or said. `exit_code` stands in the last line of a lifetime alone, which has no text.
struct TranscriptLine {
  std::string session_id;
  std::int64_t seq = 0;
  Timestamp time;
  Direction direction = Direction::out;
  std::string line;
  std::optional<std::int64_t> exit_code = {};

  bool operator==(const TranscriptLine&) const = default;
};

/// What reconciliation could not tie to an owner (spec 04 section 8). The reported id is diagnostic and selects
/// nothing.
struct Orphan {
  Id id;
  std::string reason;
  Id operation_id;
  Id account_id;
  Id actor_id;
  Id runner_id;
  std::string container_name;
  Id container_attempt_id;
  std::optional<std::string> expected_session_id = {};
  std::optional<std::string> reported_session_id = {};
  Timestamp opened_at;
  std::optional<Timestamp> resolved_at = {};
  std::optional<Id> resolved_by = {};
  std::int64_t version = 1;

  bool operator==(const Orphan&) const = default;
};

/// A server that works on the database, and where the others reach it.
struct Node {
  Id id;
  std::string address; ///< `HOST:PORT` of CAF's network layer
  Timestamp heartbeat_at;

  bool operator==(const Node&) const = default;
};

} // namespace cleat
