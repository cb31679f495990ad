#include "apps/cleat-runner/dispatch.hpp"

#include <algorithm>
#include <utility>

namespace cleat::runner {
namespace {

using wire::AckOutcome;

/// Whether a dispatch with a higher number may be worked on.
bool may_be_tried_again(const OperationRow& row) {
  return row.state == RowState::tombstone || (row.state == RowState::failed && row.failure.retryable);
}

Refusal rejected(bool retryable, std::string_view code, std::string detail) {
  return {AckOutcome::rejected, failed(retryable, code, std::move(detail))};
}

wire::Status status_of(wire::StatusKind kind, const Outcome& outcome) {
  return {kind, outcome};
}

} // namespace

wire::Failed failed(bool retryable, std::string_view code, std::string detail) {
  return {retryable, std::string(code), std::move(detail)};
}

bool is_session_id(std::string_view text) {
  return text.size() == 64 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

Outcome outcome_of(const OperationRow& row) {
  switch (row.state) {
    case RowState::accepted:
      return std::monostate{};
    case RowState::started:
    case RowState::exited:
      if (row.kind == RowKind::fresh)
        return wire::Started{row.session_id, row.session_id, ""};
      return wire::Started{row.session_id, "", row.session_id};
    case RowState::stopped:
      return wire::Stopped{row.session_id};
    case RowState::failed:
      return row.failure;
    case RowState::tombstone:
      break;
  }
  return failed(true, failure::tombstoned, "the server was told before that this dispatch had not come");
}

std::optional<Replay> replay(const std::optional<OperationRow>& row, std::int64_t dispatch) {
  if (!row || (dispatch > row->dispatch && may_be_tried_again(*row)))
    return std::nullopt;
  return Replay{row->acknowledged, outcome_of(*row), std::max(dispatch, row->dispatch)};
}

std::optional<Refusal> refuse(const wire::ToRunner& message, const wire::Start& start, const StartFacts& facts) {
  const bool is_fresh = start.resume_session_id.empty();
  if (facts.draining)
    return rejected(true, failure::draining, "the Runner is about to end and starts nothing");
  if (!facts.known)
    return rejected(false, failure::unknown_container, "the container is not configured at this Runner");
  if (facts.attempt.empty() || facts.attempt != message.container_attempt_id)
    return rejected(false, failure::stale_attempt, "the attempt is not the container's current one");
  if (is_fresh && !is_session_id(message.fresh_session_id))
    return rejected(false, failure::failed_precondition, "a fresh start needs the session id that the server minted");
  if (!is_fresh && (!is_session_id(start.resume_session_id) || !message.fresh_session_id.empty()))
    return rejected(false, failure::failed_precondition, "a resume needs one session id that is a bare path element");
  if (!is_fresh && !facts.body_complete)
    return rejected(true, failure::body_incomplete, "not all parts of the session body have come");
  if (facts.busy)
    return Refusal{AckOutcome::already_running,
                   failed(true, failure::already_running, "an agent runs there, or is about to start or to end")};
  return std::nullopt;
}

std::optional<Refusal> refuse(const wire::ToRunner& message, const wire::Stop& stop, const StopFacts& facts) {
  if (!facts.known)
    return rejected(false, failure::unknown_container, "the container is not configured at this Runner");
  const bool is_there = !facts.session_id.empty() && facts.session_id == stop.session_id &&
                        facts.session_attempt == stop.container_attempt_id &&
                        message.container_attempt_id == stop.container_attempt_id;
  if (!is_there)
    return rejected(false, failure::no_such_session, "no agent of this session and attempt runs there");
  if (facts.starting)
    return rejected(true, failure::in_transition, "the agent has not started yet");
  return std::nullopt;
}

StatusAnswer answer_status(const std::optional<OperationRow>& row, std::int64_t dispatch, bool journal_is_ours,
                           bool ending) {
  using wire::StatusKind;
  const bool nothing_came =
    !row || row->state == RowState::tombstone || (dispatch > row->dispatch && may_be_tried_again(*row));
  if (nothing_came) {
    // Another journal may know what this one does not.
    if (!journal_is_ours)
      return {status_of(StatusKind::ambiguous, {}), dispatch, false};
    return {status_of(StatusKind::no_such_operation, {}), dispatch, !row || dispatch > row->dispatch};
  }
  const auto about = std::max(dispatch, row->dispatch);
  if (row->state == RowState::accepted || (row->state == RowState::started && ending))
    return {status_of(StatusKind::ambiguous, {}), about, false};
  const auto kind = row->state == RowState::started ? StatusKind::live : StatusKind::terminal_outcome;
  return {status_of(kind, outcome_of(*row)), about, false};
}

} // namespace cleat::runner
