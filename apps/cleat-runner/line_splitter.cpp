#include "apps/cleat-runner/line_splitter.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace cleat::runner {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd"; // U+FFFD

bool is_continuation(char byte) {
  return (static_cast<std::uint8_t>(byte) & 0xc0U) == 0x80U;
}

/// How many bytes the character at the front has; 0 when there is none (RFC 3629: no overlong forms, no surrogates,
/// nothing beyond U+10FFFF).
std::size_t character_length(std::string_view bytes) {
  const auto lead = static_cast<std::uint8_t>(bytes[0]);
  if (lead < 0x80)
    return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || bytes.size() < length)
    return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!is_continuation(bytes[i]))
      return 0;
  const auto second = static_cast<std::uint8_t>(bytes[1]);
  const bool wrong = (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
                     (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f);
  return wrong ? 0 : length;
}

/// The last place up to `limit` at which no character is cut in two.
std::size_t cut_before(std::string_view bytes, std::size_t limit) {
  for (std::size_t back = 0; back < 4 && back < limit; ++back)
    if (!is_continuation(bytes[limit - back]))
      return limit - back;
  return limit; // no UTF-8 anyway
}

} // namespace

std::string repaired_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const auto length = bytes[0] == '\0' ? 0 : character_length(bytes);
    text.append(length == 0 ? replacement : bytes.substr(0, length));
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return text;
}

std::vector<std::string> LineSplitter::append(std::string_view bytes) {
  std::vector<std::string> lines;
  // Only what is new can hold a line break.
  std::size_t from = rest_.size();
  rest_.append(bytes);
  std::size_t begin = 0;
  while (true) {
    const auto end = rest_.find('\n', from);
    const auto length = (end == std::string::npos ? rest_.size() : end) - begin;
    if (length > max_bytes_) {
      const auto cut = cut_before(std::string_view(rest_).substr(begin), max_bytes_);
      lines.push_back(repaired_utf8(std::string_view(rest_).substr(begin, cut)));
      begin += cut;
      from = std::max(from, begin);
    } else if (end == std::string::npos) {
      break;
    } else {
      lines.push_back(repaired_utf8(std::string_view(rest_).substr(begin, length)));
      begin = from = end + 1;
    }
  }
  rest_.erase(0, begin);
  return lines;
}

std::vector<std::string> LineSplitter::finish() {
  if (rest_.empty())
    return {};
  return {repaired_utf8(std::exchange(rest_, {}))};
}

} // namespace cleat::runner
