#include "base/ids.hpp"

#include <cstring>
#include <span>

#include "base/random.hpp"

namespace cleat {
namespace {

constexpr char hex_digits[] = "0123456789abcdef";

constexpr bool dash_at(std::size_t position) {
  return position == 8 || position == 13 || position == 18 || position == 23;
}

std::optional<std::uint8_t> nibble(char c) {
  if (c >= '0' && c <= '9')
    return static_cast<std::uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f')
    return static_cast<std::uint8_t>(c - 'a' + 10);
  return std::nullopt;
}

/// Random bytes for ids, drawn in bulk: a call of the generator costs far more than the ten bytes an id takes.
/// Secrets are never taken from here; they are drawn for themselves.
class RandomPool {
public:
  void fill(std::span<std::uint8_t> out) {
    if (bytes_.size() - used_ < out.size()) {
      fill_random(bytes_);
      used_ = 0;
    }
    std::memcpy(out.data(), bytes_.data() + used_, out.size());
    used_ += out.size();
  }

private:
  std::array<std::uint8_t, 1024> bytes_{};
  std::size_t used_ = bytes_.size();
};

} // namespace

std::string Id::str() const {
  const auto characters = text();
  return {characters.data(), characters.size()};
}

std::array<char, 36> Id::text() const {
  std::array<char, 36> text{};
  text.fill('-');
  std::size_t at = 0;
  for (const std::uint8_t byte : bytes) {
    if (dash_at(at))
      ++at;
    text[at++] = hex_digits[byte >> 4];
    text[at++] = hex_digits[byte & 15];
  }
  return text;
}

std::optional<Id> Id::parse(std::string_view text) {
  if (text.size() != 36)
    return std::nullopt;
  Id id;
  std::size_t at = 0;
  for (std::uint8_t& byte : id.bytes) {
    if (dash_at(at) && text[at++] != '-')
      return std::nullopt;
    const auto high = nibble(text[at]);
    const auto low = nibble(text[at + 1]);
    if (!high || !low)
      return std::nullopt;
    byte = static_cast<std::uint8_t>(*high << 4 | *low);
    at += 2;
  }
  return id;
}

Id RandomIdSource::next(Timestamp now) {
  thread_local RandomPool pool;
  Id id;
  pool.fill(id.bytes);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  for (std::size_t i = 0; i < 6; ++i)
    id.bytes[i] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(ms) >> (8 * (5 - i)));
  id.bytes[6] = static_cast<std::uint8_t>(0x70 | (id.bytes[6] & 0x0f)); // version 7
  id.bytes[8] = static_cast<std::uint8_t>(0x80 | (id.bytes[8] & 0x3f)); // RFC 9562 variant
  return id;
}

} // namespace cleat

std::size_t std::hash<cleat::Id>::operator()(const cleat::Id& id) const noexcept {
  // The low half of a UUIDv7 is random, so it needs no mixing.
  std::uint64_t low = 0;
  std::memcpy(&low, id.bytes.data() + 8, sizeof low);
  return static_cast<std::size_t>(low);
}
