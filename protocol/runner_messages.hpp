#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// What a Runner and the server say to each other (spec 04 section 10), as plain values. `runner_codec.hpp` turns them
/// into frames of `runner.proto` and back. Ids are text here: an echo is compared as it came, whatever it is, and an
/// absent member is the empty text.
namespace cleat::wire {

// From the server.

/// A container of the Runner and its current attempt; without one it is closed.
struct IssuedAttempt {
  std::string container_name;
  std::string attempt_id;
  bool operator==(const IssuedAttempt&) const = default;
};
/// The enrolment holds. `continued`: it is the one that the Runner had, and its agents go on.
struct Enrolled {
  std::int64_t enrollment_revision = 0;
  std::int64_t epoch = 0;
  /// By which a dropped socket continues this enrolment.
  std::string secret;
  bool continued = false;
  std::vector<IssuedAttempt> containers;
  std::int64_t heartbeat_ms = 0;
  std::int64_t timeout_ms = 0;
  std::int64_t reconnect_grace_ms = 0;
  bool operator==(const Enrolled&) const = default;
};
/// The enrolment is refused: `unauthorized` (token), `enrol_anew` (the old one cannot be continued), `superseded`
/// (another process has enrolled), `unavailable` (try again later).
struct EnrolmentRefused {
  std::string code;
  std::string detail;
  bool operator==(const EnrolmentRefused&) const = default;
};
/// Start an agent. With a session to resume, `body_parts` parts have been sent for the same operation and dispatch
/// before.
struct Start {
  std::string container_name;
  std::string resume_session_id;
  std::int64_t body_parts = 0;
  bool operator==(const Start&) const = default;
};
/// A part of the session body of a resume, numbered from 0.
struct BodyPart {
  std::int64_t index = 0;
  std::string bytes;
  bool operator==(const BodyPart&) const = default;
};
/// Stop the agent of exactly this session and attempt.
struct Stop {
  std::string container_name;
  std::string session_id;
  std::string container_attempt_id;
  bool operator==(const Stop&) const = default;
};
/// What became of the operation of the envelope? `journal_id` is the journal of the enrolment in force when it was
/// dispatched.
struct AskStatus {
  std::string container_name;
  std::string journal_id;
  bool operator==(const AskStatus&) const = default;
};
/// End what earlier attempts of the container left, then let this one begin.
struct IssueAttempt {
  std::string container_name;
  std::string attempt_id;
  bool operator==(const IssueAttempt&) const = default;
};
/// A line for the agent's stdin. `seq` is its place in the transcript; a Runner writes each once.
struct Input {
  std::string session_id;
  std::int64_t seq = 0;
  std::string line;
  bool operator==(const Input&) const = default;
};
/// Everything that the agent said up to here is durable. Of the operation in the envelope.
struct RelayDone {
  std::string session_id;
  std::int64_t through = 0;
  bool operator==(const RelayDone&) const = default;
};
/// The answer to `AskSecret`, correlated by the envelope's request id.
struct SecretAnswer {
  bool found = false;
  std::string value;
  bool operator==(const SecretAnswer&) const = default;
};
/// Both sides: I am alive.
struct Heartbeat {
  bool operator==(const Heartbeat&) const = default;
};

using Command = std::variant<Enrolled, EnrolmentRefused, Start, BodyPart, Stop, AskStatus, IssueAttempt, Input,
                             RelayDone, SecretAnswer, Heartbeat>;

/// `SessionsResponse`: what the server says.
struct ToRunner {
  std::string request_id;
  std::string operation_id;
  std::string fresh_session_id;
  std::string container_attempt_id;
  std::int64_t dispatch = 0;
  Command command;
  bool operator==(const ToRunner&) const = default;
};

// From the Runner.

/// Let me in. With the secret of the enrolment that it had, a Runner asks to continue it.
struct AskEnrolment {
  std::string token;
  std::string secret;
  std::string journal_id;
  /// Logged and believed by nobody.
  std::string version;
  bool operator==(const AskEnrolment&) const = default;
};
/// Whether the dispatch has been taken; promotes and fails nothing.
enum class AckOutcome : std::uint8_t { accepted, already_running, rejected };
struct Acknowledged {
  AckOutcome outcome{};
  bool operator==(const Acknowledged&) const = default;
};
/// The agent runs, under the id that it was given. `session_id` is the one it uses.
struct Started {
  std::string session_id;
  std::string fresh_session_id;
  std::string resume_session_id;
  bool operator==(const Started&) const = default;
};
/// The operation has failed, as the journal says.
struct Failed {
  bool retryable = false;
  std::string code;
  std::string detail; ///< for the log
  bool operator==(const Failed&) const = default;
};
/// The agent has ended, as it was told to.
struct Stopped {
  std::string session_id;
  bool operator==(const Stopped&) const = default;
};
/// The four answers to a status query. `live` comes with its echoes, `terminal_outcome` with what the result was: a
/// start that was followed by an exit is `Started`, the exit comes by relay.
enum class StatusKind : std::uint8_t { live, no_such_operation, terminal_outcome, ambiguous };
struct Status {
  StatusKind kind{};
  std::variant<std::monostate, Started, Failed, Stopped> outcome;
  bool operator==(const Status&) const = default;
};
/// A line that the agent said, or its end. Numbered from 1 in each lifetime.
struct RelayedLine {
  std::int64_t seq = 0;
  std::int64_t time_us = 0; ///< microseconds since 1970, by the Runner's clock
  std::string line;
  std::optional<std::int64_t> exit_code = {};
  bool operator==(const RelayedLine&) const = default;
};
/// Consecutive lines of the lifetime that the envelope's operation began.
struct Relay {
  std::string session_id;
  std::vector<RelayedLine> lines;
  bool operator==(const Relay&) const = default;
};
/// Input lines up to this place have been written to the agent.
struct InputDone {
  std::string session_id;
  std::int64_t through = 0;
  bool operator==(const InputDone&) const = default;
};
/// The agent asks for a secret of its account.
struct AskSecret {
  std::string session_id;
  std::string name;
  bool operator==(const AskSecret&) const = default;
};
/// What earlier attempts left has ended; this one may begin.
struct AttemptIssued {
  std::string container_name;
  std::string attempt_id;
  bool operator==(const AttemptIssued&) const = default;
};

/// `monostate`: the result variant is missing.
using Report = std::variant<std::monostate, AskEnrolment, Acknowledged, Started, Failed, Stopped, Status, Relay,
                            InputDone, AskSecret, AttemptIssued, Heartbeat>;

/// `SessionsRequest`: what a Runner says. `dispatch` is the number that a result is about.
struct FromRunner {
  std::string request_id;
  std::string operation_id;
  std::string container_attempt_id;
  std::int64_t dispatch = 0;
  Report report;
  bool operator==(const FromRunner&) const = default;
};

} // namespace cleat::wire
