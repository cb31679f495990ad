#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/problem.hpp"

namespace cleat::http {

/// The query of a request, decoded, in the order of the request.
class Query {
public:
  /// Reads `text`, the part behind `?`, as `application/x-www-form-urlencoded`. What does not decode is kept as sent;
  /// `check` or whoever reads the value then refuses it.
  static Query parse(std::string_view text);

  /// The value of a parameter, if the request has it.
  [[nodiscard]] std::optional<std::string> get(std::string_view name) const;

  /// What is wrong with the names: parameters that the operation does not know (`unknown_member`) and ones that are
  /// given twice (`duplicate_member`), with the parameter's name as pointer (spec 05).
  [[nodiscard]] std::vector<FieldError> check(std::span<const std::string_view> known) const;

private:
  std::vector<std::pair<std::string, std::string>> parameters_;
};

/// A request target, taken apart.
struct Target {
  /// The path's segments, decoded each for itself, so that an encoded slash stays inside its segment. `/` has one,
  /// the empty one.
  std::vector<std::string> segments;
  Query query;
};

/// Takes a target in origin form apart; nothing for anything else and for a path that does not decode.
std::optional<Target> parse_target(std::string_view target);

} // namespace cleat::http
