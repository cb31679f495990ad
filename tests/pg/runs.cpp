#include "tests/pg/runs.hpp"

#include <utility>

namespace cleat::test {

Message message_in(World& world, const Thread& thread, std::string content) {
  Message row;
  row.id = world.ids.next();
  row.thread_id = thread.id;
  row.author_id = world.alex.id;
  row.content_md = std::move(content);
  row.created_at = at(1500);
  return row;
}

Run run_in(World& world, const Message& message, RunState state) {
  Run row;
  row.id = world.ids.next();
  row.thread_id = message.thread_id;
  row.agent_id = world.lotse.id;
  row.triggered_by = world.alex.id;
  row.message_id = message.id;
  row.created_at = at(1600);
  row.version = 0;
  return moved(row, state, at(1700));
}

Run moved(Run row, RunState state, Timestamp time) {
  const bool leased = state == RunState::running || state == RunState::waiting_input;
  const bool over = state == RunState::succeeded || state == RunState::failed || state == RunState::cancelled;
  row.state = state;
  ++row.version;
  if (state != RunState::held && !row.queued_at && (!over || state == RunState::succeeded))
    row.queued_at = time;
  if (leased && !row.started_at)
    row.started_at = time;
  row.lease_expires_at = leased ? std::optional(time + std::chrono::seconds{60}) : std::nullopt;
  row.finished_at = over ? std::optional(time) : std::nullopt;
  row.failure = state == RunState::failed ? std::optional(RunFailure{"agent_error", "It broke"}) : std::nullopt;
  return row;
}

UpdateRun update_of(const Run& before, const Run& after) {
  UpdateRun update;
  update.row = after;
  update.from = before.state;
  return update;
}

Decision trigger(World& world, const Message& message, const Run& run, std::int64_t turn) {
  Decision decision;
  decision.turn = RunTurn{run.thread_id, turn};
  decision.messages = {message};
  decision.runs = {run};
  decision.events = {world.event("message.created", run.thread_id), world.event("run.changed", run.thread_id)};
  decision.agent_events = {told(world.lotse)};
  return decision;
}

Decision move(World& world, const Run& before, const Run& after, std::int64_t turn) {
  Decision decision;
  decision.turn = RunTurn{before.thread_id, turn};
  decision.run_updates = {update_of(before, after)};
  decision.events = {world.event("run.changed", before.thread_id)};
  return decision;
}

AgentEvent told(const Principal& agent, std::string payload) {
  AgentEvent event;
  event.agent_id = agent.id;
  event.type = "agent.invocation";
  event.time = at(1700);
  event.payload = std::move(payload);
  return event;
}

} // namespace cleat::test
