#include "actors/thread.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "actors/rules/authorize.hpp"
#include "actors/rules/records.hpp"
#include "actors/rules/report.hpp"
#include "actors/rules/run.hpp"
#include "actors/rules/session.hpp"
#include "base/crash_points.hpp"

namespace cleat::actors {
namespace {

using storage::CommitOutcome;

/// How many principals' levels an owner remembers. More would be memory for people who seldom come back.
constexpr std::size_t levels_remembered = 8;

const RequestContext& context_of(const ThreadCommand& command) {
  return std::visit([](const auto& c) -> const RequestContext& { return c.context; }, command);
}

std::string_view action_of(const ThreadCommand& command) {
  if (const auto* const run = std::get_if<RunCommand>(&command)) {
    constexpr std::array<std::string_view, 8> operations{"run.start",  "run.wait",   "run.resume", "run.heartbeat",
                                                         "run.cancel", "run.finish", "run.post",   "run.expire"};
    static_assert(operations.size() == std::variant_size_v<RunOperation>);
    return operations.at(run->operation.index());
  }
  constexpr std::array<std::string_view, 5> actions{"agent_session.reset", "agent_session.bind", "agent_session.import",
                                                    "run.trigger", "agent_session.report"};
  return actions.at(command.index());
}

/// What a denial of the command is about.
rules::AuditResource resource_of(const ThreadCommand& command, const Id& thread_id) {
  if (const auto* const run = std::get_if<RunCommand>(&command))
    return {"run", run->run_id};
  return {"thread", thread_id};
}

/// Whether the command is decided on the thread's runs, which are never decided on memory.
bool is_about_runs(const ThreadCommand& command) {
  return std::holds_alternative<TriggerRun>(command) || std::holds_alternative<ReportSession>(command) ||
         std::holds_alternative<RunCommand>(command);
}

/// The reference that a command needs looked up.
std::optional<std::string> reference_of(const ThreadCommand& command) {
  if (const auto* const bind = std::get_if<BindSession>(&command))
    return bind->body ? std::optional(bind->body->external_session_ref) : std::nullopt;
  if (const auto* const report = std::get_if<ReportSession>(&command))
    return report->body ? report->body->external_session_ref : std::nullopt;
  const auto* const run = std::get_if<RunCommand>(&command);
  const auto* const start = run ? std::get_if<run_op::Start>(&run->operation) : nullptr;
  return start && start->body ? start->body->external_session_ref : std::nullopt;
}

/// The agent that a trigger names, or whose run is cancelled: the invoke guard asks about it.
std::optional<Id> addressed_agent(const ThreadCommand& command) {
  if (const auto* const trigger = std::get_if<TriggerRun>(&command))
    return trigger->body ? trigger->body->agent_id : std::nullopt;
  const auto* const run = std::get_if<RunCommand>(&command);
  return run && std::holds_alternative<run_op::Cancel>(run->operation) ? run->agent_id : std::nullopt;
}

/// The answer of a loader that gives none.
storage::ThreadLoaded unavailable() {
  storage::ThreadLoaded answer;
  answer.status = storage::ReadStatus::unavailable;
  return answer;
}

} // namespace

void ThreadState::init(const Id& thread_id, DependenciesPtr deps) {
  thread_id_ = thread_id;
  deps_ = std::move(deps);
}

AnswerPromise ThreadState::enqueue(ThreadCommand command) {
  auto promise = self_->make_response_promise<Answer>();
  abandon_overdue_round();
  if (static_cast<std::int64_t>(queue_.size()) >= deps_->options.thread_queue_max) {
    promise.deliver(Answer{cleat::refuse(Code::overloaded)});
    return promise;
  }
  auto asked = std::make_shared<Asked>(context_of(command), promise);
  queue_.push_back({std::move(command), std::move(asked)});
  start_round();
  return promise;
}

void ThreadState::start_round() {
  if (busy_ || queue_.empty())
    return;
  busy_ = true;
  ++round_number_;
  round_since_ = self_->clock().now();
  round_.swap(queue_);
  load(can_trust_memory());
}

void ThreadState::abandon_overdue_round() {
  if (!busy_ || self_->clock().now() - round_since_ < patience(*deps_))
    return;
  ++round_number_;
  refuse_round({committing_ ? Code::outcome_unknown : Code::unavailable});
}

bool ThreadState::can_trust_memory() const {
  // Without a current session nothing guards what has begun and ended meanwhile at another server, behind which a new
  // row has to sort.
  if (round_.size() != 1 || !facts_ || !facts_->operator_agent || !facts_->current)
    return false;
  const Waiting& only = round_.front();
  return only.attempts == 0 && !std::holds_alternative<ImportSessions>(only.command) && !is_about_runs(only.command) &&
         known_level(only.asked->context.actor->id).has_value();
}

void ThreadState::load(bool trust_memory) {
  storage::LoadThread question;
  question.thread_id = thread_id_;
  if (trust_memory)
    question.known_operator = facts_->operator_agent->id;
  for (Waiting& waiting : round_)
    waiting.places = ask_for(waiting, trust_memory, question);
  if (trust_memory && question.references.empty())
    return decide_round({}, true);
  if (!trust_memory && facts_)
    deps_->metrics->revalidations.Increment();
  // Storage bounds its own answers, and a round that is overdue is abandoned, so no timer is set (decision 0010).
  self_->request(deps_->store.loader, caf::infinite, std::move(question))
    .then([this, trust_memory,
           round = round_number_](const storage::ThreadLoaded& loaded) { on_loaded(round, loaded, trust_memory); },
          [this, trust_memory, round = round_number_](const caf::error&) {
            on_loaded(round, unavailable(), trust_memory);
          });
}

Places ThreadState::ask_for(const Waiting& waiting, bool trust_memory, storage::LoadThread& question) {
  Places places;
  const Id& principal = waiting.asked->context.actor->id;
  places.actor = question.principals.size();
  if (!trust_memory)
    question.principals.push_back(principal);
  if (auto reference = reference_of(waiting.command)) {
    places.reference = question.references.size();
    question.references.push_back({principal, std::move(*reference)});
  }
  places.named = question.named.size();
  if (const auto agent = addressed_agent(waiting.command)) {
    question.named.push_back(*agent);
    places.named_level = question.principals.size();
    question.principals.push_back(*agent);
  }
  if (const auto* const import = std::get_if<ImportSessions>(&waiting.command)) {
    question.with_sessions = true;
    if (import->body)
      for (const ImportItem& item : import->body->items)
        question.named.push_back(item.agent_id);
  }
  if (const auto* const run = std::get_if<RunCommand>(&waiting.command)) {
    places.run = question.run_ids.size();
    question.run_ids.push_back(run->run_id);
  }
  question.with_runs = question.with_runs || is_about_runs(waiting.command);
  return places;
}

void ThreadState::on_loaded(std::uint64_t round, const storage::ThreadLoaded& loaded, bool trusted_memory) {
  if (round != round_number_)
    return;
  if (loaded.status != storage::ReadStatus::ok)
    return refuse_round({Code::unavailable});
  if (!trusted_memory) {
    facts_ = loaded.facts;
    levels_.clear();
    for (const Waiting& waiting : round_)
      if (const Id& principal = waiting.asked->context.actor->id;
          levels_.size() < levels_remembered && !known_level(principal))
        levels_.emplace_back(principal, loaded.levels.at(waiting.places.actor));
  }
  if (!facts_)
    return refuse_round({Code::not_found});
  decide_round(loaded, trusted_memory);
}

void ThreadState::decide_round(const storage::ThreadLoaded& loaded, bool trusted_memory) {
  while (!round_.empty()) {
    Waiting& waiting = round_.front();
    auto decision = decide(waiting, loaded, trusted_memory);
    if (decision)
      return commit(std::move(*decision));
    if (trusted_memory)
      return load(false); // a refusal must be true: look before saying no
    refuse(std::move(waiting), std::move(decision.error()));
    round_.pop_front();
  }
  end_round();
}

Result<Decision> ThreadState::decide(const Waiting& waiting, const storage::ThreadLoaded& loaded, bool trusted_memory) {
  const Places& places = waiting.places;
  const Level level = trusted_memory ? known_level(waiting.asked->context.actor->id).value_or(Level::none)
                                     : loaded.levels.at(places.actor);
  if (is_about_runs(waiting.command))
    return decide_run(waiting, loaded, level);
  const rules::ThreadView thread{*facts_, level};
  const rules::RuleContext context{waiting.asked->context, deps_->clock->now(), *deps_->ids, deps_->options.rules};
  if (const auto* const reset = std::get_if<ResetSession>(&waiting.command))
    return rules::reset(thread, *reset, context);
  if (const auto* const bind = std::get_if<BindSession>(&waiting.command)) {
    std::optional<ReferenceFacts> reference;
    if (places.reference)
      reference = loaded.references.at(*places.reference);
    return rules::bind(thread, reference, *bind, context);
  }
  const auto& import = std::get<ImportSessions>(waiting.command);
  std::vector<std::optional<Principal>> named;
  if (import.body)
    for (std::size_t i = 0; i < import.body->items.size(); ++i)
      named.push_back(loaded.named.at(*places.named + i));
  return rules::import_sessions(thread, loaded.sessions, named, import, context);
}

Result<Decision> ThreadState::decide_run(const Waiting& waiting, const storage::ThreadLoaded& loaded, Level level) {
  const Places& places = waiting.places;
  rules::RunView view{*facts_, *loaded.run_facts, level};
  if (places.run)
    view.run = loaded.runs.at(*places.run);
  if (places.named_level) {
    view.agent = loaded.named.at(*places.named);
    view.agent_level = loaded.levels.at(*places.named_level);
  }
  if (places.reference)
    view.reference = loaded.references.at(*places.reference);
  // Runs live by the database's clock, whichever server works on them.
  const rules::RuleContext context{waiting.asked->context, view.runs.now, *deps_->ids, deps_->options.rules};
  if (const auto* const trigger = std::get_if<TriggerRun>(&waiting.command))
    return rules::trigger(view, *trigger, context);
  if (const auto* const report = std::get_if<ReportSession>(&waiting.command))
    return rules::report(view, *report, context);
  const auto& command = std::get<RunCommand>(waiting.command);
  auto decision = rules::operate(view, command, context);
  if (decision && rules::starts_without_its_session(view, command, *decision))
    note_ = "run " + command.run_id.str() + " of thread " + thread_id_.str() +
            " starts without a session, because its reference is current elsewhere";
  return decision;
}

void ThreadState::refuse(Waiting waiting, Refusal refusal) {
  std::optional<AuditEntry> denial;
  if (rules::is_denial(refusal, facts_.has_value())) {
    const rules::RuleContext context{waiting.asked->context, deps_->clock->now(), *deps_->ids, deps_->options.rules};
    denial = rules::deny_entry(action_of(waiting.command), resource_of(waiting.command, thread_id_), refusal, context);
  }
  refuse_truly(self_, deps_, std::move(waiting.asked), std::move(refusal), std::move(denial));
}

void ThreadState::commit(Decision decision) {
  committing_ = std::make_shared<const Decision>(std::move(decision));
  crash_point(CrashPoint::thread_decided);
  self_->request(deps_->store.writer, caf::infinite, storage::Commit{committing_})
    .then([this, round = round_number_](const storage::CommitResult& result) { on_committed(round, result.outcome); },
          [this, round = round_number_](const caf::error&) { on_committed(round, CommitOutcome::unknown); });
}

void ThreadState::on_committed(std::uint64_t round, CommitOutcome outcome) {
  if (round != round_number_)
    return;
  deps_->metrics->decisions.Add({{"outcome", std::string(storage::to_string(outcome))}}).Increment();
  const auto decision = std::move(committing_);
  const std::string note = std::exchange(note_, {});
  if (outcome == CommitOutcome::stale || outcome == CommitOutcome::lost_race)
    return decide_again();
  const Waiting done = std::move(round_.front());
  round_.pop_front();
  if (outcome == CommitOutcome::committed) {
    crash_point(CrashPoint::thread_committed);
    rules::adopt(*facts_, *decision);
    if (!note.empty())
      log::get().warn("{}", note);
    done.asked->reply(decision->reply);
    return end_round();
  }
  // Whatever happened, memory may be behind the database now.
  facts_.reset();
  if (outcome == CommitOutcome::key_used)
    answer_from_key(self_, deps_, done.asked, [asked = done.asked] { asked->refuse({Code::idempotency_in_progress}); });
  else
    done.asked->refuse(refusal_of(outcome));
  end_round();
}

void ThreadState::decide_again() {
  facts_.reset();
  Waiting& waiting = round_.front();
  if (++waiting.attempts > deps_->options.tx_retry_max) {
    waiting.asked->refuse(refusal_of(CommitOutcome::stale));
    round_.pop_front();
  }
  end_round();
}

void ThreadState::refuse_round(const Refusal& refusal) {
  for (Waiting& waiting : round_)
    waiting.asked->refuse(refusal);
  round_.clear();
  committing_.reset();
  note_.clear();
  facts_.reset();
  end_round();
}

void ThreadState::end_round() {
  // What the round did not come to goes first, in its order; its next load sees the commit it waited behind.
  queue_.splice(queue_.begin(), round_);
  busy_ = false;
  start_round();
}

std::optional<Level> ThreadState::known_level(const Id& principal_id) const {
  const auto known =
    std::find_if(levels_.begin(), levels_.end(), [&](const auto& entry) { return entry.first == principal_id; });
  return known == levels_.end() ? std::nullopt : std::optional(known->second);
}

thread_actor::behavior_type thread(ThreadState::Self self, const Id& thread_id, DependenciesPtr deps) {
  self->state.init(thread_id, std::move(deps));
  return {
    [self](ResetSession& command) { return self->state.enqueue(std::move(command)); },
    [self](BindSession& command) { return self->state.enqueue(std::move(command)); },
    [self](ImportSessions& command) { return self->state.enqueue(std::move(command)); },
    [self](TriggerRun& command) { return self->state.enqueue(std::move(command)); },
    [self](ReportSession& command) { return self->state.enqueue(std::move(command)); },
    [self](RunCommand& command) { return self->state.enqueue(std::move(command)); },
  };
}

} // namespace cleat::actors
