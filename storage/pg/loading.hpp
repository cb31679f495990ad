#pragma once

#include <vector>

#include "storage/messages.hpp"
#include "storage/pg/connection.hpp"

namespace cleat::storage::pg {

/// Questions that are answered together.
struct Questions {
  std::vector<LoadThread> threads;
  std::vector<FindToken> tokens;
  std::vector<FindIdempotency> keys;
  std::vector<LocateRun> runs;
  std::vector<LoadContainer> containers;
  std::vector<LocateContainer> locations;
};

/// Their answers, in the same order.
struct Answers {
  std::vector<ThreadLoaded> threads;
  std::vector<TokenFound> tokens;
  std::vector<IdempotencyFound> keys;
  std::vector<RunLocated> runs;
  std::vector<ContainerLoaded> containers;
  std::vector<ContainerLocated> locations;
};

/// Answers all questions from one snapshot, with one set-based statement a table. Throws `ConnectionLost`, and
/// `SqlError` with the transaction left open.
Answers load(Connection& connection, const Questions& questions);

} // namespace cleat::storage::pg
