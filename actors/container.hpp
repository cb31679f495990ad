#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/answering.hpp"
#include "actors/dependencies.hpp"
#include "actors/interfaces.hpp"
#include "actors/rules/runner/container.hpp"

namespace cleat::actors {

/// What a container's owner is asked for.
using ContainerCommand =
  std::variant<StartSession, FollowHandle, StopSession, SendInput, RemoveContainer, ResolveOrphan>;

/// The owner as it knows itself: it reminds itself of those who wait.
using container_self = container_actor::extend<caf::reacts_to<Sweep>>;

/// The owner of one container (spec 02, "container actor"): serializes starts, resumes, stops and everything that its
/// Runner says about it.
///
/// One piece of work is done at a time: its facts are loaded in one snapshot, a rule decides, the decision is
/// committed, and only then is anybody told, be it a caller or the Runner. So a refusal is as true as a success, and
/// two servers that work on the same container meet in the version that every decision raises.
class ContainerState {
public:
  using Self = container_self::stateful_pointer<ContainerState>;

  explicit ContainerState(Self self) : self_(self) {}

  /// Called once by `container`, before the first message.
  void init(const std::string& name, DependenciesPtr deps, hub_actor hub, herald_actor herald);

  /// Queues a command; its answer is delivered by the promise that is returned.
  AnswerPromise enqueue(ContainerCommand command);
  /// Queues what the Runner says. Past `actors.container_queue_max` it is dropped: a Runner says again what was not
  /// acknowledged, and is asked about the rest.
  void enqueue(RunnerSays says);
  void enqueue(const Reconcile& reconcile);
  /// Another server has committed something, or it is time to look whether one has.
  void look();
  /// Answers those whose time is over, and looks whether another server has done what the others wait for.
  void remind();

  static constexpr const char* name = "cleat.container";

private:
  /// A command on its way. It has a handle of its own from the start, because a rule draws no lots.
  struct Call {
    ContainerCommand command;
    std::shared_ptr<Asked> asked;
    rules::container::Handle handle;
    /// The operation that the command's Idempotency-Key was used for.
    std::optional<Id> earlier = {};
    /// The attempt that the Runner has let begin, for the end of a diagnostic.
    std::optional<Id> attempt = {};
  };
  /// A look at operations that somebody waits for.
  struct Look {};

  struct Work {
    std::variant<Call, RunnerSays, Reconcile, Look> task;
    std::int64_t attempts = 0;
    /// Loads the binding of this session, where the task does not name it.
    std::optional<std::string> session_id = {};
    /// A record under a waiter's key met another one: the decision goes without.
    bool without_record = false;
  };

  /// Who waits for an operation to end.
  struct Waiter {
    Call call;
    Operation operation; ///< as it was known last
    caf::actor_clock::time_point deadline;
  };

  /// A call that waits for the Runner to let an attempt begin.
  struct Issuing {
    Call call;
    Id attempt;
    caf::actor_clock::time_point deadline;
  };

  // container.cpp: the queue, loading and committing.
  void push(Work work);
  void start_next();
  /// Lets go of work whose storage does not answer any more, so that it blocks its container no longer than
  /// `database.request_timeout_s`.
  void abandon_overdue_work();
  [[nodiscard]] storage::LoadContainer question() const;
  void on_loaded(const storage::ContainerLoaded& loaded);
  void commit(Decision decision);
  void on_committed(std::uint64_t number, storage::CommitOutcome outcome);
  void on_success(const Decision& decision);
  void on_trouble(storage::CommitOutcome outcome);
  void try_again();
  /// The work is done; `what` is said to everybody who wants to know.
  void done();
  [[nodiscard]] rules::container::ReportContext report_context() const;
  [[nodiscard]] rules::RuleContext rule_context(const Asked& asked) const;

  // container_calls.cpp: what callers ask.
  [[nodiscard]] static RequestContext& context_of(ContainerCommand& command);
  static void ask_for(const Call& call, storage::LoadContainer& question);
  void decide(Call& call);
  void decide_start(Call& call, const StartSession& command);
  void decide_handle(Call& call, const FollowHandle& command);
  void decide_stop(Call& call);
  void decide_input(Call& call, const SendInput& command);
  void decide_removal(Call& call);
  void decide_resolution(Call& call, const ResolveOrphan& command);
  /// What to do once the decision of a call is committed.
  void answer(Call& call, const Decision& decision);
  void begin(rules::container::Begun begun);
  void join(Call& call, Operation operation);
  void refuse(Call& call, Refusal refusal);
  void refuse_truly_or_join(Call& call, Refusal refusal);
  /// Refuses unless the key of the call in hand has an answer.
  void look_at_key(Refusal refusal);
  void on_key(Work work, const Refusal& refusal, const storage::IdempotencyFound& found);
  void wait_or_answer(Call call, Operation operation, std::chrono::milliseconds patience);
  void answer_waiter(const Waiter& waiter);
  void issue_attempt(Call& call);
  [[nodiscard]] static std::chrono::milliseconds patience_of(const Call& call, const Dependencies& deps);

  // container_reports.cpp: the Runner, and what nobody asks for.
  void ask_for(const RunnerSays& says, storage::LoadContainer& question) const;
  void decide(const RunnerSays& says);
  void decide(const Reconcile& reconcile);
  void decide(const Look& look);
  bool needs_its_binding();
  void take(rules::container::Consequence consequence);
  void record_for_waiter(Decision& decision) const;
  void answer_secret(const RunnerSays& says);
  void on_attempt_issued(const RunnerSays& says);
  void send_pending_input();
  void dispatch(const Operation& operation);
  void tell(const std::vector<wire::ToRunner>& messages);
  /// Tells waiters what a committed decision, or a load, says about their operations.
  void notice(const Operation& operation);
  void publish(const Decision& decision);
  void remind_later();

  Self self_;
  std::string name_;
  DependenciesPtr deps_;
  hub_actor hub_;
  herald_actor herald_;

  std::list<Work> queue_; // a list, because an empty deque takes half a kilobyte
  bool looking_ = false;
  std::optional<Work> current_;
  /// Which piece of work is in hand, since when; an answer to an abandoned one is late and ignored.
  std::uint64_t number_ = 0;
  caf::actor_clock::time_point since_;
  /// Of the work in hand, as of its load.
  ContainerFacts facts_;
  std::shared_ptr<const Decision> committing_;
  /// What happens once the decision in hand is committed.
  std::optional<Operation> begun_;
  std::vector<wire::ToRunner> telling_;
  std::string note_;

  std::vector<Waiter> waiters_;
  std::vector<Issuing> issuing_;
  bool reminding_ = false;
};

/// The behavior of a container's owner. One per active container; `fleet` spawns and passivates them.
container_self::behavior_type container(ContainerState::Self self, const std::string& name, DependenciesPtr deps,
                                        hub_actor hub, herald_actor herald);

} // namespace cleat::actors
