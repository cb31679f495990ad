#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "actors/rules/context.hpp"
#include "base/problem.hpp"
#include "protocol/decision.hpp"
#include "protocol/fleet_facts.hpp"
#include "protocol/runner_messages.hpp"
#include "protocol/session_commands.hpp"

/// What may happen to a container and the sessions in it (spec 04 sections 3 to 8). Pure: facts of one moment and a
/// command or a report in, a decision or a refusal out. Every decision raises the container's version, or that of a
/// binding of it, so that on any number of servers they come one after the other.
namespace cleat::rules::container {

/// A retry handle that the caller of a rule has drawn, because a rule draws no lots.
struct Handle {
  std::string text;
  Digest digest{};
};

// What callers ask.

/// A new operation: to be committed, then sent to the Runner.
struct Begun {
  Decision decision;
  Operation operation;
};

/// An operation that is there already; nothing is sent.
struct Joined {
  Operation operation;
};

/// A fresh start or a resume (spec 04 sections 4 and 5). `facts` hold the binding and the reroute's operation that the
/// body names.
Result<Begun> start(const ContainerFacts& facts, const StartSession& command, const Handle& handle,
                    const RuleContext& context);

/// The same request again, under its Idempotency-Key: the handle of `facts.operation` becomes this one (spec 04
/// section 4).
Result<Decision> start_again(const ContainerFacts& facts, const Handle& handle, const RuleContext& context);

/// What has become of the operation of a handle (spec 04 section 6).
Result<Joined> look_up(const ContainerFacts& facts, const RuleContext& context);

/// A retry: dispatched again, or joined where there is nothing to dispatch.
Result<std::variant<Begun, Joined>> retry(const ContainerFacts& facts, const RuleContext& context);

/// A stop of the binding that was asked for; joins one that is under way (spec 04 section 5).
Result<std::variant<Begun, Joined>> stop(const ContainerFacts& facts, const RuleContext& context);

/// Whether the binding that was asked for is this actor's, live or not: then a stop under a key may have been what
/// ended it.
bool was_of(const Id& actor, const ContainerFacts& facts);

/// A line for the agent: committed to the transcript, then sent.
struct Typed {
  Decision decision;
  TranscriptLine line;
};
Result<Typed> input(const ContainerFacts& facts, const InputBody& body, const RuleContext& context);

/// The removal of a container: first a stop of what lives there, then the row.
Result<std::variant<Begun, Joined, Decision>> remove(const ContainerFacts& facts, const RuleContext& context);

/// The end of an orphan diagnostic. Where its container is closed the Runner is asked first to let `attempt` begin.
struct AskForAttempt {};
Result<std::variant<AskForAttempt, Decision, Reply>>
resolve(const ContainerFacts& facts, const std::optional<Id>& attempt, const RuleContext& context);

// What Runners say.

/// What a report comes to: a decision to commit, if any; then what the Runner is told, and a line for the log.
struct Consequence {
  std::optional<Decision> decision = {};
  std::vector<wire::ToRunner> tell = {};
  std::string note = {};
};

/// What the rules about reports need beside the facts. There is no principal in it: a Runner asks for nothing.
struct ReportContext {
  Timestamp now;
  IdSource& ids;
  const RuleOptions& options;
};

/// An acknowledgement, a result, or the answer to a status query. `facts` hold the operation that it is about and the
/// binding of that operation's session.
Consequence report(const ContainerFacts& facts, const RunnerSays& says, const ReportContext& context);

/// What an agent said, or its end. `facts` hold the operation of the lifetime and the session's binding.
Consequence relay(const ContainerFacts& facts, const RunnerSays& says, const ReportContext& context);

/// Input lines that have reached the agent.
Consequence input_done(const ContainerFacts& facts, const RunnerSays& says, const ReportContext& context);

/// Whether the agent that asks may have secrets of its account: the full tuple, on a live binding (spec 04 section 3).
bool may_have_secrets(const ContainerFacts& facts, const RunnerSays& says);

// What nobody asks for.

/// Looks after the oldest thing that is overdue: an operation past its deadline, a cleanup nobody has answered (spec 04
/// section 8). Without a decision nothing is overdue.
Consequence expire(const ContainerFacts& facts, const ReportContext& context);

/// The status queries for what is in flight, oldest first: all of it when the Runner has just arrived, else what was
/// dispatched `ask_after_ms` ago or earlier.
std::vector<wire::ToRunner> questions(const ContainerFacts& facts, bool arrived, std::int64_t ask_after_ms,
                                      const ReportContext& context);

// What is sent.

/// The envelope of a start, a resume or a stop. A resume is told how many parts of its body were sent.
wire::ToRunner envelope(const Operation& operation, std::int64_t body_parts, const ReportContext& context);

/// The envelope of a line for the agent of a live binding.
wire::ToRunner envelope(const Binding& binding, const TranscriptLine& line, const ReportContext& context);

} // namespace cleat::rules::container
