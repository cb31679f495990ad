#pragma once

#include <cstddef>
#include <set>

#include "base/encoding.hpp"

namespace cleat::http {

/// The digests of tokens that were valid when they were last looked up, the latest of them at least half of
/// `max_tokens`. Says nothing about whether a token is valid now, only that it is worth a look. Not thread safe.
class RecentTokens {
public:
  explicit RecentTokens(std::size_t max_tokens) : half_((max_tokens + 1) / 2) {}

  [[nodiscard]] bool contains(const Digest& digest) const { return young_.contains(digest) || old_.contains(digest); }

  /// A token was found valid. When the young half is full it becomes the old one, and the old one is forgotten.
  void add(const Digest& digest);

  /// A token was found invalid.
  void remove(const Digest& digest);

  /// How many are remembered.
  [[nodiscard]] std::size_t size() const { return young_.size() + old_.size(); }

private:
  const std::size_t half_;
  std::set<Digest> young_;
  std::set<Digest> old_;
};

} // namespace cleat::http
