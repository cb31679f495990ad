#include "base/signing.hpp"

#include <cstddef>
#include <limits>
#include <stdexcept>
#include <utility>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

namespace cleat {
namespace {

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct FreeDigest {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using KeyPointer = std::unique_ptr<EVP_PKEY, FreeKey>;
using BioPointer = std::unique_ptr<BIO, FreeBio>;
using DigestPointer = std::unique_ptr<EVP_MD_CTX, FreeDigest>;

BioPointer reading(std::string_view text) {
  if (text.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    return nullptr;
  return BioPointer(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string text_of(BIO* bio) {
  std::string text(BIO_ctrl_pending(bio), '\0');
  if (BIO_read(bio, text.data(), static_cast<int>(text.size())) != static_cast<int>(text.size()))
    throw std::runtime_error("OpenSSL did not give a key back");
  return text;
}

/// Never asks at the terminal: a key with a passphrase is no key of ours.
int no_passphrase(char*, int, int, void*) {
  return -1;
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

KeyPointer if_ed25519(KeyPointer key) {
  return key && EVP_PKEY_get_base_id(key.get()) == EVP_PKEY_ED25519 ? std::move(key) : nullptr;
}

} // namespace

struct VerifyingKey::State {
  KeyPointer key;
};

std::optional<VerifyingKey> VerifyingKey::from_pem(std::string_view pem) {
  const auto bio = reading(pem);
  auto key = if_ed25519(KeyPointer(bio ? PEM_read_bio_PUBKEY(bio.get(), nullptr, no_passphrase, nullptr) : nullptr));
  if (!key)
    return std::nullopt;
  return VerifyingKey(std::make_shared<const State>(State{std::move(key)}));
}

bool VerifyingKey::verifies(std::string_view bytes, std::string_view signature) const {
  const DigestPointer context(EVP_MD_CTX_new());
  return context && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, state_->key.get()) == 1 &&
         EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(bytes), bytes.size()) == 1;
}

SigningKey SigningKey::generate() {
  KeyPointer key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  if (!key)
    throw std::runtime_error("OpenSSL made no Ed25519 key");
  return SigningKey(std::make_shared<const VerifyingKey::State>(VerifyingKey::State{std::move(key)}));
}

std::optional<SigningKey> SigningKey::from_pem(std::string_view pem) {
  const auto bio = reading(pem);
  auto key =
    if_ed25519(KeyPointer(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr) : nullptr));
  if (!key)
    return std::nullopt;
  return SigningKey(std::make_shared<const VerifyingKey::State>(VerifyingKey::State{std::move(key)}));
}

std::string SigningKey::pem() const {
  const BioPointer bio(BIO_new(BIO_s_mem()));
  if (!bio || PEM_write_bio_PKCS8PrivateKey(bio.get(), state_->key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1)
    throw std::runtime_error("OpenSSL wrote no private key");
  return text_of(bio.get());
}

std::string SigningKey::public_pem() const {
  const BioPointer bio(BIO_new(BIO_s_mem()));
  if (!bio || PEM_write_bio_PUBKEY(bio.get(), state_->key.get()) != 1)
    throw std::runtime_error("OpenSSL wrote no public key");
  return text_of(bio.get());
}

std::string SigningKey::sign(std::string_view bytes) const {
  constexpr std::size_t signature_bytes = 64;
  std::string signature(signature_bytes, '\0');
  std::size_t size = signature.size();
  const DigestPointer context(EVP_MD_CTX_new());
  const bool made = context && EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, state_->key.get()) == 1 &&
                    EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                                   bytes_of(bytes), bytes.size()) == 1;
  if (!made || size != signature.size())
    throw std::runtime_error("OpenSSL made no signature");
  return signature;
}

} // namespace cleat
