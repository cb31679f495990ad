#include "http/problem.hpp"

#include "protocol/render.hpp"

namespace cleat::http {

Outgoing problem(const Refusal& refusal, std::int64_t retry_after_s) {
  Outgoing outgoing;
  outgoing.status = problem_info(refusal.code).status;
  outgoing.content_type = "application/problem+json";
  outgoing.body = render::problem(refusal);
  constexpr int unauthorized = 401;
  constexpr int too_many_requests = 429;
  constexpr int service_unavailable = 503;
  if (outgoing.status == unauthorized)
    outgoing.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (outgoing.status == too_many_requests || outgoing.status == service_unavailable)
    outgoing.headers.emplace_back("Retry-After", std::to_string(retry_after_s));
  return outgoing;
}

Outgoing render(const Reply& reply) {
  Outgoing outgoing;
  outgoing.status = reply.status;
  if (!reply.body.empty())
    outgoing.content_type = "application/json";
  outgoing.body = reply.body;
  if (reply.etag)
    outgoing.headers.emplace_back("ETag", '"' + std::to_string(*reply.etag) + '"');
  if (reply.replay)
    outgoing.headers.emplace_back("Idempotent-Replay", "true");
  return outgoing;
}

} // namespace cleat::http
