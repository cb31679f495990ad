#pragma once

#include <functional>
#include <string>

#include "tests/process/client.hpp"

namespace cleat::test {

/// An event as the stream gave it.
struct StreamedEvent {
  std::int64_t seq = 0; ///< of its `id:` line
  std::string type;     ///< of its `event:` line
  std::string data;     ///< the envelope
};

/// How a stream is read.
struct StreamOptions {
  std::string token;
  /// Sent as `Last-Event-ID` when it is not negative.
  std::int64_t last_event_id = -1;
  /// Query parameters, without the question mark.
  std::string query = {};
  /// Where the stream is.
  std::string path = "/v1/events";
};

/// What became of a stream.
struct StreamEnd {
  int status = 0;
  std::string content_type;
  /// Whether the server ended it (and not the reader).
  bool by_server = false;
};

/// Reads a log, by default `GET /v1/events`, as server-sent events and hands each on, until `take` answers false, the
/// server ends the stream, or nothing at all comes for longer than the server's heartbeat allows. A comment is handed
/// on as an event with an empty `data`. Every event is held against its own envelope: `id:` and `event:` must say what
/// `data:` says.
StreamEnd read_stream(const Endpoint& endpoint, const StreamOptions& options,
                      const std::function<bool(const StreamedEvent&)>& take);

} // namespace cleat::test
