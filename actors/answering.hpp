#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "actors/dependencies.hpp"
#include "actors/interfaces.hpp"
#include "base/log.hpp"

/// How owners answer: what a commit outcome means for a client, and what comes before a refusal is sent.
namespace cleat::actors {

using AnswerPromise = caf::typed_response_promise<Answer>;

/// How long an actor waits for storage. Past it a read did not happen and a write is unknown (spec 02, invariant 5).
inline std::chrono::seconds patience(const Dependencies& deps) {
  return std::chrono::seconds(deps.options.request_timeout_s);
}

/// A request that waits for its answer. It is always given one: an owner that dies of an exception lets its requests
/// go, and their callers must not wait for their time to run out.
class Asked {
public:
  Asked(RequestContext asked_by, AnswerPromise to) : context(std::move(asked_by)), promise_(std::move(to)) {}
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

  ~Asked() {
    if (promise_.pending())
      refuse({Code::outcome_unknown});
  }

  void answer(Answer answer) { promise_.deliver(std::move(answer)); }
  void reply(Reply reply) { answer(Answer{std::move(reply)}); }
  void refuse(Refusal refusal) { answer(Answer{tl::unexpected<Refusal>(std::move(refusal))}); }

  const RequestContext context;

private:
  AnswerPromise promise_;
};

/// Whether an earlier success under the same key may be the answer instead of this refusal. Visibility is checked
/// again before a replay (spec 05), so a 404 stands; a body that does not validate cannot have succeeded.
inline bool may_be_replayed(const RequestContext& context, const Refusal& refusal) {
  return context.idempotency && refusal.code != Code::not_found && refusal.code != Code::validation_failed &&
         refusal.code != Code::malformed_json;
}

/// The stored answer for the same request, or the refusal to use a key twice (spec 05).
inline Answer replay(const RequestContext& context, const IdempotencyRecord& record) {
  if (!equal_constant_time(record.key.fingerprint, context.idempotency->fingerprint))
    return Answer{cleat::refuse(Code::idempotency_key_reuse)};
  Reply reply = record.reply;
  reply.replay = true;
  return Answer{std::move(reply)};
}

/// What a client is told about an outcome that is neither a success nor a reason to decide again.
inline Refusal refusal_of(storage::CommitOutcome outcome) {
  using storage::CommitOutcome;
  switch (outcome) {
    case CommitOutcome::unavailable:
      return {Code::unavailable};
    case CommitOutcome::unknown:
      return {Code::outcome_unknown};
    case CommitOutcome::stale:
    case CommitOutcome::lost_race:
      return {Code::overloaded}; // decided again until tx_retry_max: the contention is not ours to win now
    case CommitOutcome::committed:
    case CommitOutcome::key_used:
    case CommitOutcome::failed:
      break;
  }
  return {Code::internal};
}

/// Sends the refusal once its denial is in the audit log. A denial that cannot be recorded is no answer: the client
/// is told that the database is away (spec 03 section 2: every denial is audited).
template <class Self, class Refuse>
void refuse_audited(Self* self, const DependenciesPtr& deps, AuditEntry denial, Refusal refusal, Refuse refuse) {
  deps->metrics->denials.Increment();
  self
    ->request(deps->store.writer, patience(*deps),
              storage::RecordDenial{std::move(denial), deps->options.deny_aggregate_window_s})
    .then(
      [refuse, refusal](const storage::CommitResult& result) mutable {
        const bool recorded = result.outcome == storage::CommitOutcome::committed;
        refuse(recorded ? refusal : Refusal{Code::unavailable});
      },
      [refuse](const caf::error&) mutable { refuse(Refusal{Code::unavailable}); });
}

/// Answers with what was stored under the request's key; `otherwise` runs when nothing was.
template <class Self, class Otherwise>
void answer_from_key(Self* self, const DependenciesPtr& deps, std::shared_ptr<Asked> asked, Otherwise otherwise) {
  const IdempotencyKey& key = *asked->context.idempotency;
  self->request(deps->store.loader, patience(*deps), storage::FindIdempotency{key.principal_id, key.key})
    .then(
      [asked, otherwise](const storage::IdempotencyFound& found) {
        if (found.status != storage::ReadStatus::ok)
          asked->refuse({Code::unavailable});
        else if (found.record)
          asked->answer(replay(asked->context, *found.record));
        else
          otherwise();
      },
      [asked](const caf::error&) { asked->refuse({Code::unavailable}); });
}

/// Refuses, but not before it is certain that the same request did not succeed earlier under its key, and that a
/// denial is audited.
template <class Self>
void refuse_truly(Self* self, const DependenciesPtr& deps, std::shared_ptr<Asked> asked, Refusal refusal,
                  std::optional<AuditEntry> denial) {
  const bool replayable = may_be_replayed(asked->context, refusal);
  auto finally = [self, deps, asked, refusal = std::move(refusal), denial = std::move(denial)] {
    if (denial)
      refuse_audited(self, deps, *denial, refusal, [asked](Refusal told) { asked->refuse(std::move(told)); });
    else
      asked->refuse(refusal);
  };
  if (replayable)
    answer_from_key(self, deps, asked, std::move(finally));
  else
    finally();
}

} // namespace cleat::actors
