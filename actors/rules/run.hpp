#pragma once

#include <optional>

#include "actors/rules/context.hpp"
#include "actors/rules/invocation.hpp"
#include "base/problem.hpp"
#include "protocol/commands.hpp"
#include "protocol/decision.hpp"
#include "protocol/facts.hpp"

/// The life of runs (spec 03 sections 7 and 10).
namespace cleat::rules {

/// What a decision about runs is made on. `context.now` is the database's clock then.
struct RunView {
  const ThreadFacts& facts;
  const RunFacts& runs;
  /// What the actor holds on the thread.
  Level level = Level::none;
  /// The run that a command names; absent when the thread has no such run.
  std::optional<Run> run = {};
  /// The agent that a trigger names or that the run belongs to, and what it holds on the thread.
  std::optional<Principal> agent = {};
  Level agent_level = Level::none;
  /// Where the reference of a start or a report stands; absent when the body has none.
  std::optional<ReferenceFacts> reference = {};

  [[nodiscard]] Conversation conversation() const { return {facts, runs}; }
};

/// A state machine's question: may an operation be done in this state? The whole of spec 03 section 10.
bool allows(RunState state, const RunOperation& operation);

/// A human's message to an agent: invokes it, or holds the run until the active one ends.
Result<Decision> trigger(const RunView& view, const TriggerRun& command, const RuleContext& context);

/// Everything that is done with a run once it is there.
Result<Decision> operate(const RunView& view, const RunCommand& command, const RuleContext& context);

/// Whether a start that named a reference was decided without a session, because the reference is current elsewhere;
/// its ids are worth a line in the log (spec 03 section 7).
bool starts_without_its_session(const RunView& view, const RunCommand& command, const Decision& decision);

} // namespace cleat::rules
