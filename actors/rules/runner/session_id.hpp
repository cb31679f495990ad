#pragma once

#include <string>

#include "base/ids.hpp"

namespace cleat::rules {

/// The id of a fresh lifetime: lower-case hex of SHA-256 over the frozen label, the length of the relay request id as
/// four big-endian bytes, and its 36 characters (spec 04 section 1). Nothing else goes in.
std::string derive_session_id(const Id& relay_request_id);

} // namespace cleat::rules
