#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

/// Ed25519 signatures by OpenSSL (RFC 8032), for release manifests (spec 04 section 9).
namespace cleat {

/// The half of a key that anybody may have: it tells whether a signature was made with the other one.
class VerifyingKey {
public:
  /// Reads a PEM file's text (SubjectPublicKeyInfo). Nothing when it holds no Ed25519 public key.
  static std::optional<VerifyingKey> from_pem(std::string_view pem);

  /// Whether `signature` (64 bytes) was made over exactly these bytes with the other half of this key.
  [[nodiscard]] bool verifies(std::string_view bytes, std::string_view signature) const;

private:
  friend class SigningKey;
  struct State;
  explicit VerifyingKey(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// The half that signs.
class SigningKey {
public:
  /// A new one, from OpenSSL's random source. Throws `std::runtime_error` when OpenSSL fails, as all of this class do.
  static SigningKey generate();

  /// Reads a PEM file's text (PKCS #8, not encrypted). Nothing when it holds no Ed25519 private key.
  static std::optional<SigningKey> from_pem(std::string_view pem);

  /// As `from_pem` reads it.
  [[nodiscard]] std::string pem() const;
  /// The other half, as `VerifyingKey::from_pem` reads it.
  [[nodiscard]] std::string public_pem() const;
  /// 64 bytes.
  [[nodiscard]] std::string sign(std::string_view bytes) const;

private:
  explicit SigningKey(std::shared_ptr<const VerifyingKey::State> state) : state_(std::move(state)) {}
  std::shared_ptr<const VerifyingKey::State> state_;
};

} // namespace cleat
