#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/encoding.hpp"
#include "base/ids.hpp"
#include "base/time.hpp"

/// PostgreSQL's binary formats of the types that we use. Binary in both directions: nothing has to be escaped, times
/// keep their microseconds and numbers their digits.
namespace cleat::storage::pg {

/// Writes a number in network order.
template <class Integer>
void write_integer(std::string& out, Integer value) {
  for (std::size_t i = sizeof(Integer); i-- > 0;)
    out += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
}

/// Reads a number in network order. Throws `std::runtime_error` when the value has another size, which means
/// that a statement returns another type than the code expects.
template <class Integer>
Integer read_integer(std::string_view bytes) {
  if (bytes.size() != sizeof(Integer))
    throw std::runtime_error("a column has another type than expected");
  std::uint64_t value = 0;
  for (const char byte : bytes)
    value = value << 8 | static_cast<std::uint8_t>(byte);
  return static_cast<Integer>(value);
}

/// How a C++ type travels: the type's OID (fixed since PostgreSQL has them), `write` and `read`.
template <class T>
struct Wire;

/// `boolean`: one byte.
template <>
struct Wire<bool> {
  static constexpr std::uint32_t oid = 16;
  static void write(std::string& out, bool value) { out += value ? '\1' : '\0'; }
  static bool read(std::string_view bytes) { return read_integer<std::uint8_t>(bytes) != 0; }
};

/// `bigint`.
template <>
struct Wire<std::int64_t> {
  static constexpr std::uint32_t oid = 20;
  static void write(std::string& out, std::int64_t value) { write_integer(out, value); }
  static std::int64_t read(std::string_view bytes) { return read_integer<std::int64_t>(bytes); }
};

/// `text`, for writing: the bytes as they are, which are valid UTF-8.
template <>
struct Wire<std::string_view> {
  static constexpr std::uint32_t oid = 25;
  static void write(std::string& out, std::string_view value) { out += value; }
};

/// `text`, for writing and reading.
template <>
struct Wire<std::string> : Wire<std::string_view> {
  static std::string read(std::string_view bytes) { return std::string(bytes); }
};

/// Bytes that need be no text.
struct Bytes {
  std::string_view value;
};

/// `bytea`, for writing; `std::string` reads it.
template <>
struct Wire<Bytes> {
  static constexpr std::uint32_t oid = 17;
  static void write(std::string& out, Bytes bytes) { out += bytes.value; }
};

/// `bytea` of 32 bytes.
template <>
struct Wire<Digest> {
  static constexpr std::uint32_t oid = 17;
  static void write(std::string& out, const Digest& value) {
    for (const std::uint8_t byte : value)
      out += static_cast<char>(byte);
  }
  static Digest read(std::string_view bytes) {
    Digest value{};
    if (bytes.size() != value.size())
      throw std::runtime_error("a digest in the database has a wrong length");
    for (std::size_t i = 0; i < value.size(); ++i)
      value[i] = static_cast<std::uint8_t>(bytes[i]);
    return value;
  }
};

/// `uuid`: sixteen bytes.
template <>
struct Wire<Id> {
  static constexpr std::uint32_t oid = 2950;
  static void write(std::string& out, const Id& value) {
    for (const std::uint8_t byte : value.bytes)
      out += static_cast<char>(byte);
  }
  static Id read(std::string_view bytes) {
    Id value;
    if (bytes.size() != value.bytes.size())
      throw std::runtime_error("a column has another type than expected");
    for (std::size_t i = 0; i < value.bytes.size(); ++i)
      value.bytes[i] = static_cast<std::uint8_t>(bytes[i]);
    return value;
  }
};

/// `timestamptz`: microseconds, exactly.
template <>
struct Wire<Timestamp> {
  static constexpr std::uint32_t oid = 1184;
  /// PostgreSQL counts from the year 2000.
  static constexpr Timestamp epoch{std::chrono::seconds{946684800}};
  static void write(std::string& out, Timestamp value) { write_integer<std::int64_t>(out, (value - epoch).count()); }
  static Timestamp read(std::string_view bytes) {
    return epoch + std::chrono::microseconds{read_integer<std::int64_t>(bytes)};
  }
};

/// The type behind an optional one, and whether a value is there.
template <class T>
struct Nullable {
  using type = T;
  static const T* get(const T& value) { return &value; }
};
/// The same for what may be NULL.
template <class T>
struct Nullable<std::optional<T>> {
  using type = T;
  static const T* get(const std::optional<T>& value) { return value ? &*value : nullptr; }
};

} // namespace cleat::storage::pg
