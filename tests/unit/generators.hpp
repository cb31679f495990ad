#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "protocol/resources.hpp"

/// Random values for properties, each as wide as the real one may be.
namespace cleat::unit {

/// Any 16 bytes.
inline rc::Gen<Id> any_id() {
  return rc::gen::map(rc::gen::container<std::array<std::uint8_t, 16>>(rc::gen::arbitrary<std::uint8_t>()),
                      [](const std::array<std::uint8_t, 16>& bytes) { return Id{bytes}; });
}

/// Any moment that RFC 3339 can write: the years 1 to 9999.
inline rc::Gen<Timestamp> any_time() {
  constexpr std::int64_t first = -62'135'596'800'000'000;
  constexpr std::int64_t beyond = 253'402'300'800'000'000;
  return rc::gen::map(rc::gen::inRange(first, beyond),
                      [](std::int64_t micros) { return Timestamp{std::chrono::microseconds{micros}}; });
}

/// Any bytes, with those that matter to JSON and UTF-8 more often than chance would have them.
inline rc::Gen<std::string> any_bytes() {
  return rc::gen::container<std::string>(rc::gen::oneOf(
    rc::gen::arbitrary<char>(), rc::gen::element('"', '\\', '/', '\n', '\0', '\x7f', '\x80', '\xc3', '\xa9', '\xff')));
}

/// Text that a name or a reference may be: letters, quotes, backslashes, slashes, two-, three- and four-byte
/// characters.
inline rc::Gen<std::string> any_text() {
  const auto piece = rc::gen::element<std::string>("a", "Z", "9", " ", "\"", "\\", "/", "<", "\xc3\xa9", "\xe2\x82\xac",
                                                   "\xf0\x9f\x9a\xa2");
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece), [](const std::vector<std::string>& pieces) {
    std::string text = "t";
    for (const std::string& next : pieces)
      text += next;
    return text;
  });
}

/// A value or none.
template <class T>
rc::Gen<std::optional<T>> maybe(const rc::Gen<T>& gen) {
  return rc::gen::oneOf(rc::gen::just(std::optional<T>{}),
                        rc::gen::map(gen, [](const T& value) { return std::optional<T>{value}; }));
}

} // namespace cleat::unit
