#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/limits.hpp"
#include "base/problem.hpp"
#include "http/authenticator.hpp"
#include "http/backend.hpp"
#include "http/message.hpp"

namespace cleat::http {

/// Reads a log on and on for one client, from a cursor of its own. Every read asks for the client's rights anew, and
/// none is made, and nothing is handed out, for a token that is not valid any more. Used by one thread.
class LogTail {
public:
  using Span = std::chrono::milliseconds;

  /// Reads what stands behind `after`, with the rights of the context's actor.
  using Read = std::function<Result<LogItems>(const RequestContext& context, std::int64_t after)>;

  /// How long a wait goes on without a look at the token, the client and the server. With the herald's slack and
  /// `http.token_cache_ms` a revocation ends a wait within a second (spec 05).
  static constexpr Span look_interval{limits::waiting_look_ms};
  /// How long nothing is read while the herald says that nothing has come. It is asked again and again, so a herald
  /// that has missed something, which it does not, costs this much time and no event.
  static constexpr Span blind_time{limits::waiting_blind_ms};
  /// What a turn that brings nothing takes at least, so that no silent or wrong herald makes anybody spin.
  static constexpr Span least_turn{20};

  /// `waits_for` says which log it is: an agent's own, a session's transcript, or the event log. Backend and what
  /// stands behind the credentials must outlive it.
  LogTail(Backend& backend, Credentials credentials, RequestContext context, AwaitLog waits_for, Read read,
          std::int64_t after)
    : backend_(backend),
      credentials_(std::move(credentials)),
      context_(std::move(context)),
      waits_for_(std::move(waits_for)),
      read_(std::move(read)),
      after_(after) {}

  /// What there is now; nothing, without a look, when the last wait has said so. `unauthorized` when the token is not
  /// valid any more.
  Result<LogItems> next();

  /// Waits until there may be more, `time` or `look_interval` is over, or there is no use in going on. False for the
  /// last.
  bool wait(Line& line, Span time);

private:
  Backend& backend_;
  Credentials credentials_;
  RequestContext context_;
  AwaitLog waits_for_;
  const Read read_;
  std::int64_t after_;
  /// Whether the last read worked.
  bool readable_ = true;
  /// Whether the log is to be read: the last wait did not say that nothing has come, or that was said for long enough.
  bool due_ = true;
  std::chrono::steady_clock::time_point read_at_;
  /// Whether the last wait was shorter than a turn may be and the read after it brought nothing.
  bool spins_ = false;
  bool hurried_ = false;
};

} // namespace cleat::http
