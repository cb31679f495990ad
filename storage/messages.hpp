#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/commands.hpp"
#include "protocol/decision.hpp"
#include "protocol/facts.hpp"
#include "protocol/pages.hpp"

/// What storage is asked and what it answers: plain data, free of actors, so that code which only works on the
/// messages does not have to know CAF. Who may send what stands in `interface.hpp`.
namespace cleat::storage {

/// What became of a decision. The values are different because their consequences are (spec 02, invariants 2 to 6).
enum class CommitOutcome : std::uint8_t {
  committed,   ///< durable; adopt it and answer
  stale,       ///< a guard failed, nothing was written; load and decide again
  lost_race,   ///< a unique index refused a row, nothing was written; load and decide again
  key_used,    ///< the Idempotency-Key has an answer already, nothing was written; look it up
  unavailable, ///< the database cannot be reached, nothing was written
  unknown,     ///< the connection was lost around COMMIT and the truth could not be learned in time
  failed,      ///< the database refused the decision for a reason that is our mistake; it was logged
};

/// The name of an outcome, for logs and metrics.
std::string_view to_string(CommitOutcome outcome);

/// Commit this, all or nothing.
struct Commit {
  std::shared_ptr<const Decision> decision;
};

/// Count a denial: equal ones (actor, action, resource, reason) inside one window share an entry (spec 03 section 2).
struct RecordDenial {
  /// `count` is 1 and `allowed` false.
  AuditEntry entry;
  /// `audit.deny_aggregate_window_s`.
  std::int64_t window_s = 0;
};

/// The answer to a write.
struct CommitResult {
  CommitOutcome outcome{};
};

/// Whether a read was made at all.
enum class ReadStatus : std::uint8_t { ok, unavailable };

/// A reference to look up for the principal who asks.
struct ReferenceProbe {
  Id principal_id;
  std::string external_session_ref;
};

/// Load a thread's facts, levels of principals on it and references of its operator, all in one snapshot.
struct LoadThread {
  Id thread_id;
  /// When set, the caller knows the thread and only references of this agent are looked up.
  std::optional<Id> known_operator;
  std::vector<Id> principals;
  std::vector<ReferenceProbe> references;
  /// Whether to load every session of the thread, newest first.
  bool with_sessions = false;
  /// Whether to load what runs are decided on, and of each reference the row that ended here.
  bool with_runs = false;
  /// Runs to look up by id, of this thread only.
  std::vector<Id> run_ids = {};
  /// Principals to look up by id, whatever their rights; an import names agents.
  std::vector<Id> named = {};
};

/// The answer: vectors in the order of the question. Without an operator, references stay without rows.
struct ThreadLoaded {
  ReadStatus status = ReadStatus::ok;
  std::optional<ThreadFacts> facts;
  std::vector<Level> levels;
  std::vector<ReferenceFacts> references;
  std::vector<AgentSession> sessions;
  /// Present when it was asked for and the thread exists.
  std::optional<RunFacts> run_facts = {};
  /// One for each id of `run_ids`; absent where the thread has no such run.
  std::vector<std::optional<Run>> runs = {};
  /// One for each id of `named`; absent where there is no such principal.
  std::vector<std::optional<Principal>> named = {};
};

/// Find a token by its digest, whatever its state.
struct FindToken {
  Digest digest{};
};

/// The token of that digest and whose it is; nothing when there is none.
struct TokenFound {
  ReadStatus status = ReadStatus::ok;
  std::optional<Token> token;
  /// Present exactly when `token` is.
  std::optional<Principal> principal;
};

/// Find the stored answer of a principal's Idempotency-Key.
struct FindIdempotency {
  Id principal_id;
  std::string key;
};

/// The answer stored under that key; nothing when there is none.
struct IdempotencyFound {
  ReadStatus status = ReadStatus::ok;
  std::optional<IdempotencyRecord> record;
};

/// Find the thread and the agent of a run. They never change, so an answer holds for ever.
struct LocateRun {
  Id run_id;
};

/// Where that run is and whose; nothing when there is no such run.
struct RunLocated {
  ReadStatus status = ReadStatus::ok;
  std::optional<Id> thread_id;
  std::optional<Id> agent_id = {};
};

/// Load the facts of provisioning. The deepest named resource decides `level`; what does not exist is absent.
/// A run brings its thread, a thread its channel and space, a channel its space.
struct LoadDirectory {
  Id actor_id;
  std::optional<Id> space_id;
  std::optional<Id> channel_id;
  std::optional<Id> thread_id;
  std::optional<Id> subject_id;
  std::optional<Id> token_id;
  std::optional<Id> referred_id;
  std::optional<Id> run_id = {};
  std::optional<Id> account_id = {};
  std::optional<std::string> secret_name = {}; ///< of that account
  std::optional<Id> runner_id = {};
  std::optional<Id> runner_token_id = {};
  /// Brings its account, Runner, live binding and operations in flight.
  std::optional<std::string> container_name = {};
  std::optional<Id> orphan_id = {};
  /// `nodes.timeout_s`: a server that has not been heard of for so long holds no Runner.
  std::int64_t node_timeout_s = 0;
};

/// The facts that were asked for, all of one snapshot.
struct DirectoryLoaded {
  ReadStatus status = ReadStatus::ok;
  DirectoryFacts facts;
};

/// Read one page (or a small whole list) as `protocol/pages.hpp` describes it.
struct ReadPage {
  PageQuery query;
  /// `nodes.timeout_s`, for lists that say whether a Runner is connected.
  std::int64_t node_timeout_s = 0;
};

/// The rows of that page, at most one more than its limit.
struct PageRead {
  ReadStatus status = ReadStatus::ok;
  PageRows rows;
};

/// An event as the log holds it.
struct LoggedEvent {
  std::int64_t seq = 0;
  Event event;

  bool operator==(const LoggedEvent&) const = default;
};

/// An agent event as the log holds it.
struct LoggedAgentEvent {
  std::int64_t seq = 0;
  AgentEvent event;

  bool operator==(const LoggedAgentEvent&) const = default;
};

/// Look how far the logs can be read: up to where nothing can be committed any more (spec 02, invariant 9).
struct AdvanceLog {};

/// How far that is, and which agents have new events since the last time that was asked.
struct LogAdvanced {
  ReadStatus status = ReadStatus::ok;
  std::int64_t events = 0;
  std::int64_t agent_events = 0;
  std::vector<Id> agents;
};

/// Read events behind `after`, oldest first, at most `limit`: of those that match the filter the ones that the
/// principal may see at this moment. `read` on the thread is needed, or on the channel or space for what has no thread.
/// Everything that was committed when the question arrived is seen, unless an older transaction is still under way.
struct FindEvents {
  Id principal_id;
  EventFilter filter;
  std::int64_t after = 0;
  std::int64_t limit = 0;
};

/// The events, and how far the log was looked through: nothing was left out up to `next_after`.
struct EventsFound {
  ReadStatus status = ReadStatus::ok;
  std::vector<LoggedEvent> events;
  std::int64_t next_after = 0;
};

/// Read events of an agent behind `after`, oldest first, at most `limit`.
struct FindAgentEvents {
  Id agent_id;
  std::int64_t after = 0;
  std::int64_t limit = 0;
};

/// The events, and where to go on.
struct AgentEventsFound {
  ReadStatus status = ReadStatus::ok;
  std::vector<LoggedAgentEvent> events;
  std::int64_t next_after = 0;
};

/// Find runs that have outlived their lease, or that nobody has started for `queued_timeout_s`, by the database's
/// clock.
struct FindOverdueRuns {
  std::int64_t queued_timeout_s = 0;
  std::int64_t limit = 0;
};

/// A run to fail, in the name of its agent.
struct OverdueRun {
  Id run_id;
  Id thread_id;
  Principal agent;

  bool operator==(const OverdueRun&) const = default;
};

/// The longest overdue first.
struct OverdueRuns {
  ReadStatus status = ReadStatus::ok;
  std::vector<OverdueRun> runs;
};

/// Make the owner of an empty instance: principal and token, unless a principal exists already.
struct Bootstrap {
  Principal owner;
  Token token;
};

/// Whether the owner was made; not when the instance had principals already.
struct Bootstrapped {
  ReadStatus status = ReadStatus::ok;
  bool created = false;
};

/// The spans of spec 04 section 8, in seconds.
struct FleetSpans {
  std::int64_t deadline_s = 0; ///< retention.deadline_s; retryable failures turn terminal after it as well
  std::int64_t promoted_s = 0; ///< retention.promoted_s
  std::int64_t failed_s = 0;   ///< retention.failed_s
  std::int64_t orphan_s = 0;   ///< retention.orphan_s

  bool operator==(const FleetSpans&) const = default;
};

/// Remove what its span has outlived: idempotency records past `expires_at`, commit markers past a day, operations and
/// orphan diagnostics as spec 04 section 8 has it, nodes that have not been heard of for a day. At most `limit` rows of
/// each kind a call.
struct CollectGarbage {
  Timestamp now;
  std::int64_t limit = 0;
  /// Without spans nothing around Runners is collected.
  std::optional<FleetSpans> fleet = {};
};

/// How many rows were removed.
struct GarbageCollected {
  ReadStatus status = ReadStatus::ok;
  std::int64_t removed = 0;
};

/// Whether the database answers; for `/readyz`.
struct Ping {};

/// The database answered, or did not.
struct Pong {
  ReadStatus status = ReadStatus::ok;
};

/// Load a container's facts in one snapshot, with what a command names beside it.
struct LoadContainer {
  std::string name;
  std::optional<Digest> handle = {};           ///< of `operation`
  std::optional<Id> operation_id = {};         ///< of `operation`
  std::optional<std::string> session_id = {};  ///< of `binding`
  std::optional<Digest> reroute_of = {};       ///< the handle of a reroute's operation
  std::optional<std::string> secret_name = {}; ///< of the account of `binding`
  std::optional<Id> orphan_id = {};
  /// `nodes.timeout_s`
  std::int64_t node_timeout_s = 0;
};

/// The facts; `container` is absent where there is no such container.
struct ContainerLoaded {
  ReadStatus status = ReadStatus::ok;
  ContainerFacts facts;
};

/// Find the container of an operation (by its handle's digest or its id), of a binding or of an orphan. One is given.
struct LocateContainer {
  std::optional<Digest> handle = {};
  std::optional<Id> operation_id = {};
  std::optional<std::string> session_id = {};
  std::optional<Id> orphan_id = {};
};

/// The name of that container, which may be gone; nothing where nothing has what was asked for.
struct ContainerLocated {
  ReadStatus status = ReadStatus::ok;
  std::optional<std::string> name;
};

/// Load what the enrolment of a Runner is decided on, by the digest of its token.
struct LoadEnrolment {
  Digest token{};
  /// A Runner that is looked up without a token: one whose socket has gone.
  std::optional<Id> runner_id = {};
};

/// The facts, all of one snapshot.
struct EnrolmentLoaded {
  ReadStatus status = ReadStatus::ok;
  EnrolmentFacts facts;
};

/// A server says that it is alive, and which one it is.
struct BeatNode {
  Node node;
};

/// A Runner whose socket the asking node holds, as far as the database knows.
struct HeldRunner {
  Id runner_id;
  std::int64_t epoch = 0;

  bool operator==(const HeldRunner&) const = default;
};

/// The heartbeat is committed; these are the Runners that are this node's.
struct NodeBeaten {
  ReadStatus status = ReadStatus::ok;
  std::vector<HeldRunner> held;
};

/// Read lines of a session's transcript behind `after`, in their order, at most `limit`.
///
/// With a principal, only where the session's binding is live and its, under the container's current attempt (spec 04
/// section 3). A reader that names the lifetime it reads may read it to its end after the binding was released.
struct FindTranscript {
  std::string session_id;
  std::optional<Id> principal_id;
  /// The operation that began the lifetime.
  std::optional<Id> lifetime;
  std::int64_t after = 0;
  std::int64_t limit = 0;
  /// Only lines that were told to the agent.
  bool only_input = false;
};

/// The lines, if the principal may see them.
struct TranscriptFound {
  ReadStatus status = ReadStatus::ok;
  bool visible = false;
  /// Whether the binding is live; a lifetime that has ended gets no more lines.
  bool live = false;
  /// The operation that began the lifetime that is read.
  Id lifetime;
  std::vector<TranscriptLine> lines;
  /// The place of the transcript's last line.
  std::int64_t through = 0;
};

/// Find containers whose operations have to be looked after, and count what operators watch.
struct FindFleetWork {
  Timestamp now;
  /// retention.deadline_s
  std::int64_t deadline_s = 0;
  /// Operations in flight that were dispatched longer ago than this are asked about, by the node that holds the Runner.
  std::int64_t ask_after_ms = 0;
  Id node_id;
  std::int64_t node_timeout_s = 0;
  std::int64_t limit = 0;
};

/// Their names, without doubles, and the counts.
struct FleetWork {
  ReadStatus status = ReadStatus::ok;
  std::vector<std::string> containers;
  std::int64_t open_orphans = 0;
  std::int64_t in_flight = 0;
  std::int64_t connected_runners = 0;
};

} // namespace cleat::storage
