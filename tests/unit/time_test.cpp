#include "base/time.hpp"

#include <array>
#include <cstdio>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/generators.hpp"

namespace cleat::unit {
namespace {

Timestamp micros(std::int64_t count) {
  return Timestamp{std::chrono::microseconds{count}};
}

TEST(Time, IsWrittenInUtcWithSixDigits) {
  EXPECT_EQ(format_rfc3339(micros(0)), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(format_rfc3339(micros(-1)), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(format_rfc3339(micros(1'769'860'800'000'001)), "2026-01-31T12:00:00.000001Z");
  EXPECT_EQ(format_rfc3339(micros(1'709'209'845'678'900)), "2024-02-29T12:30:45.678900Z");
}

RC_GTEST_PROP(Time, WhatIsWrittenIsRead, ()) {
  const Timestamp time = *any_time();
  const std::string text = format_rfc3339(time);
  RC_ASSERT(text.size() == 27U);
  RC_ASSERT(parse_rfc3339(text) == time);
}

RC_GTEST_PROP(Time, OrderOfTextIsOrderOfTime, ()) {
  const Timestamp a = *any_time();
  const Timestamp b = *any_time();
  RC_ASSERT((a < b) == (format_rfc3339(a) < format_rfc3339(b)));
}

RC_GTEST_PROP(Time, OffsetsAreTakenOff, ()) {
  const Timestamp local = *any_time();
  const int hours = *rc::gen::inRange(0, 24);
  const int minutes = *rc::gen::inRange(0, 60);
  const bool east = *rc::gen::arbitrary<bool>();
  std::array<char, 8> offset{};
  std::snprintf(offset.data(), offset.size(), "%c%02d:%02d", east ? '+' : '-', hours, minutes);
  std::string text = format_rfc3339(local);
  text.replace(text.size() - 1, 1, offset.data());
  const auto parsed = parse_rfc3339(text);
  const auto distance = std::chrono::hours{hours} + std::chrono::minutes{minutes};
  const Timestamp utc = east ? local - distance : local + distance;
  const bool writable =
    utc >= *parse_rfc3339("0001-01-01T00:00:00Z") && utc <= *parse_rfc3339("9999-12-31T23:59:59.999999Z");
  RC_ASSERT(parsed == (writable ? std::optional(utc) : std::nullopt));
}

TEST(Time, FractionsHaveOneToSixDigits) {
  EXPECT_EQ(parse_rfc3339("1970-01-01T00:00:01Z"), micros(1'000'000));
  EXPECT_EQ(parse_rfc3339("1970-01-01T00:00:01.5Z"), micros(1'500'000));
  EXPECT_EQ(parse_rfc3339("1970-01-01T00:00:01.050Z"), micros(1'050'000));
  EXPECT_EQ(parse_rfc3339("1970-01-01T00:00:01.000001Z"), micros(1'000'001));
  EXPECT_EQ(parse_rfc3339("1970-01-01T00:00:01.Z"), std::nullopt);
  EXPECT_EQ(parse_rfc3339("1970-01-01T00:00:01.0000001Z"), std::nullopt);
  EXPECT_EQ(parse_rfc3339("1970-01-01T00:00:01.00000000000000000000001Z"), std::nullopt);
  EXPECT_EQ(parse_rfc3339("1970-01-01T00:00:01,5Z"), std::nullopt);
}

TEST(Time, DatesMustExist) {
  EXPECT_TRUE(parse_rfc3339("2024-02-29T00:00:00Z"));
  EXPECT_TRUE(parse_rfc3339("2000-02-29T00:00:00Z"));
  for (const std::string_view text :
       {"2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-13-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-32T00:00:00Z", "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z", "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+00:60"})
    EXPECT_EQ(parse_rfc3339(text), std::nullopt) << text;
}

TEST(Time, YearsHaveFourDigitsInUtc) {
  EXPECT_TRUE(parse_rfc3339("0001-01-01T00:00:00Z"));
  EXPECT_TRUE(parse_rfc3339("9999-12-31T23:59:59.999999Z"));
  EXPECT_EQ(parse_rfc3339("0000-12-31T23:59:59.999999Z"), std::nullopt);
  EXPECT_EQ(parse_rfc3339("0001-01-01T00:00:00+00:01"), std::nullopt);
  EXPECT_EQ(parse_rfc3339("9999-12-31T23:59:59-00:01"), std::nullopt);
}

TEST(Time, OtherFormsAreNoTimes) {
  for (const std::string_view text :
       {"", "2026", "2026-01-31", "2026-01-31T12:00:00", "2026-01-31 12:00:00Z", "2026-01-31t12:00:00Z",
        "2026-01-31T12:00:00z", "2026-1-31T12:00:00Z", "2026-01-31T12:00Z", "2026-01-31T12:00:00Z ",
        " 2026-01-31T12:00:00Z", "2026-01-31T12:00:00+0100", "2026-01-31T12:00:00+01", "+2026-01-31T12:00:00Z",
        "2026/01/31T12:00:00Z", "2026-01-31T12-00-00Z", "2026-01-31T12:00:00Zx", "2026-01-31T12:00:00ZZ"})
    EXPECT_EQ(parse_rfc3339(text), std::nullopt) << text;
}

TEST(Time, SystemClockIsTheMachines) {
  const SystemClock clock;
  const auto before = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  const Timestamp now = clock.now();
  EXPECT_LE(before, now);
  EXPECT_LE(now, std::chrono::system_clock::now());
}

} // namespace
} // namespace cleat::unit
