#include "http/routes/waiting.hpp"

#include <memory>
#include <utility>

#include "http/event_stream.hpp"
#include "http/problem.hpp"
#include "http/routes/parameters.hpp"
#include "protocol/render.hpp"

namespace cleat::http {

Outgoing no_seat() {
  auto outgoing = problem({Code::overloaded});
  outgoing.close = true;
  return outgoing;
}

Outgoing log_page(const LogItems& items) {
  return http::render(Reply{200, cleat::render::log_page(items), {}, false});
}

Result<std::int64_t> begin_of(const HeaderFields& headers, std::int64_t after) {
  const auto values = values_of(headers, "Last-Event-ID");
  if (values.empty())
    return after;
  const auto seq = values.size() == 1 ? whole_number(values[0], 0, max_seq) : std::nullopt;
  if (!seq)
    return refuse({{"/Last-Event-ID", FieldCode::invalid_format}});
  return *seq;
}

Outgoing log_stream(WaitingCall& call, WaitingRoom::Seat seat, AwaitLog waits_for, LogTail::Read read,
                    std::int64_t begin) {
  LogTail tail(call.backend, std::move(call.credentials), std::move(call.context), std::move(waits_for),
               std::move(read), begin);
  Outgoing outgoing;
  outgoing.content_type = "text/event-stream; charset=utf-8";
  outgoing.headers.emplace_back("X-Accel-Buffering", "no");
  outgoing.close = true;
  const auto stream = std::make_shared<EventStream>(std::move(tail), std::move(seat), call.options.heartbeat);
  outgoing.follow = [stream](Line& line) { stream->run(line); };
  return outgoing;
}

} // namespace cleat::http
