#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/world.hpp"

/// A database of a few threads in plain memory, and everything that must hold in it. Properties drive the rules
/// with it: what a rule decides is applied, and what is broken then is noted.
namespace cleat::unit {

class SessionModel {
public:
  /// Two spaces with open and closed channels, operated by agents of every kind. `levels` are dealt out to people
  /// and threads in turn.
  explicit SessionModel(const std::vector<Level>& levels);

  [[nodiscard]] const std::vector<Principal>& actors() const { return actors_; }
  [[nodiscard]] const std::vector<ThreadFacts>& threads() const { return threads_; }

  /// Each asks the rule as an owner would; a decision is applied at once.
  Result<Decision> reset(const Principal& actor, std::size_t thread, std::optional<Id> expected, Timestamp now);
  Result<Decision> bind(const Principal& actor, std::size_t thread, BindBody body, Timestamp now);
  Result<Decision> import_session(const Principal& actor, std::size_t thread, ImportItem item, Timestamp now);

  /// What was broken so far; empty as long as all is well.
  [[nodiscard]] const std::vector<std::string>& broken() const { return broken_; }

private:
  [[nodiscard]] Level level(const Principal& actor, const ThreadFacts& facts) const;
  [[nodiscard]] ReferenceFacts reference(const Principal& actor, const Principal& agent, const std::string& name) const;
  [[nodiscard]] std::optional<OtherThread> thread_of(const AgentSession& row, const Principal& actor) const;

  /// Notes `what` unless `holds`.
  void expect(bool holds, const std::string& what);
  void judge_refusal(const Refusal& refusal, Level held);
  void apply(const Decision& decision, const Principal& actor, const ThreadFacts& asked);
  void end_rows(const Decision& decision);
  void insert_rows(const Decision& decision);
  void check_events(const Decision& decision);
  void check_guards(const Decision& decision, const ThreadFacts& asked);
  void check_reach(const Decision& decision, const Principal& actor);
  void check_uniqueness();
  void adopt_everywhere(const Decision& decision);
  AgentSession* find(const Id& id);
  const ThreadFacts& facts_of(const Id& thread_id) const;

  World world_;
  CountingIds ids_;
  rules::RuleOptions options_;
  std::vector<Principal> actors_;
  std::vector<ThreadFacts> threads_;
  std::vector<AgentSession> rows_;
  std::map<std::pair<Id, Id>, Level> levels_;
  std::vector<std::string> broken_;
};

} // namespace cleat::unit
