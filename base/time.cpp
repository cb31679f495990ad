#include "base/time.hpp"

#include <algorithm>
#include <array>
#include <concepts>

namespace cleat {
namespace {

// Four digits of a year are all that RFC 3339 has, and an offset must not lead out of them: what is read can be
// written again. There is no year 0.
constexpr Timestamp earliest = std::chrono::sys_days{std::chrono::year{1} / std::chrono::January / 1};
constexpr Timestamp beyond = std::chrono::sys_days{std::chrono::year{10000} / std::chrono::January / 1};

/// Reads exactly `count` decimal digits at `at` and moves `at` behind them.
std::optional<int> digits(std::string_view text, std::size_t& at, std::size_t count) {
  if (at + count > text.size())
    return std::nullopt;
  int value = 0;
  const char* const first = text.data() + at;
  for (std::size_t i = 0; i < count; ++i) {
    if (first[i] < '0' || first[i] > '9')
      return std::nullopt;
    value = value * 10 + (first[i] - '0');
  }
  at += count;
  return value;
}

bool skip(std::string_view text, std::size_t& at, char expected) {
  if (at >= text.size() || text[at] != expected)
    return false;
  ++at;
  return true;
}

std::optional<std::chrono::microseconds> fraction(std::string_view text, std::size_t& at) {
  if (!skip(text, at, '.'))
    return std::chrono::microseconds{0};
  long value = 0;
  int count = 0;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9' && count < 7) {
    value = value * 10 + (text[at++] - '0');
    ++count;
  }
  if (count == 0 || count > 6)
    return std::nullopt;
  for (; count < 6; ++count)
    value *= 10;
  return std::chrono::microseconds{value};
}

std::optional<std::chrono::minutes> offset(std::string_view text, std::size_t& at) {
  if (skip(text, at, 'Z'))
    return std::chrono::minutes{0};
  const bool east = skip(text, at, '+');
  if (!east && !skip(text, at, '-'))
    return std::nullopt;
  const auto hours = digits(text, at, 2);
  if (!hours || *hours > 23 || !skip(text, at, ':'))
    return std::nullopt;
  const auto minutes = digits(text, at, 2);
  if (!minutes || *minutes > 59)
    return std::nullopt;
  const std::chrono::minutes total{*hours * 60 + *minutes};
  return east ? total : -total;
}

std::optional<std::chrono::sys_days> date(std::string_view text, std::size_t& at) {
  const auto year = digits(text, at, 4);
  if (!year || !skip(text, at, '-'))
    return std::nullopt;
  const auto month = digits(text, at, 2);
  if (!month || !skip(text, at, '-'))
    return std::nullopt;
  const auto day = digits(text, at, 2);
  if (!day)
    return std::nullopt;
  const std::chrono::year_month_day value{std::chrono::year{*year}, std::chrono::month(static_cast<unsigned>(*month)),
                                          std::chrono::day(static_cast<unsigned>(*day))};
  if (!value.ok())
    return std::nullopt;
  return std::chrono::sys_days{value};
}

std::optional<std::chrono::seconds> time_of_day(std::string_view text, std::size_t& at) {
  const auto hour = digits(text, at, 2);
  if (!hour || *hour > 23 || !skip(text, at, ':'))
    return std::nullopt;
  const auto minute = digits(text, at, 2);
  if (!minute || *minute > 59 || !skip(text, at, ':'))
    return std::nullopt;
  const auto second = digits(text, at, 2);
  if (!second || *second > 59)
    return std::nullopt;
  return std::chrono::seconds{*hour * 3600 + *minute * 60 + *second};
}

/// Writes the digits of `number` over zeros, the last one in front of `end`. A list of sessions has a hundred times,
/// and `snprintf` took a quarter of what it costs to write it.
template <std::size_t Size, std::integral Number>
void put_digits(std::array<char, Size>& text, std::size_t end, Number number) {
  for (; number > 0; number /= 10)
    text[--end] = static_cast<char>('0' + number % 10);
}

} // namespace

std::string format_rfc3339(Timestamp time) {
  const auto text = rfc3339_text(time);
  return {text.data(), text.size()};
}

std::array<char, 27> rfc3339_text(Timestamp time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  constexpr std::string_view form = "0000-00-00T00:00:00.000000Z";
  std::array<char, form.size()> text{};
  std::ranges::copy(form, text.begin());
  put_digits(text, 4, static_cast<int>(date.year()));
  put_digits(text, 7, static_cast<unsigned>(date.month()));
  put_digits(text, 10, static_cast<unsigned>(date.day()));
  put_digits(text, 13, clock.hours().count());
  put_digits(text, 16, clock.minutes().count());
  put_digits(text, 19, clock.seconds().count());
  put_digits(text, 26, clock.subseconds().count());
  return text;
}

std::optional<Timestamp> parse_rfc3339(std::string_view text) {
  std::size_t at = 0;
  const auto day = date(text, at);
  if (!day || !skip(text, at, 'T'))
    return std::nullopt;
  const auto clock = time_of_day(text, at);
  if (!clock)
    return std::nullopt;
  const auto part = fraction(text, at);
  if (!part)
    return std::nullopt;
  const auto east = offset(text, at);
  if (!east || at != text.size())
    return std::nullopt;
  const Timestamp time = Timestamp{*day} + *clock + *part - *east;
  return time < earliest || time >= beyond ? std::nullopt : std::optional(time);
}

Timestamp SystemClock::now() const {
  return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
}

} // namespace cleat
