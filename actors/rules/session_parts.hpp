#pragma once

#include <optional>
#include <string>
#include <vector>

#include "actors/rules/context.hpp"
#include "protocol/decision.hpp"
#include "protocol/facts.hpp"

/// What the rules of sessions and of runs have in common: guards, rows that end, rows that begin.
namespace cleat::rules {

/// The rights that a decision was made on must still hold when it commits (spec 02, invariant 2).
void guard_rights(Decision& decision, const Space& space);

/// The agent must still be as it was: enabled, reachable, with these tools and this billing.
void guard_agent(Decision& decision, const Principal& agent);

/// The thread's current session must still be the one that was seen, or none.
void guard_current(Decision& decision, const ThreadFacts& facts);

/// A row that ends, with the thread it stands in.
struct Ending {
  AgentSession row;
  const Thread* thread;
};

/// Ends rows in ascending id, each with its event (spec 03 sections 11 and 13).
void end_rows(Decision& decision, std::vector<Ending> endings, Timestamp at, EndReason reason,
              const RuleContext& context);

/// A moment for a new row that sorts behind every row of its thread and of its reference, whatever the clocks of
/// the servers that wrote those.
Timestamp moment_after(const ThreadFacts& facts, const std::optional<AgentSession>& newest, Timestamp now);

/// A new current row of the thread, not started, without cost and model.
AgentSession new_session(const ThreadFacts& facts, const Id& agent_id, std::string reference, Timestamp at,
                         const RuleContext& context);

/// Inserts the row, with its event.
void insert_session(Decision& decision, const AgentSession& row, const Thread& thread, const RuleContext& context);

/// What a binding did, for its audit entry: ids and codes, never the reference (spec 03 section 5).
struct Binding {
  const AgentSession& bound;
  std::optional<AgentSession> ended_row = {};
  const AgentSession* taken_over = nullptr;
  /// `bind` or `import`.
  std::string cause = "bind";
};

/// The one allow entry of a binding, by whoever caused it.
void audit_binding(Decision& decision, const Binding& binding, const RuleContext& context);

} // namespace cleat::rules
