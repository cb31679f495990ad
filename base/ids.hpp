#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace cleat {

/// A UUID. Everything that Cleat names has one: version 7, so that ids made later sort later (spec 05).
///
/// The text form is the canonical 36 characters in lower case; no other spelling is an id.
struct Id {
  std::array<std::uint8_t, 16> bytes{};

  auto operator<=>(const Id&) const = default;

  /// The canonical text, 36 ASCII characters.
  [[nodiscard]] std::string str() const;

  /// The same without memory of its own, for what writes many.
  [[nodiscard]] std::array<char, 36> text() const;

  /// Reads the canonical text. Anything else, upper case and braces included, is no id: spec 05 treats a
  /// malformed id in a path as an unknown one, so callers turn `nullopt` into a 404.
  [[nodiscard]] static std::optional<Id> parse(std::string_view text);
};

/// Where new ids come from. Injected, so that rules stay pure and simulations replay.
class IdSource {
public:
  virtual ~IdSource() = default;

  /// A new UUIDv7 whose time part is `now` (milliseconds).
  virtual Id next(Timestamp now) = 0;
};

/// The product's source: 74 random bits from OpenSSL's generator behind the time. Thread safe.
class RandomIdSource final : public IdSource {
public:
  Id next(Timestamp now) override;
};

} // namespace cleat

template <>
struct std::hash<cleat::Id> {
  std::size_t operator()(const cleat::Id& id) const noexcept;
};
