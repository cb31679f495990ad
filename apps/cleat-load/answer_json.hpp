#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <simdjson.h>

#include "apps/cleat-load/answer.hpp"

namespace cleat::load {

/// Members of one JSON object in an answer. Absent and of another type is the same: the checks that ask want exactly
/// one value.
class JsonObject {
public:
  JsonObject() = default;
  explicit JsonObject(simdjson::simdjson_result<simdjson::dom::element> element) : element_(element) {}
  /// An element of an array.
  explicit JsonObject(simdjson::dom::element element) : element_(simdjson::dom::element(element)) {}

  /// The text of a string member; empty when there is none.
  [[nodiscard]] std::string_view text(std::string_view member) const;

  [[nodiscard]] std::optional<bool> flag(std::string_view member) const;

  [[nodiscard]] std::optional<std::int64_t> number(std::string_view member) const;

  [[nodiscard]] bool has(std::string_view member) const;

  /// The elements of an array member; `nullopt` when there is none.
  [[nodiscard]] std::optional<simdjson::dom::array> array(std::string_view member) const;

private:
  /// An error when there is no object; it is passed on to whoever asks for a member.
  simdjson::simdjson_result<simdjson::dom::element> element_;
};

/// Parses answers one after the other with one buffer.
class AnswerJson {
public:
  /// The body's object, valid until the next call. A body that is no JSON gives an object without members.
  JsonObject parse(const Answer& answer);

private:
  simdjson::dom::parser parser_;
};

} // namespace cleat::load
