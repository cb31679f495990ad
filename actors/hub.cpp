#include "actors/hub.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/answering.hpp"
#include "actors/rules/runner/enrolment.hpp"
#include "base/crash_points.hpp"
#include "base/encoding.hpp"
#include "base/log.hpp"
#include "base/random.hpp"

namespace cleat::actors {
namespace {

using storage::CommitOutcome;

/// How much of what a Runner says of itself is written to the log.
constexpr std::size_t version_shown = 64;

/// Text from outside, fit for a line of the log.
std::string shown(const std::string& text) {
  std::string line = text.substr(0, version_shown);
  std::replace_if(
    line.begin(), line.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return line;
}

rules::fleet::EnrolmentOptions enrolment_options(const FleetOptions& options) {
  return {options.heartbeat_ms, options.timeout_s, options.reconnect_grace_s, options.node_timeout_s};
}

wire::EnrolmentRefused unavailable() {
  return {"unavailable", "the server cannot decide about enrolments at the moment; try again later"};
}

storage::EnrolmentLoaded nothing_loaded() {
  storage::EnrolmentLoaded loaded;
  loaded.status = storage::ReadStatus::unavailable;
  return loaded;
}

/// Something to decide about one Runner.
struct Task {
  /// Of an admission: what was asked, by whom, and who waits for the answer.
  std::optional<wire::AskEnrolment> request;
  runner_connection_actor connection;
  caf::typed_response_promise<RunnerAdmitted> promise;
  /// Of a departure: which connection has gone.
  std::int64_t epoch = 0;
  /// Known at once for a departure, and once it is loaded for an admission.
  std::optional<Id> runner_id;
  /// Whether it is this task's turn to decide about its Runner.
  bool at_turn = false;
  std::int64_t attempts = 0;
};

using TaskPtr = std::shared_ptr<Task>;

/// The state of the hub. Decisions about one Runner are made one after the other; a connection is known from the moment
/// its admission is committed until its socket goes or another one is admitted.
class HubState {
public:
  using Self = hub_actor::stateful_pointer<HubState>;

  explicit HubState(Self self) : self_(self) {}

  void init(DependenciesPtr deps) {
    deps_ = std::move(deps);
    self_->set_down_handler([this](const caf::down_msg& down) { on_down(down); });
    self_->set_exit_handler([this](const caf::exit_msg& message) { stop(message.reason); });
    beat();
  }

  caf::typed_response_promise<Delivered> deliver(Deliver& command) {
    auto promise = self_->make_response_promise<Delivered>();
    const auto known = connections_.find(command.runner_id);
    if (known != connections_.end() && known->second.epoch == command.epoch)
      return promise.delegate(known->second.handle, std::move(command));
    if (peers_ && command.node.id != own_node().id)
      return promise.delegate(*peers_, DeliverElsewhere{std::move(command)});
    promise.deliver(Delivered{false});
    return promise;
  }

  caf::typed_response_promise<RunnerAdmitted> admit(AdmitRunner& question) {
    auto task = std::make_shared<Task>();
    task->request = std::move(question.request);
    task->connection = caf::actor_cast<runner_connection_actor>(self_->current_sender());
    task->promise = self_->make_response_promise<RunnerAdmitted>();
    ++open_tasks_;
    if (stopping_)
      refuse(task, unavailable());
    else if (!has_beaten_)
      early_.push_back(task);
    else
      load(task);
    return task->promise;
  }

  /// The socket of a connection has gone. Forgotten at once; the database is told, now or after one of the next
  /// heartbeats, whose answers name the Runners that it takes for this server's.
  void forget(const Id& runner_id, std::int64_t epoch) {
    const auto known = connections_.find(runner_id);
    if (known == connections_.end() || known->second.epoch != epoch)
      return;
    runner_of_.erase(known->second.handle->id());
    self_->demonitor(known->second.handle.address());
    connections_.erase(known);
    record_departure(runner_id, epoch);
  }

  void use(const peers_actor& peers) { peers_ = peers; }

  void moved(ContainerMoved& moved) {
    if (peers_)
      self_->send(*peers_, TellPeers{std::move(moved)});
  }

  void on_tick() {
    if (!stopping_)
      return beat();
    if (self_->clock().now() >= stopped_at_)
      give_up();
  }

  static constexpr const char* name = "cleat.hub";

private:
  struct Connection {
    runner_connection_actor handle;
    std::int64_t enrollment_revision = 0;
    std::int64_t epoch = 0;
    /// The last heartbeat that had been sent when it was admitted. An answer to it need not know this connection.
    std::uint64_t since_beat = 0;
  };

  [[nodiscard]] const Node& own_node() const { return deps_->options.fleet.node; }

  // Heartbeats of this server.

  void beat() {
    const std::uint64_t number = ++beat_;
    self_->request(deps_->store.librarian, patience(*deps_), storage::BeatNode{own_node()})
      .then([this, number](const storage::NodeBeaten& beaten) { on_beaten(number, beaten); },
            [this, number](const caf::error&) {
              on_beaten(number, {storage::ReadStatus::unavailable, {}});
            });
  }

  void on_beaten(std::uint64_t number, const storage::NodeBeaten& beaten) {
    if (stopping_)
      return;
    crash_point(CrashPoint::node_beaten);
    const bool ok = beaten.status == storage::ReadStatus::ok;
    if (!ok && !std::exchange(is_silent_, true))
      log::get().warn("this server's heartbeat cannot be written; for other servers its Runners are away until it is");
    if (ok && std::exchange(is_silent_, false))
      log::get().info("this server's heartbeat is written again");
    for (const TaskPtr& task : std::exchange(early_, {}))
      ok ? load(task) : refuse(task, unavailable());
    if (ok) {
      has_beaten_ = true;
      compare(number, beaten.held);
    }
    self_->delayed_send(self_, std::chrono::milliseconds(deps_->options.fleet.node_heartbeat_ms), Sweep{});
  }

  /// What the database takes for this server's Runners against the connections that there are.
  void compare(std::uint64_t number, const std::vector<storage::HeldRunner>& held) {
    std::unordered_map<Id, std::int64_t> epochs;
    for (const storage::HeldRunner& runner : held) {
      epochs.emplace(runner.runner_id, runner.epoch);
      if (!is_connected(runner.runner_id, runner.epoch) && !turns_.contains(runner.runner_id))
        record_departure(runner.runner_id, runner.epoch);
    }
    for (const auto& [runner_id, connection] : connections_) {
      const auto entry = epochs.find(runner_id);
      if (connection.since_beat < number && (entry == epochs.end() || entry->second != connection.epoch))
        examine(runner_id, connection.epoch);
    }
  }

  [[nodiscard]] bool is_connected(const Id& runner_id, std::int64_t epoch) const {
    const auto known = connections_.find(runner_id);
    return known != connections_.end() && known->second.epoch == epoch;
  }

  /// Looks whose the Runner is that the database does not take for this connection's any more.
  void examine(const Id& runner_id, std::int64_t epoch) {
    self_->request(deps_->store.librarian, patience(*deps_), storage::LoadEnrolment{{}, runner_id})
      .then(
        [this, runner_id, epoch](const storage::EnrolmentLoaded& loaded) {
          if (loaded.status == storage::ReadStatus::ok && loaded.facts.runner && is_connected(runner_id, epoch))
            on_examined(*loaded.facts.runner);
        },
        [](const caf::error&) {}); // the next heartbeat asks again
  }

  void on_examined(const Runner& runner) {
    const auto known = connections_.find(runner.id);
    if (runner.epoch == known->second.epoch && runner.node_id == own_node().id)
      return;
    log::get().info("Runner {} is connected elsewhere, its connection here is closed", runner.name);
    self_->send(known->second.handle, EnrolmentOver{runner.enrollment_revision > known->second.enrollment_revision});
    forget(runner.id, known->second.epoch);
  }

  // Decisions about Runners, one after the other for each.

  void record_departure(const Id& runner_id, std::int64_t epoch) {
    auto task = std::make_shared<Task>();
    task->runner_id = runner_id;
    task->epoch = epoch;
    ++open_tasks_;
    take_turn(task) ? load(task) : static_cast<void>(0);
  }

  /// Whether the task may go on; else it waits until it may.
  bool take_turn(const TaskPtr& task) {
    if (task->at_turn)
      return true;
    const auto [waiting, is_free] = turns_.try_emplace(*task->runner_id);
    if (!is_free)
      waiting->second.push_back(task);
    task->at_turn = is_free;
    return is_free;
  }

  void load(const TaskPtr& task) {
    storage::LoadEnrolment question;
    if (task->request)
      question.token = sha256(task->request->token);
    else
      question.runner_id = task->runner_id;
    self_->request(deps_->store.librarian, patience(*deps_), question)
      .then([this, task](const storage::EnrolmentLoaded& loaded) { on_loaded(task, loaded); },
            [this, task](const caf::error&) { on_loaded(task, nothing_loaded()); });
  }

  void on_loaded(const TaskPtr& task, const storage::EnrolmentLoaded& loaded) {
    if (loaded.status != storage::ReadStatus::ok)
      return refuse(task, unavailable());
    if (!task->runner_id && loaded.facts.runner)
      task->runner_id = loaded.facts.runner->id;
    if (task->runner_id && !take_turn(task))
      return; // loaded again when its turn comes
    try {
      task->request ? decide_admission(task, loaded.facts) : decide_departure(task, loaded.facts);
    } catch (const std::exception& error) {
      log::get().error("an enrolment could not be decided: {}", error.what());
      refuse(task, unavailable());
    }
  }

  void decide_admission(const TaskPtr& task, const EnrolmentFacts& facts) {
    auto admitted = rules::fleet::admit(
      facts, *task->request,
      {own_node().id, deps_->clock->now(), *deps_->ids, new_secret(), enrolment_options(deps_->options.fleet)});
    if (!admitted) {
      log::get().info("Runner {} may not enrol: {}", facts.runner ? facts.runner->name : "unknown",
                      admitted.error().code);
      return refuse(task, std::move(admitted.error()));
    }
    commit(task, std::move(admitted->decision),
           [this, task, name = facts.runner->name, answer = admitted->answer] { on_admitted(task, name, answer); });
  }

  void decide_departure(const TaskPtr& task, const EnrolmentFacts& facts) {
    auto decision = rules::fleet::left(facts, task->epoch, own_node().id, deps_->clock->now());
    if (!decision)
      return finish(task);
    commit(task, std::move(*decision), [this, task, name = facts.runner->name] {
      log::get().info("Runner {} has disconnected", name);
      finish(task);
    });
  }

  template <class Done>
  void commit(const TaskPtr& task, Decision decision, Done done) {
    crash_point(CrashPoint::runner_decided);
    self_
      ->request(deps_->store.writer, patience(*deps_),
                storage::Commit{std::make_shared<const Decision>(std::move(decision))})
      .then(
        [this, task, done](const storage::CommitResult& result) {
          crash_point(CrashPoint::runner_committed);
          if (result.outcome == CommitOutcome::committed)
            return done();
          on_not_committed(task, result.outcome);
        },
        [this, task](const caf::error&) { on_not_committed(task, CommitOutcome::unknown); });
  }

  void on_not_committed(const TaskPtr& task, CommitOutcome outcome) {
    const bool is_stale = outcome == CommitOutcome::stale || outcome == CommitOutcome::lost_race;
    if (is_stale && ++task->attempts <= deps_->options.tx_retry_max)
      return load(task);
    // Where the outcome is unknown and it was committed after all, the next heartbeat's answer names a connection that
    // is not there, and its departure is recorded.
    refuse(task, unavailable());
  }

  void on_admitted(const TaskPtr& task, const std::string& runner, const wire::Enrolled& answer) {
    log::get().info("Runner {} has {} enrolment {}, epoch {}; it calls itself '{}'", runner,
                    answer.continued ? "continued" : "begun", answer.enrollment_revision, answer.epoch,
                    shown(task->request->version));
    const auto known = connections_.find(*task->runner_id);
    if (known != connections_.end()) {
      runner_of_.erase(known->second.handle->id());
      self_->demonitor(known->second.handle.address());
      self_->send(known->second.handle, EnrolmentOver{!answer.continued});
    }
    connections_[*task->runner_id] = {task->connection, answer.enrollment_revision, answer.epoch, beat_};
    runner_of_[task->connection->id()] = *task->runner_id;
    self_->monitor(task->connection);
    task->promise.deliver(RunnerAdmitted{answer, task->runner_id, runner, answer.enrollment_revision, answer.epoch});
    if (stopping_)
      close_all();
    finish(task);
  }

  void refuse(const TaskPtr& task, wire::EnrolmentRefused refusal) {
    if (task->request)
      task->promise.deliver(RunnerAdmitted{std::move(refusal), {}, {}, 0, 0});
    finish(task);
  }

  /// The next one that waits for its turn with the Runner loads anew.
  void finish(const TaskPtr& task) {
    --open_tasks_;
    if (task->at_turn) {
      const auto turn = turns_.find(*task->runner_id);
      if (turn->second.empty()) {
        turns_.erase(turn);
      } else {
        const TaskPtr next = std::move(turn->second.front());
        turn->second.pop_front();
        next->at_turn = true;
        load(next);
      }
    }
    if (stopping_ && open_tasks_ == 0)
      self_->quit(stop_reason_);
  }

  void on_down(const caf::down_msg& down) {
    const auto known = runner_of_.find(down.source.id());
    if (known == runner_of_.end())
      return;
    const Id runner_id = known->second;
    forget(runner_id, connections_.at(runner_id).epoch);
  }

  // The end.

  void stop(const caf::error& reason) {
    if (std::exchange(stopping_, true))
      return;
    stop_reason_ = reason;
    const std::chrono::seconds bound(deps_->options.fleet.node_timeout_s);
    stopped_at_ = self_->clock().now() + bound;
    ++open_tasks_; // this one, so that nothing ends before everything has begun
    for (const TaskPtr& task : std::exchange(early_, {}))
      refuse(task, unavailable());
    close_all();
    self_->delayed_send(self_, bound, Sweep{});
    finish(std::make_shared<Task>());
  }

  void close_all() {
    std::vector<std::pair<Id, std::int64_t>> gone;
    for (const auto& [runner_id, connection] : connections_) {
      self_->send(connection.handle, EnrolmentOver{});
      gone.emplace_back(runner_id, connection.epoch);
    }
    for (const auto& [runner_id, epoch] : gone)
      forget(runner_id, epoch);
  }

  void give_up() {
    log::get().warn("not every Runner could be marked disconnected; other servers see it by this one's heartbeat");
    self_->quit(stop_reason_);
  }

  Self self_;
  DependenciesPtr deps_;
  std::optional<peers_actor> peers_;
  /// Of each Runner the newest connection that is here.
  std::unordered_map<Id, Connection> connections_;
  std::unordered_map<caf::actor_id, Id> runner_of_;
  /// Runners that something is being decided about, and what waits behind it. There are no more tasks than connections
  /// and their departures, which `runner.max_connections` bounds.
  std::unordered_map<Id, std::deque<TaskPtr>> turns_;
  std::size_t open_tasks_ = 0;
  /// Admissions that came before this server's first heartbeat was written.
  std::vector<TaskPtr> early_;
  std::uint64_t beat_ = 0;
  bool has_beaten_ = false;
  bool is_silent_ = false;
  bool stopping_ = false;
  caf::error stop_reason_;
  caf::actor_clock::time_point stopped_at_;
};

hub_actor::behavior_type hub(HubState::Self self, DependenciesPtr deps) {
  self->state.init(std::move(deps));
  return {
    [self](Deliver& command) { return self->state.deliver(command); },
    [self](AdmitRunner& question) { return self->state.admit(question); },
    [self](const RunnerLeft& left) { self->state.forget(left.runner_id, left.epoch); },
    [self](ContainerMoved& moved) { self->state.moved(moved); },
    [self](const UsePeers& peers) { self->state.use(peers.peers); },
    [self](Sweep) { self->state.on_tick(); },
  };
}

} // namespace

hub_actor spawn_hub(caf::actor_system& system, DependenciesPtr deps) {
  return system.spawn(hub, std::move(deps));
}

} // namespace cleat::actors
