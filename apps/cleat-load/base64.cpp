#include "apps/cleat-load/base64.hpp"

#include <cstddef>
#include <cstdint>

namespace cleat::load {

std::string to_base64(std::string_view bytes) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::size_t group = 3;
  constexpr unsigned int byte_bits = 8;
  constexpr unsigned int digit_bits = 6;
  constexpr std::uint32_t digit_mask = 0x3f;
  std::string text;
  text.reserve((bytes.size() + 2) / group * 4);
  for (std::size_t at = 0; at < bytes.size(); at += group) {
    std::uint32_t bits = 0;
    for (std::size_t i = at; i < at + group; ++i)
      bits = bits << byte_bits | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U);
    for (std::size_t digit = 0; digit <= group; ++digit) {
      const auto shift = static_cast<unsigned int>(group - digit) * digit_bits;
      text += at + digit > bytes.size() ? '=' : alphabet[bits >> shift & digit_mask];
    }
  }
  return text;
}

} // namespace cleat::load
