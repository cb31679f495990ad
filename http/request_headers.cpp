#include "http/request_headers.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/limits.hpp"

namespace cleat::http {
namespace {

bool is_visible_ascii(std::string_view text, std::int64_t max) {
  return !text.empty() && text.size() <= static_cast<std::size_t>(max) &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

/// As `take_part`, but a separator inside a quoted string is none.
std::string_view take_unquoted(std::string_view& text, char separator) {
  bool quoted = false;
  std::size_t end = 0;
  for (; end < text.size() && (quoted || text[end] != separator); ++end) {
    if (text[end] == '"')
      quoted = !quoted;
    else if (quoted && text[end] == '\\')
      ++end;
  }
  end = std::min(end, text.size());
  auto part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return take_part(part, '\0');
}

/// Digits, quoted or not. More than fit into the number are as good as the most that fit.
std::optional<std::int64_t> seconds_of(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = text.substr(1, text.size() - 2);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument || text.front() == '-')
    return std::nullopt;
  return error == std::errc() ? value : std::numeric_limits<std::int32_t>::max();
}

bool is_lower_hex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

} // namespace

Result<std::optional<std::int64_t>> if_match(const HeaderFields& headers) {
  const auto values = values_of(headers, "If-Match");
  if (values.empty())
    return std::optional<std::int64_t>();
  const auto refusal = refuse(Code::invalid_if_match);
  if (values.size() > 1)
    return refusal;
  auto text = values[0];
  if (text.size() < 3 || text.front() != '"' || text.back() != '"')
    return refusal;
  text = text.substr(1, text.size() - 2);
  std::int64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  // One spelling a version: no sign, no leading zero.
  if (error != std::errc() || end != text.data() + text.size() || version < 1 || text.front() == '0')
    return refusal;
  return std::optional<std::int64_t>(version);
}

Result<std::optional<std::string>> idempotency_key(const HeaderFields& headers) {
  const auto values = values_of(headers, "Idempotency-Key");
  if (values.empty())
    return std::optional<std::string>();
  if (values.size() > 1 || !is_visible_ascii(values[0], limits::idempotency_key_max_bytes))
    return refuse(Code::invalid_idempotency_key);
  return std::optional<std::string>(values[0]);
}

std::optional<std::string_view> bearer_token(const HeaderFields& headers) {
  constexpr std::string_view scheme = "Bearer ";
  constexpr std::int64_t token_max_bytes = 512;
  const auto values = values_of(headers, "Authorization");
  if (values.size() != 1 || values[0].size() <= scheme.size() || !same_name(values[0].substr(0, scheme.size()), scheme))
    return std::nullopt;
  auto token = values[0].substr(scheme.size());
  token.remove_prefix(std::min(token.find_first_not_of(' '), token.size()));
  if (!is_visible_ascii(token, token_max_bytes))
    return std::nullopt;
  return token;
}

std::optional<std::string> request_id(const HeaderFields& headers) {
  const auto values = values_of(headers, "X-Request-Id");
  if (values.size() != 1 || !is_visible_ascii(values[0], limits::request_id_max_bytes))
    return std::nullopt;
  return std::string(values[0]);
}

std::optional<std::int64_t> preferred_wait(const HeaderFields& headers) {
  // Given more than once, the first one counts (RFC 7240 section 2).
  for (auto field : values_of(headers, "Prefer")) {
    while (!field.empty()) {
      auto parameters = take_unquoted(field, ',');
      auto value = take_unquoted(parameters, ';');
      if (same_name(take_part(value, '='), "wait"))
        return seconds_of(take_part(value, '\0'));
    }
  }
  return std::nullopt;
}

std::optional<std::string_view> trace_id(const HeaderFields& headers) {
  // version "-" trace-id "-" parent-id "-" flags
  constexpr std::size_t length = 55;
  constexpr std::size_t trace_begin = 3;
  constexpr std::size_t trace_length = 32;
  const auto values = values_of(headers, "traceparent");
  if (values.size() != 1 || values[0].size() < length || values[0][2] != '-' || values[0][35] != '-')
    return std::nullopt;
  const auto trace = values[0].substr(trace_begin, trace_length);
  if (!is_lower_hex(trace))
    return std::nullopt;
  return trace;
}

bool is_json(const HeaderFields& headers) {
  if (!values_of(headers, "Content-Encoding").empty())
    return false;
  const auto values = values_of(headers, "Content-Type");
  if (values.size() != 1)
    return false;
  auto rest = values[0];
  if (!same_name(take_part(rest, ';'), "application/json"))
    return false;
  while (!rest.empty()) {
    auto parameter = take_part(rest, ';');
    const auto name = take_part(parameter, '=');
    if (same_name(name, "charset") && !same_name(parameter, "utf-8") && !same_name(parameter, "\"utf-8\""))
      return false;
  }
  return true;
}

} // namespace cleat::http
