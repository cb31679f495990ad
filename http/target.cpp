#include "http/target.hpp"

#include <algorithm>

#include "protocol/validate.hpp"

namespace cleat::http {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

/// Percent-decoding; nothing when a `%` is not followed by two hexadecimal digits.
std::optional<std::string> decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
    if (high < 0 || low < 0)
      return std::nullopt;
    out.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return out;
}

/// As forms encode: a plus sign is a blank.
std::string decode_parameter(std::string_view text) {
  std::string blanks(text);
  std::ranges::replace(blanks, '+', ' ');
  return decode(blanks).value_or(blanks);
}

/// A JSON pointer to a member of this name (RFC 6901); the root when the name is not even text.
std::string pointer_to(std::string_view name) {
  if (!validate::valid_utf8(name))
    return "";
  std::string pointer = "/";
  for (const char c : name) {
    if (c == '~')
      pointer += "~0";
    else if (c == '/')
      pointer += "~1";
    else
      pointer.push_back(c);
  }
  return pointer;
}

template <class Take>
void split(std::string_view text, char separator, Take take) {
  for (;;) {
    const auto end = text.find(separator);
    take(text.substr(0, end));
    if (end == std::string_view::npos)
      return;
    text.remove_prefix(end + 1);
  }
}

} // namespace

Query Query::parse(std::string_view text) {
  Query query;
  split(text, '&', [&query](std::string_view part) {
    if (part.empty())
      return;
    const auto equals = std::min(part.find('='), part.size());
    const auto value = part.substr(std::min(equals + 1, part.size()));
    query.parameters_.emplace_back(decode_parameter(part.substr(0, equals)), decode_parameter(value));
  });
  return query;
}

std::optional<std::string> Query::get(std::string_view name) const {
  for (const auto& [parameter, value] : parameters_)
    if (parameter == name)
      return value;
  return std::nullopt;
}

std::vector<FieldError> Query::check(std::span<const std::string_view> known) const {
  std::vector<FieldError> errors;
  for (auto parameter = parameters_.begin(); parameter != parameters_.end(); ++parameter) {
    const auto& name = parameter->first;
    const auto same = [&name](const auto& other) { return other.first == name; };
    if (std::ranges::find(known, name) == known.end())
      errors.push_back({pointer_to(name), FieldCode::unknown_member});
    else if (std::any_of(parameters_.begin(), parameter, same))
      errors.push_back({pointer_to(name), FieldCode::duplicate_member});
  }
  return errors;
}

std::optional<Target> parse_target(std::string_view target) {
  if (!target.starts_with('/'))
    return std::nullopt;
  const auto question = std::min(target.find('?'), target.size());
  Target result;
  bool decodes = true;
  split(target.substr(1, question - 1), '/', [&](std::string_view part) {
    auto segment = decode(part);
    decodes = decodes && segment.has_value();
    result.segments.push_back(std::move(segment).value_or(std::string()));
  });
  if (!decodes)
    return std::nullopt;
  result.query = Query::parse(target.substr(std::min(question + 1, target.size())));
  return result;
}

} // namespace cleat::http
