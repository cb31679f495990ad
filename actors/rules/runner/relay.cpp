/// What agents say and are told, and their secrets (spec 04 sections 3 and 7).
#include <algorithm>
#include <chrono>
#include <utility>

#include "actors/rules/runner/parts.hpp"

namespace cleat::rules::container {
namespace {

/// Whether the report comes from the lifetime that the binding is in: this Runner, over its connection in force, under
/// the current attempt, for the operation that began it, and everything else as it was then.
///
/// The last lines of an agent may come after its binding was released by its own stop or end. They are lines of that
/// lifetime still, so that nothing an agent said is lost; nothing else is taken then.
bool is_of_lifetime(const ContainerFacts& facts, const RunnerSays& says, const std::string& session_id) {
  const auto& binding = facts.binding;
  const wire::FromRunner& message = *says.message;
  return binding && matches(*binding, facts) && binding->session_id == session_id &&
         binding->state != BindingState::suspended && facts.container->attempt_id == binding->container_attempt_id &&
         facts.runner->id == says.runner_id && facts.runner->epoch == says.epoch &&
         facts.runner->enrollment_revision == says.enrollment_revision && binding->runner_id == says.runner_id &&
         message.operation_id == binding->operation_id.str() &&
         message.container_attempt_id == binding->container_attempt_id.str();
}

bool is_live_lifetime(const ContainerFacts& facts, const RunnerSays& says, const std::string& session_id) {
  return is_of_lifetime(facts, says, session_id) && facts.binding->state == BindingState::live;
}

/// A Runner's clock is not ours: a line is never of the future.
Timestamp moment_of(const wire::RelayedLine& line, Timestamp now) {
  const Timestamp said{std::chrono::microseconds(line.time_us)};
  return std::clamp(said, Timestamp{}, now);
}

/// Whether lines of the report's operation can never be taken: it is over, and the session is not in the lifetime that
/// it began, or does not stand under the current attempt. The Runner would send them for ever.
bool is_over(const ContainerFacts& facts, const RunnerSays& says) {
  const bool in_force = facts.runner && facts.runner->id == says.runner_id && facts.runner->epoch == says.epoch &&
                        facts.runner->enrollment_revision == says.enrollment_revision;
  return in_force && (!facts.operation || !facts.operation->in_flight());
}

wire::ToRunner acknowledgement(const wire::FromRunner& said, const std::string& session_id, std::int64_t through,
                               const ReportContext& context) {
  wire::ToRunner message;
  message.request_id = context.ids.next(context.now).str();
  message.operation_id = said.operation_id;
  message.container_attempt_id = said.container_attempt_id;
  message.command = wire::RelayDone{session_id, through};
  return message;
}

/// Takes the next line into the transcript.
void append(Binding& binding, std::vector<TranscriptLine>& lines, const wire::RelayedLine& line, Timestamp now) {
  binding.relayed_through += 1;
  binding.transcript_through += 1;
  lines.push_back(
    {binding.session_id, binding.transcript_through, moment_of(line, now), Direction::out, line.line, line.exit_code});
  if (line.exit_code && binding.state == BindingState::live) {
    binding.state = BindingState::released;
    binding.released_at = now;
  }
}

} // namespace

Consequence relay(const ContainerFacts& facts, const RunnerSays& says, const ReportContext& context) {
  const auto& said = std::get<wire::Relay>(says.message->report);
  if (!is_of_lifetime(facts, says, said.session_id)) {
    if (!is_over(facts, says) || said.lines.empty())
      return {}; // unacknowledged: it is sent again, because its promotion may still come
    return {{},
            {acknowledgement(*says.message, said.session_id, said.lines.back().seq, context)},
            "lines of a lifetime that is over are dropped; container " + facts.container->name};
  }
  Binding binding = *facts.binding;
  std::vector<TranscriptLine> lines;
  for (const wire::RelayedLine& line : said.lines) {
    if (line.seq <= binding.relayed_through)
      continue; // here already
    if (line.seq != binding.relayed_through + 1)
      break; // what is between is sent again
    append(binding, lines, line, context.now);
  }
  Consequence consequence;
  consequence.tell.push_back(acknowledgement(*says.message, binding.session_id, binding.relayed_through, context));
  if (lines.empty())
    return consequence;
  Decision decision;
  if (binding.state != facts.binding->state)
    touch(decision, facts);
  binding.version += 1;
  decision.rows.emplace_back(fleet::UpdateBinding{std::move(binding)});
  decision.rows.emplace_back(fleet::AppendTranscript{std::move(lines)});
  consequence.decision = std::move(decision);
  return consequence;
}

Consequence input_done(const ContainerFacts& facts, const RunnerSays& says, const ReportContext&) {
  const auto& done = std::get<wire::InputDone>(says.message->report);
  if (!is_live_lifetime(facts, says, done.session_id) || done.through <= facts.binding->input_through ||
      done.through > facts.binding->transcript_through)
    return {};
  Binding row = *facts.binding;
  row.input_through = done.through;
  row.version += 1;
  Decision decision;
  decision.rows.emplace_back(fleet::UpdateBinding{std::move(row)});
  return {std::move(decision), {}, {}};
}

bool may_have_secrets(const ContainerFacts& facts, const RunnerSays& says) {
  return is_live_lifetime(facts, says, std::get<wire::AskSecret>(says.message->report).session_id);
}

wire::ToRunner envelope(const Binding& binding, const TranscriptLine& line, const ReportContext& context) {
  wire::ToRunner message;
  message.request_id = context.ids.next(context.now).str();
  message.operation_id = binding.operation_id.str();
  message.container_attempt_id = binding.container_attempt_id.str();
  message.command = wire::Input{binding.session_id, line.seq, line.line};
  return message;
}

} // namespace cleat::rules::container
