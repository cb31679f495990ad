#include "http/event_stream.hpp"

#include <string_view>

namespace cleat::http {
namespace {

using Clock = std::chrono::steady_clock;

/// Comments: the first tells that the stream is there, the others that it still is.
constexpr std::string_view opening = ": connected\n\n";
constexpr std::string_view heartbeat_comment = ": heartbeat\n\n";

/// Entries are put together up to this size before they are sent.
constexpr std::size_t piece_size = 64 * 1024;

/// Whether the same read may work later: the server's trouble and not the client's.
bool passes(const Refusal& refusal) {
  constexpr int server_errors = 500;
  return problem_info(refusal.code).status >= server_errors;
}

} // namespace

void EventStream::run(Line& line) {
  line.send(opening);
  auto due = Clock::now() + heartbeat_;
  while (line.holds(std::chrono::milliseconds(0))) {
    const auto found = tail_.next();
    if (!found && !passes(found.error()))
      return;
    if (found && !found->items.empty()) {
      send(found->items, line);
      due = Clock::now() + heartbeat_;
    }
    if (found && found->ended)
      return;
    // Without a wait: there may be more than one page.
    if (found && !found->items.empty())
      continue;
    if (Clock::now() >= due) {
      line.send(heartbeat_comment);
      due = Clock::now() + heartbeat_;
    }
    if (!tail_.wait(line, std::chrono::ceil<std::chrono::milliseconds>(due - Clock::now())))
      return;
  }
}

void EventStream::send(const std::vector<LogItem>& items, Line& line) {
  std::string piece;
  for (const auto& item : items) {
    piece += event(item);
    if (piece.size() < piece_size)
      continue;
    if (!line.send(piece))
      return;
    piece.clear();
  }
  if (!piece.empty())
    line.send(piece);
}

std::string EventStream::event(const LogItem& item) {
  // The entry is JSON without line breaks, which inside strings are escaped; so it is one line of data.
  return "id: " + std::to_string(item.seq) + "\nevent: " + item.type + "\ndata: " + item.json + "\n\n";
}

} // namespace cleat::http
