#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/problem.hpp"
#include "base/time.hpp"
#include "protocol/resources.hpp"

/// Strict reading of request bodies (spec 05): unknown members, duplicates, null and wrong types are all
/// found in one pass, each with its JSON pointer. simdjson parses; this is the policy on top.
namespace cleat::json {

class ObjectReader;

/// What is done with the root object. Called at most once.
using Visit = std::function<void(ObjectReader&)>;

/// Parses `body` as one JSON object and lets `visit` read its members. Refuses with `malformed_json` when the
/// body is not JSON (depth over `limits::json_max_depth` included), else with every error that the reader
/// collected. A body that is JSON but no object is `wrong_type` at the pointer "". An empty body is read as `{}`
/// when `empty_is_object` is set, so that operations whose members are all optional need no body.
std::optional<Refusal> read_object(std::string_view body, bool empty_is_object, const Visit& visit);

/// Reads members of one object and remembers what was wrong. Values come back only when they are right, so a
/// caller must not use what it read when `read_object` refused. Members nobody asked for are `unknown_member`.
class ObjectReader {
public:
  struct Impl;
  explicit ObjectReader(Impl& impl) : impl_(&impl) {}

  std::optional<std::string> string(std::string_view member);
  std::optional<bool> boolean(std::string_view member);
  std::optional<std::int64_t> integer(std::string_view member);
  std::optional<Id> id(std::string_view member);
  std::optional<Timestamp> time(std::string_view member);

  /// A string that must name a value of enumeration `E`, else `unknown_value`.
  template <class E>
  std::optional<E> enumeration(std::string_view member) {
    const auto text = string(member);
    if (!text)
      return std::nullopt;
    const auto value = from_string<E>(*text);
    if (!value)
      error(member, FieldCode::unknown_value);
    return value;
  }

  /// Reads the object in `member`. Returns whether there is one.
  bool object(std::string_view member, const Visit& visit);

  /// Reads the objects in the array `member`, at most `max` (`too_many`). Returns how many elements the array has, if
  /// there is one.
  std::optional<std::size_t> objects(std::string_view member, std::size_t max, const Visit& visit);

  /// Whether the member is present, whatever its value.
  [[nodiscard]] bool has(std::string_view member) const;

  /// Notes that `member` (empty: this object itself) is wrong.
  void error(std::string_view member, FieldCode code);

  /// Notes `required` when the member is absent; says nothing when it is present but wrong.
  void require(std::string_view member);

private:
  Impl* impl_;
};

} // namespace cleat::json
