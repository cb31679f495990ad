#include "protocol/release_files.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include <openssl/evp.h>

#include "base/limits.hpp"

namespace cleat::release {
namespace {

constexpr const char* running_image = "/proc/self/exe";

struct FreeDigest {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

/// A file of a few lines. One that is longer is not what it is taken for, and is not read to its end.
std::optional<std::string> read_small(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    return std::nullopt;
  std::string text(static_cast<std::size_t>(limits::manifest_max_bytes) + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return stream.bad() || text.size() > static_cast<std::size_t>(limits::manifest_max_bytes)
           ? std::nullopt
           : std::optional(std::move(text));
}

} // namespace

std::string signature_file(const std::string& manifest_file) {
  return manifest_file + ".sig";
}

std::string running_program() {
  return std::filesystem::read_symlink(running_image).string();
}

std::string default_manifest(const std::string& program) {
  return program + ".manifest.json";
}

std::string default_trust_root(const std::string& program) {
  return (std::filesystem::path(program).parent_path() / "release.pub").string();
}

Digest digest_of_file(const std::string& file) {
  constexpr std::size_t piece_bytes = 1 << 18;
  const std::unique_ptr<EVP_MD_CTX, FreeDigest> context(EVP_MD_CTX_new());
  if (!context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("OpenSSL refused to compute SHA-256");
  std::ifstream stream(file, std::ios::binary);
  std::string piece(piece_bytes, '\0');
  while (stream) {
    stream.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    EVP_DigestUpdate(context.get(), piece.data(), static_cast<std::size_t>(stream.gcount()));
  }
  if (!stream.eof())
    throw std::runtime_error(file + " cannot be read");
  Digest digest{};
  EVP_DigestFinal_ex(context.get(), digest.data(), nullptr);
  return digest;
}

Digest digest_of_running_program() {
  return digest_of_file(running_image);
}

Evidence read_evidence(const std::string& manifest_file) {
  return {read_small(manifest_file), read_small(signature_file(manifest_file)), std::nullopt};
}

std::optional<VerifyingKey> read_trust_root(const std::string& file) {
  const auto text = read_small(file);
  return text ? VerifyingKey::from_pem(*text) : std::nullopt;
}

} // namespace cleat::release
