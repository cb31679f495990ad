#pragma once

#include <optional>
#include <vector>

#include "actors/rules/context.hpp"
#include "base/problem.hpp"
#include "protocol/commands.hpp"
#include "protocol/decision.hpp"
#include "protocol/facts.hpp"

/// The rules of a thread's agent sessions that need no run (spec 03 sections 3, 4, 5 and 12).
namespace cleat::rules {

/// A thread as its owner knows it, and what the asking principal holds on it.
struct ThreadView {
  const ThreadFacts& facts;
  Level level = Level::none;
};

/// Reset (`/new`): ends the current session with `reset` (spec 03 section 4).
Result<Decision> reset(const ThreadView& thread, const ResetSession& command, const RuleContext& context);

/// Bind (`/resume`): a new current row for an external session, with take-over of a session that is current in
/// another thread (spec 03 section 5). `reference` holds what is known of the body's reference; without a valid body or
/// without an operator there is none, and the refusal does not need it.
Result<Decision> bind(const ThreadView& thread, const std::optional<ReferenceFacts>& reference,
                      const BindSession& command, const RuleContext& context);

/// Import: writes earlier sessions as ended rows; what was imported before is left as it is (spec 03 section 12).
/// `sessions` are all rows of the thread; `named` are the principals of the items, in the order of the items.
Result<Decision> import_sessions(const ThreadView& thread, const std::vector<AgentSession>& sessions,
                                 const std::vector<std::optional<Principal>>& named, const ImportSessions& command,
                                 const RuleContext& context);

/// The history of a thread, newest first, not paginated (spec 03 section 3).
Result<Reply> list(const ThreadView& thread, const std::vector<AgentSession>& sessions);

/// What the owner knows once `decision` is committed.
void adopt(ThreadFacts& facts, const Decision& decision);

/// An ended copy of a current row: `ended_at`, the reason, and the version raised by one. A row that has ended stays
/// as it is, because the first end stands.
AgentSession ended(AgentSession row, Timestamp at, EndReason reason);

/// What a new row of a reference has cost before it began, in millionths of the currency's unit.
struct CostBaseline {
  std::int64_t micros = 0;
  std::string currency;

  bool operator==(const CostBaseline&) const = default;
};
/// Baseline and cumulative cost of the reference's newest row with its currency, else nothing in the default currency
/// (spec 03 section 5).
CostBaseline cost_baseline(const std::optional<AgentSession>& newest, const std::string& default_currency);

} // namespace cleat::rules
