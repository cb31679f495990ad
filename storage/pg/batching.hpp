#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "protocol/decision.hpp"

namespace cleat::storage::pg {

/// Chooses the decisions of one batch, so that every one of them can be judged as if it had the transaction for
/// itself: at most one a thread, an external reference, an idempotency key and a row of provisioning, and none that
/// relies on a version that an earlier one raises (spec 02, invariant 6; spec 03 section 13).
///
/// What two decisions have in common is compared by a hash. Two different things with the same hash cost one of them a
/// batch's delay and nothing else.
class BatchChooser {
public:
  /// Whether `decision`, offered in order of arrival, fits into this batch. One that does not fit keeps its place:
  /// later ones that have something in common with it do not overtake it.
  bool take(const Decision& decision);

private:
  std::unordered_set<std::uint64_t> written_; ///< by decisions of the batch and by those that wait
  std::unordered_set<std::uint64_t> awaited_; ///< relied on by those that wait
};

} // namespace cleat::storage::pg
