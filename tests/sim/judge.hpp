#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "actors/rules/context.hpp"
#include "protocol/commands.hpp"
#include "storage/memory_tables.hpp"
#include "tests/pg/world.hpp"

/// Says whether answers were true. A success must be one decision that was committed while its request was under way,
/// and what the rule makes of a state in that time which the thread's session has not left when it is committed; a
/// refusal must be what the rule says about some state that the database had in that time; a request that was done
/// before under its key must be answered with that. Together they make every history of answers linearizable. (Other
/// threads may have moved on before the commit: then the request goes before what they did.)
namespace cleat::sim {

using Command = std::variant<ResetSession, BindSession, TriggerRun, ReportSession, RunCommand>;

/// A request and its answer. Moments are counted in commits.
struct Request {
  Command command;
  std::size_t sent_at = 0;
  std::size_t answered_at = 0;
  std::optional<Answer> answer = {};
};

/// The request as a line, for a history that people read.
std::string describe(const Request& request);

class Judge {
public:
  /// `committed` is everything that was ever committed, `provision` the state before it.
  Judge(const std::vector<Decision>& provision, const std::vector<std::shared_ptr<const Decision>>& committed,
        std::shared_ptr<const Clock> clock)
    : committed_(committed), clock_(std::move(clock)) {
    past_.set_clock(clock_);
    for (const Decision& decision : provision)
      past_.commit(decision);
  }

  /// What is wrong with these answers; empty when all are true.
  std::vector<std::string> verdicts(const std::vector<Request>& requests);

private:
  [[nodiscard]] std::optional<std::string> judge_success(const Request& request);
  [[nodiscard]] std::optional<std::string> judge_trouble(const Request& request,
                                                         const std::vector<Request>& requests) const;
  /// Goes through the past, commit by commit.
  void judge_in_time(const std::vector<Request>& requests, std::vector<std::string>& wrong);
  /// Notes what the rule says now about everything that is under way, and judges what is committed at this moment.
  void judge_commits(std::size_t moment, std::vector<std::string>& wrong);
  /// The requests that commits belong to, as far as a key or an answer tells.
  void find_owners(const std::vector<Request>& requests);
  /// Whether the request's key had its answer before the request was sent.
  [[nodiscard]] bool was_done_before(const Request& request) const;
  /// What the rule says about a request in the state that `past_` is in, and the thread's session in that state.
  struct Opinion {
    Result<Decision> says;
    std::string session;
  };
  [[nodiscard]] Opinion ask(const Request& request);

  const std::vector<std::shared_ptr<const Decision>>& committed_;
  std::shared_ptr<const Clock> clock_;
  storage::MemoryTables past_;
  /// The request that a commit belongs to, where that is known.
  std::vector<const Request*> owners_ = std::vector<const Request*>(committed_.size());
  /// Of each commit the sessions of its thread in the states in which the rule would have decided the same.
  std::vector<std::set<std::string>> possible_ = std::vector<std::set<std::string>>(committed_.size());
  test::Ids ids_;
  rules::RuleOptions options_;
};

} // namespace cleat::sim
