#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/ids.hpp"
#include "base/metrics.hpp"
#include "base/time.hpp"
#include "http/authenticator.hpp"
#include "http/backend.hpp"
#include "http/failed_logins.hpp"
#include "http/idempotency_gate.hpp"
#include "http/message.hpp"
#include "http/meter.hpp"
#include "http/options.hpp"
#include "http/rate_limiter.hpp"
#include "http/route.hpp"
#include "http/router.hpp"
#include "http/waiting_room.hpp"

namespace cleat::http {

/// From a request to an answer, in the order of spec 05: is there such a path, who asks, how much has that principal
/// asked lately, can the message be read, do its header fields make sense; then the operation itself, with the body as
/// far as it could be read, because rights come before bodies. Shared by all connections; thread safe.
class Dispatcher {
public:
  Dispatcher(const HttpOptions& options, std::shared_ptr<Metrics> metrics, std::shared_ptr<const Clock> clock);

  /// Answers a request with the help of its connection's backend. An answer that follows its head on the line uses
  /// both, and this, until it has ended.
  Outgoing answer(const Incoming& incoming, Backend& backend, Line& line);

  /// Answers bytes that were no request.
  Outgoing fault(Code code);

  /// From now on `/readyz` says that this server goes away.
  void drain() { draining_ = true; }

private:
  struct Request;

  Outgoing handle(Request& request, Backend& backend, Line& line);
  Result<Outgoing> serve(Request& request, Backend& backend, Line& line);
  Result<RequestContext> context_of(const Request& request, std::shared_ptr<const Principal> actor) const;
  Result<Outgoing> run(const Request& request, RequestContext context, Backend& backend, Line& line);
  Result<Outgoing> ask(const Request& request, Call call, Line& line);
  void complete(const Request& request, Outgoing& outgoing);
  std::string new_request_id();

  const HttpOptions options_;
  const std::shared_ptr<Metrics> metrics_;
  const std::shared_ptr<const Clock> clock_;
  Router router_;
  FailedLogins failed_logins_;
  Authenticator authenticator_;
  RateLimiter limiter_;
  WaitingRoom waiting_room_;
  IdempotencyGate gate_;
  RandomIdSource request_ids_;
  std::map<const Route*, Meter> meters_;
  /// Answers to what matches no route.
  Meter unmatched_;
  std::atomic<bool> draining_ = false;
};

} // namespace cleat::http
