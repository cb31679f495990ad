#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/decision.hpp"
#include "storage/messages.hpp"
#include "storage/pg/params.hpp"
#include "storage/pg/statements.hpp"

namespace cleat::storage::pg {

/// A statement, and how many rows it must write.
struct FleetStatement {
  const Statement& statement;
  Params params;
  /// Absent where any number is right.
  std::optional<std::int64_t> expected = {};
  /// What the decision is when it writes another number.
  CommitOutcome otherwise = CommitOutcome::stale;
};

/// The statements of a row around Runners that is written alone, in their order; none for what is written in sets.
std::vector<FleetStatement> statements_of(const fleet::Write& write);

/// The columns of attempts, for insert_attempts.
Params insert_attempts_params(const std::vector<const ContainerAttempt*>& rows);

} // namespace cleat::storage::pg
