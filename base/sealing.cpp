#include "base/sealing.hpp"

#include <memory>
#include <stdexcept>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/random.hpp"

namespace cleat {
namespace {

/// 96 bits, the length that GCM is made for; drawn anew for each secret.
constexpr std::size_t nonce_size = 12;
constexpr std::size_t tag_size = 16;

using Context = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

Context new_context() {
  return {EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free};
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

} // namespace

std::string MasterKey::seal(std::string_view plain, std::string_view place) const {
  std::array<std::uint8_t, nonce_size> nonce{};
  fill_random(nonce);
  std::string cipher(plain.size(), '\0');
  std::string tag(tag_size, '\0');
  int written = 0;
  const auto context = new_context();
  const bool done =
    context && EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytes_.data(), nonce.data()) == 1 &&
    EVP_EncryptUpdate(context.get(), nullptr, &written, bytes_of(place), static_cast<int>(place.size())) == 1 &&
    EVP_EncryptUpdate(context.get(), bytes_of(cipher), &written, bytes_of(plain), static_cast<int>(plain.size())) ==
      1 &&
    EVP_EncryptFinal_ex(context.get(), bytes_of(cipher) + plain.size(), &written) == 1 &&
    EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, static_cast<int>(tag_size), tag.data()) == 1;
  if (!done)
    throw std::runtime_error("OpenSSL could not seal a secret");
  return std::string(nonce.begin(), nonce.end()) + cipher + tag;
}

std::optional<std::string> MasterKey::open(std::string_view sealed, std::string_view place) const {
  if (sealed.size() < nonce_size + tag_size)
    return std::nullopt;
  const auto nonce = sealed.substr(0, nonce_size);
  const auto cipher = sealed.substr(nonce_size, sealed.size() - nonce_size - tag_size);
  std::string tag(sealed.substr(sealed.size() - tag_size));
  std::string plain(cipher.size(), '\0');
  int written = 0;
  const auto context = new_context();
  const bool done =
    context && EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, bytes_.data(), bytes_of(nonce)) == 1 &&
    EVP_DecryptUpdate(context.get(), nullptr, &written, bytes_of(place), static_cast<int>(place.size())) == 1 &&
    EVP_DecryptUpdate(context.get(), bytes_of(plain), &written, bytes_of(cipher), static_cast<int>(cipher.size())) ==
      1 &&
    EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, static_cast<int>(tag_size), tag.data()) == 1 &&
    EVP_DecryptFinal_ex(context.get(), bytes_of(plain) + plain.size(), &written) == 1;
  // Without a right tag there is no plain text, whatever was deciphered on the way.
  return done ? std::optional(std::move(plain)) : std::nullopt;
}

Digest MasterKey::blind(std::string_view text) const {
  // The label keeps these digests apart from anything else that the key may be used for.
  const std::string labelled = "cleat.blind.v1" + std::string(1, '\0') + std::string(text);
  Digest digest{};
  unsigned int size = 0;
  const auto* const made = HMAC(EVP_sha256(), bytes_.data(), static_cast<int>(bytes_.size()), bytes_of(labelled),
                                labelled.size(), digest.data(), &size);
  if (made == nullptr || size != digest.size())
    throw std::runtime_error("OpenSSL could not make a digest with the master key");
  return digest;
}

} // namespace cleat
