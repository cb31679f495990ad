#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/rules/report.hpp"
#include "actors/rules/run.hpp"
#include "tests/unit/world.hpp"

/// A database of one thread in plain memory, with its sessions, runs and messages, and everything that must hold in it.
/// Tests drive the rules with it as an owner would: what a rule decides is applied at once, and what is broken then is
/// noted. Every command happens a second after the one before.
namespace cleat::unit {

/// What an adapter was told when its agent was invoked.
struct Told {
  Id agent_id;
  std::string mode;       ///< empty when the payload has no `session_mode`
  std::string session_id; ///< empty when it has no `agent_session`
};

class RunModel {
public:
  /// The thread is operated by Lotse. Alex may trigger, Sam may read, Robin may nothing; Aide may read as a guest,
  /// Builder may not.
  RunModel();

  Result<Decision> trigger(const Principal& actor, TriggerBody body);
  Result<Decision> trigger(const Principal& actor) { return trigger(actor, {"Hello", {}, WhenActive::reject}); }
  Result<Decision> enqueue(const Principal& actor) { return trigger(actor, {"Hello", {}, WhenActive::enqueue}); }
  Result<Decision> operate(const Principal& actor, const Id& run_id, const RunOperation& operation);
  Result<Decision> report(const Principal& actor, const ReportBody& body, std::optional<std::int64_t> if_match = {});
  Result<Decision> reset(const Principal& actor);
  /// Binds over whatever is current.
  Result<Decision> bind(const Principal& actor, const std::string& reference);

  /// `operate` for the run that was made last, as the agent that it belongs to.
  Result<Decision> as_agent(const RunOperation& operation);
  /// Starts the last run, with a reference when it is not empty.
  Result<Decision> start(const std::string& reference = {});
  Result<Decision> finish();

  /// An earlier session of an agent, as an import would have written it.
  AgentSession import_row(const Id& agent_id, const std::string& reference, Timestamp created_at);
  /// A current session of Lotse in another thread.
  AgentSession current_elsewhere(const std::string& reference);

  /// Another agent works in the thread from now on.
  void set_operator(const Principal& agent) { facts.operator_agent = agent; }
  void pass(std::chrono::seconds span) { now += span; }

  [[nodiscard]] const Run& last_run() const { return runs.back(); }
  [[nodiscard]] Told last_told() const;
  [[nodiscard]] std::optional<AgentSession> current() const;
  [[nodiscard]] std::optional<AgentSession> session(const std::optional<Id>& id) const;
  /// How many system lines of this code there are.
  [[nodiscard]] std::size_t lines(SystemCode code) const;
  /// Events of this type so far.
  [[nodiscard]] std::size_t events_of(const std::string& type) const;

  World world;
  ThreadFacts facts;
  rules::RuleOptions options;
  Timestamp now = noon;
  std::map<Id, Level> levels;

  std::vector<AgentSession> sessions;
  std::vector<AgentSession> elsewhere;
  std::vector<Run> runs;
  std::vector<Message> messages;
  std::vector<AgentEvent> told;
  std::vector<Event> events;
  std::vector<AuditEntry> audit;
  std::vector<Denial> denials;
  /// What was broken so far; empty as long as all is well.
  std::vector<std::string> broken;

private:
  [[nodiscard]] Level level(const Principal& actor) const;
  [[nodiscard]] std::optional<Principal> principal(const Id& id) const;
  [[nodiscard]] RunFacts run_facts() const;
  [[nodiscard]] std::optional<ReferenceFacts> reference(const std::optional<std::string>& name) const;
  [[nodiscard]] rules::RunView view(const RunFacts& run_facts, const Principal& actor,
                                    const std::optional<std::string>& name) const;
  Result<Decision> apply(Result<Decision> decision);
  void write_sessions(const Decision& decision);
  void write_runs(const Decision& decision);
  void check();
  void expect(bool holds, const std::string& what);

  CountingIds ids_;
  std::int64_t turn_ = 1;
};

} // namespace cleat::unit
