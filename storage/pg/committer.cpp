#include "storage/pg/committer.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/crash_points.hpp"
#include "base/log.hpp"
#include "base/time.hpp"
#include "storage/pg/commit_plan.hpp"
#include "storage/pg/statements.hpp"

namespace cleat::storage::pg {
namespace {

using Steady = std::chrono::steady_clock;

double seconds_since(Steady::time_point start) {
  return std::chrono::duration<double>(Steady::now() - start).count();
}

std::vector<const Decision*> select(std::span<const Decision* const> batch, const std::vector<std::size_t>& numbers) {
  std::vector<const Decision*> selected;
  selected.reserve(numbers.size());
  for (const std::size_t number : numbers)
    selected.push_back(batch[number]);
  return selected;
}

/// Writes the outcomes of what was refused and leaves the numbers of what was not.
void take_out_refused(std::vector<std::size_t>& open, const std::vector<std::optional<CommitOutcome>>& refusals,
                      std::vector<CommitOutcome>& outcomes) {
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (refusals[i])
      outcomes[open[i]] = *refusals[i];
    else
      rest.push_back(open[i]);
  }
  open = std::move(rest);
}

} // namespace

Committer::Committer(DatabaseOptions options, std::shared_ptr<Metrics> metrics)
  : database_(std::move(options), statements::writer, std::move(metrics)) {}

std::vector<CommitOutcome> Committer::commit(std::span<const Decision* const> batch) {
  std::vector<CommitOutcome> outcomes(batch.size(), CommitOutcome::unavailable);
  std::vector<std::size_t> open(batch.size());
  std::iota(open.begin(), open.end(), std::size_t{0});
  const auto settle = [&](CommitOutcome outcome) {
    for (const std::size_t number : open)
      outcomes[number] = outcome;
    open.clear();
  };
  Tries tries;
  while (!open.empty()) {
    std::vector<std::optional<CommitOutcome>> refusals;
    const Attempt attempt = attempt_batch(select(batch, open), refusals);
    if (attempt.ended == Ended::rolled_back)
      take_out_refused(open, refusals, outcomes);
    else if (attempt.ended == Ended::committed)
      settle(CommitOutcome::committed);
    else if (attempt.ended == Ended::unknown)
      settle(CommitOutcome::unknown);
    else if (attempt.ended == Ended::refused && open.size() == 1)
      settle(refused_alone(*attempt.error, refusals.front()));
    else if (attempt.ended == Ended::refused) {
      for (const std::size_t number : open)
        if (reachable()) // else nobody is kept waiting for more tries to connect
          outcomes[number] = commit(batch.subspan(number, 1)).front();
      open.clear();
    } else if (!may_try_again(attempt.ended, tries))
      settle(CommitOutcome::unavailable);
  }
  return outcomes;
}

Committer::Attempt Committer::attempt_batch(std::span<const Decision* const> batch,
                                            std::vector<std::optional<CommitOutcome>>& refusals) {
  const auto start = Steady::now();
  const Attempt result = attempt([&](Connection& connection, const Id& marker) {
    CommitPlan plan(batch, marker);
    Sent sent;
    sent.error = plan.run(connection);
    sent.xid = plan.xid();
    refusals = plan.refusals();
    sent.acceptable = std::ranges::none_of(refusals, [](const auto& refusal) { return refusal.has_value(); });
    return sent;
  });
  if (result.ended == Ended::committed) {
    Metrics& metrics = database_.metrics();
    metrics.commit_batches.Increment();
    metrics.commit_batch_size.Observe(static_cast<double>(batch.size()));
    metrics.commit_seconds.Observe(seconds_since(start));
  }
  return result;
}

CommitOutcome Committer::count(const DenialCounts& denials) {
  const Send send = [&](Connection& connection, const Id& marker) {
    Sent sent;
    Pipeline pipeline(connection);
    pipeline.add(statements::begin);
    pipeline.add(statements::current_xact, {},
                 [&](const Result& result) { sent.xid = RowReader(result, 0).next<std::string>(); });
    pipeline.add(statements::count_denials, denials.params());
    pipeline.add(statements::insert_commit_marker, Params().add(marker));
    sent.error = pipeline.try_run();
    return sent;
  };
  Tries tries;
  for (;;) {
    const Attempt result = attempt(send);
    if (result.ended == Ended::committed)
      return CommitOutcome::committed;
    if (result.ended == Ended::unknown)
      return CommitOutcome::unknown;
    if (result.ended == Ended::refused)
      return refused_alone(*result.error, std::nullopt);
    if (!may_try_again(result.ended, tries))
      return CommitOutcome::unavailable;
  }
}

Committer::Attempt Committer::attempt(const Send& send) {
  Connection* const connection = database_.connection();
  if (!connection)
    return {Ended::unavailable};
  const Id marker = ids_.next(SystemClock().now());
  Sent sent;
  try {
    sent = send(*connection, marker);
  } catch (const ConnectionLost& error) {
    // COMMIT was not sent, so nothing of it is or will be committed.
    log::get().warn("database: connection lost: {}", error.what());
    database_.drop();
    return {error.timed_out() ? Ended::unavailable : Ended::lost};
  } catch (...) {
    database_.drop(); // else the next batch would go on in this transaction and commit it
    throw;
  }
  if (!sent.error && sent.acceptable)
    crash_point(CrashPoint::commit_prepared);
  if (!sent.error && sent.acceptable)
    return finish(*connection, sent.xid, marker);
  roll_back(*connection);
  if (!sent.error)
    return {Ended::rolled_back};
  return judge(std::move(*sent.error));
}

Committer::Attempt Committer::judge(SqlError error) {
  switch (error.category()) {
    case SqlCategory::retry:
      return {Ended::deadlocked};
    case SqlCategory::unavailable:
      // A server that takes no writes any more keeps its connections, so the next try has to look for another one.
      log::get().warn("database: {}", error.what());
      database_.drop();
      return {Ended::unavailable};
    case SqlCategory::unique:
    case SqlCategory::mistake:
      break;
  }
  return {Ended::refused, std::move(error)};
}

Committer::Attempt Committer::finish(Connection& connection, const std::string& xid, const Id& marker) {
  try {
    Pipeline pipeline(connection);
    pipeline.add(statements::commit);
    auto error = pipeline.try_run();
    crash_point(CrashPoint::commit_done);
    if (!error)
      return {Ended::committed};
    return judge(std::move(*error)); // refused by a server that answers: nothing was committed
  } catch (const ConnectionLost& error) {
    log::get().warn("database: connection lost around COMMIT, asking what became of it: {}", error.what());
  }
  switch (database_.resolve(xid, marker)) {
    case Truth::committed:
      return {Ended::committed};
    case Truth::not_committed:
      return {Ended::lost};
    case Truth::unknown:
      break;
  }
  return {Ended::unknown};
}

void Committer::roll_back(Connection& connection) {
  try {
    execute(connection, statements::rollback);
  } catch (const std::runtime_error&) {
    database_.drop(); // which rolls back as well
  }
}

bool Committer::may_try_again(Ended ended, Tries& tries) const {
  if (ended == Ended::deadlocked)
    return tries.deadlocks++ < database_.options().tx_retry_max;
  return ended == Ended::lost && tries.losses++ < 1;
}

CommitOutcome Committer::refused_alone(const SqlError& error, const std::optional<CommitOutcome>& refusal) const {
  if (refusal)
    return *refusal;
  if (error.category() == SqlCategory::unique)
    return CommitOutcome::lost_race;
  log::get().error("database: a decision cannot be committed: {}", error.what());
  return CommitOutcome::failed;
}

} // namespace cleat::storage::pg
