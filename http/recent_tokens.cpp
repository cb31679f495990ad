#include "http/recent_tokens.hpp"

#include <utility>

namespace cleat::http {

void RecentTokens::add(const Digest& digest) {
  if (young_.contains(digest))
    return;
  if (young_.size() >= half_)
    old_ = std::exchange(young_, {});
  old_.erase(digest);
  young_.insert(digest);
}

void RecentTokens::remove(const Digest& digest) {
  young_.erase(digest);
  old_.erase(digest);
}

} // namespace cleat::http
