#include "base/sealing.hpp"

#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace cleat::unit {
namespace {

MasterKey key_of(std::uint8_t filling) {
  std::array<std::uint8_t, 32> bytes{};
  bytes.fill(filling);
  return MasterKey(bytes);
}

const MasterKey key = key_of(7);
constexpr std::string_view place = "account/NAME";

TEST(Sealing, OpensWhatItSealed) {
  for (const std::string& plain :
       {std::string(), std::string("s3cret"), std::string("a\0b", 3), std::string(65'536, 'x')})
    EXPECT_EQ(key.open(key.seal(plain, place), place), plain);
  EXPECT_EQ(key.open(key.seal("s3cret", ""), ""), "s3cret");
}

TEST(Sealing, ShowsNothingOfThePlainText) {
  const std::string plain(64, 'x');
  const std::string sealed = key.seal(plain, place);
  EXPECT_EQ(sealed.size(), 12 + plain.size() + 16) << "nonce, cipher text, tag";
  EXPECT_EQ(sealed.find("xxxx"), std::string::npos);
}

TEST(Sealing, DrawsANonceForEachSecret) {
  std::set<std::string> nonces;
  for (int i = 0; i < 100; ++i)
    nonces.insert(key.seal("s3cret", place).substr(0, 12));
  EXPECT_EQ(nonces.size(), 100U);
}

TEST(Sealing, OpensNowhereElse) {
  const std::string sealed = key.seal("s3cret", place);
  EXPECT_EQ(key.open(sealed, "account/OTHER"), std::nullopt);
  EXPECT_EQ(key.open(sealed, ""), std::nullopt);
  EXPECT_EQ(key.open(key.seal("s3cret", ""), place), std::nullopt);
}

TEST(Sealing, OpensWithNoOtherKey) {
  EXPECT_EQ(key_of(8).open(key.seal("s3cret", place), place), std::nullopt);
}

TEST(Sealing, FindsEveryAlteredByteAndEveryMissingOne) {
  const std::string sealed = key.seal("s3cret", place);
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string altered = sealed;
    altered[i] = static_cast<char>(altered[i] ^ 1);
    EXPECT_EQ(key.open(altered, place), std::nullopt) << i;
    EXPECT_EQ(key.open(sealed.substr(0, i), place), std::nullopt) << i;
  }
  EXPECT_EQ(key.open(sealed + "x", place), std::nullopt);
}

RC_GTEST_PROP(Sealing, OpensAnythingInItsPlace, (const std::string& plain, const std::string& where)) {
  const std::string sealed = key.seal(plain, where);
  RC_ASSERT(key.open(sealed, where) == plain);
  RC_ASSERT(key.open(sealed, where + "x") == std::nullopt);
}

TEST(Sealing, BlindDigestsTakeTheKey) {
  EXPECT_EQ(key.blind("text"), key.blind("text"));
  EXPECT_NE(key.blind("text"), key.blind("texts"));
  EXPECT_NE(key.blind("text"), key_of(8).blind("text"));
  EXPECT_NE(key.blind("text"), sha256("text"));
}

} // namespace
} // namespace cleat::unit
