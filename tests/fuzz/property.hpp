#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

/// What the fuzzers have in common: properties that end the process when they do not hold, and inputs as text.
namespace cleat::fuzz {

/// Ends the process with the name of a property that does not hold; libFuzzer then keeps the input.
inline void must(bool holds, std::string_view property) {
  if (holds)
    return;
  std::fprintf(stderr, "PROPERTY: %.*s\n", static_cast<int>(property.size()), property.data());
  std::abort();
}

/// An input as text.
inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Takes the first line off an input, without its end: most inputs say there what they are.
inline std::string_view take_line(std::string_view& input) {
  const auto end = input.find('\n');
  const auto line = input.substr(0, end);
  input.remove_prefix(end == std::string_view::npos ? input.size() : end + 1);
  return line;
}

/// Calls `feed` with the input in pieces. How long they are comes from `seed`, so that the same input is always cut in
/// the same way.
template <class Feed>
void in_pieces(std::string_view input, std::uint32_t seed, Feed feed) {
  while (!input.empty()) {
    seed = seed * 1'664'525U + 1'013'904'223U;
    const std::size_t longest = 1U << ((seed >> 8U) % 10U);
    const auto piece = input.substr(0, 1 + (seed >> 16U) % longest);
    feed(piece);
    input.remove_prefix(piece.size());
  }
}

} // namespace cleat::fuzz
