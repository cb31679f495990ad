#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

namespace cleat::test {

/// A value of a JSON document that a server answered. Keeps its document alive, so it may be copied around. Every
/// function throws `std::runtime_error` when the value is not what is asked for.
class Json {
public:
  /// Reads a document.
  static Json parse(std::string_view text);

  /// Whether this object has the member.
  [[nodiscard]] bool has(std::string_view name) const;

  /// A member of this object.
  Json operator[](std::string_view name) const;

  /// An item of this array.
  Json operator[](std::size_t index) const;

  /// The items of this array.
  [[nodiscard]] std::vector<Json> items() const;

  /// The names of this object's members, sorted.
  [[nodiscard]] std::vector<std::string> names() const;

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::string string() const;
  [[nodiscard]] std::int64_t number() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] bool is_object() const { return element_.is_object(); }
  [[nodiscard]] bool is_array() const { return element_.is_array(); }
  [[nodiscard]] bool is_string() const { return element_.is_string(); }
  [[nodiscard]] bool is_boolean() const { return element_.is_bool(); }
  [[nodiscard]] bool is_integer() const { return element_.is_int64(); }
  [[nodiscard]] bool is_number() const { return element_.is_number(); }
  [[nodiscard]] bool is_null() const { return element_.is_null(); }

  /// The value as text, for messages.
  [[nodiscard]] std::string dump() const;

private:
  Json(std::shared_ptr<simdjson::dom::parser> parser, simdjson::dom::element element)
    : parser_(std::move(parser)), element_(element) {}

  std::shared_ptr<simdjson::dom::parser> parser_;
  simdjson::dom::element element_;
};

/// A JSON object for a request, member by member.
class Object {
public:
  Object& text(std::string_view name, std::string_view value);
  Object& number(std::string_view name, std::int64_t value);
  Object& boolean(std::string_view name, bool value);
  /// A member whose value is JSON already.
  Object& json(std::string_view name, std::string_view value);

  /// The object as JSON.
  [[nodiscard]] std::string str() const { return "{" + members_ + "}"; }

private:
  std::string members_;
};

/// `text` as a JSON string with its quotes. Bytes that are no control characters stay as they are.
std::string json_string(std::string_view text);

} // namespace cleat::test
