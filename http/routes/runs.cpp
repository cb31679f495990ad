#include "http/routes/tables.hpp"
#include "protocol/bodies.hpp"

/// Runs and the messages of a thread (spec 03 section 10).
namespace cleat::http {
namespace {

Result<Reply> trigger(Call& call) {
  auto body = bodies::trigger(call.body, call.options.message_max_bytes);
  return call.backend.trigger({std::move(call.context), call.ids[0], std::move(body)});
}

Result<Reply> list(Call& call) {
  return call.ask(op::ListRuns{call.ids[0], page_of(call.query)});
}

Result<Reply> get(Call& call) {
  return call.ask(op::GetRun{call.ids[0]});
}

Result<Reply> list_messages(Call& call) {
  return call.ask(op::ListMessages{call.ids[0], page_of(call.query)});
}

Result<Reply> command(Call& call, RunOperation operation) {
  return call.backend.run({std::move(call.context), call.ids[0], std::move(operation)});
}

Result<Reply> start(Call& call) {
  return command(call, run_op::Start{bodies::start(call.body, call.options.session_ref_max_bytes)});
}

Result<Reply> finish(Call& call) {
  return command(call, run_op::Finish{bodies::finish(call.body)});
}

Result<Reply> post(Call& call) {
  return command(call, run_op::Post{bodies::post(call.body, call.options.message_max_bytes)});
}

/// An operation whose body has no members.
template <class Operation>
Result<Reply> plain(Call& call) {
  return command(call, Operation{bodies::empty(call.body)});
}

constexpr std::string_view of_thread = "/v1/threads/{id}/runs";

} // namespace

std::span<const Route> run_routes() {
  // The class `trigger` of spec 05 has a `start`: that of a Runner's session. The start of a run is a step of the
  // agent's runtime like those that follow it.
  constexpr auto runtime = RateClass::agent_runtime;
  static const std::array table{
    Route{"POST", of_thread, "triggerRun", RateClass::trigger, true, true, {}, &trigger},
    Route{"GET", of_thread, "listRuns", RateClass::read, false, false, page_parameters, &list},
    Route{"GET", "/v1/runs/{id}", "getRun", RateClass::read, false, false, {}, &get},
    Route{"POST", "/v1/runs/{id}/start", "startRun", runtime, true, true, {}, &start},
    Route{"POST", "/v1/runs/{id}/wait", "waitRun", runtime, true, true, {}, &plain<run_op::Wait>},
    Route{"POST", "/v1/runs/{id}/resume", "resumeRun", runtime, true, true, {}, &plain<run_op::Resume>},
    Route{"POST", "/v1/runs/{id}/heartbeat", "heartbeatRun", runtime, true, true, {}, &plain<run_op::Heartbeat>},
    Route{"POST", "/v1/runs/{id}/finish", "finishRun", runtime, true, true, {}, &finish},
    Route{"POST", "/v1/runs/{id}/cancel", "cancelRun", runtime, true, true, {}, &plain<run_op::Cancel>},
    Route{"POST", "/v1/runs/{id}/messages", "postRunMessage", runtime, true, true, {}, &post},
    Route{"GET", "/v1/threads/{id}/messages", "listMessages", RateClass::read, false, false, page_parameters,
          &list_messages},
  };
  return table;
}

} // namespace cleat::http
