#include "protocol/validate.hpp"

#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/limits.hpp"
#include "tests/unit/generators.hpp"

namespace cleat::unit {
namespace {

constexpr std::size_t ref_max = limits::session_ref_max_bytes;

std::optional<FieldCode> reference(std::string_view text) {
  return validate::external_session_ref(text, ref_max);
}

/// UTF-8 of any number up to 21 bits, surrogates included.
std::string utf8(char32_t point) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | (point >> shift & 0x3f)); };
  if (point < 0x80)
    return {static_cast<char>(point)};
  if (point < 0x800)
    return {static_cast<char>(0xc0 | point >> 6), tail(0)};
  if (point < 0x10000)
    return {static_cast<char>(0xe0 | point >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | point >> 18), tail(12), tail(6), tail(0)};
}

bool is_surrogate(char32_t point) {
  return point >= 0xd800 && point <= 0xdfff;
}

/// Table 3-7 of the Unicode standard, "well-formed UTF-8 byte sequences", read slowly: how long the one at the start
/// of `text` is, 0 when there is none.
std::size_t well_formed(std::string_view text) {
  struct Form {
    int lead_first, lead_last, second_first, second_last;
    std::size_t length;
  };
  constexpr Form table[] = {{0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                            {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
                            {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
  const auto within = [&](std::size_t at, int first, int last) {
    const int byte = at < text.size() ? static_cast<unsigned char>(text[at]) : -1;
    return byte >= first && byte <= last;
  };
  for (const Form& form : table) {
    bool fits = within(0, form.lead_first, form.lead_last);
    if (form.length > 1)
      fits = fits && within(1, form.second_first, form.second_last);
    for (std::size_t at = 2; at < form.length; ++at)
      fits = fits && within(at, 0x80, 0xbf);
    if (fits)
      return form.length;
  }
  return 0;
}

bool slowly_valid(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = well_formed(text);
    if (length == 0)
      return false;
    text.remove_prefix(length);
  }
  return true;
}

TEST(Validate, Utf8AgreesWithTheStandardOnAllShortTexts) {
  std::string text(3, '\0');
  for (int a = 0; a < 256; ++a) {
    text[0] = static_cast<char>(a);
    ASSERT_EQ(validate::valid_utf8(text.substr(0, 1)), slowly_valid(text.substr(0, 1))) << a;
    for (int b = 0; b < 256; ++b) {
      text[1] = static_cast<char>(b);
      ASSERT_EQ(validate::valid_utf8(text.substr(0, 2)), slowly_valid(text.substr(0, 2))) << a << ' ' << b;
      for (const int c : {0x00, 0x7f, 0x80, 0x9f, 0xa0, 0xbf, 0xc0, 0xff}) {
        text[2] = static_cast<char>(c);
        ASSERT_EQ(validate::valid_utf8(text), slowly_valid(text)) << a << ' ' << b << ' ' << c;
      }
    }
  }
}

RC_GTEST_PROP(Validate, Utf8AgreesWithTheStandard, ()) {
  const auto byte = rc::gen::oneOf(rc::gen::arbitrary<char>(),
                                   rc::gen::element('\x80', '\x8f', '\x90', '\x9f', '\xa0', '\xbf', '\xc1', '\xc2',
                                                    '\xe0', '\xed', '\xf0', '\xf1', '\xf4', '\xf5'));
  const auto text = *rc::gen::container<std::string>(byte);
  RC_ASSERT(validate::valid_utf8(text) == slowly_valid(text));
}

TEST(Validate, EveryCharacterIsJudged) {
  // What Unicode calls control (Cc) and the two separators that break lines; what it calls Bidi_Control.
  const auto is_control = [](char32_t c) {
    return c <= 0x1f || (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029;
  };
  const std::u32string bidi = U"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069";
  for (char32_t point = 0; point <= 0x110000; ++point) {
    std::optional<FieldCode> expected;
    if (is_surrogate(point) || point > 0x10ffff)
      expected = FieldCode::invalid_utf8;
    else if (is_control(point))
      expected = FieldCode::control_character;
    else if (bidi.find(point) != std::u32string::npos)
      expected = FieldCode::bidi_control;
    ASSERT_EQ(validate::display_text("a" + utf8(point) + "b"), expected) << static_cast<unsigned>(point);
  }
}

TEST(Validate, TestValidateExternalSessionRef) {
  EXPECT_EQ(reference(""), FieldCode::required);
  for (const char* blank : {" ", "   ", "\t", "\n", "\xc2\xa0", "\xe2\x80\x83", "\xe3\x80\x80 ", "\xe2\x80\xa8"})
    EXPECT_EQ(reference(blank), FieldCode::required) << blank;
  EXPECT_EQ(reference("\xff"), FieldCode::invalid_utf8);
  EXPECT_EQ(reference("a\xc3"), FieldCode::invalid_utf8);
  EXPECT_EQ(reference(utf8(0xd800)), FieldCode::invalid_utf8);
  EXPECT_EQ(reference("a\nb"), FieldCode::control_character);
  EXPECT_EQ(reference(std::string_view("a\0b", 3)), FieldCode::control_character);
  EXPECT_EQ(reference("a" + utf8(0x202e) + "b"), FieldCode::bidi_control);
  EXPECT_EQ(reference(std::string(ref_max, 'x')), std::nullopt);
  EXPECT_EQ(reference(std::string(ref_max + 1, 'x')), FieldCode::too_long);
  // Bytes count, not characters.
  EXPECT_EQ(reference(std::string(ref_max - 2, 'x') + "\xc3\xa9"), std::nullopt);
  EXPECT_EQ(reference(std::string(ref_max - 1, 'x') + "\xc3\xa9"), FieldCode::too_long);
  EXPECT_EQ(validate::external_session_ref("abc", 2), FieldCode::too_long);
  for (const char* good :
       {"sess-1", " padded ", "\xc3\xa9t\xc3\xa9", "\xf0\x9f\x9a\xa2", "a b/c?d=e&f", "\"quoted\\\""})
    EXPECT_EQ(reference(good), std::nullopt) << good;
}

TEST(Validate, TestValidateModel) {
  for (const char* good : {"a", "Z", "7", "gpt-4.1", "vendor/model:tag@2026", "opus[1m]", "a._:/@-[]"})
    EXPECT_EQ(validate::model(good), std::nullopt) << good;
  for (const char* bad : {"",   ".a",  "-a",  "_a",  "[a]", "/a",       "@a",        ":a",   "a b",  " a",
                          "a ", "a\n", "a,b", "a+b", "a~b", "\xc3\xa9", "a\xc3\xa9", "a\\b", "a{b}", "a`b"})
    EXPECT_EQ(validate::model(bad), FieldCode::invalid_format) << bad;
  EXPECT_EQ(validate::model(std::string(128, 'm')), std::nullopt);
  EXPECT_EQ(validate::model(std::string(129, 'm')), FieldCode::invalid_format);
}

TEST(Validate, ModelTakesTheseCharactersAndNoOthers) {
  const std::string letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  for (int c = 0; c < 256; ++c) {
    const char byte = static_cast<char>(c);
    const bool first = letters.find(byte) != std::string::npos;
    const bool later = first || std::string("._:/@-[]").find(byte) != std::string::npos;
    EXPECT_EQ(!validate::model(std::string(1, byte)), first) << c;
    EXPECT_EQ(!validate::model(std::string("m") + byte), later) << c;
  }
}

TEST(Validate, Names) {
  EXPECT_EQ(validate::name(""), FieldCode::required);
  EXPECT_EQ(validate::name(" \t\xc2\xa0"), FieldCode::required);
  EXPECT_EQ(validate::name("a\tb"), FieldCode::control_character);
  EXPECT_EQ(validate::name("a" + utf8(0x2067)), FieldCode::bidi_control);
  EXPECT_EQ(validate::name("\xed\xa0\x80"), FieldCode::invalid_utf8);
  EXPECT_EQ(validate::name("Support \xf0\x9f\x9a\xa2"), std::nullopt);
  // Characters count, not bytes.
  std::string longest;
  for (std::int64_t i = 0; i < limits::name_max_characters; ++i)
    longest += "\xe2\x82\xac";
  EXPECT_EQ(validate::name(longest), std::nullopt);
  EXPECT_EQ(validate::name(longest + "x"), FieldCode::too_long);
}

TEST(Validate, Currencies) {
  for (const char* good : {"EUR", "USD", "ZAR", "AZA"})
    EXPECT_EQ(validate::currency(good), std::nullopt) << good;
  for (const char* bad : {"", "EU", "EURO", "eur", "Eur", "E1R", "E R", "E@R", "E[R", "\xc3\x84U"})
    EXPECT_EQ(validate::currency(bad), FieldCode::invalid_format) << bad;
}

} // namespace
} // namespace cleat::unit
