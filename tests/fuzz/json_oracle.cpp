#include "tests/fuzz/json_oracle.hpp"

#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include "base/limits.hpp"

namespace cleat::fuzz {
namespace {

/// Takes everything and counts how deep it goes.
struct Depth : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Depth> {
  std::int64_t now = 0;

  bool begin() { return ++now <= limits::json_max_depth; }
  bool end() {
    --now;
    return true;
  }
  bool StartObject() { return begin(); }
  bool EndObject(rapidjson::SizeType /*members*/) { return end(); }
  bool StartArray() { return begin(); }
  bool EndArray(rapidjson::SizeType /*elements*/) { return end(); }
};

} // namespace

bool is_json(std::string_view text) {
  // Not with full precision, whose arithmetic does not survive a sanitizer (0e40), and nobody looks at the numbers.
  constexpr unsigned flags = rapidjson::kParseValidateEncodingFlag | rapidjson::kParseIterativeFlag;
  // No JSON holds NUL, which the library takes for the end.
  if (text.find('\0') != std::string_view::npos)
    return false;
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::Reader reader;
  Depth depth;
  return !reader.Parse<flags>(stream, depth).IsError();
}

} // namespace cleat::fuzz
