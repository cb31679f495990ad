#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/decision.hpp"
#include "storage/messages.hpp"
#include "storage/pg/connection.hpp"
#include "storage/pg/fleet_writes.hpp"

namespace cleat::storage::pg {

/// A batch of decisions as one transaction: one set-based statement a table, all of them in one pipeline, and the
/// judgement of what came back. COMMIT or ROLLBACK is up to the caller.
class CommitPlan {
public:
  /// `decisions` fit together (`BatchChooser`) and outlive the plan. `marker` is the row of commit_markers by which the
  /// transaction's fate can be learned.
  CommitPlan(std::span<const Decision* const> decisions, const Id& marker);

  /// Sends everything from BEGIN to the commit marker and judges it. The refusal of a statement is not thrown but
  /// answered; `ConnectionLost` is thrown.
  std::optional<SqlError> run(Connection& connection);

  /// Why each decision cannot be committed, as far as the statements could tell; nothing where nothing speaks against
  /// it.
  [[nodiscard]] const std::vector<std::optional<CommitOutcome>>& refusals() const { return refusals_; }

  /// The transaction's id, for `Database::resolve`.
  [[nodiscard]] const std::string& xid() const { return xid_; }

private:
  /// A row and the number of the decision that it belongs to.
  template <class Row>
  struct Owned {
    std::size_t decision;
    const Row* row;
  };

  template <class Row>
  std::vector<Owned<Row>> collect(const std::vector<Row> Decision::*member) const;
  template <class Row>
  void expect_returned(const std::vector<Owned<Row>>& rows, const Result& result, CommitOutcome otherwise);
  void refuse(std::size_t decision, CommitOutcome outcome);

  void add(const Statement& statement, const Params& params, Pipeline::Handler judge = {});
  void add_idempotency();
  void add_agent_locks();
  void add_space_locks();
  void add_turns();
  void add_version_guards();
  void add_reference_guards();
  void add_run_locks();
  void add_session_locks();
  void add_current_guards();
  void add_ends();
  void add_session_updates();
  void add_sessions();
  void add_rows(FleetWrites& writes);
  void add_messages();
  void add_run_updates(bool becoming_active);
  void add_runs();
  void add_events();
  void add_agent_events();
  void add_audit();
  void add_denials();

  std::span<const Decision* const> decisions_;
  Id marker_;
  Pipeline* pipeline_ = nullptr;
  std::vector<std::optional<CommitOutcome>> refusals_;
  std::string xid_;
};

} // namespace cleat::storage::pg
