#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "apps/cleat-runner/journal.hpp"
#include "protocol/runner_messages.hpp"

/// What a Runner makes of a dispatch and of a status query, decided on the journal's row alone (spec 04 sections 6 and
/// 7). Pure.
namespace cleat::runner {

/// The codes of failures that a Runner reports.
namespace failure {
inline constexpr std::string_view failed_precondition = "failed_precondition";
inline constexpr std::string_view stale_attempt = "stale_attempt";
inline constexpr std::string_view unknown_container = "unknown_container";
inline constexpr std::string_view already_running = "already_running";
inline constexpr std::string_view start_failed = "start_failed";
inline constexpr std::string_view body_incomplete = "body_incomplete";
inline constexpr std::string_view no_such_session = "no_such_session";
inline constexpr std::string_view in_transition = "in_transition";
inline constexpr std::string_view tombstoned = "tombstoned";
inline constexpr std::string_view runner_restarted = "runner_restarted";
inline constexpr std::string_view draining = "draining";
} // namespace failure

/// A failure in the words of the wire.
wire::Failed failed(bool retryable, std::string_view code, std::string detail);

/// 64 lower-case hexadecimal characters: the only form of a session id, which is a bare path element as well.
bool is_session_id(std::string_view text);

/// What an operation has come to; `monostate` while nobody can tell.
using Outcome = std::variant<std::monostate, wire::Started, wire::Failed, wire::Stopped>;

/// The outcome that a row holds, with its exact echoes.
Outcome outcome_of(const OperationRow& row);

/// The answer to a dispatch that the journal knows already.
struct Replay {
  wire::AckOutcome acknowledged{};
  Outcome outcome;
  /// The number that the outcome is about.
  std::int64_t dispatch = 0;
};

/// The replay; nothing where the dispatch is to be worked on: there is no row, or its number is higher than that of a
/// retryable failure or a tombstone.
std::optional<Replay> replay(const std::optional<OperationRow>& row, std::int64_t dispatch);

/// Why a dispatch is not worked on.
struct Refusal {
  wire::AckOutcome acknowledged{};
  wire::Failed failure;
};

/// What a start depends on beside its message.
struct StartFacts {
  bool draining = false;
  /// Whether the container is configured here.
  bool known = false;
  /// The container's current attempt.
  std::string_view attempt;
  /// An agent runs there, or is being started or ended.
  bool busy = false;
  /// Whether all parts of the session body have come.
  bool body_complete = false;
};

/// Why a fresh start or a resume is refused; nothing when it shall be done.
std::optional<Refusal> refuse(const wire::ToRunner& message, const wire::Start& start, const StartFacts& facts);

/// What a stop depends on beside its message.
struct StopFacts {
  bool known = false;
  std::string_view attempt;
  /// The session and the attempt of the agent there; empty without one.
  std::string_view session_id;
  std::string_view session_attempt;
  /// It has not started yet.
  bool starting = false;
};

/// Why a stop is refused; nothing when it shall be done.
std::optional<Refusal> refuse(const wire::ToRunner& message, const wire::Stop& stop, const StopFacts& facts);

/// The answer to a status query.
struct StatusAnswer {
  wire::Status status;
  std::int64_t dispatch = 0;
  /// Written before the answer leaves: a late dispatch of this number is refused.
  bool tombstone = false;
};

/// `journal_is_ours`: the query names this journal. `ending`: the operation's agent is being ended.
StatusAnswer answer_status(const std::optional<OperationRow>& row, std::int64_t dispatch, bool journal_is_ours,
                           bool ending);

} // namespace cleat::runner
