#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

/// How enumerations get their names: one table each, for the files that define `to_string` and `from_string`.
namespace cleat {

/// The names of an enumeration in the order of its values, which all start at 0.
template <class E>
struct Names;

/// The name of a value.
template <class E>
constexpr std::string_view name_of(E value) {
  return Names<E>::all.at(static_cast<std::size_t>(value));
}

/// The value of that name, if one has it.
template <class E>
std::optional<E> from_string(std::string_view name) {
  for (std::size_t i = 0; i < Names<E>::all.size(); ++i)
    if (Names<E>::all[i] == name)
      return static_cast<E>(i);
  return std::nullopt;
}

} // namespace cleat
