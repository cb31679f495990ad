#include <algorithm>

#include "http/accept.hpp"
#include "http/event_stream.hpp"
#include "http/problem.hpp"
#include "http/request_headers.hpp"
#include "http/routes/parameters.hpp"
#include "http/routes/tables.hpp"
#include "http/routes/waiting.hpp"
#include "protocol/bodies.hpp"

/// Sessions in containers: starts and resumes, their operations by handle, stop, input, transcript (spec 04).
namespace cleat::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::array<std::string_view, 2> transcript_parameters{"after", "limit"};

Result<Outgoing> shown(const Result<Reply>& result) {
  return result.map([](const Reply& reply) { return http::render(reply); });
}

/// Asks, with a seat where the answer may take its time.
template <class Ask>
Result<Outgoing> seated(WaitingCall& call, bool waits, Ask ask) {
  if (!waits)
    return shown(ask());
  const auto seat = call.room.enter();
  return seat ? shown(ask()) : no_seat();
}

/// How long an answer may wait for an operation: never as long as answers take at the most, so that there is one. The
/// configuration sees to that as well.
seconds longest_wait(const HttpOptions& options) {
  const auto before_the_deadline = std::max(options.answer_timeout - milliseconds(1000), milliseconds(0));
  return std::chrono::floor<seconds>(std::min(options.runner_wait_max, before_the_deadline));
}

Result<Outgoing> start(WaitingCall& call) {
  const seconds wait = std::min(longest_wait(call.options), seconds(preferred_wait(call.headers).value_or(0)));
  auto body = bodies::start_session(call.body);
  return seated(call, wait.count() > 0, [&] {
    return call.backend.start_session(
      {std::move(call.context), call.texts[0], std::move(body), milliseconds(wait).count(), request_id(call.headers)});
  });
}

Result<Outgoing> look_up(WaitingCall& call) {
  auto body = bodies::lookup(call.body, longest_wait(call.options).count());
  return seated(call, body && body->wait_s > 0, [&] {
    return call.backend.follow_handle({std::move(call.context), std::move(body), false, {}});
  });
}

Result<Reply> retry(Call& call) {
  return call.backend.follow_handle({std::move(call.context), bodies::retry(call.body), true, {}});
}

Result<Reply> stop(Call& call) {
  auto body = bodies::stop_session(call.body);
  return call.backend.stop_session({std::move(call.context), call.texts[0], std::move(body), {}});
}

Result<Reply> input(Call& call) {
  auto body = bodies::input(call.body, call.options.input_max_bytes);
  return call.backend.send_input({std::move(call.context), call.texts[0], std::move(body), {}});
}

Result<Outgoing> transcript_page(WaitingCall& call, std::int64_t after, std::int64_t limit) {
  auto answer = call.backend.transcript({std::move(call.context), call.texts[0], after, limit, {}});
  return answer.result.map([](const LogItems& items) { return log_page(items); });
}

Result<Outgoing> transcript_stream(WaitingCall& call, std::int64_t after) {
  const auto begin = begin_of(call.headers, after);
  if (!begin)
    return tl::unexpected(begin.error());
  auto seat = call.room.enter();
  if (!seat)
    return no_seat();
  // Read once before the head is out: who may not read is refused like anywhere else, and the stream learns which
  // lifetime it is to read to the end.
  const std::string session_id = call.texts[0];
  auto first = call.backend.transcript({call.context, session_id, *begin, 1, {}});
  if (!first.result)
    return tl::unexpected(std::move(first.result).error());
  const auto read = [&backend = call.backend, session_id, lifetime = first.lifetime](const RequestContext& context,
                                                                                     std::int64_t behind) {
    return backend.transcript({context, session_id, behind, stream_page, lifetime}).result;
  };
  AwaitLog waits_for;
  waits_for.session_id = session_id;
  return log_stream(call, std::move(*seat), std::move(waits_for), read, *begin);
}

Result<Outgoing> transcript(WaitingCall& call) {
  Parameters query(call.query);
  const auto after = query.number("after", 0, max_seq, 0);
  const auto limit = query.number("limit", 1, limits::page_max, limits::page_default);
  if (!query.errors.empty())
    return refuse(std::move(query.errors));
  if (preferred_form(call.headers, LogForm::page) == LogForm::page)
    return transcript_page(call, after, limit);
  return transcript_stream(call, after);
}

constexpr std::string_view in_container = "/v1/containers/{name}/agent-sessions";
constexpr std::string_view lookups = "/v1/agent-session-operations/lookup";
constexpr std::string_view retries = "/v1/agent-session-operations/retry";
constexpr std::string_view stops = "/v1/agent-sessions/{session_id}/stop";
constexpr std::string_view inputs = "/v1/agent-sessions/{session_id}/input";
constexpr std::string_view transcripts = "/v1/agent-sessions/{session_id}/transcript";

} // namespace

std::span<const Route> agent_session_routes() {
  constexpr auto trigger = RateClass::trigger;
  static const std::array table{
    Route{"POST", in_container, "startAgentSession", trigger, true, true, {}, &start},
    Route{"POST", lookups, "lookupAgentSessionOperation", trigger, false, true, {}, &look_up},
    Route{"POST", retries, "retryAgentSessionOperation", trigger, true, true, {}, &retry},
    Route{"POST", stops, "stopAgentSession", trigger, true, true, {}, &stop},
    Route{"POST", inputs, "sendAgentSessionInput", trigger, true, true, {}, &input},
    Route{"GET", transcripts, "readAgentSessionTranscript", RateClass::read, false, false, transcript_parameters,
          &transcript},
  };
  return table;
}

} // namespace cleat::http
