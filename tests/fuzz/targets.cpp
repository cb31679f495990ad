#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "http/path_values.hpp"
#include "http/routes/parameters.hpp"
#include "http/target.hpp"
#include "protocol/bodies.hpp"
#include "protocol/validate.hpp"
#include "tests/fuzz/property.hpp"

/// Request targets: paths and the values in them, queries, the cursors of lists and logs. The first line of an input is
/// the pattern of a route, the second the target.
namespace cleat::fuzz {
namespace {

constexpr std::array<std::string_view, 4> known{"limit", "cursor", "after", "resource_id"};

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    encoded += '%';
    encoded += digits[byte / 16U];
    encoded += digits[byte % 16U];
  }
  return encoded;
}

void check_segments(const http::Target& target) {
  must(!target.segments.empty(), "a path has a segment");
  std::string path;
  for (const auto& segment : target.segments)
    path += "/" + percent_encoded(segment);
  const auto again = http::parse_target(path);
  must(again && again->segments == target.segments, "a path that is written again is read as the same");
}

void check_query(const http::Query& query) {
  const auto errors = query.check(known);
  std::set<std::string> named;
  for (const auto& error : errors) {
    must(error.code == FieldCode::unknown_member || error.code == FieldCode::duplicate_member,
         "a name is wrong so or so");
    must(error.pointer.empty() || error.pointer.front() == '/', "a pointer is one");
    must(validate::valid_utf8(error.pointer), "a pointer is text");
    named.insert(error.pointer);
  }
  for (const auto name : known)
    if (const auto value = query.get(name)) {
      const auto encoded = std::string(name) + "=" + percent_encoded(*value);
      must(http::Query::parse(encoded).get(name) == value, "a value that is written again is read as the same");
    }

  http::Parameters parameters(query);
  const auto after = parameters.number("after", 0, http::max_seq, 3);
  must(after >= 0, "a log has no entry before the first");
  static_cast<void>(parameters.id("resource_id"));
  static_cast<void>(parameters.text("cursor"));
  for (const auto& error : parameters.errors)
    must(query.get(error.pointer.substr(1)).has_value(), "only what is there is wrong");
  const auto range = bodies::page_range(query.get("limit"), query.get("cursor"));
  must(!range || range->after.has_value() == query.get("cursor").has_value(), "a cursor is taken or refused");
}

/// How many `{names}` a pattern has.
std::size_t names_in(std::string_view pattern) {
  std::size_t names = 0;
  for (auto at = pattern.find('{'); at != std::string_view::npos; at = pattern.find('{', at + 1))
    ++names;
  return names;
}

void check_path(std::string_view pattern, const http::Target& target) {
  const auto names = names_in(pattern);
  if (target.segments.size() < names)
    return;
  const std::vector<std::string> values(target.segments.end() - static_cast<std::ptrdiff_t>(names),
                                        target.segments.end());
  const auto read = http::read_path(pattern, values);
  must(!read || read->ids.size() + read->texts.size() == names, "every value is an id or a text");
  if (!read)
    return;
  for (const auto& id : read->ids)
    must(std::ranges::find(values, id.str()) != values.end(), "an id is in the path");
}

} // namespace
} // namespace cleat::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cleat;
  auto input = fuzz::text_of(data, size);
  const auto pattern = fuzz::take_line(input);
  const auto target = http::parse_target(fuzz::take_line(input));
  if (!target)
    return 0;
  fuzz::check_segments(*target);
  fuzz::check_query(target->query);
  fuzz::check_path(pattern, *target);
  return 0;
}
