#include "http/dispatcher.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/encoding.hpp"
#include "base/log.hpp"
#include "http/path_values.hpp"
#include "http/problem.hpp"
#include "http/request_headers.hpp"
#include "http/target.hpp"
#include "protocol/bodies.hpp"

namespace cleat::http {
namespace {

using Steady = std::chrono::steady_clock;

/// Appends a part of the fingerprint with its length in front, so that parts cannot run into one another.
void append_part(std::string& out, std::string_view part) {
  out += std::to_string(part.size());
  out += ':';
  out += part;
}

/// What a request with this Idempotency-Key is about: the same key for anything else is a mistake (spec 05).
Digest fingerprint(std::string_view operation, std::string_view target, std::string_view body) {
  std::string parts;
  append_part(parts, operation);
  append_part(parts, target);
  append_part(parts, body);
  return sha256(parts);
}

/// What is wrong with the message before anybody looks into its body.
std::optional<Refusal> unreadable(const Route& route, const Incoming& incoming, const Query& query) {
  if (!incoming.body.empty() && !is_json(incoming.headers))
    return Refusal{Code::unsupported_media_type};
  if (auto errors = query.check(route.parameters); !errors.empty())
    return Refusal{Code::validation_failed, Reason::none, std::move(errors)};
  if (!route.takes_body)
    if (auto body = bodies::empty(incoming.body); !body)
      return std::move(body).error();
  return std::nullopt;
}

} // namespace

/// A request on its way.
struct Dispatcher::Request {
  const Incoming& incoming;
  std::string id;
  Steady::time_point begin = Steady::now();
  Match match = {};
  Query query = {};
  /// Nothing for requests without a principal and classes without a limit.
  std::optional<RateLimiter::Verdict> rate = {};
  /// What a refusal says about when to come back.
  std::int64_t retry_after_s = limits::retry_after_s;
};

Dispatcher::Dispatcher(const HttpOptions& options, std::shared_ptr<Metrics> metrics, std::shared_ptr<const Clock> clock)
  : options_(options),
    metrics_(std::move(metrics)),
    clock_(std::move(clock)),
    router_(routes()),
    failed_logins_(clock_, options.auth, *metrics_),
    authenticator_(clock_, options.token_cache_age, options.token_cache_max, failed_logins_),
    limiter_(clock_, options.rates),
    waiting_room_(options.max_waiting, *metrics_),
    unmatched_(*metrics_, "none") {
  for (const auto& route : routes())
    meters_.try_emplace(&route, *metrics_, std::string(route.operation));
}

Outgoing Dispatcher::answer(const Incoming& incoming, Backend& backend, Line& line) {
  Request request{incoming, request_id(incoming.headers).value_or(std::string())};
  if (request.id.empty())
    request.id = new_request_id();
  Outgoing outgoing;
  try {
    outgoing = handle(request, backend, line);
  } catch (const std::exception& error) {
    log::get().error("request {} failed: {}", request.id, error.what());
    outgoing = problem({Code::internal});
  }
  complete(request, outgoing);
  return outgoing;
}

Outgoing Dispatcher::fault(Code code) {
  const Incoming nothing;
  auto outgoing = problem({code});
  outgoing.close = true;
  complete({nothing, new_request_id()}, outgoing);
  return outgoing;
}

Outgoing Dispatcher::handle(Request& request, Backend& backend, Line& line) {
  if (request.incoming.body_state == BodyState::too_large)
    return problem({Code::payload_too_large});
  if (request.incoming.body_state == BodyState::broken)
    return problem({Code::bad_request});
  auto target = parse_target(request.incoming.target);
  if (!target)
    return problem({Code::not_found});
  auto found = router_.find(request.incoming.method, target->segments);
  if (std::holds_alternative<NoSuchPath>(found))
    return problem({Code::not_found});
  if (const auto* other = std::get_if<OtherMethods>(&found)) {
    auto outgoing = problem({Code::method_not_allowed});
    outgoing.headers.emplace_back("Allow", other->allow);
    return outgoing;
  }
  request.match = std::get<Match>(std::move(found));
  request.query = std::move(target->query);
  if (request.match.route->is_open())
    return std::get<OpenHandler>(request.match.route->handler)(OpenCall{backend, *metrics_, draining_});
  auto result = serve(request, backend, line);
  return result ? std::move(*result) : problem(result.error(), request.retry_after_s);
}

Result<Outgoing> Dispatcher::serve(Request& request, Backend& backend, Line& line) {
  const auto& incoming = request.incoming;
  auto actor = authenticator_.authenticate(incoming.headers, incoming.client, backend);
  if (!actor) {
    if (actor.error().code == Code::rate_limited)
      request.retry_after_s = std::max(failed_logins_.wait_s(incoming.client), limits::retry_after_s);
    return tl::unexpected(std::move(actor).error());
  }
  request.rate = limiter_.take((*actor)->id, request.match.route->rate);
  if (request.rate && !request.rate->granted)
    return refuse(Code::rate_limited);
  if (auto refusal = unreadable(*request.match.route, incoming, request.query))
    return tl::unexpected(std::move(*refusal));
  auto context = context_of(request, std::move(*actor));
  if (!context)
    return tl::unexpected(std::move(context).error());
  if (!context->idempotency)
    return run(request, std::move(*context), backend, line);
  const auto pass = gate_.enter(context->idempotency->principal_id, context->idempotency->key);
  if (!pass)
    return refuse(Code::idempotency_in_progress);
  return run(request, std::move(*context), backend, line);
}

Result<RequestContext> Dispatcher::context_of(const Request& request, std::shared_ptr<const Principal> actor) const {
  const auto& incoming = request.incoming;
  RequestContext context;
  auto version = if_match(incoming.headers);
  if (!version)
    return tl::unexpected(std::move(version).error());
  context.if_match = *version;
  auto key = idempotency_key(incoming.headers);
  if (!key)
    return tl::unexpected(std::move(key).error());
  const auto& route = *request.match.route;
  if (*key && route.writes)
    context.idempotency =
      IdempotencyKey{actor->id, std::move(**key), fingerprint(route.operation, incoming.target, incoming.body)};
  context.actor = std::move(actor);
  context.request_id = request.id;
  return context;
}

Result<Outgoing> Dispatcher::run(const Request& request, RequestContext context, Backend& backend, Line& line) {
  const auto& route = *request.match.route;
  auto path = read_path(route.pattern, request.match.values);
  if (!path)
    return refuse(Code::not_found);
  Call call{options_,
            backend,
            std::move(context),
            std::move(path->ids),
            std::move(path->texts),
            request.query,
            request.incoming.body};
  auto result = ask(request, std::move(call), line);
  if (!result && result.error().code == Code::outcome_unknown && !route.writes)
    return refuse(Code::unavailable);
  return result;
}

Result<Outgoing> Dispatcher::ask(const Request& request, Call call, Line& line) {
  const auto& route = *request.match.route;
  if (const auto* waits = std::get_if<WaitingHandler>(&route.handler)) {
    const auto& incoming = request.incoming;
    Credentials credentials(authenticator_, call.backend, incoming.headers, incoming.client);
    WaitingCall waiting{std::move(call), incoming.headers, line, waiting_room_, std::move(credentials)};
    return (*waits)(waiting);
  }
  auto result = std::get<Handler>(route.handler)(call);
  // Even a refusal may hide a change: without an answer in time the outcome is not known.
  if (call.identity_changes)
    authenticator_.forget();
  return result.map([](const Reply& reply) { return http::render(reply); });
}

void Dispatcher::complete(const Request& request, Outgoing& outgoing) {
  outgoing.headers.emplace_back("X-Request-Id", request.id);
  if (request.rate) {
    outgoing.headers.emplace_back("RateLimit-Policy", request.rate->policy());
    outgoing.headers.emplace_back("RateLimit", request.rate->state());
  }
  const auto* route = request.match.route;
  const auto time = Steady::now() - request.begin;
  (route != nullptr ? meters_.at(route) : unmatched_).count(outgoing.status, time);
  // The route's pattern and never what the client wrote there: paths and queries hold ids and more.
  // Failures of the server are worth a line each; the rest is counted by metrics and shown with log.level = debug,
  // because a line for every request costs more than a tenth of a bind.
  const auto level = outgoing.status >= 500 ? spdlog::level::warn : spdlog::level::debug;
  log::get().log(level, "{} {} {} {:.1f} ms request={} trace={}", route != nullptr ? route->method : "-",
                 route != nullptr ? route->pattern : "-", outgoing.status,
                 std::chrono::duration<double, std::milli>(time).count(), request.id,
                 trace_id(request.incoming.headers).value_or("-"));
}

std::string Dispatcher::new_request_id() {
  return request_ids_.next(clock_->now()).str();
}

} // namespace cleat::http
