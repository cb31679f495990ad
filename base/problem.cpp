#include "base/problem.hpp"

namespace cleat {
namespace {

/// What the server or what stands behind it cannot do now.
ProblemInfo server_problem(Code code) {
  switch (code) {
    case Code::internal:
      return {500, "Internal error", "The server failed; its log names the request id. Nothing was changed."};
    case Code::not_ready:
      return {503, "Not ready", "The server is starting or draining. Send again after Retry-After seconds."};
    case Code::overloaded:
      return {503, "Overloaded", "Too much is waiting at this server. Send again after Retry-After seconds."};
    case Code::unavailable:
      return {503, "Database unavailable",
              "PostgreSQL cannot be reached; nothing was changed. Send again after Retry-After seconds."};
    case Code::outcome_unknown:
      return {503, "Outcome unknown",
              "What became of the request could not be learned in time. Send again with the same Idempotency-Key to "
              "learn it."};
    case Code::runner_unavailable:
      return {503, "Runner unavailable",
              "The container's Runner is not connected; nothing was changed. Send again after Retry-After seconds."};
    default:
      return {500, "Internal error", "The server failed; its log names the request id."};
  }
}

} // namespace

ProblemInfo problem_info(Code code) {
  switch (code) {
    case Code::malformed_json:
      return {400, "Malformed JSON", "The body is not JSON in UTF-8. Send one JSON object."};
    case Code::validation_failed:
      return {400, "Validation failed", "Some members are wrong; 'errors' names each. Correct them and send again."};
    case Code::invalid_if_match:
      return {400, "Invalid If-Match", "If-Match takes one strong entity tag, as ETag gave it: \"<version>\"."};
    case Code::invalid_idempotency_key:
      return {400, "Invalid Idempotency-Key", "Idempotency-Key takes 1 to 255 visible ASCII characters."};
    case Code::invalid_cursor:
      return {400, "Invalid cursor",
              "Take 'cursor' from 'next_cursor' of the page before, for the same list, unchanged."};
    case Code::unauthorized:
      return {401, "Unauthorized",
              "Send 'Authorization: Bearer TOKEN' with a token that is neither revoked nor expired."};
    case Code::forbidden:
      return {403, "Forbidden", "You can see this resource but may not do this with it."};
    case Code::channel_read_only:
      return {403, "Channel is read-only",
              "The channel is read-only or archived. Open it first to work with its agent."};
    case Code::agent_invocation_denied:
      return {403, "Agent invocation denied", "You may not invoke this thread's agent; 'reason' says why."};
    case Code::not_found:
      return {404, "Not found", "There is no such resource, or it is not yours to see."};
    case Code::method_not_allowed:
      return {405, "Method not allowed", "This path takes other methods; 'Allow' lists them."};
    case Code::conflict:
      return {409, "Conflict", "The resource is not in the state that this request expects. Read it and decide again."};
    case Code::idempotency_in_progress:
      return {409, "Idempotency key in progress",
              "A request with this Idempotency-Key is still running. Wait for its answer or send it again later."};
    case Code::version_conflict:
      return {412, "Version conflict",
              "The resource has another version than If-Match says; 'current' shows it if there is one."};
    case Code::payload_too_large:
      return {413, "Payload too large", "The body is larger than http.max_json_body_bytes allows."};
    case Code::uri_too_long:
      return {414, "URI too long", "The request target is longer than this server reads."};
    case Code::unsupported_media_type:
      return {415, "Unsupported media type",
              "Send the body as 'Content-Type: application/json' without a content encoding."};
    case Code::idempotency_key_reuse:
      return {422, "Idempotency key reuse",
              "This Idempotency-Key was used for another request. Use a new key for each request."};
    case Code::headers_too_large:
      return {431, "Headers too large", "The request's header fields are larger than this server reads."};
    case Code::rate_limited:
      return {429, "Too many requests", "Slow down and send again after Retry-After seconds."};
    case Code::bad_request:
      return {400, "Bad request", "This is not an HTTP request that the server understands."};
    case Code::invalid_argument:
      return {400, "Invalid argument",
              "Ids of operations, sessions to be, accounts, actors, Runners and attempts are made or filled in by the "
              "server. Send none of them; a correlation id may come in X-Request-Id."};
    case Code::already_running:
      return {409, "Already running",
              "An agent runs in this container, or is being started, resumed or stopped there. Read the container and "
              "decide again."};
    default:
      return server_problem(code);
  }
}

std::string_view reason_detail(Reason reason) {
  switch (reason) {
    case Reason::none:
      return "";
    case Reason::level_insufficient:
      return "Your level on this resource is too low. Ask someone who manages it for a higher grant.";
    case Reason::not_self:
      return "Only the run's own agent may do this.";
    case Reason::actor_not_human:
      return "Only a human may invoke an agent.";
    case Reason::agent_not_reachable:
      return "The thread has no agent, or its agent is disabled or not reachable.";
    case Reason::tool_class_owner_only:
      return "The thread's agent has host tools; only the space's owner may invoke it.";
    case Reason::billing_mode_personal_not_holder:
      return "The thread's agent runs on a personal subscription; only its holder may invoke it.";
    case Reason::no_current_session:
      return "The thread has no current session, so there is nothing to end.";
    case Reason::session_changed:
      return "The thread's current session is not the expected one. List the sessions and decide again.";
    case Reason::session_bound_elsewhere:
      return "This reference is current in another thread. Send 'take_over': true to move it here.";
    case Reason::owner_required:
      return "Only the owner of this instance may do this.";
    case Reason::session_not_bound:
      return "The run has no started session whose binding could have failed, or one has failed in this run already.";
    case Reason::run_active:
      return "The thread has an active run. Wait for its end, or send 'when_active': 'enqueue'.";
    case Reason::run_state:
      return "The run is not in a state that allows this. Read it and decide again.";
    case Reason::too_many_held:
      return "Too many runs of this thread wait for the active one to end. Send again when some of them are done.";
    case Reason::actor_not_agent:
      return "Only an agent has agent events. Use the agent's own token.";
    case Reason::container_closed:
      return "Nobody can tell what an earlier attempt left in this container. Resolve its orphan diagnostics first.";
    case Reason::not_retryable:
      return "The operation has failed for good. Start anew.";
    case Reason::name_taken:
      return "There is a container of this name already. Choose another name.";
    case Reason::no_master_key:
      return "This server has no master key to seal secrets with. Give it one, then send again.";
    case Reason::release_gate:
      return "The release of this server and its Runner is not verified, so no agent is started. /readyz says what is "
             "wrong.";
  }
  return "";
}

std::string_view to_string(Code code) {
  switch (code) {
    case Code::malformed_json:
      return "malformed_json";
    case Code::validation_failed:
      return "validation_failed";
    case Code::invalid_if_match:
      return "invalid_if_match";
    case Code::invalid_idempotency_key:
      return "invalid_idempotency_key";
    case Code::invalid_cursor:
      return "invalid_cursor";
    case Code::unauthorized:
      return "unauthorized";
    case Code::forbidden:
      return "forbidden";
    case Code::channel_read_only:
      return "channel_read_only";
    case Code::agent_invocation_denied:
      return "agent_invocation_denied";
    case Code::not_found:
      return "not_found";
    case Code::method_not_allowed:
      return "method_not_allowed";
    case Code::conflict:
      return "conflict";
    case Code::idempotency_in_progress:
      return "idempotency_in_progress";
    case Code::version_conflict:
      return "version_conflict";
    case Code::payload_too_large:
      return "payload_too_large";
    case Code::uri_too_long:
      return "uri_too_long";
    case Code::unsupported_media_type:
      return "unsupported_media_type";
    case Code::idempotency_key_reuse:
      return "idempotency_key_reuse";
    case Code::headers_too_large:
      return "headers_too_large";
    case Code::rate_limited:
      return "rate_limited";
    case Code::bad_request:
      return "bad_request";
    case Code::internal:
      return "internal";
    case Code::not_ready:
      return "not_ready";
    case Code::overloaded:
      return "overloaded";
    case Code::unavailable:
      return "unavailable";
    case Code::outcome_unknown:
      return "outcome_unknown";
    case Code::invalid_argument:
      return "invalid_argument";
    case Code::already_running:
      return "already_running";
    case Code::runner_unavailable:
      return "runner_unavailable";
  }
  return "internal";
}

std::string_view to_string(Reason reason) {
  switch (reason) {
    case Reason::none:
      return "";
    case Reason::level_insufficient:
      return "level_insufficient";
    case Reason::not_self:
      return "not_self";
    case Reason::actor_not_human:
      return "actor_not_human";
    case Reason::agent_not_reachable:
      return "agent_not_reachable";
    case Reason::tool_class_owner_only:
      return "tool_class_owner_only";
    case Reason::billing_mode_personal_not_holder:
      return "billing_mode_personal_not_holder";
    case Reason::no_current_session:
      return "no_current_session";
    case Reason::session_changed:
      return "session_changed";
    case Reason::session_bound_elsewhere:
      return "session_bound_elsewhere";
    case Reason::owner_required:
      return "owner_required";
    case Reason::session_not_bound:
      return "session_not_bound";
    case Reason::run_active:
      return "run_active";
    case Reason::run_state:
      return "run_state";
    case Reason::too_many_held:
      return "too_many_held";
    case Reason::actor_not_agent:
      return "actor_not_agent";
    case Reason::container_closed:
      return "container_closed";
    case Reason::not_retryable:
      return "not_retryable";
    case Reason::name_taken:
      return "name_taken";
    case Reason::no_master_key:
      return "no_master_key";
    case Reason::release_gate:
      return "release_gate";
  }
  return "";
}

std::string_view to_string(FieldCode code) {
  switch (code) {
    case FieldCode::required:
      return "required";
    case FieldCode::unknown_member:
      return "unknown_member";
    case FieldCode::duplicate_member:
      return "duplicate_member";
    case FieldCode::wrong_type:
      return "wrong_type";
    case FieldCode::null_not_allowed:
      return "null_not_allowed";
    case FieldCode::invalid_utf8:
      return "invalid_utf8";
    case FieldCode::control_character:
      return "control_character";
    case FieldCode::bidi_control:
      return "bidi_control";
    case FieldCode::too_long:
      return "too_long";
    case FieldCode::too_short:
      return "too_short";
    case FieldCode::too_many:
      return "too_many";
    case FieldCode::invalid_format:
      return "invalid_format";
    case FieldCode::out_of_range:
      return "out_of_range";
    case FieldCode::unknown_value:
      return "unknown_value";
    case FieldCode::not_applicable:
      return "not_applicable";
    case FieldCode::unknown_reference:
      return "unknown_reference";
  }
  return "invalid_format";
}

} // namespace cleat
