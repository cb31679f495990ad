#include "actors/runner_connection.hpp"

#include <chrono>
#include <utility>
#include <variant>

#include <caf/io/middleman.hpp>
#include <caf/io/network/multiplexer.hpp>
#include <sys/socket.h>

#include "actors/answering.hpp"
#include "base/log.hpp"
#include "protocol/runner_codec.hpp"

namespace cleat::actors {
namespace {

/// Bytes that are read at a time.
constexpr std::size_t read_bytes = 64 << 10;

std::chrono::seconds seconds(std::int64_t count) {
  return std::chrono::seconds(count);
}

} // namespace

void RunnerConnectionState::init(caf::io::connection_handle socket, RunnerConnectionContext context) {
  context_ = std::move(context);
  socket_ = socket;
  peer_ = self_->remote_addr(socket) + ":" + std::to_string(self_->remote_port(socket));
  frames_.emplace(static_cast<std::size_t>(options().max_frame_bytes));
  if (context_.tls)
    tls_.emplace(context_.tls);
  opened_ = last_heard_ = last_taken_ = self_->clock().now();
  self_->set_exit_handler([this](const caf::exit_msg& message) {
    // A peer that reads nothing must not keep a server from ending, so nothing that is unsent is waited for.
    shut_down(SHUT_RDWR);
    leave();
    self_->quit(message.reason);
  });
  self_->ack_writes(socket_, true);
  self_->configure_read(socket_, caf::io::receive_policy::at_most(read_bytes));
  self_->delayed_send(self_, std::chrono::milliseconds(options().heartbeat_ms), Sweep{});
}

// What the socket says.

void RunnerConnectionState::on_data(const caf::io::new_data_msg& message) {
  if (phase_ == Phase::closing)
    return;
  const std::string_view bytes(message.buf.data(), message.buf.size());
  if (!tls_) {
    frames_->append(bytes);
    return work();
  }
  frames_->append(tls_->receive(bytes));
  flush_tls();
  if (!tls_->error().empty())
    return fail(tls_->error());
  work();
  if (tls_->closed() && phase_ != Phase::closing)
    fail("the Runner has ended its TLS session");
}

void RunnerConnectionState::on_sent(const caf::io::data_transferred_msg& message) {
  unsent_bytes_ = static_cast<std::int64_t>(message.remaining);
  if (phase_ == Phase::closing && unsent_bytes_ == 0)
    shut_down(SHUT_WR);
}

void RunnerConnectionState::on_socket_closed() {
  is_socket_open_ = false;
  if (phase_ != Phase::closing)
    log::get().info("the connection of {} has gone", who());
  leave();
  self_->quit();
}

void RunnerConnectionState::work() {
  while (phase_ != Phase::closing && reports_in_work_ < options().max_reports) {
    const auto envelope = frames_->next();
    if (!envelope)
      break;
    last_heard_ = self_->clock().now();
    on_frame(*envelope);
  }
  if (phase_ != Phase::closing && frames_->broken())
    fail("a frame of no or of more than runner.max_frame_bytes bytes");
  if (phase_ != Phase::closing)
    want_reading(reports_in_work_ < options().max_reports);
}

void RunnerConnectionState::on_frame(const std::string& envelope) {
  auto message = wire::decode_from_runner(envelope);
  if (!message)
    return fail("a frame that is no known message");
  const auto* const enrolment = std::get_if<wire::AskEnrolment>(&message->report);
  const bool is_heartbeat = std::holds_alternative<wire::Heartbeat>(message->report);
  if (phase_ == Phase::greeting)
    return enrolment != nullptr ? ask(*enrolment) : fail("a report before it has enrolled");
  if (is_heartbeat)
    return;
  if (phase_ == Phase::asking)
    return fail("a report before its enrolment is decided");
  if (enrolment != nullptr)
    return fail("a second enrolment on one connection");
  report(std::move(*message));
}

// Enrolment.

void RunnerConnectionState::ask(const wire::AskEnrolment& request) {
  if (!Id::parse(request.journal_id))
    return fail("an enrolment that names no journal");
  phase_ = Phase::asking;
  self_->request(context_.hub, seconds(options().timeout_s), AdmitRunner{request})
    .then([this](const RunnerAdmitted& admitted) { on_admitted(admitted); },
          [this](const caf::error&) {
            // Should the hub admit it after all, it sees this connection end.
            on_admitted({wire::EnrolmentRefused{"unavailable", "the server did not decide in time; try again"}, {}});
          });
}

void RunnerConnectionState::on_admitted(const RunnerAdmitted& admitted) {
  if (admitted.runner_id) {
    runner_id_ = *admitted.runner_id;
    runner_name_ = admitted.runner_name;
    enrollment_revision_ = admitted.enrollment_revision;
    epoch_ = admitted.epoch;
  }
  if (phase_ == Phase::closing)
    return leave();
  wire::ToRunner answer;
  answer.command = admitted.answer;
  const auto* const enrolled = std::get_if<wire::Enrolled>(&admitted.answer);
  if (enrolled == nullptr) {
    send(answer);
    return end_gently();
  }
  phase_ = Phase::admitted;
  last_heard_ = self_->clock().now();
  for (const wire::IssuedAttempt& container : enrolled->containers)
    note_attempt(container.container_name, container.attempt_id);
  send(answer);
  for (const wire::IssuedAttempt& container : enrolled->containers)
    self_->send(context_.fleet, Reconcile{container.container_name, true});
  work();
}

// Reports.

void RunnerConnectionState::report(wire::FromRunner message) {
  RunnerSays says{runner_id_, enrollment_revision_, epoch_, echoes_.find(message.request_id), {}};
  says.message = std::make_shared<const wire::FromRunner>(std::move(message));
  if (reports_in_work_++ == 0)
    last_taken_ = self_->clock().now();
  // No timer is set for each (decision 0010): a fleet that takes nothing for database.request_timeout_s is seen by the
  // tick.
  self_->request(context_.fleet, caf::infinite, std::move(says))
    .then([this] { on_report_taken(); }, [this](const caf::error&) { on_report_taken(); });
}

void RunnerConnectionState::on_report_taken() {
  last_taken_ = self_->clock().now();
  --reports_in_work_;
  // With some room at a time, so that the socket is not switched on and off for each report.
  if (is_reading_ || reports_in_work_ <= options().max_reports / 2)
    work();
}

// Commands.

Delivered RunnerConnectionState::deliver(const Deliver& command) {
  if (phase_ != Phase::admitted || command.runner_id != runner_id_ || command.epoch != epoch_)
    return {false};
  std::vector<std::string> envelopes;
  std::int64_t bytes = 0;
  for (const std::string& envelope : command.envelopes) {
    const auto message = wire::decode_to_runner(envelope);
    if (!message || static_cast<std::int64_t>(envelope.size()) > options().max_frame_bytes) {
      log::get().error("a command for {} is no frame that it would take", who());
      return {false};
    }
    if (auto attempt = issued_before(*message))
      envelopes.push_back(std::move(*attempt));
    envelopes.push_back(envelope);
    bytes += static_cast<std::int64_t>(envelope.size());
  }
  if (unsent_bytes_ + bytes > options().max_unsent_bytes) {
    fail("it does not read what is sent to it");
    return {false};
  }
  if (command.about != Sent{})
    echoes_.remember(command.request_id, command.about);
  write(envelopes);
  return {true};
}

std::optional<std::string> RunnerConnectionState::issued_before(const wire::ToRunner& message) {
  if (const auto* const issue = std::get_if<wire::IssueAttempt>(&message.command))
    note_attempt(issue->container_name, issue->attempt_id);
  const auto* const start = std::get_if<wire::Start>(&message.command);
  if (start == nullptr)
    return std::nullopt;
  const auto told = attempts_.find(start->container_name);
  if (told != attempts_.end() && told->second == message.container_attempt_id)
    return std::nullopt;
  note_attempt(start->container_name, message.container_attempt_id);
  wire::ToRunner issue;
  issue.request_id = context_.deps->ids->next(context_.deps->clock->now()).str();
  issue.command = wire::IssueAttempt{start->container_name, message.container_attempt_id};
  echoes_.remember(issue.request_id, {{}, message.container_attempt_id, start->container_name});
  return wire::encode(issue);
}

void RunnerConnectionState::note_attempt(const std::string& container_name, const std::string& attempt_id) {
  // What is forgotten is told again, which changes nothing at the Runner.
  if (attempts_.size() >= static_cast<std::size_t>(limits::runner_attempts_max))
    attempts_.clear();
  attempts_.insert_or_assign(container_name, attempt_id);
}

void RunnerConnectionState::send(const wire::ToRunner& message) {
  write({wire::encode(message)});
}

void RunnerConnectionState::write(const std::vector<std::string>& envelopes) {
  if (!is_socket_open_)
    return;
  for (const std::string& envelope : envelopes) {
    const std::string bytes = wire::frame(envelope);
    if (tls_) {
      tls_->send(bytes);
      continue;
    }
    self_->write(socket_, bytes.size(), bytes.data());
    unsent_bytes_ += static_cast<std::int64_t>(bytes.size());
  }
  if (tls_)
    flush_tls();
  else
    self_->flush(socket_);
}

void RunnerConnectionState::flush_tls() {
  const std::string bytes = tls_->take_output();
  if (bytes.empty() || !is_socket_open_)
    return;
  self_->write(socket_, bytes.size(), bytes.data());
  unsent_bytes_ += static_cast<std::int64_t>(bytes.size());
  self_->flush(socket_);
}

// Time and the end.

void RunnerConnectionState::on_tick() {
  const auto now = self_->clock().now();
  if (phase_ == Phase::closing) {
    if (now >= lingers_until_)
      end_now();
    return;
  }
  if (phase_ != Phase::admitted && now - opened_ > seconds(options().timeout_s))
    return fail("it has not enrolled within runner.timeout_s");
  if (phase_ == Phase::admitted && is_reading_ && now - last_heard_ > seconds(options().timeout_s))
    return fail("it has been silent for runner.timeout_s");
  if (reports_in_work_ > 0 && now - last_taken_ > patience(*context_.deps))
    return fail("its reports are not taken");
  if (phase_ == Phase::admitted) {
    wire::ToRunner heartbeat;
    heartbeat.command = wire::Heartbeat{};
    send(heartbeat);
  }
  if (unsent_bytes_ > options().max_unsent_bytes)
    return fail("it does not read what is sent to it");
  self_->delayed_send(self_, std::chrono::milliseconds(options().heartbeat_ms), Sweep{});
}

void RunnerConnectionState::on_over(const EnrolmentOver& over) {
  if (phase_ == Phase::closing)
    return;
  // The hub knows, and has said so in the log.
  has_left_ = true;
  if (!over.superseded)
    return end_now();
  wire::ToRunner answer;
  answer.command = wire::EnrolmentRefused{"superseded", "another process has enrolled with a token of this Runner"};
  send(answer);
  end_gently();
}

void RunnerConnectionState::want_reading(bool wanted) {
  wants_reading_ = wanted;
  if (wants_reading_ == is_reading_ || std::exchange(is_change_on_its_way_, true))
    return;
  // CAF applies changes of a socket's events at the end of a turn of its loop and takes two that meet in one turn for
  // none, which would leave the socket unread for good. So a change is made in a turn of its own.
  self_->system().middleman().backend().post(
    [connection = runner_socket_actor(self_)] { caf::anon_send(connection, ReadingChanged{}); });
}

void RunnerConnectionState::change_reading() {
  is_change_on_its_way_ = false;
  if (!is_socket_open_ || wants_reading_ == is_reading_)
    return;
  is_reading_ = wants_reading_;
  if (!is_reading_)
    return self_->halt(socket_);
  // While it was not read it could not be heard either.
  last_heard_ = self_->clock().now();
  self_->trigger(socket_);
}

void RunnerConnectionState::fail(std::string_view why) {
  log::get().warn("the connection of {} is closed: {}", who(), why);
  end_now();
}

void RunnerConnectionState::end_gently() {
  phase_ = Phase::closing;
  leave();
  const std::chrono::milliseconds moment(limits::runner_linger_ms);
  lingers_until_ = self_->clock().now() + moment;
  if (unsent_bytes_ == 0)
    shut_down(SHUT_WR);
  want_reading(true);
  self_->delayed_send(self_, moment, Sweep{});
}

void RunnerConnectionState::end_now() {
  phase_ = Phase::closing;
  leave();
  shut_down(SHUT_RDWR);
  want_reading(true); // so that the end is seen
}

void RunnerConnectionState::leave() {
  if (epoch_ > 0 && !std::exchange(has_left_, true))
    self_->send(context_.hub, RunnerLeft{runner_id_, epoch_});
}

void RunnerConnectionState::shut_down(int how) {
  // CAF closes gracefully only, which waits for a peer that may never read. The handle of its own event loop is the
  // descriptor.
  if (is_socket_open_)
    ::shutdown(static_cast<int>(socket_.id()), how);
}

std::string RunnerConnectionState::who() const {
  return runner_name_.empty() ? "an unknown Runner at " + peer_ : "Runner " + runner_name_ + " at " + peer_;
}

runner_socket_actor::behavior_type runner_connection(RunnerConnectionState::Self self,
                                                     caf::io::connection_handle socket,
                                                     RunnerConnectionContext context) {
  self->state.init(socket, std::move(context));
  return {
    [self](const Deliver& command) { return self->state.deliver(command); },
    [self](const EnrolmentOver& over) { self->state.on_over(over); },
    [self](const caf::io::new_data_msg& message) { self->state.on_data(message); },
    [self](const caf::io::data_transferred_msg& message) { self->state.on_sent(message); },
    [self](const caf::io::connection_closed_msg&) { self->state.on_socket_closed(); },
    [self](ReadingChanged) { self->state.change_reading(); },
    [self](Sweep) { self->state.on_tick(); },
  };
}

} // namespace cleat::actors
