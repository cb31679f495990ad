/// What a container's Runner says, what nobody asks for, and how everybody hears of what was committed.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "actors/container.hpp"
#include "actors/session_body.hpp"
#include "base/crash_points.hpp"
#include "base/log.hpp"
#include "protocol/render_fleet.hpp"
#include "protocol/runner_codec.hpp"

namespace cleat::actors {
namespace {

namespace rule = rules::container;

/// How long nobody looks whether another server has done what somebody waits for.
constexpr std::chrono::milliseconds look_span{250};
/// Input lines that are sent again at a time.
constexpr std::int64_t pending_input_max = 1000;

/// The session that a report names. It selects nothing: what is loaded by it is held against the operation.
std::optional<std::string> named_session(const wire::Report& report) {
  if (const auto* const relay = std::get_if<wire::Relay>(&report))
    return relay->session_id;
  if (const auto* const input = std::get_if<wire::InputDone>(&report))
    return input->session_id;
  if (const auto* const secret = std::get_if<wire::AskSecret>(&report))
    return secret->session_id;
  return std::nullopt;
}

} // namespace

void ContainerState::ask_for(const RunnerSays& says, storage::LoadContainer& question) const {
  const std::string& operation =
    says.about && !says.about->operation_id.empty() ? says.about->operation_id : says.message->operation_id;
  question.operation_id = Id::parse(operation);
  question.session_id = named_session(says.message->report);
  if (const auto* const secret = std::get_if<wire::AskSecret>(&says.message->report))
    question.secret_name = secret->name;
}

void ContainerState::decide(const RunnerSays& says) {
  crash_point(CrashPoint::report_received);
  const wire::Report& said = says.message->report;
  if (std::holds_alternative<wire::AskSecret>(said))
    return answer_secret(says);
  if (std::holds_alternative<wire::AttemptIssued>(said))
    return on_attempt_issued(says);
  if (std::holds_alternative<wire::Relay>(said))
    return take(rule::relay(facts_, says, report_context()));
  if (std::holds_alternative<wire::InputDone>(said))
    return take(rule::input_done(facts_, says, report_context()));
  if (needs_its_binding())
    return;
  take(rule::report(facts_, says, report_context()));
}

/// A resume and a stop are decided with the binding of their session, which only the operation names: it is loaded in
/// a second look.
bool ContainerState::needs_its_binding() {
  const auto& operation = facts_.operation;
  if (!operation || !operation->in_flight() || operation->kind == OperationKind::fresh || current_->session_id)
    return false;
  Work work = std::move(*current_);
  work.session_id = operation->subject();
  queue_.push_front(std::move(work));
  done();
  return true;
}

void ContainerState::take(rule::Consequence consequence) {
  telling_ = std::move(consequence.tell);
  note_ = std::move(consequence.note);
  if (consequence.decision) {
    if (!current_->without_record)
      record_for_waiter(*consequence.decision);
    return commit(std::move(*consequence.decision));
  }
  if (!note_.empty())
    log::get().warn("{}", note_);
  tell(telling_);
  done();
}

/// The success of a stop is known when its operation ends: it is kept under the key of the first who waits for it.
void ContainerState::record_for_waiter(Decision& decision) const {
  for (const RowWrite& row : decision.rows) {
    const auto* const write = std::get_if<fleet::Write>(&row);
    const auto* const update = write ? std::get_if<fleet::UpdateOperation>(write) : nullptr;
    if (!update || update->row.kind != OperationKind::stop || update->row.state != OperationState::promoted)
      continue;
    const auto waiter = std::ranges::find_if(waiters_, [&](const Waiter& one) {
      return one.operation.id == update->row.id && one.call.asked->context.idempotency &&
             std::holds_alternative<StopSession>(one.call.command);
    });
    if (waiter != waiters_.end())
      rules::finish(decision, {200, render::stopped(*update->row.stop_session_id), std::nullopt, false},
                    rule_context(*waiter->call.asked));
  }
}

void ContainerState::decide(const Reconcile& reconcile) {
  rule::Consequence overdue = rule::expire(facts_, report_context());
  if (overdue.decision)
    return take(std::move(overdue));
  const FleetOptions& options = deps_->options.fleet;
  // The server that holds the Runner asks it.
  if (facts_.node && facts_.node->id == options.node.id) {
    tell(rule::questions(facts_, reconcile.arrived, options.ask_after_ms, report_context()));
    if (reconcile.arrived && facts_.live)
      send_pending_input();
  }
  done();
}

void ContainerState::decide(const Look&) {
  // What is in flight was noticed with the load. What is not any more has ended, and is looked up by its id.
  for (const Waiter& waiter : waiters_) {
    const auto is_it = [&](const Operation& open) { return open.id == waiter.operation.id; };
    if (std::ranges::any_of(facts_.open, is_it))
      continue;
    storage::LoadContainer question;
    question.name = name_;
    question.operation_id = waiter.operation.id;
    self_->request(deps_->store.loader, caf::infinite, std::move(question))
      .then(
        [this](const storage::ContainerLoaded& loaded) {
          if (loaded.facts.operation)
            notice(*loaded.facts.operation);
        },
        [](const caf::error&) {});
  }
  done();
}

void ContainerState::answer_secret(const RunnerSays& says) {
  const auto& key = deps_->options.fleet.master_key;
  wire::ToRunner message;
  message.request_id = says.message->request_id;
  message.operation_id = says.message->operation_id;
  message.container_attempt_id = says.message->container_attempt_id;
  wire::SecretAnswer secret;
  if (key && facts_.secret && rule::may_have_secrets(facts_, says)) {
    const auto value = key->open(facts_.secret->sealed, facts_.secret->account_id.str() + "/" + facts_.secret->name);
    secret = {value.has_value(), value.value_or("")};
    if (!value)
      log::get().error("a secret of account {} does not open with this master key", facts_.secret->account_id.str());
  }
  message.command = std::move(secret);
  tell({message});
  done();
}

void ContainerState::on_attempt_issued(const RunnerSays& says) {
  const auto& issued = std::get<wire::AttemptIssued>(says.message->report);
  const auto waiting =
    std::ranges::find_if(issuing_, [&](const Issuing& one) { return one.attempt.str() == issued.attempt_id; });
  if (waiting != issuing_.end()) {
    Call call = std::move(waiting->call);
    call.attempt = waiting->attempt;
    issuing_.erase(waiting);
    queue_.push_front({std::move(call)});
  }
  done();
}

void ContainerState::send_pending_input() {
  storage::FindTranscript question;
  question.session_id = facts_.live->session_id;
  question.after = facts_.live->input_through;
  question.limit = pending_input_max;
  question.only_input = true;
  const auto route = facts_;
  self_->request(deps_->store.log_reader, caf::infinite, question)
    .then(
      [this, binding = *facts_.live](const storage::TranscriptFound& found) {
        crash_point(CrashPoint::input_sent_again);
        std::vector<wire::ToRunner> lines;
        for (const TranscriptLine& line : found.lines)
          lines.push_back(rule::envelope(binding, line, report_context()));
        tell(lines);
      },
      [](const caf::error&) {});
}

void ContainerState::dispatch(const Operation& operation) {
  if (operation.kind != OperationKind::resume)
    return tell({rule::envelope(operation, 0, report_context())});
  send_with_body(self_, deps_, operation, [this, operation](std::vector<wire::ToRunner> parts) {
    crash_point(CrashPoint::resume_body_made);
    const auto count = std::ssize(parts);
    parts.push_back(rule::envelope(operation, count, report_context()));
    tell(parts);
  });
}

void ContainerState::tell(const std::vector<wire::ToRunner>& messages) {
  if (messages.empty() || !facts_.node || !facts_.runner)
    return;
  for (const wire::ToRunner& message : messages) {
    Deliver deliver{facts_.runner->id, facts_.runner->epoch, *facts_.node, message.request_id, {}, {}};
    deliver.about = Sent{message.operation_id, message.container_attempt_id, name_};
    deliver.envelopes.push_back(wire::encode(message));
    // Nothing hangs on the answer: what did not arrive is found out by asking the Runner, which knows.
    self_->request(hub_, caf::infinite, std::move(deliver)).then([](const Delivered&) {}, [](const caf::error&) {});
  }
}

void ContainerState::notice(const Operation& operation) {
  if (operation.in_flight())
    return;
  const auto ended = std::stable_partition(waiters_.begin(), waiters_.end(),
                                           [&](const Waiter& waiter) { return waiter.operation.id != operation.id; });
  std::vector<Waiter> answered(std::make_move_iterator(ended), std::make_move_iterator(waiters_.end()));
  waiters_.erase(ended, waiters_.end());
  for (Waiter& waiter : answered) {
    waiter.operation = operation;
    answer_waiter(waiter);
  }
}

void ContainerState::publish(const Decision& decision) {
  for (const RowWrite& row : decision.rows) {
    const auto* const write = std::get_if<fleet::Write>(&row);
    if (!write)
      continue;
    if (const auto* const update = std::get_if<fleet::UpdateOperation>(write))
      notice(update->row);
    if (const auto* const binding = std::get_if<fleet::UpdateBinding>(write))
      self_->send(herald_, TranscriptMoved{binding->row.session_id, binding->row.transcript_through});
  }
  self_->send(hub_, ContainerMoved{name_});
}

void ContainerState::remind_later() {
  if ((!waiters_.empty() || !issuing_.empty()) && !std::exchange(reminding_, true))
    self_->delayed_send(self_, look_span, Sweep{});
}

void ContainerState::remind() {
  reminding_ = false;
  const auto now = self_->clock().now();
  const auto late = std::stable_partition(waiters_.begin(), waiters_.end(),
                                          [now](const Waiter& waiter) { return waiter.deadline > now; });
  std::vector<Waiter> answered(std::make_move_iterator(late), std::make_move_iterator(waiters_.end()));
  waiters_.erase(late, waiters_.end());
  for (const Waiter& waiter : answered)
    answer_waiter(waiter);
  std::erase_if(issuing_, [now](const Issuing& one) {
    if (one.deadline <= now)
      one.call.asked->refuse({Code::runner_unavailable});
    return one.deadline <= now;
  });
  look();
  remind_later();
}

} // namespace cleat::actors
