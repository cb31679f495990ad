#include <string>

#include "base/addresses.hpp"
#include "base/encoding.hpp"
#include "base/ids.hpp"
#include "base/limits.hpp"
#include "base/time.hpp"
#include "protocol/bodies.hpp"
#include "protocol/validate.hpp"
#include "tests/fuzz/property.hpp"

/// Short texts that stand for something: ids and cursors, times, addresses, base64url, limits of pages, and the rules
/// for what people write. The first line of an input says what the rest is taken for.
namespace cleat::fuzz {
namespace {

void check_cursor(std::string_view text) {
  const auto id = Id::parse(text);
  must(!id || id->str() == text, "an id has one spelling");
  const auto range = bodies::page_range(std::nullopt, std::string(text));
  must(range.has_value() == id.has_value(), "a cursor is an id");
  must(range || range.error().code == Code::invalid_cursor, "a cursor that is none is refused as one");
  must(!range || (range->limit == limits::page_default && range->after == id), "a cursor is what it says");
}

void check_limit(std::string_view text) {
  const auto range = bodies::page_range(std::string(text), std::nullopt);
  must(!range || (range->limit >= 1 && range->limit <= limits::page_max), "a page has its limits");
  must(range || range.error().errors == std::vector<FieldError>{{"/limit", FieldCode::out_of_range}},
       "a wrong limit is named");
}

void check_time(std::string_view text) {
  const auto time = parse_rfc3339(text);
  if (!time)
    return;
  const auto shown = format_rfc3339(*time);
  must(parse_rfc3339(shown) == time, "a time that is shown is read as the same");
  must(shown.size() == 27 && shown.ends_with('Z'), "a time is shown in UTC with microseconds");
}

void check_address(std::string_view text) {
  const auto address = parse_address(text);
  must(!address || parse_address(address->str()) == address, "an address that is shown is read as the same");
  static_cast<void>(is_loopback(std::string(text)));
}

void check_base64url(std::string_view text) {
  const auto bytes = base64url_decode(text);
  must(!bytes || base64url_encode(*bytes) == text, "bytes have one spelling");
}

void check_rules(std::string_view text) {
  const bool is_text = validate::valid_utf8(text);
  must(is_text == (validate::replace_invalid_utf8(text, "") == text), "what is UTF-8 needs no repair");
  must(validate::valid_utf8(validate::replace_invalid_utf8(text, "?")), "what was repaired is UTF-8");
  const bool passes[]{!validate::display_text(text),   !validate::external_session_ref(text, 64),
                      !validate::name(text),           !validate::content(text, 64),
                      !validate::model(text),          !validate::failure_code(text),
                      !validate::container_name(text), !validate::secret_name(text),
                      validate::is_session_id(text),   !validate::currency(text)};
  for (const bool passed : passes)
    must(!passed || is_text, "what passes a rule is UTF-8");
  must(!passes[1] || (text.size() <= 64 && passes[0]), "a reference can be shown and is within its limit");
  must(!passes[3] || text.size() <= 64, "a content is within its limit");
  must(validate::line(text, 64).has_value() || (text.find('\n') == std::string_view::npos && text.size() <= 64),
       "a line is one line");
  must(validate::secret(text, 64).has_value() || (!text.empty() && text.size() <= 64), "a secret is within its limit");
}

} // namespace
} // namespace cleat::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cleat::fuzz;
  auto text = text_of(data, size);
  const auto what = take_line(text);
  // Files of seeds end with a line break, the texts do not.
  if (text.ends_with('\n'))
    text.remove_suffix(1);
  if (what == "cursor")
    check_cursor(text);
  else if (what == "limit")
    check_limit(text);
  else if (what == "time")
    check_time(text);
  else if (what == "address")
    check_address(text);
  else if (what == "base64url")
    check_base64url(text);
  else if (what == "text")
    check_rules(text);
  return 0;
}
