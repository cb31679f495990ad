#include "apps/cleat-runner/runner.hpp"

#include <utility>

#include "apps/cleat-runner/crash_points.hpp"
#include "apps/cleat-runner/exit_status.hpp"
#include "base/limits.hpp"
#include "base/log.hpp"

namespace cleat::runner {
namespace {

using std::chrono::steady_clock;

/// Between looks for lines that nobody has acknowledged, and for what may be committed without haste.
constexpr EventLoop::Duration tick_interval{100};

} // namespace

Runner::Runner(const Config& config, const StateFolder& state, EventLoop& loop, Journal& journal, Relays& relays)
  : config_(config),
    state_(state),
    loop_(loop),
    journal_(journal),
    relays_(relays),
    link_(loop, config, journal.id(), *this) {
  for (const auto& [name, spec] : config.containers) {
    container_of(name).spec = &spec;
    state_.remove_bodies(name); // of sessions that ended with the Runner
  }
}

int Runner::run() {
  prune();
  link_.start();
  return loop_.run([this] { settle(); });
}

void Runner::settle() {
  while (!effects_.empty() || said_) {
    said_ = false;
    crash_point(CrashPoint::before_journal);
    journal_.commit();
    for (const auto& effect : std::exchange(effects_, {}))
      effect();
  }
  if (link_.enrolled()) {
    pump_relays();
    answer_stops();
  }
  link_.flush();
  end_if_drained();
  keep_ticking();
}

void Runner::pump_relays() {
  // What the server does not read yet stays in the journal.
  const auto unsent = static_cast<std::int64_t>(link_.unsent_bytes());
  const auto frames = relays_.take(steady_clock::now(), limits::agent_relay_unsent_bytes - unsent);
  if (frames.empty())
    return;
  journal_.commit();
  crash_point(CrashPoint::after_relay_journal);
  for (const auto& frame : frames)
    link_.send(frame);
}

void Runner::answer_stops() {
  const auto now = steady_clock::now();
  std::erase_if(ended_stops_, [&](const EndedStop& ended) {
    // What the agent said last comes before the answer, so that it still meets a live binding.
    if (!relays_.is_sent(ended.lifetime) && now < ended.deadline)
      return false;
    crash_point(CrashPoint::before_result);
    say(ended.stop.row, ended.stop.request_id, wire::Stopped{ended.stop.row.session_id});
    return true;
  });
}

void Runner::keep_ticking() {
  const bool needed = journal_.dirty() || !relays_.is_empty() || !ended_stops_.empty() || drain_end_.has_value();
  if (!needed || tick_ != 0)
    return;
  tick_ = loop_.after(tick_interval, [this] {
    tick_ = 0;
    journal_.commit();
  });
}

void Runner::drain() {
  if (draining_) {
    log::get().warn("told to end a second time; agents are killed");
    for (const auto& [key, container] : living_)
      if (container->life->agent)
        container->life->agent->kill();
    drain_end_ = steady_clock::now();
    return;
  }
  log::get().info("draining: agents are ended");
  draining_ = true;
  status_ = status_.value_or(exit_status::drained);
  ready_to_enrol_anew();
}

void Runner::end_if_drained() {
  if (!status_ || !living_.empty())
    return;
  const auto now = steady_clock::now();
  if (!drain_end_)
    drain_end_ = now + std::chrono::seconds(config_.drain_s);
  const bool has_left = !relays_.is_empty() || !ended_stops_.empty() || link_.unsent_bytes() > 0;
  if (link_.enrolled() && has_left && now < *drain_end_)
    return;
  journal_.commit();
  link_.shut();
  loop_.stop(*status_);
}

bool Runner::ready_to_enrol_anew() {
  // A copy: a null driver's agent ends at once.
  const auto living = living_;
  for (const auto& [key, container] : living)
    end(*container);
  if (!living_.empty())
    return false;
  journal_.commit();
  return true;
}

void Runner::on_enrolled(const wire::Enrolled& enrolled) {
  crash_point(CrashPoint::after_enrolment);
  std::map<std::string, std::string> issued;
  for (const auto& one : enrolled.containers)
    issued[one.container_name] = one.attempt_id;
  for (const auto& [name, attempt] : issued)
    container_of(name);
  for (auto& [name, container] : containers_) {
    const auto found = issued.find(name);
    const auto attempt = found == issued.end() ? std::string() : found->second;
    const bool is_old = container.life && container.life->row.key.attempt_id != attempt;
    if (is_old && !attempt.empty()) {
      container.pending = PendingAttempt{attempt, std::nullopt};
      container.parked.clear();
      end(container);
    } else {
      container.attempt_id = attempt;
    }
  }
  relays_.rewind();
  for (const auto& [key, container] : living_)
    ask_for_secrets(*container->life);
}

void Runner::on_disconnected() {
  bodies_.clear();
  secret_asks_.clear();
  // The server asks for these when it is back.
  ended_stops_.clear();
}

void Runner::on_refused_for_good(int status, const std::string& sentence) {
  log::get().error("{}", sentence);
  link_.shut();
  draining_ = true;
  status_ = status;
  ready_to_enrol_anew();
}

bool Runner::has_its_tags(const wire::ToRunner& message) {
  const bool needs_them =
    std::holds_alternative<wire::Start>(message.command) || std::holds_alternative<wire::BodyPart>(message.command) ||
    std::holds_alternative<wire::Stop>(message.command) || std::holds_alternative<wire::AskStatus>(message.command);
  if (!needs_them || (!message.operation_id.empty() && !message.container_attempt_id.empty()))
    return true;
  link_.drop("the server sent a command without its operation or its attempt");
  return false;
}

void Runner::on_message(const wire::ToRunner& message) {
  if (!has_its_tags(message))
    return;
  if (const auto* start = std::get_if<wire::Start>(&message.command))
    on_start(message, *start);
  else if (const auto* part = std::get_if<wire::BodyPart>(&message.command))
    bodies_.add({message.operation_id, message.container_attempt_id}, message.dispatch, *part);
  else if (const auto* stop = std::get_if<wire::Stop>(&message.command))
    on_stop(message, *stop);
  else if (const auto* status = std::get_if<wire::AskStatus>(&message.command))
    on_status(message, *status);
  else if (const auto* issue = std::get_if<wire::IssueAttempt>(&message.command))
    on_issue(message, *issue);
  else if (const auto* input = std::get_if<wire::Input>(&message.command))
    on_input(message, *input);
  else if (const auto* done = std::get_if<wire::RelayDone>(&message.command))
    on_relay_done(message, *done);
  else if (const auto* secret = std::get_if<wire::SecretAnswer>(&message.command))
    on_secret(message, *secret);
}

Container* Runner::living(const OperationKey& key) {
  const auto found = living_.find(key);
  return found == living_.end() ? nullptr : found->second;
}

Container& Runner::container_of(const std::string& name) {
  auto& container = containers_[name];
  container.name = name;
  return container;
}

void Runner::put(OperationRow& row) {
  row.said_through = std::max(row.said_through, relays_.said_through(row.key));
  journal_.put(row, std::chrono::floor<std::chrono::seconds>(clock_.now()).time_since_epoch().count());
}

void Runner::say(const wire::ToRunner& about, std::int64_t dispatch, wire::Report report) {
  link_.send({about.request_id, about.operation_id, about.container_attempt_id, dispatch, std::move(report)});
}

void Runner::say(const OperationRow& row, const std::string& request_id, wire::Report report) {
  link_.send({request_id, row.key.operation_id, row.key.attempt_id, row.dispatch, std::move(report)});
}

void Runner::answer(const wire::ToRunner& message, const Replay& replayed) {
  then([this, message, replayed] {
    say(message, replayed.dispatch, wire::Acknowledged{replayed.acknowledged});
    if (std::holds_alternative<std::monostate>(replayed.outcome))
      return; // it comes when it is there
    crash_point(CrashPoint::before_result);
    std::visit([&](const auto& outcome) { say(message, replayed.dispatch, wire::Report(outcome)); }, replayed.outcome);
  });
}

void Runner::refuse_dispatch(const wire::ToRunner& message, OperationRow row, const Refusal& refusal) {
  row.state = RowState::failed;
  row.acknowledged = refusal.acknowledged;
  row.failure = refusal.failure;
  put(row);
  answer(message, {refusal.acknowledged, refusal.failure, row.dispatch});
}

} // namespace cleat::runner
