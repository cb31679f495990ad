#include "http/accept.hpp"
#include "http/event_stream.hpp"
#include "http/log_tail.hpp"
#include "http/routes/parameters.hpp"
#include "http/routes/tables.hpp"
#include "http/routes/waiting.hpp"

/// The event log and the agents' own events, for readers that wait (spec 03 sections 10 and 11).
namespace cleat::http {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array<std::string_view, 3> poll_parameters{"after", "wait_s", "limit"};
constexpr std::array<std::string_view, 6> event_parameters{"after",      "limit",     "space_id",
                                                           "channel_id", "thread_id", "type"};

Result<Outgoing> poll(WaitingCall& call) {
  Parameters query(call.query);
  const auto wait_max = std::chrono::floor<std::chrono::seconds>(call.options.poll_wait_max);
  const auto after = query.number("after", 0, max_seq, 0);
  const std::chrono::seconds wait(query.number("wait_s", 0, wait_max.count(), 0));
  const auto limit = query.number("limit", 1, limits::page_max, limits::page_default);
  if (!query.errors.empty())
    return refuse(std::move(query.errors));

  const auto deadline = Clock::now() + wait;
  const auto read = [&call, limit](const RequestContext& context, std::int64_t behind) {
    return call.backend.agent_events({context, behind, limit});
  };
  AwaitLog own;
  own.agent_id = call.context.actor->id;
  LogTail tail(call.backend, std::move(call.credentials), std::move(call.context), std::move(own), read, after);
  std::optional<WaitingRoom::Seat> seat;
  for (bool goes_on = true;;) {
    auto found = tail.next();
    if (!found)
      return tl::unexpected(std::move(found).error());
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (!found->items.empty() || left.count() <= 0 || !goes_on)
      return log_page(*found);
    if (!seat && !(seat = call.room.enter()))
      return no_seat();
    // A server that drains and a client that has gone get what there is, which is the page that was just read or the
    // one after it.
    goes_on = tail.wait(call.line, left);
  }
}

Result<Outgoing> event_page(WaitingCall& call, const EventFilter& filter, std::int64_t after, std::int64_t limit) {
  auto found = call.backend.events({std::move(call.context), filter, after, limit});
  if (!found)
    return tl::unexpected(std::move(found).error());
  return log_page(*found);
}

Result<Outgoing> event_stream(WaitingCall& call, const EventFilter& filter, std::int64_t after) {
  const auto begin = begin_of(call.headers, after);
  if (!begin)
    return tl::unexpected(begin.error());
  auto seat = call.room.enter();
  if (!seat)
    return no_seat();
  const auto read = [&backend = call.backend, filter](const RequestContext& context, std::int64_t behind) {
    return backend.events({context, filter, behind, stream_page});
  };
  return log_stream(call, std::move(*seat), {}, read, *begin);
}

Result<Outgoing> events(WaitingCall& call) {
  Parameters query(call.query);
  const auto after = query.number("after", 0, max_seq, 0);
  const auto limit = query.number("limit", 1, limits::page_max, limits::page_default);
  const EventFilter filter{query.id("space_id"), query.id("channel_id"), query.id("thread_id"), query.text("type")};
  if (!query.errors.empty())
    return refuse(std::move(query.errors));
  if (preferred_form(call.headers) == LogForm::page)
    return event_page(call, filter, after, limit);
  return event_stream(call, filter, after);
}

} // namespace

std::span<const Route> event_routes() {
  static const std::array table{
    Route{"GET", "/v1/agent/events", "pollAgentEvents", RateClass::agent_runtime, false, false, poll_parameters, &poll},
    Route{"GET", "/v1/events", "streamEvents", RateClass::read, false, false, event_parameters, &events},
  };
  return table;
}

} // namespace cleat::http
