#pragma once

#include <cstdint>

#include "base/limits.hpp"
#include "base/problem.hpp"
#include "http/message.hpp"
#include "protocol/decision.hpp"

namespace cleat::http {

/// A refusal as RFC 9457 problem details, with the header fields that its status asks for (spec 05): `Retry-After` on
/// 429 and 503, `WWW-Authenticate` on 401. Everything that depends on the request is added elsewhere, so equal
/// refusals are equal bytes. `retry_after_s` is what `Retry-After` says where there is one.
Outgoing problem(const Refusal& refusal, std::int64_t retry_after_s = limits::retry_after_s);

/// A success: the reply's body, its `ETag` and whether it is a replay.
Outgoing render(const Reply& reply);

} // namespace cleat::http
