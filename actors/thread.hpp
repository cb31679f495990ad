#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
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
using ThreadCommand = std::variant<ResetSession, BindSession, ImportSessions>;

/// The owner of one thread's sessions (spec 02, "thread actor").
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
  };

  void start_round();
  /// Lets go of a round whose storage does not answer any more, so that it blocks its thread no longer than
  /// `database.request_timeout_s`. Called when a command arrives: nobody waits when none does.
  void abandon_overdue_round();
  /// Whether the round can be decided on what is known, leaving the truth to the guards.
  [[nodiscard]] bool can_trust_memory() const;
  void load(bool trust_memory);
  void on_loaded(std::uint64_t round, const storage::ThreadLoaded& loaded, bool trusted_memory);
  void decide_round(const storage::ThreadLoaded& loaded, bool trusted_memory);
  /// Asks the rule. `next_reference` and `next_named` walk through what was loaded for the round's commands.
  [[nodiscard]] Result<Decision> decide(const Waiting& waiting, Level level, const storage::ThreadLoaded& loaded,
                                        std::size_t& next_reference, std::size_t& next_named) const;
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

  std::deque<Waiting> queue_;
  /// The commands being worked on; the front one while a commit is in flight.
  std::deque<Waiting> round_;
  std::shared_ptr<const Decision> committing_;
  bool busy_ = false;
  /// Which round is being worked on, since when; an answer to an abandoned one is late and ignored.
  std::uint64_t round_number_ = 0;
  caf::actor_clock::time_point round_since_;
};

/// The behavior of a thread's owner. One per active thread; `registry` spawns and passivates them.
thread_actor::behavior_type thread(ThreadState::Self self, const Id& thread_id, DependenciesPtr deps);

} // namespace cleat::actors
