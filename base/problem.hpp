#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace cleat {

/// What went wrong, as clients see it in `code` (spec 05). `problem_info` holds status and words of each.
enum class Code {
  malformed_json,
  validation_failed,
  invalid_if_match,
  invalid_idempotency_key,
  invalid_cursor,
  unauthorized,
  forbidden,
  channel_read_only,
  agent_invocation_denied,
  not_found,
  method_not_allowed,
  conflict,
  idempotency_in_progress,
  version_conflict,
  payload_too_large,
  uri_too_long,
  unsupported_media_type,
  idempotency_key_reuse,
  headers_too_large,
  rate_limited,
  bad_request,
  internal,
  not_ready,
  overloaded,
  unavailable,
  outcome_unknown,
  invalid_argument,
  already_running,
  runner_unavailable,
};

/// The finer cause, as clients see it in `reason`; `none` is an absent member.
enum class Reason {
  none,
  level_insufficient,
  not_self,
  actor_not_human,
  agent_not_reachable,
  tool_class_owner_only,
  billing_mode_personal_not_holder,
  no_current_session,
  session_changed,
  session_bound_elsewhere,
  owner_required,
  session_not_bound,
  run_active,
  run_state,
  too_many_held,
  actor_not_agent,
  container_closed,
  not_retryable,
  name_taken,
  no_master_key,
  release_gate,
};

/// What is wrong with one member of a request body, as clients see it in `errors[].code` (spec 03 section 9).
enum class FieldCode {
  required,
  unknown_member,
  duplicate_member,
  wrong_type,
  null_not_allowed,
  invalid_utf8,
  control_character,
  bidi_control,
  too_long,
  too_short,
  too_many,
  invalid_format,
  out_of_range,
  unknown_value,
  not_applicable,
  unknown_reference,
};

/// One wrong member: where (RFC 6901) and why.
struct FieldError {
  std::string pointer;
  FieldCode code{};

  bool operator==(const FieldError&) const = default;
};

/// A request that is not granted, whoever says so: a rule, a validator or the machinery. The http room renders
/// it as RFC 9457 problem details; nothing in it may name an id (spec 05).
struct Refusal {
  Code code{};
  Reason reason = Reason::none;
  std::vector<FieldError> errors = {};
  /// The row that the caller's `If-Match` did not know, as rendered JSON; empty is an absent member.
  std::string current = {};

  bool operator==(const Refusal&) const = default;
};

/// A value or the refusal to give one.
template <class T>
using Result = tl::expected<T, Refusal>;

/// Shorthand for the error side of a `Result`.
inline tl::unexpected<Refusal> refuse(Code code, Reason reason = Reason::none) {
  return tl::unexpected<Refusal>(Refusal{code, reason});
}

/// Shorthand for one or more wrong members.
inline tl::unexpected<Refusal> refuse(std::vector<FieldError> errors) {
  return tl::unexpected<Refusal>(Refusal{Code::validation_failed, Reason::none, std::move(errors)});
}

/// Status and words of a code. `detail` says what happened and what to do about it.
struct ProblemInfo {
  int status;
  std::string_view title;
  std::string_view detail;
};

/// Status and words of `code`.
ProblemInfo problem_info(Code code);

/// The words for a reason, more exact than the code's; empty when the code's say it all.
std::string_view reason_detail(Reason reason);

/// The names as they stand on the wire.
std::string_view to_string(Code code);
std::string_view to_string(Reason reason);
std::string_view to_string(FieldCode code);

} // namespace cleat
