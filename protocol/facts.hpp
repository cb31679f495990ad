#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "protocol/fleet_facts.hpp"
#include "protocol/resources.hpp"

/// What rules decide on: rows as they were together at one moment in the database.
namespace cleat {

/// A thread with everything that its rights and its sessions depend on.
struct ThreadFacts {
  Thread thread;
  Channel channel;
  Space space;
  /// The one agent that works in the thread: its own, or for a main thread its channel's (spec 01).
  std::optional<Principal> operator_agent;
  /// The session that the next run continues.
  std::optional<AgentSession> current;
  /// The latest `created_at` of the thread's rows; a new row never sorts before it.
  std::optional<Timestamp> newest_session_at;

  bool operator==(const ThreadFacts&) const = default;
};

/// Another thread that a bind touches, and what the asking principal holds there.
struct OtherThread {
  ThreadFacts facts;
  Level level = Level::none;

  bool operator==(const OtherThread&) const = default;
};

/// Where an external session reference of an agent stands in the whole database.
struct ReferenceFacts {
  Id agent_id;
  std::string external_session_ref;
  /// The one current row of the reference, in any thread.
  std::optional<AgentSession> current;
  /// The newest row of the reference (`created_at`, then `id`), in any thread, current or not.
  std::optional<AgentSession> newest;
  /// The threads of `current` and `newest` where they are not the asking thread itself.
  std::optional<OtherThread> current_thread;
  std::optional<OtherThread> newest_thread;
  /// The row of the reference in the asking thread that a reset, a bind or another agent ended last. Looked up with
  /// the thread's runs only.
  std::optional<AgentSession> ended_here = {};

  bool operator==(const ReferenceFacts&) const = default;
};

/// A run that waits for the active one to end, with what its release depends on.
struct HeldRun {
  Run run;
  Principal triggered_by;
  /// What the human who triggered it holds on the thread now.
  Level level = Level::none;
  Principal agent;
  /// What the agent holds on the thread now.
  Level agent_level = Level::none;
  Message message;

  bool operator==(const HeldRun&) const = default;
};

/// What runs of a thread are decided on, beside its `ThreadFacts` and of the same moment.
struct RunFacts {
  /// The database's clock at that moment; leases begin and end by it.
  Timestamp now;
  /// The thread's counter for `RunTurn`.
  std::int64_t turn = 0;
  /// The run in `queued`, `running` or `waiting_input`, and the session that it is on.
  std::optional<Run> active;
  std::optional<AgentSession> active_session;
  /// Oldest first.
  std::vector<HeldRun> held;
  /// Whether any run has used the thread's current session.
  bool current_used = false;
  /// The operator's newest import row (`created_at`, then `id`), when the thread has no rows but import rows.
  std::optional<AgentSession> import_row;
  /// Whether the reference of `import_row` is current somewhere.
  bool import_reference_current = false;

  bool operator==(const RunFacts&) const = default;
};

/// What provisioning decides on: the resources that a path names, as far as they exist, and the actor's level
/// on the deepest of them.
struct DirectoryFacts {
  std::optional<Space> space;
  std::optional<Channel> channel;
  std::optional<Thread> thread;
  Level level = Level::none;
  /// The principal that the path or the body names (grants, tokens, principals).
  std::optional<Principal> subject;
  /// The grant of `subject` on the deepest resource.
  std::optional<Grant> subject_grant;
  std::optional<Token> token;
  /// The run that the path names; its thread is `thread` then.
  std::optional<Run> run;
  /// Agents that the body names as operator, or humans it names as holder, as far as they exist.
  std::optional<Principal> referred;
  /// The account, Runner, Runner's token, container and orphan that the path or the body names, as far as they exist.
  std::optional<Account> account = {};
  std::optional<Runner> runner = {};
  std::optional<RunnerToken> runner_token = {};
  std::optional<Container> container = {};
  std::optional<Orphan> orphan = {};
  /// The secret of `account` that the path names.
  std::optional<AccountSecret> secret = {};
  /// What of `container` its actor is shown: its live binding and its operations in flight, oldest first; whether its
  /// Runner (or `runner`) is connected.
  std::optional<Binding> live = {};
  std::vector<Operation> open = {};
  bool connected = false;

  bool operator==(const DirectoryFacts&) const = default;
};

} // namespace cleat
