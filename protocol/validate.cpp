#include "protocol/validate.hpp"

#include <algorithm>
#include <cstdint>

#include "base/limits.hpp"

namespace cleat::validate {
namespace {

/// Reads one code point of UTF-8 at `at` and moves `at` behind it; `nullopt` when the bytes there are no UTF-8.
std::optional<char32_t> next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(at);
  if (lead < 0x80)
    return byte(at++);
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || at + length > text.size())
    return std::nullopt;
  char32_t point = lead & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80)
      return std::nullopt;
    point = point << 6 | (byte(at + i) & 0x3fU);
  }
  const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  if (overlong || (point >= 0xd800 && point <= 0xdfff) || point > 0x10ffff)
    return std::nullopt;
  at += length;
  return point;
}

bool is_control(char32_t point) {
  return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x2028 || point == 0x2029;
}

/// Characters that reorder the text around them, so that what people read is not what is stored.
bool is_bidi_control(char32_t point) {
  return point == 0x061c || point == 0x200e || point == 0x200f || (point >= 0x202a && point <= 0x202e) ||
         (point >= 0x2066 && point <= 0x2069);
}

bool is_white_space(char32_t point) {
  return point == 0x20 || (point >= 0x09 && point <= 0x0d) || point == 0x85 || point == 0xa0 || point == 0x1680 ||
         (point >= 0x2000 && point <= 0x200a) || point == 0x2028 || point == 0x2029 || point == 0x202f ||
         point == 0x205f || point == 0x3000;
}

bool only_white_space(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto point = next_code_point(text, at);
    if (!point || !is_white_space(*point))
      return false;
  }
  return true;
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
    std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<std::uint8_t>(c) & 0xc0) != 0x80; }));
}

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

} // namespace

bool valid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();)
    if (!next_code_point(text, at))
      return false;
  return true;
}

std::string replace_invalid_utf8(std::string_view text, std::string_view replacement) {
  std::string valid;
  valid.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    std::size_t next = at;
    if (next_code_point(text, next)) {
      valid += text.substr(at, next - at);
      at = next;
    } else {
      valid += replacement;
      ++at;
    }
  }
  return valid;
}

std::optional<FieldCode> display_text(std::string_view text) {
  if (!valid_utf8(text))
    return FieldCode::invalid_utf8;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t point = next_code_point(text, at).value_or(0);
    if (is_control(point))
      return FieldCode::control_character;
    if (is_bidi_control(point))
      return FieldCode::bidi_control;
  }
  return std::nullopt;
}

std::optional<FieldCode> external_session_ref(std::string_view text, std::size_t max_bytes) {
  if (only_white_space(text))
    return FieldCode::required;
  if (const auto wrong = display_text(text))
    return wrong;
  if (text.size() > max_bytes)
    return FieldCode::too_long;
  return std::nullopt;
}

std::optional<FieldCode> model(std::string_view text) {
  if (text.empty() || text.size() > static_cast<std::size_t>(limits::model_max_characters))
    return FieldCode::invalid_format;
  constexpr std::string_view extra = "._:/@-[]";
  const bool known = std::all_of(
    text.begin(), text.end(), [&](char c) { return is_letter_or_digit(c) || extra.find(c) != std::string_view::npos; });
  if (!known || !is_letter_or_digit(text.front()))
    return FieldCode::invalid_format;
  return std::nullopt;
}

std::optional<FieldCode> name(std::string_view text) {
  if (only_white_space(text))
    return FieldCode::required;
  if (const auto wrong = display_text(text))
    return wrong;
  if (characters(text) > static_cast<std::size_t>(limits::name_max_characters))
    return FieldCode::too_long;
  return std::nullopt;
}

std::optional<FieldCode> content(std::string_view text, std::size_t max_bytes) {
  if (only_white_space(text))
    return FieldCode::required;
  for (std::size_t at = 0; at < text.size();) {
    const auto point = next_code_point(text, at);
    if (!point)
      return FieldCode::invalid_utf8;
    const bool layout = *point == '\t' || *point == '\n' || *point == '\r' || *point == 0x2028 || *point == 0x2029;
    if (is_control(*point) && !layout)
      return FieldCode::control_character;
  }
  if (text.size() > max_bytes)
    return FieldCode::too_long;
  return std::nullopt;
}

std::optional<FieldCode> failure_code(std::string_view text) {
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto known = [&](char c) { return is_lower(c) || (c >= '0' && c <= '9') || c == '_'; };
  const bool fits = !text.empty() && text.size() <= static_cast<std::size_t>(limits::failure_code_max_bytes);
  if (!fits || !is_lower(text.front()) || !std::all_of(text.begin(), text.end(), known))
    return FieldCode::invalid_format;
  return std::nullopt;
}

std::optional<FieldCode> container_name(std::string_view text) {
  const auto is_end = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const auto known = [&](char c) { return is_end(c) || c == '.' || c == '_' || c == '-'; };
  const bool fits = !text.empty() && text.size() <= static_cast<std::size_t>(limits::container_name_max_bytes);
  if (!fits || !is_end(text.front()) || !is_end(text.back()) || !std::all_of(text.begin(), text.end(), known))
    return FieldCode::invalid_format;
  return std::nullopt;
}

std::optional<FieldCode> secret_name(std::string_view text) {
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto known = [&](char c) { return is_upper(c) || (c >= '0' && c <= '9') || c == '_'; };
  const bool fits = !text.empty() && text.size() <= static_cast<std::size_t>(limits::secret_name_max_bytes);
  if (!fits || !is_upper(text.front()) || !std::all_of(text.begin(), text.end(), known))
    return FieldCode::invalid_format;
  return std::nullopt;
}

std::optional<FieldCode> secret(std::string_view text, std::size_t max_bytes) {
  if (text.empty())
    return FieldCode::required;
  if (text.find('\0') != std::string_view::npos)
    return FieldCode::control_character;
  return text.size() > max_bytes ? std::optional(FieldCode::too_long) : std::nullopt;
}

std::optional<FieldCode> line(std::string_view text, std::size_t max_bytes) {
  if (text.find_first_of(std::string_view("\0\n\r", 3)) != std::string_view::npos)
    return FieldCode::control_character;
  return text.size() > max_bytes ? std::optional(FieldCode::too_long) : std::nullopt;
}

bool is_session_id(std::string_view text) {
  constexpr std::size_t digits = 64;
  return text.size() == digits &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::optional<FieldCode> currency(std::string_view text) {
  const bool letters = std::all_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  if (text.size() != 3 || !letters)
    return FieldCode::invalid_format;
  return std::nullopt;
}

} // namespace cleat::validate
