#include "tests/support/certificates.hpp"

#include <stdexcept>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace cleat::test {
namespace {

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
  void operator()(BIO* memory) const { BIO_free(memory); }
};
using Key = std::unique_ptr<EVP_PKEY, Free>;
using Certificate = std::unique_ptr<X509, Free>;
using Memory = std::unique_ptr<BIO, Free>;

void check(bool worked, const char* what) {
  if (!worked)
    throw std::runtime_error(std::string("OpenSSL cannot ") + what);
}

Key new_key() {
  Key key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  check(key != nullptr, "make a key");
  return key;
}

void extend(X509* certificate, X509* issuer, int what, const std::string& value) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, Free> extension(X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str()));
  check(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1, "extend a certificate");
}

/// A certificate without extensions and signature, good from an hour ago for a day.
Certificate new_certificate(const std::string& name, EVP_PKEY* key) {
  static long serial = 0;
  Certificate certificate(X509_new());
  check(certificate != nullptr, "make a certificate");
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 86'400);
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  const auto* text = reinterpret_cast<const unsigned char*>(name.c_str());
  check(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, text, -1, -1, 0) == 1, "name a certificate");
  check(X509_set_pubkey(certificate.get(), key) == 1, "put a key into a certificate");
  return certificate;
}

std::string text_of(BIO* memory) {
  std::string text(BIO_ctrl_pending(memory), '\0');
  BIO_read(memory, text.data(), static_cast<int>(text.size()));
  return text;
}

std::string pem_of(X509* certificate) {
  const Memory memory(BIO_new(BIO_s_mem()));
  check(PEM_write_bio_X509(memory.get(), certificate) == 1, "write a certificate");
  return text_of(memory.get());
}

std::string pem_of(EVP_PKEY* key) {
  const Memory memory(BIO_new(BIO_s_mem()));
  check(PEM_write_bio_PrivateKey(memory.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1, "write a key");
  return text_of(memory.get());
}

} // namespace

struct Authority::State {
  Key key;
  Certificate certificate;
};

Authority::Authority(const std::string& name) : state_(std::make_unique<State>()) {
  state_->key = new_key();
  state_->certificate = new_certificate(name, state_->key.get());
  X509* own = state_->certificate.get();
  check(X509_set_issuer_name(own, X509_get_subject_name(own)) == 1, "name an authority");
  extend(own, own, NID_basic_constraints, "critical,CA:TRUE");
  check(X509_sign(own, state_->key.get(), EVP_sha256()) > 0, "sign a certificate");
}

Authority::~Authority() = default;

std::string Authority::certificate() const {
  return pem_of(state_->certificate.get());
}

Authority::Identity Authority::issue(const std::vector<std::string>& names,
                                     const std::vector<std::string>& addresses) const {
  const Key key = new_key();
  const Certificate certificate = new_certificate("server", key.get());
  X509* authority = state_->certificate.get();
  check(X509_set_issuer_name(certificate.get(), X509_get_subject_name(authority)) == 1, "name an issuer");
  std::string alternatives;
  for (const auto& name : names)
    alternatives += (alternatives.empty() ? "DNS:" : ",DNS:") + name;
  for (const auto& address : addresses)
    alternatives += (alternatives.empty() ? "IP:" : ",IP:") + address;
  extend(certificate.get(), authority, NID_subject_alt_name, alternatives);
  check(X509_sign(certificate.get(), state_->key.get(), EVP_sha256()) > 0, "sign a certificate");
  return {pem_of(certificate.get()), pem_of(key.get())};
}

} // namespace cleat::test
