#pragma once

#include <string_view>

namespace cleat::fuzz {

/// Whether a text is one JSON value, as another library than the product's reads it (RapidJSON, strictly). Nested more
/// deeply than bodies may be, or with a number that fits into no type of ours, it is none.
bool is_json(std::string_view text);

} // namespace cleat::fuzz
