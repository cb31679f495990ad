#include "actors/directory.hpp"

#include <memory>
#include <string>
#include <utility>

#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/answering.hpp"
#include "actors/rules/authorize.hpp"
#include "actors/rules/directory.hpp"
#include "actors/rules/session.hpp"
#include "base/crash_points.hpp"
#include "base/random.hpp"
#include "protocol/render.hpp"
#include "protocol/render_fleet.hpp"

namespace cleat::actors {
namespace {

using storage::CommitOutcome;
using storage::ReadStatus;

/// A command on its way: load, decide, commit or read.
struct Task {
  std::shared_ptr<Asked> asked;
  DirectoryOperation operation;
  rules::Secret secret;
  std::int64_t attempts = 0;
};

using TaskPtr = std::shared_ptr<Task>;
using LogPromise = caf::typed_response_promise<LogAnswer>;

using TranscriptPromise = caf::typed_response_promise<TranscriptAnswer>;

/// A fresh secret for a new token; the sealed value of an account's secret, where there is a key to seal it with.
rules::Secret prepare_secret(const DirectoryOperation& operation, const MasterKey* key) {
  rules::Secret secret;
  if (std::holds_alternative<op::CreateToken>(operation) || std::holds_alternative<op::CreateRunnerToken>(operation)) {
    secret.text = new_secret();
    secret.digest = sha256(secret.text);
  }
  if (const auto* const put = std::get_if<op::PutAccountSecret>(&operation); put != nullptr && put->body && key)
    secret.sealed = key->seal(put->body->value, secret_place(put->account_id, put->name));
  return secret;
}

/// The fingerprint of a request is kept with its Idempotency-Key. That of a secret is blinded, because it would help
/// whoever reads the database to guess what was sealed.
void blind_fingerprint(DirectoryCommand& command, const MasterKey* key) {
  if (!std::holds_alternative<op::PutAccountSecret>(command.operation) || !command.context.idempotency || !key)
    return;
  Digest& fingerprint = command.context.idempotency->fingerprint;
  fingerprint = key->blind({reinterpret_cast<const char*>(fingerprint.data()), fingerprint.size()});
}

class DirectoryState {
public:
  using Self = directory_actor::stateful_pointer<DirectoryState>;

  explicit DirectoryState(Self self) : self_(self) {}

  void init(DependenciesPtr deps) { deps_ = std::move(deps); }

  AnswerPromise run(DirectoryCommand command) {
    auto promise = self_->make_response_promise<Answer>();
    const MasterKey* const key = deps_->options.fleet.master_key.get();
    blind_fingerprint(command, key);
    auto asked = std::make_shared<Asked>(std::move(command.context), promise);
    rules::Secret secret = prepare_secret(command.operation, key);
    load(std::make_shared<Task>(Task{std::move(asked), std::move(command.operation), std::move(secret)}));
    return promise;
  }

  AnswerPromise list_sessions(ListSessions command) {
    auto promise = self_->make_response_promise<Answer>();
    auto asked = std::make_shared<Asked>(std::move(command.context), promise);
    storage::LoadThread question;
    question.thread_id = command.thread_id;
    question.principals.push_back(asked->context.actor->id);
    question.with_sessions = true;
    self_->request(deps_->store.loader, patience(*deps_), std::move(question))
      .then([this, asked](const storage::ThreadLoaded& loaded) { on_history(asked, loaded); },
            [asked](const caf::error&) { asked->refuse({Code::unavailable}); });
    return promise;
  }

  /// What the actor may see of the event log at this moment.
  LogPromise read_events(ReadEvents command) {
    auto promise = self_->make_response_promise<LogAnswer>();
    const storage::FindEvents question{command.context.actor->id, std::move(command.filter), command.after,
                                       command.limit};
    self_->request(deps_->store.log_reader, patience(*deps_), question)
      .then([promise](const storage::EventsFound& found) mutable { promise.deliver(items_of(found, render::event)); },
            [promise](const caf::error&) mutable { promise.deliver(LogAnswer{cleat::refuse(Code::unavailable)}); });
    return promise;
  }

  /// An agent's own events. Nobody else has any.
  LogPromise read_agent_events(ReadAgentEvents command) {
    auto promise = self_->make_response_promise<LogAnswer>();
    if (command.context.actor->kind != PrincipalKind::agent) {
      deny_agent_events(command.context, promise);
      return promise;
    }
    const storage::FindAgentEvents question{command.context.actor->id, command.after, command.limit};
    self_->request(deps_->store.log_reader, patience(*deps_), question)
      .then(
        [promise](const storage::AgentEventsFound& found) mutable {
          promise.deliver(items_of(found, render::agent_event));
        },
        [promise](const caf::error&) mutable { promise.deliver(LogAnswer{cleat::refuse(Code::unavailable)}); });
    return promise;
  }

  /// What was said and told in a session that is live and the actor's, or that it has begun to read when it was.
  TranscriptPromise read_transcript(ReadTranscript command) {
    auto promise = self_->make_response_promise<TranscriptAnswer>();
    storage::FindTranscript question;
    question.session_id = command.session_id;
    question.principal_id = command.context.actor->id;
    question.lifetime = command.lifetime;
    question.after = command.after;
    question.limit = command.limit;
    self_->request(deps_->store.log_reader, patience(*deps_), std::move(question))
      .then([this, promise, command](
              const storage::TranscriptFound& found) mutable { on_transcript(command, found, std::move(promise)); },
            [promise](const caf::error&) mutable { promise.deliver(no_transcript({Code::unavailable})); });
    return promise;
  }

  static constexpr const char* name = "cleat.directory";

private:
  template <class Found, class Render>
  static LogAnswer items_of(const Found& found, Render render_one) {
    if (found.status != ReadStatus::ok)
      return LogAnswer{cleat::refuse(Code::unavailable)};
    LogItems items;
    items.next_after = found.next_after;
    for (const auto& logged : found.events)
      items.items.push_back({logged.seq, logged.event.type, render_one(logged.seq, logged.event)});
    return LogAnswer{std::move(items)};
  }

  void deny_agent_events(const RequestContext& request, LogPromise promise) {
    const Refusal refusal{Code::forbidden, Reason::actor_not_agent};
    const rules::RuleContext context{request, deps_->clock->now(), *deps_->ids, deps_->options.rules};
    refuse_audited(
      self_, deps_, rules::deny_entry("agent_events.poll", {"principal", request.actor->id}, refusal, context), refusal,
      [promise](Refusal told) mutable { promise.deliver(LogAnswer{tl::unexpected<Refusal>(std::move(told))}); });
  }

  static TranscriptAnswer no_transcript(Refusal refusal) {
    return {tl::unexpected<Refusal>(std::move(refusal)), {}, false};
  }

  void on_transcript(const ReadTranscript& command, const storage::TranscriptFound& found, TranscriptPromise promise) {
    if (found.status != ReadStatus::ok) {
      promise.deliver(no_transcript({Code::unavailable}));
      return;
    }
    if (!found.visible)
      return deny_transcript(command, std::move(promise));
    LogItems items;
    items.next_after = found.lines.empty() ? command.after : found.lines.back().seq;
    for (const TranscriptLine& line : found.lines)
      items.items.push_back({line.seq, "transcript.line", render::transcript_line(line)});
    // A lifetime that is over says nothing more, so a read that is not full has come to its end. A resumed session has
    // a new lifetime; its readers come back for it with the last line that they have.
    const bool other = command.lifetime && found.lifetime != *command.lifetime;
    items.ended = other || (!found.live && std::ssize(found.lines) < command.limit);
    promise.deliver(TranscriptAnswer{std::move(items), found.lifetime, found.live});
  }

  /// Unknown, foreign, stopped or stale is all the same to the caller. The audit log gets an entry where the session is
  /// in somebody else's container.
  void deny_transcript(const ReadTranscript& command, TranscriptPromise promise) {
    storage::LocateContainer question;
    question.session_id = command.session_id;
    self_->request(deps_->store.loader, patience(*deps_), std::move(question))
      .then(
        [this, promise, command](const storage::ContainerLocated& located) mutable {
          if (located.status != ReadStatus::ok)
            promise.deliver(no_transcript({Code::unavailable}));
          else if (located.name)
            deny_transcript_in(*located.name, command, std::move(promise));
          else
            promise.deliver(no_transcript({Code::not_found}));
        },
        [promise](const caf::error&) mutable { promise.deliver(no_transcript({Code::unavailable})); });
  }

  void deny_transcript_in(const std::string& container, const ReadTranscript& command, TranscriptPromise promise) {
    storage::LoadDirectory question;
    question.actor_id = command.context.actor->id;
    question.container_name = container;
    question.node_timeout_s = deps_->options.fleet.node_timeout_s;
    self_->request(deps_->store.librarian, patience(*deps_), std::move(question))
      .then(
        [this, promise, command](const storage::DirectoryLoaded& loaded) mutable {
          if (loaded.status != ReadStatus::ok)
            promise.deliver(no_transcript({Code::unavailable}));
          else
            record_foreign(loaded.facts, command.context, std::move(promise));
        },
        [promise](const caf::error&) mutable { promise.deliver(no_transcript({Code::unavailable})); });
  }

  void record_foreign(const DirectoryFacts& facts, const RequestContext& request, TranscriptPromise promise) {
    const Refusal refusal{Code::not_found};
    // A container that is gone and a session of one's own that is over deny nothing: there is nothing to see.
    if (!facts.container || !facts.account || facts.account->actor_id == request.actor->id) {
      promise.deliver(no_transcript(refusal));
      return;
    }
    const rules::RuleContext context{request, deps_->clock->now(), *deps_->ids, deps_->options.rules};
    refuse_audited(self_, deps_,
                   rules::deny_entry("transcript.read", {"container", facts.container->id}, refusal, context), refusal,
                   [promise](Refusal told) mutable { promise.deliver(no_transcript(std::move(told))); });
  }

  [[nodiscard]] rules::RuleContext context_of(const Asked& asked) const {
    return {asked.context, deps_->clock->now(), *deps_->ids, deps_->options.rules};
  }

  void load(const TaskPtr& task) {
    const rules::Targets targets = rules::targets(task->operation);
    storage::LoadDirectory question;
    question.actor_id = task->asked->context.actor->id;
    question.space_id = targets.space_id;
    question.channel_id = targets.channel_id;
    question.thread_id = targets.thread_id;
    question.subject_id = targets.subject_id;
    question.token_id = targets.token_id;
    question.referred_id = targets.referred_id;
    question.run_id = targets.run_id;
    question.account_id = targets.account_id;
    question.secret_name = targets.secret_name;
    question.runner_id = targets.runner_id;
    question.runner_token_id = targets.runner_token_id;
    question.container_name = targets.container_name;
    question.node_timeout_s = deps_->options.fleet.node_timeout_s;
    self_->request(deps_->store.librarian, patience(*deps_), std::move(question))
      .then([this, task](const storage::DirectoryLoaded& loaded) { on_loaded(task, loaded); },
            [task](const caf::error&) { task->asked->refuse({Code::unavailable}); });
  }

  void on_loaded(const TaskPtr& task, const storage::DirectoryLoaded& loaded) {
    if (loaded.status != ReadStatus::ok)
      return task->asked->refuse({Code::unavailable});
    auto step = rules::decide(task->operation, loaded.facts, task->secret, context_of(*task->asked));
    if (!step)
      return refuse(task, loaded.facts, std::move(step.error()));
    if (auto* const decision = std::get_if<Decision>(&*step))
      return commit(task, std::make_shared<const Decision>(std::move(*decision)));
    if (auto* const reply = std::get_if<Reply>(&*step))
      return task->asked->reply(std::move(*reply));
    read(task, std::get<rules::ReadList>(std::move(*step)));
  }

  void refuse(const TaskPtr& task, const DirectoryFacts& facts, Refusal refusal) {
    const RequestContext& request = task->asked->context;
    const rules::AuditSubject subject = rules::audit_subject(task->operation, facts, *request.actor);
    std::optional<AuditEntry> denial;
    if (rules::is_denial(refusal, subject.resource.has_value()) && subject.resource)
      denial = rules::deny_entry(subject.action, *subject.resource, refusal, context_of(*task->asked));
    refuse_truly(self_, deps_, task->asked, std::move(refusal), std::move(denial));
  }

  void commit(const TaskPtr& task, const std::shared_ptr<const Decision>& decision) {
    crash_point(CrashPoint::directory_decided);
    self_->request(deps_->store.writer, patience(*deps_), storage::Commit{decision})
      .then(
        [this, task, decision](const storage::CommitResult& result) { on_committed(task, *decision, result.outcome); },
        [task](const caf::error&) { task->asked->refuse({Code::outcome_unknown}); });
  }

  void on_committed(const TaskPtr& task, const Decision& decision, CommitOutcome outcome) {
    deps_->metrics->decisions.Add({{"outcome", std::string(storage::to_string(outcome))}}).Increment();
    const bool again = outcome == CommitOutcome::stale || outcome == CommitOutcome::lost_race;
    if (outcome == CommitOutcome::committed)
      crash_point(CrashPoint::directory_committed);
    if (outcome == CommitOutcome::committed)
      task->asked->reply(decision.reply);
    else if (outcome == CommitOutcome::key_used)
      answer_from_key(self_, deps_, task->asked,
                      [asked = task->asked] { asked->refuse({Code::idempotency_in_progress}); });
    else if (again && ++task->attempts <= deps_->options.tx_retry_max)
      load(task);
    else
      task->asked->refuse(refusal_of(outcome));
  }

  void read(const TaskPtr& task, rules::ReadList list) {
    self_
      ->request(deps_->store.librarian, patience(*deps_),
                storage::ReadPage{std::move(list.query), deps_->options.fleet.node_timeout_s})
      .then([this, task, limit = list.limit](const storage::PageRead& page) { on_page(task, page, limit); },
            [task](const caf::error&) { task->asked->refuse({Code::unavailable}); });
  }

  void on_page(const TaskPtr& task, const storage::PageRead& page, std::int64_t limit) {
    if (page.status != ReadStatus::ok)
      return task->asked->refuse({Code::unavailable});
    const bool me = std::holds_alternative<op::GetMe>(task->operation);
    std::string body = me ? render::me(*task->asked->context.actor, std::get<std::vector<Grant>>(page.rows), limit)
                          : render::page(page.rows, limit, task->asked->context.actor->id);
    task->asked->reply({200, std::move(body), std::nullopt, false});
  }

  void on_history(const std::shared_ptr<Asked>& asked, const storage::ThreadLoaded& loaded) {
    if (loaded.status != ReadStatus::ok)
      return asked->refuse({Code::unavailable});
    if (!loaded.facts)
      return asked->refuse({Code::not_found});
    auto reply = rules::list({*loaded.facts, loaded.levels.front()}, loaded.sessions);
    if (reply)
      return asked->reply(std::move(*reply));
    AuditEntry denial =
      rules::deny_entry("agent_session.read", {"thread", loaded.facts->thread.id}, reply.error(), context_of(*asked));
    refuse_truly(self_, deps_, asked, std::move(reply.error()), std::move(denial));
  }

  Self self_;
  DependenciesPtr deps_;
};

directory_actor::behavior_type directory(DirectoryState::Self self, DependenciesPtr deps) {
  self->state.init(std::move(deps));
  return {
    [self](DirectoryCommand& command) { return self->state.run(std::move(command)); },
    [self](ListSessions& command) { return self->state.list_sessions(std::move(command)); },
    [self](ReadEvents& command) { return self->state.read_events(std::move(command)); },
    [self](ReadAgentEvents& command) { return self->state.read_agent_events(std::move(command)); },
    [self](ReadTranscript& command) { return self->state.read_transcript(std::move(command)); },
  };
}

} // namespace

directory_actor spawn_directory(caf::actor_system& system, DependenciesPtr deps) {
  return system.spawn(directory, std::move(deps));
}

} // namespace cleat::actors
