#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/problem.hpp"
#include "http/message.hpp"

namespace cleat::http {

/// Request line and header fields of a message.
struct Head {
  std::string method;
  std::string target;
  HeaderFields headers;
  /// Whether the client wants to send another request on this connection.
  bool keep_alive = true;
  /// Whether a body follows.
  bool has_body = false;
};

/// The length of the head at the front of `bytes`, its empty line included, or nothing while that line is missing.
/// A bare line feed ends a line here as well, so that a malformed head is answered instead of waited for.
std::optional<std::size_t> head_length(std::string_view bytes);

/// Reads a whole head, strictly (RFC 9112). cpp-httplib skips lines that it does not understand, percent-decodes
/// header values, drops empty ones and takes the first of two lengths; each of these would let a client and Cleat
/// disagree about what was said. Refuses with `bad_request` or `uri_too_long`.
Result<Head> parse_head(std::string_view bytes);

} // namespace cleat::http
