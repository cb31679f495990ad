#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/cleat-runner/body_parts.hpp"
#include "apps/cleat-runner/container.hpp"
#include "apps/cleat-runner/dispatch.hpp"
#include "apps/cleat-runner/link.hpp"
#include "apps/cleat-runner/relays.hpp"
#include "apps/cleat-runner/state_folder.hpp"
#include "base/ids.hpp"

namespace cleat::runner {

/// The Runner: what the server says becomes rows of the journal, processes and answers, in this order (spec 04 sections
/// 5 to 8). One thread. What one round of the loop has to write down is one transaction; processes are started and
/// answers leave after it.
class Runner final : private Link::Host {
public:
  Runner(const Config& config, const StateFolder& state, EventLoop& loop, Journal& journal, Relays& relays);

  /// Runs until the Runner has drained or may not go on; answers the exit status.
  int run();
  /// Ends all agents, sends what is left, and ends. The second time it does not wait for anybody.
  void drain();

private:
  // Link::Host
  bool ready_to_enrol_anew() override;
  void on_enrolled(const wire::Enrolled& enrolled) override;
  void on_message(const wire::ToRunner& message) override;
  void on_disconnected() override;
  void on_refused_for_good(int status, const std::string& sentence) override;

  /// Makes the round durable, then does what waited for it; in the end sends.
  void settle();
  /// Does it once everything that has been written down so far is durable.
  void then(std::function<void()> effect) { effects_.push_back(std::move(effect)); }
  void pump_relays();
  void answer_stops();
  void keep_ticking();
  void end_if_drained();

  /// Whether the envelope has the tags that its command needs; without them the connection is closed.
  bool has_its_tags(const wire::ToRunner& message);

  // Starts (starts.cpp)
  void on_start(const wire::ToRunner& message, const wire::Start& start);
  void begin(Container& container, const wire::ToRunner& message, OperationRow row, std::string body);
  void launch(const OperationKey& key, const std::string& body);
  void spawn_agent(Container& container, const std::string& body);
  void on_executed(const OperationKey& key, const std::optional<std::string>& failure_reason);
  void on_started(Container& container);
  void fail_start(Container& container, const std::string& reason);
  void prune();

  // Ends (ends.cpp)
  void on_stop(const wire::ToRunner& message, const wire::Stop& stop);
  void on_status(const wire::ToRunner& message, const wire::AskStatus& status);
  void on_issue(const wire::ToRunner& message, const wire::IssueAttempt& issue);
  void adopt(Container& container, PendingAttempt pending);
  void end(Container& container);
  void on_ended(const OperationKey& key, std::int64_t exit_code);
  void release(Container& container);
  bool park(const wire::ToRunner& message, const std::string& container_name);

  // While an agent runs (sessions.cpp)
  void on_said(const OperationKey& key, std::vector<std::string> lines);
  void on_relay_done(const wire::ToRunner& message, const wire::RelayDone& done);
  void on_input(const wire::ToRunner& message, const wire::Input& input);
  void write_input(const OperationKey& key, std::int64_t seq, const std::string& line);
  void on_input_done(const OperationKey& key, std::int64_t through);
  void on_secret_asked(const OperationKey& key, std::uint64_t connection, const std::string& name);
  void on_secret(const wire::ToRunner& message, const wire::SecretAnswer& answer);
  void ask_for_secrets(Lifetime& life);

  /// The container whose agent began with this operation; null when it has ended.
  Container* living(const OperationKey& key);
  Container& container_of(const std::string& name);
  void put(OperationRow& row);
  void say(const wire::ToRunner& about, std::int64_t dispatch, wire::Report report);
  void say(const OperationRow& row, const std::string& request_id, wire::Report report);
  /// Acknowledges and, where there is one, tells the outcome.
  void answer(const wire::ToRunner& message, const Replay& replayed);
  void refuse_dispatch(const wire::ToRunner& message, OperationRow row, const Refusal& refusal);

  const Config& config_;
  const StateFolder& state_;
  EventLoop& loop_;
  Journal& journal_;
  Relays& relays_;
  Link link_;
  SystemClock clock_;
  RandomIdSource ids_;

  std::map<std::string, Container> containers_;
  std::map<OperationKey, Container*> living_;
  BodyParts bodies_;
  std::vector<std::function<void()>> effects_;
  /// Something was said that is not durable yet.
  bool said_ = false;

  struct SecretAsk {
    OperationKey key;
    std::uint64_t connection;
  };
  std::map<std::string, SecretAsk> secret_asks_;

  /// Stops whose agents have ended, while what these said last goes first.
  struct EndedStop {
    OperationKey lifetime;
    WaitingStop stop;
    EventLoop::TimePoint deadline;
  };
  std::vector<EndedStop> ended_stops_;

  EventLoop::TimerId tick_ = 0;
  bool draining_ = false;
  /// Set once the Runner shall end: with which status, and until when it may send.
  std::optional<int> status_;
  std::optional<EventLoop::TimePoint> drain_end_;
};

} // namespace cleat::runner
