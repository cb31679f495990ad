#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/metrics.hpp"
#include "protocol/decision.hpp"
#include "storage/messages.hpp"
#include "storage/pg/database.hpp"
#include "storage/pg/denials.hpp"

namespace cleat::storage::pg {

/// Commits batches and knows what became of them (spec 02, invariants 2 to 6). Blocks; used by one thread.
class Committer {
public:
  Committer(DatabaseOptions options, std::shared_ptr<Metrics> metrics);

  /// Commits decisions that fit together (`BatchChooser`), as one transaction where nothing speaks against it. Answers
  /// an outcome for each, in order. What is stale, lost or used is taken out and the rest committed; where PostgreSQL
  /// refuses a whole transaction, each decision gets one of its own.
  std::vector<CommitOutcome> commit(std::span<const Decision* const> batch);

  /// Counts denials in a transaction of their own, so that they cannot spoil a decision.
  CommitOutcome count(const DenialCounts& denials);

  /// Whether the database can be reached; connects when there is no connection.
  bool reachable() { return database_.connection() != nullptr; }

private:
  /// How a try to commit ended.
  enum class Ended {
    committed,
    rolled_back, ///< by us: something speaks against some of it
    refused,     ///< by PostgreSQL, which will refuse the same again
    deadlocked,  ///< by PostgreSQL, where the same again may work
    lost,        ///< the connection is gone and nothing was committed
    unavailable, ///< nothing was committed, and trying again now would not help
    unknown,     ///< the connection was lost around COMMIT and the truth could not be learned
  };
  struct Attempt {
    Ended ended{};
    std::optional<SqlError> error = {};
  };
  /// What was sent before COMMIT, and whether it may be committed.
  struct Sent {
    std::optional<SqlError> error;
    bool acceptable = true;
    std::string xid;
  };
  using Send = std::function<Sent(Connection&, const Id& marker)>;
  /// How often a transaction was tried again already, and for what.
  struct Tries {
    std::int64_t deadlocks = 0;
    std::int64_t losses = 0;
  };

  Attempt attempt(const Send& send);
  Attempt finish(Connection& connection, const std::string& xid, const Id& marker);
  /// How a refusal of PostgreSQL ends a try.
  Attempt judge(SqlError error);
  void roll_back(Connection& connection);
  [[nodiscard]] bool may_try_again(Ended ended, Tries& tries) const;
  Attempt attempt_batch(std::span<const Decision* const> batch, std::vector<std::optional<CommitOutcome>>& refusals);
  CommitOutcome refused_alone(const SqlError& error, const std::optional<CommitOutcome>& refusal) const;

  Database database_;
  RandomIdSource ids_;
};

} // namespace cleat::storage::pg
