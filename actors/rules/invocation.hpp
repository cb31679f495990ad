#pragma once

#include <optional>
#include <vector>

#include "actors/rules/context.hpp"
#include "base/problem.hpp"
#include "protocol/decision.hpp"
#include "protocol/facts.hpp"
#include "protocol/render.hpp"

/// The moment in which an agent is invoked (spec 03 sections 6 and 10): which session its run gets, what its adapter is
/// told, and which held run is next.
namespace cleat::rules {

/// A thread and its runs, as they were together at one moment.
struct Conversation {
  const ThreadFacts& facts;
  const RunFacts& runs;
};

/// Whether the agent is the one that works in the thread now. Runs of all others are guests.
bool is_operator(const ThreadFacts& facts, const Id& agent_id);

/// The agent as the invoke guard asks for it: the thread has its operator, and as guests the agents that may read it.
std::optional<Principal> agent_of_thread(const ThreadFacts& facts, const std::optional<Principal>& agent, Level held);

/// How an adapter begins with `session` (spec 03 section 6): `new` without one or when it has not started, `resume`
/// when a run has used it, `bind` when none has.
SessionMode session_mode(const std::optional<AgentSession>& session, bool used);

/// The session of a new run, with everything that has to be written for it: the end of another agent's session, the
/// binding of an import. A guest run has none.
render::SessionDecision decide_session(Decision& decision, const Conversation& conversation, const Id& agent_id,
                                       const RuleContext& context);

/// Makes `run` queued: decides its session and tells its adapter. The one place where `agent.invocation` comes from.
/// Answers the run as it is then; the caller writes the row.
Run invoke(Decision& decision, const Conversation& conversation, Run run, const Message& message,
           const RuleContext& context);

/// Invokes the first held run that its human may still trigger, and fails those before it with `invocation_denied`.
void release_next(Decision& decision, const Conversation& conversation, const RuleContext& context);

/// The row of a reference that has ended since the run was queued: a start or a first report that names the reference
/// is about that one, so that a human's reset stands (spec 03 sections 7 and 8).
std::optional<AgentSession> ended_meanwhile(const Run& run, const ReferenceFacts& reference);

/// What must still hold for any decision about runs: the turn of the thread.
void take_turn(Decision& decision, const Conversation& conversation);

/// Writes a run that changes, its version raised by one, with its event. Answers the row as it is then.
Run change_run(Decision& decision, const Conversation& conversation, const Run& before, Run after,
               const RuleContext& context);

/// A message of this moment, without content yet, by a human unless the caller says otherwise.
Message new_message(const Thread& thread, const Id& author_id, const RuleContext& context);

/// A line that says what has happened, in the name of `author_id` (spec 03 section 1).
Message system_line(const Thread& thread, const Id& author_id, SystemCode code, const RuleContext& context);

/// Writes a message, with its event.
void add_message(Decision& decision, const Message& row, const Thread& thread, const RuleContext& context);

} // namespace cleat::rules
