#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/messages.hpp"

namespace cleat::storage {

class MemoryChange;
class MemoryVerdict;

/// The tables around Runners as plain containers by their primary keys.
struct FleetRows {
  std::map<Id, Account> accounts;
  std::map<std::pair<Id, std::string>, AccountSecret> secrets; ///< by account and name
  std::map<Id, Runner> runners;
  std::map<Id, RunnerToken> runner_tokens;
  std::map<std::string, Container> containers; ///< by name
  std::map<Id, ContainerAttempt> attempts;
  std::map<Id, Operation> operations;
  std::map<std::string, Binding> bindings;                                    ///< by session id
  std::map<std::pair<std::string, std::int64_t>, TranscriptLine> transcripts; ///< by session id and place
  std::map<Id, Orphan> orphans;
  std::map<Id, Node> nodes;

  /// The lines of a session's transcript, in their order.
  [[nodiscard]] std::vector<TranscriptLine> transcript_of(const std::string& session_id) const;
  /// The attempts of a container, oldest first.
  [[nodiscard]] std::vector<ContainerAttempt> attempts_of(const std::string& container_name) const;
  /// The operations of a container, oldest first.
  [[nodiscard]] std::vector<Operation> operations_of(const std::string& container_name) const;
  /// The container's live binding.
  [[nodiscard]] std::optional<Binding> live_of(const std::string& container_name) const;
};

/// The part of the memory twin around Runners, with every rule that schema and SQL enforce there. `MemoryTables` owns
/// it, holds the lock and keeps or takes back what is changed.
class MemoryFleet {
public:
  /// `principals` outlives this object; foreign keys lead there.
  explicit MemoryFleet(const std::map<Id, Principal>& principals) : principals_(principals) {}

  /// Everything there is.
  [[nodiscard]] const FleetRows& rows() const { return rows_; }

  /// Writes a row of its own and leaves all others to `write_sets`.
  void write_row(MemoryChange& change, const fleet::Write& write, MemoryVerdict& verdict);
  /// Writes the rest of a decision, set by set.
  void write_sets(MemoryChange& change, const Decision& decision, MemoryVerdict& verdict);

  /// See the messages of the same names in `messages.hpp`; `now` is the database's clock.
  [[nodiscard]] ContainerFacts load(const LoadContainer& question, Timestamp now) const;
  [[nodiscard]] std::optional<std::string> find(const LocateContainer& question) const;
  [[nodiscard]] EnrolmentFacts load(const LoadEnrolment& question) const;
  std::vector<HeldRunner> beat(const BeatNode& question, Timestamp now);
  [[nodiscard]] TranscriptFound find(const FindTranscript& question) const;
  [[nodiscard]] FleetWork find(const FindFleetWork& question, Timestamp now) const;
  /// How many rows were removed.
  std::int64_t collect(const CollectGarbage& question, const FleetSpans& spans);
  /// Adds what is asked about accounts, Runners and containers.
  void add_facts(const LoadDirectory& question, Timestamp now, DirectoryFacts& facts) const;

  [[nodiscard]] std::vector<Account> read(const AccountsPage& page) const;
  [[nodiscard]] std::vector<AccountSecret> read(const SecretsPage& page) const;
  [[nodiscard]] std::vector<RunnerRow> read(const RunnersPage& page, std::int64_t node_timeout_s, Timestamp now) const;
  [[nodiscard]] std::vector<RunnerToken> read(const RunnerTokensPage& page) const;
  [[nodiscard]] std::vector<ContainerRow> read(const ContainersPage& page, std::int64_t node_timeout_s,
                                               Timestamp now) const;
  [[nodiscard]] std::vector<Orphan> read(const OrphansPage& page) const;

private:
  /// Rows of their own (memory_fleet_rows.cpp).
  void write(MemoryChange& change, const fleet::InsertAccount& item, MemoryVerdict& verdict);
  void write(MemoryChange& change, const fleet::UpdateAccount& item, MemoryVerdict& verdict);
  void write(MemoryChange& change, const fleet::PutSecret& item, MemoryVerdict& verdict);
  void write(MemoryChange& change, const fleet::DeleteSecret& item, MemoryVerdict& verdict);
  void write(MemoryChange& change, const fleet::InsertRunner& item, MemoryVerdict& verdict);
  void write(MemoryChange& change, const fleet::UpdateRunner& item, MemoryVerdict& verdict);
  void write(MemoryChange& change, const fleet::InsertRunnerToken& item, MemoryVerdict& verdict);
  void write(MemoryChange& change, const fleet::RevokeRunnerToken& item, MemoryVerdict& verdict);
  void write(MemoryChange& change, const fleet::Enrol& item, MemoryVerdict& verdict);
  void write(MemoryChange& change, const fleet::InsertContainer& item, MemoryVerdict& verdict);
  void write(MemoryChange& change, const fleet::UpdateOrphan& item, MemoryVerdict& verdict);
  template <class Item>
  void write(MemoryChange&, const Item&, MemoryVerdict&) {}

  /// Sets (memory_fleet_sets.cpp). `settled` and `live` say which half of the rows is written.
  void update_containers(MemoryChange& change, const Decision& decision, MemoryVerdict& verdict);
  void update_operations(MemoryChange& change, const Decision& decision, bool in_flight, MemoryVerdict& verdict);
  void insert_operations(MemoryChange& change, const Decision& decision, MemoryVerdict& verdict);
  void update_bindings(MemoryChange& change, const Decision& decision, bool live, MemoryVerdict& verdict);
  void insert_bindings(MemoryChange& change, const Decision& decision, MemoryVerdict& verdict);
  void change_attempts(MemoryChange& change, const Decision& decision, MemoryVerdict& verdict);
  void append_transcripts(MemoryChange& change, const Decision& decision, MemoryVerdict& verdict);
  void insert_orphans(MemoryChange& change, const Decision& decision, MemoryVerdict& verdict);
  void delete_container(MemoryChange& change, const fleet::DeleteContainer& item, MemoryVerdict& verdict);

  /// Attempts of a Runner or a container, and the live bindings that go with them.
  void end_attempts(MemoryChange& change, const std::function<bool(const ContainerAttempt&)>& concerned);
  void suspend(MemoryChange& change, const std::function<bool(const Binding&)>& concerned);
  void insert_attempts(MemoryChange& change, const std::vector<ContainerAttempt>& rows, MemoryVerdict& verdict);
  [[nodiscard]] bool meets_another(const Operation& row) const;
  [[nodiscard]] bool meets_another(const Binding& row) const;
  /// Whether account, actor and Runner of a row exist.
  template <class Row>
  [[nodiscard]] bool has_owners(const Row& row) const {
    return rows_.accounts.contains(row.account_id) && principals_.contains(row.actor_id) &&
           rows_.runners.contains(row.runner_id);
  }

  [[nodiscard]] std::optional<Node> node_of(const Runner& runner, std::int64_t node_timeout_s, Timestamp now) const;
  [[nodiscard]] std::optional<Operation> operation_by(const std::optional<Digest>& handle,
                                                      const std::optional<Id>& id) const;
  [[nodiscard]] std::vector<Operation> in_flight_of(const std::string& container_name) const;
  [[nodiscard]] bool may_read(const Binding& binding, const FindTranscript& question) const;
  [[nodiscard]] bool is_referred_to(const Operation& row) const;
  [[nodiscard]] bool is_referred_to(const ContainerAttempt& row) const;

  const std::map<Id, Principal>& principals_;
  FleetRows rows_;
};

} // namespace cleat::storage
