#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace cleat::json {

/// Writes JSON with the conventions of spec 05: no null, ids and times as their text. RapidJSON escapes and
/// formats; this adds our types and leaves out what is absent.
class Writer {
public:
  Writer& begin_object() {
    writer_.StartObject();
    return *this;
  }
  Writer& end_object() {
    writer_.EndObject();
    return *this;
  }
  Writer& begin_array() {
    writer_.StartArray();
    return *this;
  }
  Writer& end_array() {
    writer_.EndArray();
    return *this;
  }
  Writer& key(std::string_view name) {
    writer_.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
    return *this;
  }

  Writer& value(std::string_view text) {
    writer_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
    return *this;
  }
  Writer& value(const char* text) { return value(std::string_view(text)); }
  Writer& value(const std::string& text) { return value(std::string_view(text)); }
  Writer& value(std::int64_t number) {
    writer_.Int64(number);
    return *this;
  }
  Writer& value(bool flag) {
    writer_.Bool(flag);
    return *this;
  }
  Writer& value(const Id& id) { return characters(id.text()); }
  Writer& value(Timestamp time) { return characters(rfc3339_text(time)); }

  /// A value that is rendered already.
  Writer& raw(std::string_view json) {
    writer_.RawValue(json.data(), json.size(), rapidjson::kObjectType);
    return *this;
  }

  template <class T>
  Writer& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }

  /// An absent value is an absent member.
  template <class T>
  Writer& member(std::string_view name, const std::optional<T>& content) {
    return content ? member(name, *content) : *this;
  }

  Writer& raw_member(std::string_view name, std::string_view json) { return key(name).raw(json); }

  /// What was written so far.
  [[nodiscard]] std::string str() const { return {buffer_.GetString(), buffer_.GetSize()}; }

private:
  template <std::size_t Size>
  Writer& characters(const std::array<char, Size>& text) {
    return value(std::string_view(text.data(), text.size()));
  }

  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_{buffer_};
};

} // namespace cleat::json
