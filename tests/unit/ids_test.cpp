#include "base/ids.hpp"

#include <unordered_set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/generators.hpp"

namespace cleat::unit {
namespace {

constexpr std::string_view example = "0190a5f0-7b3c-7def-8123-456789abcdef";

std::uint64_t milliseconds_of(const Id& id) {
  std::uint64_t ms = 0;
  for (std::size_t i = 0; i < 6; ++i)
    ms = ms << 8 | id.bytes[i];
  return ms;
}

TEST(Ids, TextIsCanonical) {
  const Id id{{0x01, 0x90, 0xa5, 0xf0, 0x7b, 0x3c, 0x7d, 0xef, 0x81, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef}};
  EXPECT_EQ(id.str(), example);
  EXPECT_EQ(Id::parse(example), id);
}

TEST(Ids, OtherSpellingsAreNoIds) {
  for (const std::string_view text : {
         "",
         "0190A5F0-7B3C-7DEF-8123-456789ABCDEF",
         "0190a5f0-7b3c-7def-8123-456789abcdeF",
         "{0190a5f0-7b3c-7def-8123-456789abcdef}",
         "0190a5f07b3c7def8123456789abcdef",
         "0190a5f0-7b3c-7def-8123-456789abcde",
         "0190a5f0-7b3c-7def-8123-456789abcdef0",
         "0190a5f0-7b3c-7def-8123-456789abcdef\n",
         " 190a5f0-7b3c-7def-8123-456789abcdef",
         "0190a5f07-b3c-7def-8123-456789abcdef",
         "0190a5f0-7b3c-7def-8123-456789abcdeg",
         "0190a5f0_7b3c-7def-8123-456789abcdef",
         "+190a5f0-7b3c-7def-8123-456789abcdef",
       })
    EXPECT_EQ(Id::parse(text), std::nullopt) << text;
}

RC_GTEST_PROP(Ids, WhatIsWrittenIsRead, ()) {
  const Id id = *any_id();
  RC_ASSERT(Id::parse(id.str()) == id);
}

RC_GTEST_PROP(Ids, NoForeignCharacterIsRead, (char foreign)) {
  std::string text = (*any_id()).str();
  const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
  const bool dash = text[at] == '-';
  const bool digit = (foreign >= '0' && foreign <= '9') || (foreign >= 'a' && foreign <= 'f');
  RC_PRE((dash ? foreign != '-' : !digit));
  text[at] = foreign;
  RC_ASSERT(Id::parse(text) == std::nullopt);
}

RC_GTEST_PROP(Ids, AreVersion7WithTheirTime, ()) {
  const std::int64_t ms = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 48);
  const Timestamp now{std::chrono::milliseconds{ms} + std::chrono::microseconds{*rc::gen::inRange(0, 1000)}};
  RandomIdSource source;
  const Id id = source.next(now);
  RC_ASSERT(milliseconds_of(id) == static_cast<std::uint64_t>(ms));
  RC_ASSERT((id.bytes[6] >> 4) == 7);
  RC_ASSERT((id.bytes[8] >> 6) == 2);
}

RC_GTEST_PROP(Ids, MadeLaterSortLater, ()) {
  const std::int64_t ms = *rc::gen::inRange<std::int64_t>(0, (std::int64_t{1} << 48) - 1);
  RandomIdSource source;
  const Id before = source.next(Timestamp{std::chrono::milliseconds{ms}});
  const Id after = source.next(Timestamp{std::chrono::milliseconds{ms + 1}});
  RC_ASSERT(before < after);
  RC_ASSERT(before.str() < after.str());
}

TEST(Ids, TheRestIsRandom) {
  RandomIdSource source;
  std::unordered_set<Id> seen;
  Id ever_set;
  Id always_set;
  always_set.bytes.fill(0xff);
  for (int i = 0; i < 500; ++i) {
    const Id id = source.next(Timestamp{});
    seen.insert(id);
    for (std::size_t byte = 0; byte < id.bytes.size(); ++byte) {
      ever_set.bytes[byte] |= id.bytes[byte];
      always_set.bytes[byte] &= id.bytes[byte];
    }
  }
  EXPECT_EQ(seen.size(), 500U);
  // Each of the 74 free bits was seen both ways; time, version and variant stand still.
  EXPECT_EQ(ever_set.str(), "00000000-0000-7fff-bfff-ffffffffffff");
  EXPECT_EQ(always_set.str(), "00000000-0000-7000-8000-000000000000");
}

} // namespace
} // namespace cleat::unit
