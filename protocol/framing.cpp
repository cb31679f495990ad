#include "protocol/framing.hpp"

#include <cstdint>
#include <limits>
#include <stdexcept>

namespace cleat::wire {
namespace {

constexpr std::size_t header_bytes = 4;

std::size_t length_at(std::string_view header) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < header_bytes; ++i)
    length = (length << 8) | static_cast<std::uint8_t>(header[i]);
  return length;
}

} // namespace

std::string frame(std::string_view envelope) {
  if (envelope.size() > std::numeric_limits<std::uint32_t>::max())
    throw std::length_error("an envelope of more than 4 GiB fits into no frame");
  std::string bytes;
  bytes.reserve(header_bytes + envelope.size());
  for (std::size_t i = 0; i < header_bytes; ++i)
    bytes.push_back(static_cast<char>(static_cast<std::uint8_t>(envelope.size() >> (8 * (header_bytes - 1 - i)))));
  bytes.append(envelope);
  return bytes;
}

void Deframer::append(std::string_view bytes) {
  if (broken_)
    return;
  // What has been read goes first, so that the buffer does not grow with the life of the connection.
  buffer_.erase(0, read_);
  read_ = 0;
  buffer_.append(bytes);
}

std::optional<std::string> Deframer::next() {
  const auto rest = std::string_view(buffer_).substr(read_);
  if (broken_ || rest.size() < header_bytes)
    return std::nullopt;
  const std::size_t length = length_at(rest);
  if (length == 0 || length > max_bytes_) {
    broken_ = true;
    buffer_ = {};
    read_ = 0;
    return std::nullopt;
  }
  if (rest.size() - header_bytes < length)
    return std::nullopt;
  read_ += header_bytes + length;
  return std::string(rest.substr(header_bytes, length));
}

} // namespace cleat::wire
