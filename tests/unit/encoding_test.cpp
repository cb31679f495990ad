#include "base/encoding.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.hpp"

namespace cleat::unit {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::string encoded(std::string_view text) {
  return base64url_encode(Bytes(text.begin(), text.end()));
}

TEST(Encoding, Sha256KnowsItsVectors) {
  // FIPS 180-4 examples.
  EXPECT_EQ(hex_encode(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex_encode(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex_encode(sha256(std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_NE(sha256(std::string_view("a\0b", 3)), sha256("a"));
}

TEST(Encoding, HexIsLowerCase) {
  EXPECT_EQ(hex_encode(Bytes{}), "");
  EXPECT_EQ(hex_encode(Bytes{0x00, 0x0f, 0xa0, 0xff}), "000fa0ff");
}

TEST(Encoding, Base64urlKnowsItsVectors) {
  // RFC 4648 section 10, without padding.
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg");
  EXPECT_EQ(encoded("fo"), "Zm8");
  EXPECT_EQ(encoded("foo"), "Zm9v");
  EXPECT_EQ(encoded("foob"), "Zm9vYg");
  EXPECT_EQ(encoded("fooba"), "Zm9vYmE");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64url_encode(Bytes{0xfb, 0xff, 0xbf}), "-_-_");
}

RC_GTEST_PROP(Encoding, WhatIsEncodedIsDecoded, (const Bytes& bytes)) {
  const std::string text = base64url_encode(bytes);
  RC_ASSERT(text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
            std::string::npos);
  RC_ASSERT(base64url_decode(text) == bytes);
}

RC_GTEST_PROP(Encoding, OnlyCanonicalTextIsDecoded, ()) {
  const auto text =
    *rc::gen::container<std::string>(rc::gen::element('A', 'Q', 'g', 'w', 'x', '9', '-', '_', '+', '='));
  const auto bytes = base64url_decode(text);
  RC_ASSERT((!bytes || base64url_encode(*bytes) == text));
}

TEST(Encoding, OtherSpellingsAreRefused) {
  for (const std::string_view text :
       {"Z", "Zg==", "Zg=", "Zh", "Zm9", "-_+/", "Zm 9v", "Zm9v\n", " Zm9v", "Zm9v=", "====", "\xc3\xa9"})
    EXPECT_EQ(base64url_decode(text), std::nullopt) << text;
}

TEST(Encoding, PrintableTextHasNoControlCharacters) {
  EXPECT_EQ(printable(std::string_view("a\0b\x1b[2J\x7f\r\n", 10)), "a?b?[2J???");
  EXPECT_EQ(printable("caf\xc3\xa9 ~"), "caf\xc3\xa9 ~");
}

TEST(Encoding, EveryBitOfADigestCounts) {
  const Digest digest = sha256("token");
  EXPECT_TRUE(equal_constant_time(digest, sha256("token")));
  for (std::size_t bit = 0; bit < 256; ++bit) {
    Digest other = digest;
    other[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    EXPECT_FALSE(equal_constant_time(digest, other)) << bit;
  }
}

TEST(Encoding, SecretsAre256RandomBits) {
  const std::string secret = new_secret();
  EXPECT_EQ(secret.size(), 43U);
  const auto bits = base64url_decode(secret);
  ASSERT_TRUE(bits);
  EXPECT_EQ(bits->size(), 32U);
  EXPECT_NE(new_secret(), secret);
}

} // namespace
} // namespace cleat::unit
