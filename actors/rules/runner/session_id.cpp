#include "actors/rules/runner/session_id.hpp"

#include <string_view>

#include "base/encoding.hpp"

namespace cleat::rules {

std::string derive_session_id(const Id& relay_request_id) {
  constexpr std::string_view label = "compass.session-id.v1"; // frozen: spec 04 section 1
  const std::string relay = relay_request_id.str();
  std::string input(label);
  for (int shift = 24; shift >= 0; shift -= 8)
    input += static_cast<char>(relay.size() >> shift & 0xff);
  return hex_encode(sha256(input + relay));
}

} // namespace cleat::rules
