#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/problem.hpp"
#include "http/message.hpp"

/// The header fields that mean something to Cleat, from text to values (spec 05).
namespace cleat::http {

/// The version in `If-Match`. One strong entity tag with a decimal version is a version; a weak one, `*`, a list or
/// anything else is `invalid_if_match`. Absent: `nullopt`.
Result<std::optional<std::int64_t>> if_match(const HeaderFields& headers);

/// The `Idempotency-Key`: 1 to 255 visible ASCII characters, given once, else `invalid_idempotency_key`. Absent:
/// `nullopt`.
Result<std::optional<std::string>> idempotency_key(const HeaderFields& headers);

/// The token of `Authorization: Bearer`; nothing when the field is absent, given twice, or anything else.
std::optional<std::string_view> bearer_token(const HeaderFields& headers);

/// The client's `X-Request-Id` (1 to 128 visible ASCII characters); nothing when it sent none that can be used.
std::optional<std::string> request_id(const HeaderFields& headers);

/// How many seconds `Prefer: wait=N` asks for (RFC 7240 section 4.3); nothing without such a preference, and for one
/// that does not make sense, because a preference may be ignored.
std::optional<std::int64_t> preferred_wait(const HeaderFields& headers);

/// The trace id of a W3C `traceparent`, 32 lower-case hexadecimal digits; nothing when there is none.
std::optional<std::string_view> trace_id(const HeaderFields& headers);

/// Whether a body may be read as JSON: `application/json`, with no charset but UTF-8, and no content encoding.
bool is_json(const HeaderFields& headers);

} // namespace cleat::http
