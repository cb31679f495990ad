#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cleat {

/// A SHA-256 digest; the only form in which tokens are kept (spec 06 section 3).
using Digest = std::array<std::uint8_t, 32>;

/// SHA-256 of `data`.
Digest sha256(std::string_view data);

/// Whether two digests are equal, in time that does not depend on where they differ.
bool equal_constant_time(const Digest& a, const Digest& b);

/// Lower-case hexadecimal.
std::string hex_encode(std::span<const std::uint8_t> bytes);

/// The text with a question mark for every control character, so that a message about it is shown whole and moves
/// nothing on a terminal.
std::string printable(std::string_view text);

/// Base64url without padding (RFC 4648 section 5).
std::string base64url_encode(std::span<const std::uint8_t> bytes);

/// The inverse; `nullopt` for anything that `base64url_encode` would not have written.
std::optional<std::vector<std::uint8_t>> base64url_decode(std::string_view text);

} // namespace cleat
