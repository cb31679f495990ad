#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/problem.hpp"
#include "protocol/json_reader.hpp"
#include "protocol/validate.hpp"

/// What the files of `bodies.hpp` have in common.
namespace cleat::bodies {

using json::ObjectReader;

/// Whether members of a body must be there. An operation without a required member takes no body as well.
enum class Body { required, optional };

/// Reads a body with `fill(reader, result)`.
template <class T, class Fill>
Result<T> read(std::string_view text, Body kind, Fill fill) {
  T body{};
  if (auto refusal = json::read_object(text, kind == Body::optional, [&](ObjectReader& in) { fill(in, body); }))
    return tl::unexpected<Refusal>(std::move(*refusal));
  return body;
}

/// A string member that a rule of `validate` must accept.
template <class Rule>
std::optional<std::string> checked(ObjectReader& in, std::string_view member, Rule rule) {
  auto text = in.string(member);
  if (!text)
    return std::nullopt;
  if (const auto wrong = rule(*text)) {
    in.error(member, *wrong);
    return std::nullopt;
  }
  return text;
}

/// A string member that must be there as well.
template <class Rule>
std::string required(ObjectReader& in, std::string_view member, Rule rule) {
  in.require(member);
  return checked(in, member, rule).value_or("");
}

/// A name, a title or a label.
inline std::string required_name(ObjectReader& in, std::string_view member) {
  return required(in, member, validate::name);
}

} // namespace cleat::bodies
