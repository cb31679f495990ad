#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/encoding.hpp"

namespace cleat {

/// Seals small secrets with AES-256-GCM (spec 04 section 2). What is sealed for one place does not open in another:
/// the place is authenticated with it.
class MasterKey {
public:
  /// 256 bits.
  explicit MasterKey(const std::array<std::uint8_t, 32>& bytes) : bytes_(bytes) {}

  /// Nonce, cipher text and tag. `place` says where the secret is kept, for example account and name. Throws
  /// `std::runtime_error` when OpenSSL fails, which leaves nothing that could be stored instead.
  [[nodiscard]] std::string seal(std::string_view plain, std::string_view place) const;

  /// The plain text; nothing when it was sealed with another key or for another place, or was altered.
  [[nodiscard]] std::optional<std::string> open(std::string_view sealed, std::string_view place) const;

  /// A digest of `text` that nobody without the key can make (HMAC-SHA256), so that it does not help to guess `text`.
  [[nodiscard]] Digest blind(std::string_view text) const;

private:
  std::array<std::uint8_t, 32> bytes_;
};

} // namespace cleat
