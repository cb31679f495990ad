#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <libpq-fe.h>

#include "protocol/resources.hpp"
#include "storage/pg/wire.hpp"

namespace cleat::storage::pg {

/// What a statement returned, in binary. Copies share libpq's result.
class Result {
public:
  /// Takes libpq's result over.
  explicit Result(PGresult* result) : result_(result, PQclear) {}

  [[nodiscard]] PGresult* raw() const { return result_.get(); }
  [[nodiscard]] int rows() const { return PQntuples(raw()); }
  /// How many rows an INSERT, UPDATE or DELETE wrote.
  [[nodiscard]] std::int64_t affected() const;

private:
  std::shared_ptr<PGresult> result_;
};

/// Reads the columns of one row from left to right.
class RowReader {
public:
  RowReader(const Result& result, int row) : result_(result.raw()), row_(row) {}

  /// The next column. NULL is an empty `std::optional` and, where `T` is none, a `std::runtime_error`.
  template <class T>
  T next() {
    using Value = typename Nullable<T>::type;
    const int column = column_++;
    if (PQgetisnull(result_, row_, column) != 0) {
      if constexpr (std::is_same_v<T, Value>)
        throw std::runtime_error("a column is NULL where it must not be");
      else
        return std::nullopt;
    }
    return Wire<Value>::read(
      {PQgetvalue(result_, row_, column), static_cast<std::size_t>(PQgetlength(result_, row_, column))});
  }

  /// The next column as a value of enumeration `E`.
  template <class E>
  E next_name() {
    const auto value = from_string<E>(next<std::string>());
    if (!value)
      throw std::runtime_error("the database holds a name that this version does not know");
    return *value;
  }

  /// The next column as a value of enumeration `E`, empty for NULL.
  template <class E>
  std::optional<E> next_optional_name() {
    if (is_null()) {
      skip(1);
      return std::nullopt;
    }
    return next_name<E>();
  }

  /// Whether the next column is NULL: how the first column of a row of a LEFT JOIN tells that there is none.
  [[nodiscard]] bool is_null() const { return PQgetisnull(result_, row_, column_) != 0; }

  /// Passes over columns.
  void skip(int columns) { column_ += columns; }

private:
  PGresult* result_;
  int row_;
  int column_ = 0;
};

} // namespace cleat::storage::pg
