#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace cleat {

/// A moment in UTC with microseconds, the precision that PostgreSQL stores and the API shows.
using Timestamp = std::chrono::sys_time<std::chrono::microseconds>;

/// RFC 3339 in UTC with six fractional digits, for example `2026-01-31T12:00:00.000000Z` (spec 05). The years are 0 to
/// 9999, as of every time that was read by `parse_rfc3339` or from a clock; RFC 3339 cannot write others.
std::string format_rfc3339(Timestamp time);

/// The same without memory of its own, for what writes many.
std::array<char, 27> rfc3339_text(Timestamp time);

/// Reads RFC 3339 with `Z` or a numeric offset and up to six fractional digits; `nullopt` for anything else,
/// dates that do not exist and moments outside the years 1 to 9999 (in UTC) included.
std::optional<Timestamp> parse_rfc3339(std::string_view text);

/// Where "now" comes from. Injected everywhere, so that tests and simulations need no sleep.
class Clock {
public:
  virtual ~Clock() = default;

  /// The present moment.
  [[nodiscard]] virtual Timestamp now() const = 0;
};

/// The machine's clock.
class SystemClock final : public Clock {
public:
  [[nodiscard]] Timestamp now() const override;
};

} // namespace cleat
