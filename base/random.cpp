#include "base/random.hpp"

#include <array>
#include <stdexcept>

#include <openssl/rand.h>

#include "base/encoding.hpp"

namespace cleat {

void fill_random(std::span<std::uint8_t> out) {
  if (RAND_bytes(out.data(), static_cast<int>(out.size())) != 1)
    throw std::runtime_error("the system's random generator failed; no id or secret can be made");
}

std::string new_secret() {
  std::array<std::uint8_t, 32> bits{};
  fill_random(bits);
  return base64url_encode(bits);
}

} // namespace cleat
