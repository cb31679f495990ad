#pragma once

#include <string_view>
#include <utility>

namespace cleat::http {

/// What an answer's constant header fields depend on.
struct ConstantFields {
  /// Whether the answer goes through TLS.
  bool encrypted = false;
  /// Whether the answer brings a `Content-Security-Policy` of its own.
  bool has_policy = false;

  /// The header fields that every answer has: nothing of it is stored, guessed at, embedded, framed or told to others.
  /// Ready as bytes, because an answer is made in microseconds: the name of the first field, and its value with the
  /// lines of the others behind it.
  [[nodiscard]] std::pair<std::string_view, std::string_view> bytes() const;
};

} // namespace cleat::http
