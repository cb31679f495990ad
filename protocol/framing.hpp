#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cleat::wire {

/// A frame: a 4-byte big-endian length and an envelope of that many bytes (spec 04 section 10).
std::string frame(std::string_view envelope);

/// Cuts a stream of bytes into envelopes. Holds at most one frame and what was appended last.
class Deframer {
public:
  /// `max_bytes`: the largest envelope, `runner.max_frame_bytes`.
  explicit Deframer(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Adds what was received.
  void append(std::string_view bytes);

  /// The next envelope, once it is complete.
  std::optional<std::string> next();

  /// Whether a length was announced that is over the limit or 0: the connection cannot be read any further.
  [[nodiscard]] bool broken() const { return broken_; }

private:
  std::size_t max_bytes_;
  std::string buffer_;
  std::size_t read_ = 0;
  bool broken_ = false;
};

} // namespace cleat::wire
