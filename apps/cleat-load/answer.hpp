#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace cleat::load {

/// One answer of a server. The views end with the buffer's next `drop`.
struct Answer {
  int status = 0;
  /// Followed by at least `SIMDJSON_PADDING` readable bytes, so that it is parsed where it stands.
  std::string_view body;
  /// The value of `ETag`, quotes included; empty when there is none.
  std::string_view etag;
  /// Whether the server closes the connection behind this answer.
  bool closes = false;
};

/// Cuts the bytes of a kept-alive HTTP/1.1 connection into answers. Knows what Cleat sends: every body has a
/// Content-Length.
class AnswerBuffer {
public:
  AnswerBuffer();

  /// Room for the next bytes, at least `room` of them.
  std::span<char> space(std::size_t room);

  /// `size` bytes were written to the start of what `space` gave.
  void filled(std::size_t size) { end_ += size; }

  /// The first answer that has come in whole. Throws `std::runtime_error` when the bytes are no such answer.
  std::optional<Answer> peek();

  /// Forgets the answer that `peek` gave.
  void drop();

  /// Whether nothing lies here, not even a part of an answer.
  [[nodiscard]] bool empty() const { return begin_ == end_; }

private:
  void read_head(std::string_view head);
  void read_field(std::string_view head, std::size_t from, std::size_t to);

  std::vector<char> bytes_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  /// Size of head and body of the answer at the front, once its head was read; 0 before that.
  std::size_t head_size_ = 0;
  std::size_t body_size_ = 0;
  bool has_length_ = false;
  Answer answer_;
  std::size_t etag_at_ = 0;
  std::size_t etag_size_ = 0;
};

} // namespace cleat::load
