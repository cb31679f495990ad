#include "http/routes/waiting.hpp"

#include <memory>
#include <utility>

#include "http/event_stream.hpp"
#include "http/problem.hpp"
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
