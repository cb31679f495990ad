#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace cleat {

/// Fills `out` with bytes from OpenSSL's generator. Throws `std::runtime_error` when the system has no
/// entropy, which is the one failure nobody can work around.
void fill_random(std::span<std::uint8_t> out);

/// A new bearer secret: 256 random bits as base64url without padding, 43 characters (spec 05).
std::string new_secret();

} // namespace cleat
