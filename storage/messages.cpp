#include "storage/messages.hpp"

#include <array>

namespace cleat::storage {

std::string_view to_string(CommitOutcome outcome) {
  static constexpr std::array<std::string_view, 7> names{"committed",   "stale",   "lost_race", "key_used",
                                                         "unavailable", "unknown", "failed"};
  return names.at(static_cast<std::size_t>(outcome));
}

} // namespace cleat::storage
