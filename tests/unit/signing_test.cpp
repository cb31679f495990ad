#include "base/signing.hpp"

#include <gtest/gtest.h>

namespace cleat::unit {
namespace {

// RFC 8032 section 7.1, TEST 2; PEM by base64 of the DER prefix and the key's 32 bytes, signature checked with openssl.
constexpr std::string_view known_key = "-----BEGIN PRIVATE KEY-----\n"
                                       "MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7\n"
                                       "-----END PRIVATE KEY-----\n";
constexpr std::string_view known_public_key = "-----BEGIN PUBLIC KEY-----\n"
                                              "MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=\n"
                                              "-----END PUBLIC KEY-----\n";
constexpr unsigned char known_signature[] = {
  0x92, 0xa0, 0x09, 0xa9, 0xf0, 0xd4, 0xca, 0xb8, 0x72, 0x0e, 0x82, 0x0b, 0x5f, 0x64, 0x25, 0x40,
  0xa2, 0xb2, 0x7b, 0x54, 0x16, 0x50, 0x3f, 0x8f, 0xb3, 0x76, 0x22, 0x23, 0xeb, 0xdb, 0x69, 0xda,
  0x08, 0x5a, 0xc1, 0xe4, 0x3e, 0x15, 0x99, 0x6e, 0x45, 0x8f, 0x36, 0x13, 0xd0, 0xf1, 0x1d, 0x8c,
  0x38, 0x7b, 0x2e, 0xae, 0xb4, 0x30, 0x2a, 0xee, 0xb0, 0x0d, 0x29, 0x16, 0x12, 0xbb, 0x0c, 0x00};

TEST(Signing, KnownVector) {
  const auto key = SigningKey::from_pem(known_key);
  ASSERT_TRUE(key);
  EXPECT_EQ(key->public_pem(), known_public_key);
  const std::string signature(reinterpret_cast<const char*>(known_signature), sizeof known_signature);
  EXPECT_EQ(key->sign("\x72"), signature);
  const auto root = VerifyingKey::from_pem(known_public_key);
  ASSERT_TRUE(root);
  EXPECT_TRUE(root->verifies("\x72", signature));
}

TEST(Signing, VerifiesExactlyTheseBytesAndThisKeyAlone) {
  const auto key = SigningKey::generate();
  const auto root = *VerifyingKey::from_pem(key.public_pem());
  const std::string text = "a manifest\n";
  const std::string signature = key.sign(text);
  EXPECT_TRUE(root.verifies(text, signature));
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string altered = text;
    altered[i] = static_cast<char>(altered[i] ^ 1);
    EXPECT_FALSE(root.verifies(altered, signature)) << i;
  }
  for (std::size_t i = 0; i < signature.size(); ++i) {
    std::string altered = signature;
    altered[i] = static_cast<char>(altered[i] ^ 1);
    EXPECT_FALSE(root.verifies(text, altered)) << i;
    EXPECT_FALSE(root.verifies(text, signature.substr(0, i))) << i;
  }
  EXPECT_FALSE(root.verifies(text, signature + '\0'));
  EXPECT_FALSE(root.verifies(text + '\n', signature));
  EXPECT_FALSE(VerifyingKey::from_pem(SigningKey::generate().public_pem())->verifies(text, signature));
}

TEST(Signing, KeysGoThroughTheirFiles) {
  const auto key = SigningKey::generate();
  const auto again = SigningKey::from_pem(key.pem());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->sign("text"), key.sign("text")) << "Ed25519 signs without chance";
  EXPECT_EQ(again->public_pem(), key.public_pem());
}

TEST(Signing, WhatIsNoEd25519KeyIsNone) {
  const auto key = SigningKey::generate();
  EXPECT_FALSE(VerifyingKey::from_pem(key.pem())) << "a private key is no trust root";
  EXPECT_FALSE(SigningKey::from_pem(key.public_pem()));
  for (const std::string_view text : {"", "text", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"}) {
    EXPECT_FALSE(VerifyingKey::from_pem(text)) << text;
    EXPECT_FALSE(SigningKey::from_pem(text)) << text;
  }
  // A P-256 key, from openssl ecparam.
  EXPECT_FALSE(VerifyingKey::from_pem("-----BEGIN PUBLIC KEY-----\n"
                                      "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEag27J4K+m8sDpNEaYOtKmu26Q4PD\n"
                                      "fyYi1ah71hjCoFADRoDEB7MT7AFW1i10oXnH3JKeNhOIi1wM9ehAStR22A==\n"
                                      "-----END PUBLIC KEY-----\n"));
}

} // namespace
} // namespace cleat::unit
