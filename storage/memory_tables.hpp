#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/memory_fleet.hpp"
#include "storage/messages.hpp"

namespace cleat::storage {

/// An outcome that a test wants to see, in place of the true one.
struct ScriptedOutcome {
  CommitOutcome answer{};
  /// Whether the decision is committed nevertheless: an `unknown` may be either, and its owner cannot tell.
  bool commit = false;
};

/// The tables of the database as plain containers, with every rule that the schema and the SQL enforce: guards,
/// unique indexes, foreign keys, checks, all or nothing. The memory twin of PostgreSQL for tests (spec 07); one
/// suite compares the two. Thread safe, so that a test may look while the actor works.
class MemoryTables {
public:
  /// Commits a decision or tells why not, as PostgreSQL would: what comes first of `key_used`, `stale` and `lost_race`,
  /// or `failed` where a constraint ends it before anything else speaks against it.
  CommitOutcome commit(const Decision& decision);
  /// Counts a denial into the entry of its window.
  CommitOutcome record_denial(const RecordDenial& denial);
  /// See the messages of the same names in `messages.hpp`.
  ThreadLoaded load(const LoadThread& question) const;
  TokenFound find(const FindToken& question) const;
  IdempotencyFound find(const FindIdempotency& question) const;
  DirectoryLoaded load(const LoadDirectory& question) const;
  PageRead read(const ReadPage& question) const;
  Bootstrapped bootstrap(const Bootstrap& question);
  GarbageCollected collect(const CollectGarbage& question);
  Pong ping() const;
  RunLocated find(const LocateRun& question) const;
  LogAdvanced advance();
  EventsFound find(const FindEvents& question) const;
  AgentEventsFound find(const FindAgentEvents& question) const;
  OverdueRuns find(const FindOverdueRuns& question) const;
  ContainerLoaded load(const LoadContainer& question) const;
  ContainerLocated find(const LocateContainer& question) const;
  EnrolmentLoaded load(const LoadEnrolment& question) const;
  NodeBeaten beat(const BeatNode& question);
  TranscriptFound find(const FindTranscript& question) const;
  FleetWork find(const FindFleetWork& question) const;

  /// The clock that leases and queues are judged by, in place of the machine's.
  void set_clock(std::shared_ptr<const Clock> clock);
  /// The next commits answer these outcomes, one each and in order; then the truth is told again.
  void script(std::vector<ScriptedOutcome> outcomes);
  /// While set, every read and write answers `unavailable` and nothing is written.
  void set_unavailable(bool unavailable);

  /// The rows of a thread, newest first.
  std::vector<AgentSession> sessions_of(const Id& thread_id) const;
  /// The whole event log in its order.
  std::vector<LoggedEvent> events() const;
  /// The whole log of agent events in its order.
  std::vector<LoggedAgentEvent> agent_events() const;
  /// The runs of a thread, oldest first.
  std::vector<Run> runs_of(const Id& thread_id) const;
  /// The messages of a thread, oldest first.
  std::vector<Message> messages_of(const Id& thread_id) const;
  /// The whole audit log in the order of ids.
  std::vector<AuditEntry> audit() const;
  /// Everything around Runners: operations, bindings, transcripts, orphans, attempts and the rest, as they are now.
  FleetRows fleet() const;
  /// How many decisions were committed so far, scripted ones included.
  std::int64_t commits() const;

private:
  /// A scope and a principal: the primary key of grants.
  using GrantKey = std::pair<Id, Id>;
  using KeyOfPrincipal = std::pair<Id, std::string>;
  using Change = MemoryChange;
  using Verdict = MemoryVerdict;

  /// The steps of a commit in the order of PostgreSQL's statements (memory_commit.cpp).
  CommitOutcome apply(const Decision& decision);
  void use_key(Change& change, const Decision& decision, Verdict& verdict);
  void take_turn(Change& change, const Decision& decision, Verdict& verdict);
  void check_guards(Change& change, const Decision& decision, Verdict& verdict);
  void end_sessions(Change& change, const Decision& decision, Verdict& verdict);
  void update_sessions(Change& change, const Decision& decision, Verdict& verdict);
  void insert_sessions(Change& change, const Decision& decision, Verdict& verdict);
  void write_rows(Change& change, const Decision& decision, Verdict& verdict);
  void write_row(Change& change, const RowWrite& row, Verdict& verdict);
  void write_fleet(Change& change, const Decision& decision, Verdict& verdict);
  void insert_messages(Change& change, const Decision& decision, Verdict& verdict);
  void update_runs(Change& change, const Decision& decision, Verdict& verdict);
  void insert_runs(Change& change, const Decision& decision, Verdict& verdict);
  void append_logs(Change& change, const Decision& decision, Verdict& verdict);

  bool holds(const VersionGuard& guard) const;
  bool holds(const ReferenceGuard& guard) const;
  bool holds(const CurrentGuard& guard) const;
  bool holds(const EndSession& end) const;
  bool holds(const UpdateSession& update) const;
  bool holds(const UpdateRun& update) const;
  bool holds(const RowWrite& write) const;
  /// Whether a unique index holds another row that this one would meet.
  bool meets_another(const AgentSession& row) const;
  bool meets_another(const Run& row) const;
  std::int64_t turn_of(const Id& thread_id) const;
  void update_run(Change& change, const UpdateRun& update, Verdict& verdict);
  CommitOutcome count_denial(Change& change, const AuditEntry& entry, std::int64_t window_s);

  /// Whether the row that a write changes is as its maker saw it (memory_rows.cpp). Inserts need none.
  bool row_stands(const UpdatePrincipal& item) const;
  bool row_stands(const UpdateSpace& item) const;
  bool row_stands(const UpdateChannel& item) const;
  bool row_stands(const UpdateThread& item) const;
  bool row_stands(const RevokeToken& item) const;
  bool row_stands(const RaiseSpaceFacts& item) const;
  template <class Insert>
  bool row_stands(const Insert&) const {
    return true;
  }

  /// Writes one row of provisioning, its indexes and foreign keys checked (memory_rows.cpp).
  CommitOutcome write(Change& change, const InsertPrincipal& item);
  CommitOutcome write(Change& change, const UpdatePrincipal& item);
  CommitOutcome write(Change& change, const InsertToken& item);
  CommitOutcome write(Change& change, const RevokeToken& item);
  CommitOutcome write(Change& change, const InsertSpace& item);
  CommitOutcome write(Change& change, const UpdateSpace& item);
  CommitOutcome write(Change& change, const InsertChannel& item);
  CommitOutcome write(Change& change, const UpdateChannel& item);
  CommitOutcome write(Change& change, const InsertThread& item);
  CommitOutcome write(Change& change, const UpdateThread& item);
  CommitOutcome write(Change& change, const SetGrant& item);
  CommitOutcome write(Change& change, const RaiseSpaceFacts& item);
  bool principal_exists(const std::optional<Id>& id) const;

  /// What runs are decided on (memory_runs.cpp).
  RunFacts run_facts(const ThreadFacts& facts) const;
  HeldRun held_run(const ThreadFacts& facts, const Run& run) const;
  std::optional<Run> active_run(const Id& thread_id) const;
  std::optional<AgentSession> import_row(const ThreadFacts& facts) const;
  std::optional<AgentSession> ended_here(const Id& thread_id, const Id& agent_id, const std::string& reference) const;
  std::optional<Timestamp> due(const Run& run, std::int64_t queued_timeout_s) const;
  bool may_see(const Id& principal, const Event& event) const;

  std::optional<ThreadFacts> facts_of(const Id& thread_id) const;
  Level level_of(const Id& principal, const Space& space, const std::optional<Channel>& channel,
                 const std::optional<Thread>& thread) const;
  std::optional<AgentSession> current_of_thread(const Id& thread_id) const;
  std::optional<AgentSession> current_of_reference(const Id& agent_id, const std::string& reference) const;
  std::optional<AgentSession> newest_of_reference(const Id& agent_id, const std::string& reference) const;
  std::optional<OtherThread> other_thread(const std::optional<AgentSession>& row, const Id& asking_thread,
                                          const Id& principal) const;
  ReferenceFacts reference_facts(const LoadThread& question, const ReferenceProbe& probe,
                                 const std::optional<Id>& agent_id) const;
  std::vector<AgentSession> newest_first(const Id& thread_id) const;

  PageRows rows_of(const SpacesPage& page) const;
  PageRows rows_of(const ChannelsPage& page) const;
  PageRows rows_of(const ThreadsPage& page) const;
  PageRows rows_of(const PrincipalsPage& page) const;
  PageRows rows_of(const TokensPage& page) const;
  PageRows rows_of(const GrantsPage& page) const;
  PageRows rows_of(const AuditPage& page) const;
  PageRows rows_of(const RunsPage& page) const;
  PageRows rows_of(const MessagesPage& page) const;

  mutable std::mutex mutex_;
  bool unavailable_ = false;
  std::shared_ptr<const Clock> clock_ = std::make_shared<SystemClock>();
  std::deque<ScriptedOutcome> script_;
  std::int64_t commits_ = 0;

  std::map<Id, Principal> principals_;
  std::map<Id, Token> tokens_;
  std::map<Id, Space> spaces_;
  std::map<Id, Channel> channels_;
  std::map<Id, Thread> threads_;
  std::map<GrantKey, Grant> grants_;
  std::map<Id, AgentSession> sessions_;
  std::map<KeyOfPrincipal, IdempotencyRecord> idempotency_;
  std::map<Id, std::int64_t> turns_; ///< of threads whose counter was raised
  std::map<Id, Run> runs_;
  std::map<Id, Message> messages_;
  std::map<std::int64_t, Event> events_;
  std::map<std::int64_t, AgentEvent> agent_events_;
  std::int64_t told_ = 0; ///< up to which agent event `advance` has named the agents
  std::map<Id, AuditEntry> audit_;
  /// The entry that counts the denials of a window, by everything that makes denials equal.
  std::map<std::string, Id> denials_;
  MemoryFleet fleet_{principals_};
};

} // namespace cleat::storage
