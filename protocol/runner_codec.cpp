#include "protocol/runner_codec.hpp"

#include <limits>
#include <type_traits>
#include <utility>

#include <google/protobuf/stubs/logging.h>
#include <runner.pb.h>

namespace cleat::wire {
namespace {

/// The last microsecond of the year 9999, the latest moment that a timestamp of ours can show.
constexpr std::int64_t last_time_us = 253'402'300'799'999'999;
/// What a process can end with: its status, or 128 and the number of a signal.
constexpr std::int64_t last_exit_code = 255;

bool counts(std::int64_t number) {
  return number >= 0;
}

// Values to protobuf.

void put(pb::Enrolled& to, const Enrolled& from) {
  to.set_enrollment_revision(from.enrollment_revision);
  to.set_epoch(from.epoch);
  to.set_secret(from.secret);
  to.set_continued(from.continued);
  for (const auto& issued : from.containers) {
    auto& container = *to.add_containers();
    container.set_container_name(issued.container_name);
    container.set_container_attempt_id(issued.attempt_id);
  }
  to.set_heartbeat_ms(from.heartbeat_ms);
  to.set_timeout_ms(from.timeout_ms);
  to.set_reconnect_grace_ms(from.reconnect_grace_ms);
}

void put(pb::StartAgentSessionResponse& to, const Started& from) {
  to.set_session_id(from.session_id);
  to.set_fresh_session_id(from.fresh_session_id);
  to.set_resume_session_id(from.resume_session_id);
}

void put(pb::OperationFailed& to, const Failed& from) {
  to.set_retryable(from.retryable);
  to.set_code(from.code);
  to.set_detail(from.detail);
}

void put(pb::StopAgentSessionResponse& to, const Stopped& from) {
  to.set_session_id(from.session_id);
}

void put(pb::Relay& to, const Relay& from) {
  to.set_session_id(from.session_id);
  for (const auto& said : from.lines) {
    auto& line = *to.add_lines();
    line.set_seq(said.seq);
    line.set_time_us(said.time_us);
    line.set_line(said.line);
    if (said.exit_code)
      line.set_exit_code(*said.exit_code);
  }
}

pb::DispatchAcknowledgement::Outcome outcome_of(AckOutcome outcome) {
  switch (outcome) {
    case AckOutcome::accepted:
      return pb::DispatchAcknowledgement::ACCEPTED;
    case AckOutcome::already_running:
      return pb::DispatchAcknowledgement::ALREADY_RUNNING;
    case AckOutcome::rejected:
      break;
  }
  return pb::DispatchAcknowledgement::REJECTED;
}

pb::StatusResponse::Status status_of(StatusKind kind) {
  switch (kind) {
    case StatusKind::live:
      return pb::StatusResponse::LIVE;
    case StatusKind::no_such_operation:
      return pb::StatusResponse::NO_SUCH_OPERATION;
    case StatusKind::terminal_outcome:
      return pb::StatusResponse::TERMINAL_OUTCOME;
    case StatusKind::ambiguous:
      break;
  }
  return pb::StatusResponse::AMBIGUOUS;
}

/// Puts a command of the server into its envelope.
struct PutCommand {
  pb::SessionsResponse& to;

  void operator()(const Enrolled& from) const { put(*to.mutable_enrolled(), from); }
  void operator()(const EnrolmentRefused& from) const {
    to.mutable_enrolment_refused()->set_code(from.code);
    to.mutable_enrolment_refused()->set_detail(from.detail);
  }
  void operator()(const Start& from) const {
    to.mutable_start()->set_container_name(from.container_name);
    to.mutable_start()->set_resume_session_id(from.resume_session_id);
    to.mutable_start()->set_body_parts(from.body_parts);
  }
  void operator()(const BodyPart& from) const {
    to.mutable_body_part()->set_index(from.index);
    to.mutable_body_part()->set_data(from.bytes);
  }
  void operator()(const Stop& from) const {
    to.mutable_stop()->set_session_id(from.session_id);
    to.mutable_stop()->set_container_attempt_id(from.container_attempt_id);
    to.mutable_stop()->set_container_name(from.container_name);
  }
  void operator()(const AskStatus& from) const {
    to.mutable_status()->set_container_name(from.container_name);
    to.mutable_status()->set_journal_id(from.journal_id);
  }
  void operator()(const IssueAttempt& from) const {
    to.mutable_issue_attempt()->set_container_name(from.container_name);
    to.mutable_issue_attempt()->set_container_attempt_id(from.attempt_id);
  }
  void operator()(const Input& from) const {
    to.mutable_input()->set_session_id(from.session_id);
    to.mutable_input()->set_seq(from.seq);
    to.mutable_input()->set_line(from.line);
  }
  void operator()(const RelayDone& from) const {
    to.mutable_relay_done()->set_session_id(from.session_id);
    to.mutable_relay_done()->set_through(from.through);
  }
  void operator()(const SecretAnswer& from) const {
    to.mutable_secret()->set_found(from.found);
    to.mutable_secret()->set_value(from.value);
  }
  void operator()(const Heartbeat& /*from*/) const { to.mutable_heartbeat(); }
};

/// Puts what a Runner reports into its envelope.
struct PutReport {
  pb::SessionsRequest& to;

  void operator()(std::monostate /*from*/) const {}
  void operator()(const AskEnrolment& from) const {
    to.mutable_enrolment()->set_token(from.token);
    to.mutable_enrolment()->set_secret(from.secret);
    to.mutable_enrolment()->set_journal_id(from.journal_id);
    to.mutable_enrolment()->set_version(from.version);
  }
  void operator()(const Acknowledged& from) const {
    to.mutable_acknowledgement()->set_outcome(outcome_of(from.outcome));
  }
  void operator()(const Started& from) const { put(*to.mutable_started(), from); }
  void operator()(const Failed& from) const { put(*to.mutable_failed(), from); }
  void operator()(const Stopped& from) const { put(*to.mutable_stopped(), from); }
  void operator()(const Status& from) const {
    auto& status = *to.mutable_status();
    status.set_status(status_of(from.kind));
    if (const auto* started = std::get_if<Started>(&from.outcome))
      put(*status.mutable_started(), *started);
    else if (const auto* failed = std::get_if<Failed>(&from.outcome))
      put(*status.mutable_failed(), *failed);
    else if (const auto* stopped = std::get_if<Stopped>(&from.outcome))
      put(*status.mutable_stopped(), *stopped);
  }
  void operator()(const Relay& from) const { put(*to.mutable_notice()->mutable_relay(), from); }
  void operator()(const InputDone& from) const {
    to.mutable_notice()->mutable_input_done()->set_session_id(from.session_id);
    to.mutable_notice()->mutable_input_done()->set_through(from.through);
  }
  void operator()(const AskSecret& from) const {
    to.mutable_notice()->mutable_secret()->set_session_id(from.session_id);
    to.mutable_notice()->mutable_secret()->set_name(from.name);
  }
  void operator()(const AttemptIssued& from) const {
    to.mutable_notice()->mutable_attempt_issued()->set_container_name(from.container_name);
    to.mutable_notice()->mutable_attempt_issued()->set_container_attempt_id(from.attempt_id);
  }
  void operator()(const Heartbeat& /*from*/) const { to.mutable_notice()->mutable_heartbeat(); }
};

// Protobuf to values. Texts are moved out of the envelope, which is thrown away afterwards.

std::optional<Command> take(pb::Enrolled& from) {
  if (!counts(from.enrollment_revision()) || !counts(from.epoch()) || !counts(from.heartbeat_ms()) ||
      !counts(from.timeout_ms()) || !counts(from.reconnect_grace_ms()))
    return std::nullopt;
  Enrolled to{from.enrollment_revision(), from.epoch(),      std::move(*from.mutable_secret()), from.continued(), {},
              from.heartbeat_ms(),        from.timeout_ms(), from.reconnect_grace_ms()};
  for (auto& container : *from.mutable_containers())
    to.containers.push_back(
      {std::move(*container.mutable_container_name()), std::move(*container.mutable_container_attempt_id())});
  return to;
}

std::optional<Command> take(pb::StartAgentSessionRequest& from) {
  if (!counts(from.body_parts()))
    return std::nullopt;
  return Start{std::move(*from.mutable_container_name()), std::move(*from.mutable_resume_session_id()),
               from.body_parts()};
}

std::optional<Command> take(pb::SessionBodyPart& from) {
  if (!counts(from.index()))
    return std::nullopt;
  return BodyPart{from.index(), std::move(*from.mutable_data())};
}

std::optional<Command> take(pb::InputRequest& from) {
  if (!counts(from.seq()))
    return std::nullopt;
  return Input{std::move(*from.mutable_session_id()), from.seq(), std::move(*from.mutable_line())};
}

std::optional<Command> take(pb::RelayDone& from) {
  if (!counts(from.through()))
    return std::nullopt;
  return RelayDone{std::move(*from.mutable_session_id()), from.through()};
}

std::optional<Command> command_of(pb::SessionsResponse& from) {
  switch (from.command_case()) {
    case pb::SessionsResponse::kEnrolled:
      return take(*from.mutable_enrolled());
    case pb::SessionsResponse::kEnrolmentRefused:
      return EnrolmentRefused{std::move(*from.mutable_enrolment_refused()->mutable_code()),
                              std::move(*from.mutable_enrolment_refused()->mutable_detail())};
    case pb::SessionsResponse::kStart:
      return take(*from.mutable_start());
    case pb::SessionsResponse::kBodyPart:
      return take(*from.mutable_body_part());
    case pb::SessionsResponse::kStop:
      return Stop{std::move(*from.mutable_stop()->mutable_container_name()),
                  std::move(*from.mutable_stop()->mutable_session_id()),
                  std::move(*from.mutable_stop()->mutable_container_attempt_id())};
    case pb::SessionsResponse::kStatus:
      return AskStatus{std::move(*from.mutable_status()->mutable_container_name()),
                       std::move(*from.mutable_status()->mutable_journal_id())};
    case pb::SessionsResponse::kIssueAttempt:
      return IssueAttempt{std::move(*from.mutable_issue_attempt()->mutable_container_name()),
                          std::move(*from.mutable_issue_attempt()->mutable_container_attempt_id())};
    case pb::SessionsResponse::kInput:
      return take(*from.mutable_input());
    case pb::SessionsResponse::kRelayDone:
      return take(*from.mutable_relay_done());
    case pb::SessionsResponse::kSecret:
      return SecretAnswer{from.secret().found(), std::move(*from.mutable_secret()->mutable_value())};
    case pb::SessionsResponse::kHeartbeat:
      return Heartbeat{};
    case pb::SessionsResponse::COMMAND_NOT_SET:
      break;
  }
  return std::nullopt;
}

Started take(pb::StartAgentSessionResponse& from) {
  return {std::move(*from.mutable_session_id()), std::move(*from.mutable_fresh_session_id()),
          std::move(*from.mutable_resume_session_id())};
}

Failed take(pb::OperationFailed& from) {
  return {from.retryable(), std::move(*from.mutable_code()), std::move(*from.mutable_detail())};
}

Stopped take(pb::StopAgentSessionResponse& from) {
  return {std::move(*from.mutable_session_id())};
}

std::optional<Report> take(const pb::DispatchAcknowledgement& from) {
  switch (from.outcome()) {
    case pb::DispatchAcknowledgement::ACCEPTED:
      return Acknowledged{AckOutcome::accepted};
    case pb::DispatchAcknowledgement::ALREADY_RUNNING:
      return Acknowledged{AckOutcome::already_running};
    case pb::DispatchAcknowledgement::REJECTED:
      return Acknowledged{AckOutcome::rejected};
    default:
      return std::nullopt;
  }
}

std::optional<StatusKind> kind_of(pb::StatusResponse::Status status) {
  switch (status) {
    case pb::StatusResponse::LIVE:
      return StatusKind::live;
    case pb::StatusResponse::NO_SUCH_OPERATION:
      return StatusKind::no_such_operation;
    case pb::StatusResponse::TERMINAL_OUTCOME:
      return StatusKind::terminal_outcome;
    case pb::StatusResponse::AMBIGUOUS:
      return StatusKind::ambiguous;
    default:
      return std::nullopt;
  }
}

std::optional<Report> take(pb::StatusResponse& from) {
  const auto kind = kind_of(from.status());
  if (!kind)
    return std::nullopt;
  Status to{*kind, {}};
  if (from.has_started())
    to.outcome = take(*from.mutable_started());
  else if (from.has_failed())
    to.outcome = take(*from.mutable_failed());
  else if (from.has_stopped())
    to.outcome = take(*from.mutable_stopped());
  return to;
}

std::optional<Report> take(pb::Relay& from) {
  Relay to{std::move(*from.mutable_session_id()), {}};
  for (auto& said : *from.mutable_lines()) {
    if (!counts(said.seq()) || !counts(said.time_us()) || said.time_us() > last_time_us)
      return std::nullopt;
    RelayedLine line{said.seq(), said.time_us(), std::move(*said.mutable_line())};
    if (said.has_exit_code()) {
      if (!counts(said.exit_code()) || said.exit_code() > last_exit_code)
        return std::nullopt;
      line.exit_code = said.exit_code();
    }
    to.lines.push_back(std::move(line));
  }
  return to;
}

std::optional<Report> take(pb::Notice& from) {
  switch (from.kind_case()) {
    case pb::Notice::kRelay:
      return take(*from.mutable_relay());
    case pb::Notice::kInputDone:
      if (!counts(from.input_done().through()))
        return std::nullopt;
      return InputDone{std::move(*from.mutable_input_done()->mutable_session_id()), from.input_done().through()};
    case pb::Notice::kSecret:
      return AskSecret{std::move(*from.mutable_secret()->mutable_session_id()),
                       std::move(*from.mutable_secret()->mutable_name())};
    case pb::Notice::kAttemptIssued:
      return AttemptIssued{std::move(*from.mutable_attempt_issued()->mutable_container_name()),
                           std::move(*from.mutable_attempt_issued()->mutable_container_attempt_id())};
    case pb::Notice::kHeartbeat:
      return Heartbeat{};
    case pb::Notice::KIND_NOT_SET:
      break;
  }
  return std::nullopt;
}

AskEnrolment take(pb::EnrolmentRequest& from) {
  return {std::move(*from.mutable_token()), std::move(*from.mutable_secret()), std::move(*from.mutable_journal_id()),
          std::move(*from.mutable_version())};
}

std::optional<Report> report_of(pb::SessionsRequest& from) {
  switch (from.result_case()) {
    case pb::SessionsRequest::kEnrolment:
      return take(*from.mutable_enrolment());
    case pb::SessionsRequest::kAcknowledgement:
      return take(from.acknowledgement());
    case pb::SessionsRequest::kStarted:
      return take(*from.mutable_started());
    case pb::SessionsRequest::kFailed:
      return take(*from.mutable_failed());
    case pb::SessionsRequest::kStopped:
      return take(*from.mutable_stopped());
    case pb::SessionsRequest::kStatus:
      return take(*from.mutable_status());
    case pb::SessionsRequest::kNotice:
      return take(*from.mutable_notice());
    case pb::SessionsRequest::RESULT_NOT_SET:
      break;
  }
  return std::monostate{};
}

template <class Envelope>
bool parse(Envelope& envelope, std::string_view bytes) {
  // The library would write a line to standard error for a text that is no UTF-8, past our log, as often as a peer
  // likes. Whoever called says what was wrong with the frame.
  [[maybe_unused]] static const auto before = google::protobuf::SetLogHandler(nullptr);
  return bytes.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max()) &&
         envelope.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) && counts(envelope.dispatch());
}

} // namespace

std::string encode(const ToRunner& message) {
  pb::SessionsResponse envelope;
  envelope.set_request_id(message.request_id);
  envelope.set_operation_id(message.operation_id);
  envelope.set_fresh_session_id(message.fresh_session_id);
  envelope.set_container_attempt_id(message.container_attempt_id);
  envelope.set_dispatch(message.dispatch);
  std::visit(PutCommand{envelope}, message.command);
  return envelope.SerializeAsString();
}

std::string encode(const FromRunner& message) {
  pb::SessionsRequest envelope;
  envelope.set_request_id(message.request_id);
  envelope.set_operation_id(message.operation_id);
  envelope.set_container_attempt_id(message.container_attempt_id);
  envelope.set_dispatch(message.dispatch);
  std::visit(PutReport{envelope}, message.report);
  return envelope.SerializeAsString();
}

std::optional<ToRunner> decode_to_runner(std::string_view bytes) {
  pb::SessionsResponse envelope;
  if (!parse(envelope, bytes))
    return std::nullopt;
  auto command = command_of(envelope);
  if (!command)
    return std::nullopt;
  return ToRunner{std::move(*envelope.mutable_request_id()),
                  std::move(*envelope.mutable_operation_id()),
                  std::move(*envelope.mutable_fresh_session_id()),
                  std::move(*envelope.mutable_container_attempt_id()),
                  envelope.dispatch(),
                  std::move(*command)};
}

std::optional<FromRunner> decode_from_runner(std::string_view bytes) {
  pb::SessionsRequest envelope;
  if (!parse(envelope, bytes))
    return std::nullopt;
  auto report = report_of(envelope);
  if (!report)
    return std::nullopt;
  return FromRunner{std::move(*envelope.mutable_request_id()), std::move(*envelope.mutable_operation_id()),
                    std::move(*envelope.mutable_container_attempt_id()), envelope.dispatch(), std::move(*report)};
}

} // namespace cleat::wire
