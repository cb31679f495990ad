#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "http/log_tail.hpp"
#include "http/message.hpp"
#include "http/waiting_room.hpp"

namespace cleat::http {

/// A log as Server-Sent Events: entry after entry for as long as the client listens, with a comment in every
/// `heartbeat` of silence. It ends with its log, when the log has an end, when the client has gone or does not keep up,
/// when its token is not valid any more, and when the server drains; the client comes back with `Last-Event-ID` and has
/// missed nothing. A database that is away is waited for.
class EventStream {
public:
  EventStream(LogTail tail, WaitingRoom::Seat seat, std::chrono::milliseconds heartbeat)
    : tail_(std::move(tail)), seat_(std::move(seat)), heartbeat_(heartbeat) {}

  /// Sends until there is a reason to end.
  void run(Line& line);

  /// An entry of a log as an event; `id`, `event` and `data` are lines of their own.
  static std::string event(const LogItem& item);

private:
  static void send(const std::vector<LogItem>& items, Line& line);

  LogTail tail_;
  WaitingRoom::Seat seat_;
  const std::chrono::milliseconds heartbeat_;
};

/// How many entries a stream reads at once: what it holds of the log in memory while its client is slow.
inline constexpr std::int64_t stream_page = 100;

} // namespace cleat::http
