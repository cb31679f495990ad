#include <string>

#include "base/limits.hpp"
#include "http/accept.hpp"
#include "http/head.hpp"
#include "http/request_headers.hpp"
#include "http/routes/parameters.hpp"
#include "tests/fuzz/property.hpp"

/// Heads of HTTP requests and every header field that means something. Behind a bar at the front of an input line feeds
/// stand for CR LF, so that seeds are plain text.
namespace cleat::fuzz {
namespace {

std::string head_of(std::string_view input) {
  if (!input.starts_with('|'))
    return std::string(input);
  std::string head;
  for (const char c : input.substr(1)) {
    if (c == '\n')
      head += '\r';
    head += c;
  }
  return head;
}

bool is_visible(std::string_view text) {
  for (const char c : text)
    if (c <= ' ' || c >= '\x7f')
      return false;
  return !text.empty();
}

std::string render(const http::Head& head, std::string_view version) {
  std::string text = head.method + " " + head.target + " " + std::string(version) + "\r\n";
  for (const auto& [name, value] : head.headers)
    text.append(name).append(": ").append(value).append("\r\n");
  return text + "\r\n";
}

/// The end of a head is found at the same place however much has arrived behind it, and never too early.
void check_length(std::string_view bytes) {
  const auto length = http::head_length(bytes);
  must(!length || (*length <= bytes.size() && bytes[*length - 1] == '\n'), "a head ends with a line feed");
  if (!length)
    return;
  must(http::head_length(bytes.substr(0, *length)) == length, "what comes behind a head does not move its end");
  must(!http::head_length(bytes.substr(0, *length - 1)), "a head is not over before its end");
}

void check_framing(const http::Head& head) {
  const auto lengths = http::values_of(head.headers, "Content-Length");
  const auto encodings = http::values_of(head.headers, "Transfer-Encoding");
  must(lengths.size() + encodings.size() <= 1, "a body has one length");
  must(!head.has_body || lengths.size() + encodings.size() == 1, "a body has a length");
  for (const auto length : lengths)
    must(length.find_first_not_of("0123456789") == std::string_view::npos && !length.empty(), "a length is a number");
}

void check_head(std::string_view bytes) {
  const auto head = http::parse_head(bytes);
  if (!head) {
    must(head.error().code == Code::bad_request || head.error().code == Code::uri_too_long, "a wrong head is refused");
    return;
  }
  must(is_visible(head->target) && is_visible(head->method), "the first line is visible");
  for (const auto& [name, value] : head->headers) {
    must(is_visible(name) && name.find(':') == std::string::npos, "a name is visible");
    must(value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos, "a value is one line");
  }
  check_framing(*head);
  const auto line = bytes.substr(0, bytes.find('\r'));
  const auto again = http::parse_head(render(*head, line.substr(line.size() - 8)));
  must(again && again->method == head->method && again->target == head->target && again->headers == head->headers &&
         again->keep_alive == head->keep_alive && again->has_body == head->has_body,
       "a head that is written again is read as the same");
}

void check_headers(const http::HeaderFields& headers) {
  const auto version = http::if_match(headers);
  must(version || version.error().code == Code::invalid_if_match, "a wrong If-Match is refused as one");
  if (version && *version)
    must(http::values_of(headers, "If-Match")[0] == '"' + std::to_string(**version) + '"',
         "a version has one spelling");
  const auto key = http::idempotency_key(headers);
  must(key || key.error().code == Code::invalid_idempotency_key, "a wrong Idempotency-Key is refused as one");
  if (key && *key)
    must(is_visible(**key) && (*key)->size() <= limits::idempotency_key_max_bytes, "a key is visible and short");
  const auto token = http::bearer_token(headers);
  must(!token || is_visible(*token), "a token is visible");
  const auto request_id = http::request_id(headers);
  must(!request_id || (is_visible(*request_id) && request_id->size() <= limits::request_id_max_bytes),
       "a request id is visible and short");
  const auto trace_id = http::trace_id(headers);
  must(!trace_id || (trace_id->size() == 32 && trace_id->find_first_not_of("0123456789abcdef") == std::string::npos),
       "a trace id is 32 digits");
  must(http::preferred_wait(headers).value_or(0) >= 0, "nobody waits for less than no time");
  const auto begin = http::begin_of(headers, 7);
  must(begin.has_value() || begin.error().code == Code::validation_failed, "a wrong Last-Event-ID is refused as one");
  must(!begin || *begin >= 0, "a log begins at 0");
  static_cast<void>(http::is_json(headers));
}

void check_accept(const http::HeaderFields& headers) {
  using http::LogForm;
  const auto stream = http::preferred_form(headers, LogForm::stream);
  const auto page = http::preferred_form(headers, LogForm::page);
  must(stream == page || (stream == LogForm::stream && page == LogForm::page), "a default is what it says");
  if (http::values_of(headers, "Accept").empty())
    must(stream != page, "who says nothing gets the default");
}

} // namespace
} // namespace cleat::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cleat;
  const auto bytes = fuzz::head_of(fuzz::text_of(data, size));
  fuzz::check_length(bytes);
  fuzz::check_head(bytes);
  if (const auto head = http::parse_head(bytes)) {
    fuzz::check_headers(head->headers);
    fuzz::check_accept(head->headers);
  }
  return 0;
}
