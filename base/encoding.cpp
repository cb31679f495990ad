#include "base/encoding.hpp"

#include <stdexcept>

#include <openssl/crypto.h>
#include <openssl/evp.h>

namespace cleat {

namespace {

/// Looked up once: OpenSSL 3 looks an algorithm up by its name for each digest that is asked for by `EVP_sha256`, which
/// takes longer than the digest of a token. Never freed, so that it outlives every thread.
const EVP_MD* sha256_algorithm() {
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return algorithm;
}

} // namespace

Digest sha256(std::string_view data) {
  Digest digest{};
  unsigned int size = 0;
  if (EVP_Digest(data.data(), data.size(), digest.data(), &size, sha256_algorithm(), nullptr) != 1)
    throw std::runtime_error("OpenSSL refused to compute SHA-256");
  return digest;
}

bool equal_constant_time(const Digest& a, const Digest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string hex_encode(std::span<const std::uint8_t> bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::string base64url_encode(std::span<const std::uint8_t> bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3), '\0');
  const int written =
    EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(written));
  while (!text.empty() && text.back() == '=')
    text.pop_back();
  for (char& c : text) {
    if (c == '+')
      c = '-';
    else if (c == '/')
      c = '_';
  }
  return text;
}

std::string printable(std::string_view text) {
  std::string shown(text);
  for (char& c : shown)
    if (static_cast<std::uint8_t>(c) < ' ' || c == '\x7f')
      c = '?';
  return shown;
}

std::optional<std::vector<std::uint8_t>> base64url_decode(std::string_view text) {
  if (text.size() % 4 == 1)
    return std::nullopt;
  std::string padded(text);
  for (char& c : padded) {
    if (c == '-')
      c = '+';
    else if (c == '_')
      c = '/';
  }
  padded.resize((padded.size() + 3) / 4 * 4, '=');
  std::vector<std::uint8_t> bytes(padded.size() / 4 * 3);
  const int written = EVP_DecodeBlock(bytes.data(), reinterpret_cast<const unsigned char*>(padded.data()),
                                      static_cast<int>(padded.size()));
  if (written < 0)
    return std::nullopt;
  bytes.resize(text.size() * 3 / 4);
  // Only the canonical spelling counts: the unused low bits must be zero, and no foreign alphabet.
  if (base64url_encode(bytes) != text)
    return std::nullopt;
  return bytes;
}

} // namespace cleat
