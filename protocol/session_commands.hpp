#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/commands.hpp"
#include "protocol/runner_messages.hpp"

/// What callers ask of containers and of sessions in them (spec 04), and what Runners say about them.
namespace cleat {

/// The body of a start: a session to resume, or the handle of an operation that is moved to this container.
struct StartSessionBody {
  std::optional<std::string> resume_session_id;
  std::optional<std::string> reroute_of;
};
/// A line for the agent, without its end.
struct InputBody {
  std::string line;
};
/// The body of a lookup and of a retry; `wait_s` belongs to the lookup.
struct HandleBody {
  std::string retry_handle;
  std::int64_t wait_s = 0;
};

/// `POST /v1/containers/{name}/agent-sessions` (spec 04 sections 4 and 5).
struct StartSession {
  RequestContext context;
  std::string container_name;
  Result<StartSessionBody> body;
  /// `Prefer: wait=N`, bounded by `runner.wait_max_s`; 0: answer as soon as the reservation is durable.
  std::int64_t wait_ms = 0;
  /// `X-Request-Id` as the caller sent it, for correlation only.
  std::optional<std::string> caller_request_id = {};
};
/// `POST /v1/agent-session-operations/lookup` and `.../retry` (spec 04 section 6).
struct FollowHandle {
  RequestContext context;
  Result<HandleBody> body;
  bool retry = false;
  /// Filled in by the registry.
  std::optional<std::string> container_name = {};
};
/// `POST /v1/agent-sessions/{session_id}/stop` (spec 04 section 5).
struct StopSession {
  RequestContext context;
  std::string session_id;
  Result<std::monostate> body;
  std::optional<std::string> container_name = {};
};
/// `POST /v1/agent-sessions/{session_id}/input`.
struct SendInput {
  RequestContext context;
  std::string session_id;
  Result<InputBody> body;
  std::optional<std::string> container_name = {};
};
/// `DELETE /v1/containers/{name}`: its live session is stopped and released first.
struct RemoveContainer {
  RequestContext context;
  std::string container_name;
};
/// `POST /v1/orphan-diagnostics/{id}/resolve`: by the instance's owner; opens a closed container with a new attempt.
struct ResolveOrphan {
  RequestContext context;
  Id orphan_id;
  /// Takes no members.
  Result<std::monostate> body = {};
  std::optional<std::string> container_name = {};
};
/// `GET /v1/agent-sessions/{session_id}/transcript`: answered with a `LogAnswer`.
struct ReadTranscript {
  RequestContext context;
  std::string session_id;
  std::int64_t after = 0;
  std::int64_t limit = 0;
  /// The lifetime that a stream has begun to read; it may be read to its end.
  std::optional<Id> lifetime = {};
};
/// The lines, and what a stream goes on with.
struct TranscriptAnswer {
  Result<LogItems> result;
  Id lifetime;
  bool live = false;
};

/// What a command to a Runner was about: the connection remembers it by the request id, so that a report with missing
/// or altered echoes is tied to the operation it was sent for.
struct Sent {
  std::string operation_id;
  std::string container_attempt_id;
  std::string container_name;

  bool operator==(const Sent&) const = default;
};

/// A Runner has said something about an operation or a session.
struct RunnerSays {
  Id runner_id;
  std::int64_t enrollment_revision = 0;
  std::int64_t epoch = 0;
  /// What the report's request id was sent for, when the connection knows it.
  std::optional<Sent> about;
  std::shared_ptr<const wire::FromRunner> message;
  /// Filled in by the registry, from `about` or the operation id.
  std::optional<std::string> container_name = {};
};

/// Look after the operations of a container: deadlines, questions to the Runner, input and cleanups that wait.
struct Reconcile {
  std::string container_name;
  /// The Runner has just come back: whatever is in flight is asked about, however young it is.
  bool arrived = false;
};

/// Something about the container was committed at another server; whoever waits looks again.
struct ContainerMoved {
  std::string container_name;
};

/// Bytes for a Runner, by the connection of exactly this epoch, in this order: encoded `wire::ToRunner` envelopes.
struct Deliver {
  Id runner_id;
  std::int64_t epoch = 0;
  /// The server that holds the socket; the hub that is asked passes it on.
  Node node;
  std::string request_id;
  /// What the envelopes are about; empty members where they are about nothing.
  Sent about;
  std::vector<std::string> envelopes;
};

/// Whether the envelopes were handed to the Runner's connection. What the Runner made of them is another matter; a
/// `false` says that they have not left and never will.
struct Delivered {
  bool handed_over = false;
};

} // namespace cleat
