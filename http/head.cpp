#include "http/head.hpp"

#include <algorithm>

#include "base/limits.hpp"

namespace cleat::http {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// A character of a token, as methods and header names are made of (RFC 9110 section 5.6.2).
bool is_token_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token_character);
}

bool is_visible(char c) {
  return c > ' ' && c < '\x7f';
}

/// A character of a header value: visible, blank, or one of the bytes above ASCII that older software sends.
bool is_value_character(char c) {
  return is_visible(c) || c == ' ' || c == '\t' || static_cast<unsigned char>(c) >= 0x80;
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Takes the next line off `bytes`; nothing when no CR LF ends it.
std::optional<std::string_view> take_line(std::string_view& bytes) {
  const auto end = bytes.find("\r\n");
  if (end == std::string_view::npos)
    return std::nullopt;
  const auto line = bytes.substr(0, end);
  bytes.remove_prefix(end + 2);
  return line;
}

Result<Head> parse_request_line(std::string_view line) {
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  if (first == std::string_view::npos || first == last)
    return refuse(Code::bad_request);
  const auto method = line.substr(0, first);
  const auto target = line.substr(first + 1, last - first - 1);
  const auto version = line.substr(last + 1);
  if (target.size() > static_cast<std::size_t>(limits::max_target_bytes))
    return refuse(Code::uri_too_long);
  if (!is_token(method) || target.empty() || !std::ranges::all_of(target, is_visible))
    return refuse(Code::bad_request);
  if (version != "HTTP/1.1" && version != "HTTP/1.0")
    return refuse(Code::bad_request);
  Head head;
  head.method = method;
  head.target = target;
  head.keep_alive = version == "HTTP/1.1";
  return head;
}

std::optional<std::pair<std::string, std::string>> parse_field(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
    return std::nullopt;
  const auto value = trim(line.substr(colon + 1));
  if (!std::ranges::all_of(value, is_value_character))
    return std::nullopt;
  return std::pair{std::string(line.substr(0, colon)), std::string(value)};
}

/// Where the body ends must be beyond doubt, else the next request on the connection is not what its sender meant.
bool framing_is_clear(const Head& head) {
  const auto lengths = values_of(head.headers, "Content-Length");
  const auto encodings = values_of(head.headers, "Transfer-Encoding");
  if (lengths.size() > 1 || encodings.size() > 1 || (!lengths.empty() && !encodings.empty()))
    return false;
  constexpr std::size_t max_length_digits = 18;
  if (!lengths.empty() &&
      (lengths[0].empty() || lengths[0].size() > max_length_digits || !std::ranges::all_of(lengths[0], is_digit)))
    return false;
  return encodings.empty() || same_name(encodings[0], "chunked");
}

bool has_body(const Head& head) {
  const auto lengths = values_of(head.headers, "Content-Length");
  return !values_of(head.headers, "Transfer-Encoding").empty() ||
         (!lengths.empty() && lengths[0].find_first_not_of('0') != std::string_view::npos);
}

} // namespace

std::optional<std::size_t> head_length(std::string_view bytes) {
  for (auto feed = bytes.find('\n'); feed != std::string_view::npos; feed = bytes.find('\n', feed + 1)) {
    const auto rest = bytes.substr(feed + 1);
    if (rest.starts_with("\n"))
      return feed + 2;
    if (rest.starts_with("\r\n"))
      return feed + 3;
  }
  return std::nullopt;
}

Result<Head> parse_head(std::string_view bytes) {
  const auto request_line = take_line(bytes);
  if (!request_line)
    return refuse(Code::bad_request);
  auto head = parse_request_line(*request_line);
  if (!head)
    return head;
  for (auto line = take_line(bytes); !line || !line->empty(); line = take_line(bytes)) {
    auto field = line ? parse_field(*line) : std::nullopt;
    if (!field)
      return refuse(Code::bad_request);
    head->headers.push_back(std::move(*field));
  }
  if (!framing_is_clear(*head))
    return refuse(Code::bad_request);
  head->has_body = has_body(*head);
  head->keep_alive = head->keep_alive ? !list_has(head->headers, "Connection", "close")
                                      : list_has(head->headers, "Connection", "keep-alive");
  return head;
}

} // namespace cleat::http
