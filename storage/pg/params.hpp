#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "storage/pg/wire.hpp"

namespace cleat::storage::pg {

/// The parameters of one statement, in order, in binary. Values never become part of SQL text (spec 06 section 3).
class Params {
public:
  /// Adds one value; an empty `std::optional` is NULL.
  template <class T>
  Params& add(const T& value) {
    using Element = typename Nullable<T>::type;
    std::string& out = values_.emplace_back();
    const Element* const present = Nullable<T>::get(value);
    is_null_.push_back(present == nullptr);
    if (present)
      Wire<Element>::write(out, *present);
    return *this;
  }

  /// Adds an array with what `project` makes of each row; empty `std::optional`s are NULL elements.
  template <class Rows, class Project>
  Params& array(const Rows& rows, Project project) {
    using Value = std::decay_t<std::invoke_result_t<Project, decltype(*std::begin(rows))>>;
    using Element = typename Nullable<Value>::type;
    std::string& out = begin_array(std::size(rows), Wire<Element>::oid);
    for (const auto& row : rows) {
      const auto& value = project(row);
      write_element<Element>(out, Nullable<Value>::get(value));
    }
    return *this;
  }

  /// How many there are.
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  /// Whether parameter `i` is NULL.
  [[nodiscard]] bool is_null(std::size_t i) const { return is_null_[i]; }
  /// The bytes of parameter `i`.
  [[nodiscard]] const std::string& value(std::size_t i) const { return values_[i]; }

private:
  /// The header of a one-dimensional array that may hold NULLs.
  std::string& begin_array(std::size_t size, std::uint32_t element_oid) {
    std::string& out = values_.emplace_back();
    is_null_.push_back(false);
    write_integer<std::int32_t>(out, 1);
    write_integer<std::int32_t>(out, 1);
    write_integer<std::uint32_t>(out, element_oid);
    write_integer<std::int32_t>(out, static_cast<std::int32_t>(size));
    write_integer<std::int32_t>(out, 1);
    return out;
  }

  template <class Element>
  static void write_element(std::string& out, const Element* value) {
    if (!value) {
      write_integer<std::int32_t>(out, -1);
      return;
    }
    const std::size_t at = out.size();
    write_integer<std::int32_t>(out, 0);
    Wire<Element>::write(out, *value);
    const auto length = static_cast<std::uint32_t>(out.size() - at - sizeof(std::int32_t));
    for (std::size_t i = 0; i < sizeof length; ++i)
      out[at + i] = static_cast<char>(length >> (8 * (sizeof length - 1 - i)));
  }

  std::vector<std::string> values_;
  std::vector<bool> is_null_;
};

} // namespace cleat::storage::pg
