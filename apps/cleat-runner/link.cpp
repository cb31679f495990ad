#include "apps/cleat-runner/link.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>

#include "apps/cleat-runner/exit_status.hpp"
#include "base/ids.hpp"
#include "base/limits.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "protocol/release.hpp"
#include "protocol/runner_codec.hpp"

namespace cleat::runner {
namespace {

using std::chrono::milliseconds;

/// Between half of the span and all of it, so that Runners which lost the same server do not come back as one.
milliseconds jittered(milliseconds span) {
  std::array<std::uint8_t, 2> lot{};
  fill_random(lot);
  return span / 2 + span / 2 * (lot[0] * 256 + lot[1]) / 65'536;
}

} // namespace

Link::Link(EventLoop& loop, const Config& config, std::string journal_id, Host& host)
  : loop_(loop),
    config_(config),
    journal_id_(std::move(journal_id)),
    host_(host),
    tls_(config.tls ? tls::Context::client(config.tls_ca, config.tls_server_name) : nullptr) {}

Link::~Link() {
  shut();
}

void Link::start() {
  connect();
}

void Link::shut() {
  phase_ = Phase::over;
  for (auto* timer : {&timer_, &grace_timer_, &heartbeat_timer_, &silence_timer_})
    loop_.cancel(std::exchange(*timer, 0));
  if (connection_)
    connection_->close();
}

void Link::proceed() {
  if (phase_ == Phase::holding)
    connect();
}

bool Link::can_continue() const {
  return !secret_.empty() && std::chrono::steady_clock::now() < grace_end_;
}

void Link::connect() {
  timer_ = 0;
  // Nothing of an old attempt may run when a new enrolment is asked for, so the agents end before the Runner connects.
  if (!can_continue() && !host_.ready_to_enrol_anew()) {
    phase_ = Phase::holding;
    return;
  }
  phase_ = Phase::connecting;
  // One that has closed is destroyed here, when none of its handlers is running.
  connection_ = std::make_unique<Connection>(
    loop_, Connection::Address{config_.server_host, config_.server_port, attempts_++}, tls_,
    static_cast<std::size_t>(config_.max_frame_bytes),
    Connection::Events{[this] { ask(); }, [this](const std::string& envelope) { on_envelope(envelope); },
                       [this](const std::string& why) { drop(why); }});
  timer_ =
    loop_.after(std::chrono::seconds(config_.connect_timeout_s), [this] { drop("the server did not answer in time"); });
}

std::string Link::read_token() const {
  std::ifstream in(config_.token_file);
  std::string token;
  in >> token;
  return token;
}

void Link::ask() {
  if (!can_continue() && !host_.ready_to_enrol_anew()) {
    drop("the grace for continuing the enrolment is over");
    return;
  }
  const auto token = read_token();
  if (token.empty() || !std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; })) {
    drop("there is no token in " + config_.token_file);
    return;
  }
  phase_ = Phase::asking;
  wire::FromRunner message;
  message.request_id = RandomIdSource().next(SystemClock().now()).str();
  // For the server's log; the gate asks the manifest, and never a Runner.
  const auto version = std::string(CLEAT_VERSION) + ", " + std::string(release::wire_contract_revision);
  message.report = wire::AskEnrolment{token, can_continue() ? secret_ : "", journal_id_, version};
  connection_->send(wire::encode(message));
}

void Link::on_envelope(const std::string& envelope) {
  const auto message = wire::decode_to_runner(envelope);
  if (!message) {
    drop("the server sent a frame that means nothing here");
    return;
  }
  heard_ = std::chrono::steady_clock::now();
  if (const auto* refused = std::get_if<wire::EnrolmentRefused>(&message->command))
    on_refused(*refused);
  else if (std::holds_alternative<wire::Heartbeat>(message->command))
    return;
  else if (phase_ == Phase::asking)
    on_answer(*message);
  else if (phase_ != Phase::enrolled || std::holds_alternative<wire::Enrolled>(message->command))
    drop("the server sent a frame out of turn");
  else
    host_.on_message(*message);
}

void Link::on_answer(const wire::ToRunner& message) {
  if (const auto* enrolled = std::get_if<wire::Enrolled>(&message.command))
    on_enrolled(*enrolled);
  else
    drop("the server sent a frame before the enrolment");
}

void Link::on_enrolled(const wire::Enrolled& enrolled) {
  phase_ = Phase::enrolled;
  ever_enrolled_ = true;
  failures_ = 0;
  last_failure_.clear();
  secret_ = enrolled.secret;
  heartbeat_ = milliseconds(enrolled.heartbeat_ms > 0 ? enrolled.heartbeat_ms : limits::runner_heartbeat_ms);
  timeout_ = milliseconds(enrolled.timeout_ms > 0 ? enrolled.timeout_ms : limits::runner_timeout_s * 1000);
  grace_ = milliseconds(enrolled.reconnect_grace_ms);
  loop_.cancel(std::exchange(timer_, 0));
  loop_.cancel(std::exchange(grace_timer_, 0));
  log::get().info("enrolled at {}:{} (enrolment {}, {})", config_.server_host, config_.server_port,
                  enrolled.enrollment_revision, enrolled.continued ? "continued" : "new");
  watch_silence();
  host_.on_enrolled(enrolled);
  beat();
}

void Link::on_refused(const wire::EnrolmentRefused& refused) {
  if (refused.code == "superseded") {
    host_.on_refused_for_good(exit_status::superseded,
                              "Another process has enrolled as this Runner. Give each its own token and Runner.");
  } else if (refused.code == "unauthorized" && !ever_enrolled_) {
    host_.on_refused_for_good(exit_status::unauthorized, "The server does not accept the token in " +
                                                           config_.token_file +
                                                           ". Create one for this Runner and put it there.");
  } else {
    const bool anew = refused.code == "enrol_anew";
    if (anew) {
      secret_.clear();
      failures_ = 0;
    }
    drop("the server refused the enrolment: " + refused.code);
  }
}

void Link::drop(const std::string& why) {
  const bool was_enrolled = phase_ == Phase::enrolled;
  if (phase_ == Phase::over)
    return;
  if (std::exchange(last_failure_, why) != why)
    log::get().warn("no connection to {}:{}: {}", config_.server_host, config_.server_port, why);
  phase_ = Phase::waiting;
  if (connection_)
    connection_->close();
  for (auto* timer : {&timer_, &heartbeat_timer_, &silence_timer_})
    loop_.cancel(std::exchange(*timer, 0));
  if (was_enrolled) {
    grace_end_ = std::chrono::steady_clock::now() + grace_;
    grace_timer_ = loop_.after(grace_, [this] {
      grace_timer_ = 0;
      // Agents end when the grace does, whether or not there is a server to tell.
      if (phase_ == Phase::waiting || phase_ == Phase::connecting)
        host_.ready_to_enrol_anew();
    });
    host_.on_disconnected();
  }
  retry();
}

void Link::retry() {
  const auto most = milliseconds(config_.backoff_max_ms);
  const auto span = std::min(most, milliseconds(limits::runner_backoff_min_ms) * (1 << std::min(failures_, 16)));
  ++failures_;
  timer_ = loop_.after(jittered(span), [this] { connect(); });
}

void Link::beat() {
  wire::FromRunner message;
  message.report = wire::Heartbeat{};
  send(message);
  flush();
  if (phase_ == Phase::enrolled)
    heartbeat_timer_ = loop_.after(heartbeat_, [this] { beat(); });
}

void Link::watch_silence() {
  const auto silent = std::chrono::steady_clock::now() - heard_;
  if (silent >= timeout_) {
    silence_timer_ = 0;
    drop("the server has been silent for too long");
    return;
  }
  silence_timer_ = loop_.after(std::chrono::ceil<milliseconds>(timeout_ - silent), [this] { watch_silence(); });
}

void Link::send(const wire::FromRunner& message) {
  if (phase_ == Phase::enrolled)
    connection_->send(wire::encode(message));
}

void Link::flush() {
  if (connection_)
    connection_->flush();
}

} // namespace cleat::runner
