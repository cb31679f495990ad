/// The writer: collects decisions while a transaction is in flight and commits what has come as the next one.
#include <deque>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <caf/atom.hpp>
#include <caf/make_message.hpp>
#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include "base/log.hpp"
#include "storage/pg/batching.hpp"
#include "storage/pg/committer.hpp"
#include "storage/postgres_actors.hpp"

namespace cleat::storage {
namespace {

/// The writer as it knows itself. Its first waiting request sends it a flush; that arrives behind everything that is in
/// the mailbox by then, so one flush commits all of it, and no timer is needed.
using writer_self = writer_actor::extend<caf::reacts_to<caf::flush_atom>>;
using Promise = caf::typed_response_promise<CommitResult>;

struct PendingCommit {
  std::shared_ptr<const Decision> decision;
  Promise promise;
};

struct WriterState {
  const char* name = "postgres_writer";
  writer_self::pointer self = nullptr;
  std::optional<pg::Committer> committer;
  std::int64_t max_batch = 0;
  std::int64_t max_pending = 0;
  std::deque<PendingCommit> commits;
  pg::DenialCounts denials;
  std::vector<Promise> denial_promises;
  bool flushing = false;

  caf::result<CommitResult> on_commit(Commit& request);
  caf::result<CommitResult> on_denial(const RecordDenial& request);
  void on_flush();
  void await_flush();
  std::vector<PendingCommit> next_batch();
  void commit_batch();
  void count_denials();
  void answer_all(CommitOutcome outcome);
};

caf::result<CommitResult> WriterState::on_commit(Commit& request) {
  if (std::ssize(commits) >= max_pending)
    return CommitResult{CommitOutcome::unavailable};
  auto promise = self->make_response_promise<CommitResult>();
  commits.push_back({std::move(request.decision), promise});
  await_flush();
  return promise;
}

caf::result<CommitResult> WriterState::on_denial(const RecordDenial& request) {
  if (std::ssize(denial_promises) >= max_pending)
    return CommitResult{CommitOutcome::unavailable};
  auto promise = self->make_response_promise<CommitResult>();
  denials.add(request);
  denial_promises.push_back(promise);
  await_flush();
  return promise;
}

void WriterState::await_flush() {
  if (!flushing)
    self->send(self, caf::flush_atom_v);
  flushing = true;
}

void WriterState::on_flush() {
  flushing = false;
  try {
    if (!committer->reachable()) {
      answer_all(CommitOutcome::unavailable);
      return;
    }
    if (!denial_promises.empty())
      count_denials();
    if (!commits.empty())
      commit_batch();
  } catch (const std::exception& error) {
    // Nobody may wait for an answer that never comes; what was committed is not known here.
    log::get().error("writer: {}", error.what());
    answer_all(CommitOutcome::unknown);
  }
  if (!commits.empty())
    await_flush();
}

std::vector<PendingCommit> WriterState::next_batch() {
  std::vector<PendingCommit> batch;
  std::deque<PendingCommit> waiting;
  pg::BatchChooser chooser;
  while (!commits.empty() && std::ssize(batch) < max_batch) {
    const bool fits = chooser.take(*commits.front().decision);
    if (fits)
      batch.push_back(std::move(commits.front()));
    else
      waiting.push_back(std::move(commits.front()));
    commits.pop_front();
  }
  commits.insert(commits.begin(), std::move_iterator(waiting.begin()), std::move_iterator(waiting.end()));
  return batch;
}

void WriterState::commit_batch() {
  auto batch = next_batch();
  std::vector<const Decision*> decisions;
  for (const PendingCommit& item : batch)
    decisions.push_back(item.decision.get());
  std::vector<CommitOutcome> outcomes(batch.size(), CommitOutcome::unknown);
  try {
    outcomes = committer->commit(decisions);
  } catch (const std::exception& error) {
    log::get().error("writer: a batch failed: {}", error.what());
  }
  for (std::size_t i = 0; i < batch.size(); ++i)
    batch[i].promise.deliver(CommitResult{outcomes[i]});
}

void WriterState::count_denials() {
  const auto outcome = committer->count(denials);
  denials = {};
  for (Promise& promise : std::exchange(denial_promises, {}))
    promise.deliver(CommitResult{outcome});
}

void WriterState::answer_all(CommitOutcome outcome) {
  denials = {};
  for (Promise& promise : std::exchange(denial_promises, {}))
    promise.deliver(CommitResult{outcome});
  for (PendingCommit& item : std::exchange(commits, {}))
    item.promise.deliver(CommitResult{outcome});
}

writer_self::behavior_type writer(writer_self::stateful_pointer<WriterState> self, const DatabaseOptions& options,
                                  const std::shared_ptr<Metrics>& metrics) {
  WriterState& state = self->state;
  state.self = self;
  state.committer.emplace(options, metrics);
  state.max_batch = options.max_batch;
  state.max_pending = options.max_pending;
  return {
    [&state](Commit& request) { return state.on_commit(request); },
    [&state](const RecordDenial& request) { return state.on_denial(request); },
    [&state](caf::flush_atom) { state.on_flush(); },
  };
}

} // namespace

writer_actor spawn_postgres_writer(caf::actor_system& system, const DatabaseOptions& options,
                                   const std::shared_ptr<Metrics>& metrics) {
  return system.spawn<caf::detached>(writer, options, metrics);
}

} // namespace cleat::storage
