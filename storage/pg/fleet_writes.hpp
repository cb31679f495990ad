#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "protocol/decision.hpp"
#include "storage/messages.hpp"
#include "storage/pg/connection.hpp"
#include "storage/pg/params.hpp"

namespace cleat::storage::pg {

/// What a batch of decisions writes around Runners: its locks, and one set-based statement a kind in the order of
/// `fleet_order.hpp`.
class FleetWrites {
public:
  /// Told the number of a decision and why it cannot be committed.
  using Refuse = std::function<void(std::size_t, CommitOutcome)>;

  /// `decisions` and `pipeline` outlive this object, and this object outlives the pipeline's run.
  FleetWrites(std::span<const Decision* const> decisions, Pipeline& pipeline, Refuse refuse);

  /// Locks accounts and Runners that are changed, before the guards lock others shared.
  void add_owner_locks();
  /// Locks the containers that are decided about, behind all guards.
  void add_container_locks();
  /// Adds a row that is written alone.
  void add_row(std::size_t decision, const fleet::Write& write);
  /// Adds everything else.
  void add_sets();

private:
  template <class Write>
  struct Owned {
    std::size_t decision;
    const Write* write;
  };
  template <class Write>
  std::vector<Owned<Write>> collect() const;
  /// Adds a statement that returns the keys of what it wrote; `key` makes the one of a write.
  template <class Key, class Write, class KeyOf>
  void add_set(const Statement& statement, const Params& params, const std::vector<Owned<Write>>& writes, KeyOf key,
               CommitOutcome otherwise);

  void add_container_updates();
  void add_operation_updates(bool in_flight);
  void add_binding_updates(bool live);
  void add_attempts();
  void add_removals();
  void add_operations();
  void add_bindings();
  void add_transcripts();
  void add_orphans();

  std::span<const Decision* const> decisions_;
  Pipeline& pipeline_;
  Refuse refuse_;
};

} // namespace cleat::storage::pg
