#pragma once

#include "protocol/decision.hpp"
#include "storage/messages.hpp"
#include "storage/pg/params.hpp"
#include "storage/pg/statements.hpp"

namespace cleat::storage::pg {

/// A write of provisioning as a statement.
struct RowStatement {
  const Statement& statement;
  Params params;
  /// What it means when no row was written; `committed` where that is fine.
  CommitOutcome when_nothing_written;
};

/// The statement of a write of provisioning. Updates are guarded by the version before the one they write.
RowStatement statement_of(const RowWrite& write);

} // namespace cleat::storage::pg
