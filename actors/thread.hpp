#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/answering.hpp"
#include "actors/dependencies.hpp"
#include "actors/interfaces.hpp"

namespace cleat::actors {

/// What a thread's owner is asked for.
using ThreadCommand = std::variant<ResetSession, BindSession, ImportSessions, TriggerRun, ReportSession, RunCommand>;

/// Where in a round's question, and so in its answer, the things stand that one command needs.
struct Places {
  std::size_t actor = 0;
  std::optional<std::size_t> reference = {};
  /// The first of the agents that an import names, or the one agent of a trigger or a cancel.
  std::optional<std::size_t> named = {};
  std::optional<std::size_t> named_level = {};
  std::optional<std::size_t> run = {};
};

/// The owner of one thread's sessions and runs (spec 02, "thread actor").
///
/// Commands wait in a queue and are worked on in rounds. A round loads what it needs in one snapshot that is taken
/// after all its commands arrived, decides them in order, refuses what is refused, and commits the first decision;
/// whatever stands behind a commit goes into the next round. So a refusal is answered only from a state that was
/// valid after its request arrived (invariant 3), sixty-four commands that lose a race cost one load, and a command
/// that comes alone to an owner that knows its thread is decided on memory and guarded by the commit (invariant 2).
class ThreadState {
public:
  using Self = thread_actor::stateful_pointer<ThreadState>;

  explicit ThreadState(Self self) : self_(self) {}

  /// Called once by `thread`, before the first message.
  void init(const Id& thread_id, DependenciesPtr deps);

  /// Queues a command; its answer is delivered by the promise that is returned.
  AnswerPromise enqueue(ThreadCommand command);

  static constexpr const char* name = "cleat.thread";

private:
  struct Waiting {
    ThreadCommand command;
    std::shared_ptr<Asked> asked;
    std::int64_t attempts = 0;
    /// In the round that works on it.
    Places places = {};
  };

  void start_round();
  /// Lets go of a round whose storage does not answer any more, so that it blocks its thread no longer than
  /// `database.request_timeout_s`. Called when a command arrives: nobody waits when none does.
  void abandon_overdue_round();
  /// Whether the round can be decided on what is known, leaving the truth to the guards.
  [[nodiscard]] bool can_trust_memory() const;
  void load(bool trust_memory);
  /// Adds what a command needs to the round's question.
  static Places ask_for(const Waiting& waiting, bool trust_memory, storage::LoadThread& question);
  void on_loaded(std::uint64_t round, const storage::ThreadLoaded& loaded, bool trusted_memory);
  void decide_round(const storage::ThreadLoaded& loaded, bool trusted_memory);
  [[nodiscard]] Result<Decision> decide(const Waiting& waiting, const storage::ThreadLoaded& loaded,
                                        bool trusted_memory);
  [[nodiscard]] Result<Decision> decide_run(const Waiting& waiting, const storage::ThreadLoaded& loaded, Level level);
  void refuse(Waiting waiting, Refusal refusal);
  void commit(Decision decision);
  void on_committed(std::uint64_t round, storage::CommitOutcome outcome);
  void decide_again();
  void refuse_round(const Refusal& refusal);
  void end_round();

  [[nodiscard]] std::optional<Level> known_level(const Id& principal_id) const;

  Self self_;
  Id thread_id_;
  DependenciesPtr deps_;

  /// What the owner knows of its thread, as of its last load or commit; absent when it must look.
  std::optional<ThreadFacts> facts_;
  std::vector<std::pair<Id, Level>> levels_;

  /// Lists and not deques, because an empty deque takes half a kilobyte, and most threads of a server are idle.
  std::list<Waiting> queue_;
  /// The commands being worked on; the front one while a commit is in flight.
  std::list<Waiting> round_;
  /// What is said in the log once the commit in flight has succeeded.
  std::string note_;
  std::shared_ptr<const Decision> committing_;
  bool busy_ = false;
  /// Which round is being worked on, since when; an answer to an abandoned one is late and ignored.
  std::uint64_t round_number_ = 0;
  caf::actor_clock::time_point round_since_;
};

/// The behavior of a thread's owner. One per active thread; `registry` spawns and passivates them.
thread_actor::behavior_type thread(ThreadState::Self self, const Id& thread_id, DependenciesPtr deps);

} // namespace cleat::actors
