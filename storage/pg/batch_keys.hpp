#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "protocol/fleet_decision.hpp"

/// What decisions have in common, as hashes (see `BatchChooser`).
namespace cleat::storage::pg {

/// What a key is about, so that a thread's sessions and its row in `threads` are different things.
enum class Subject : std::uint64_t {
  sessions_of_thread = 1, ///< its runs and messages as well
  reference,
  idempotency_key,
  space_facts,
  space,
  channel,
  thread,
  principal,
  token,
  grant,
  account,
  secret,
  runner,
  runner_token,
  container, ///< its attempts as well
  operation,
  session, ///< its binding and its transcript
  orphan,
};

/// Mixes one more value into a hash.
inline std::uint64_t mix(std::uint64_t seed, std::uint64_t value) {
  return (seed ^ value) * 0x9e3779b97f4a7c15U + (seed >> 29);
}

/// The key of what has an id, and of a part of it.
inline std::uint64_t key(Subject subject, const Id& id, std::uint64_t more = 0) {
  return mix(mix(static_cast<std::uint64_t>(subject), std::hash<Id>()(id)), more);
}

/// The key of what has an id and a name.
inline std::uint64_t key(Subject subject, const Id& id, std::string_view text) {
  return key(subject, id, std::hash<std::string_view>()(text));
}

/// The key of what is known by its name alone.
inline std::uint64_t key(Subject subject, std::string_view text) {
  return mix(static_cast<std::uint64_t>(subject), std::hash<std::string_view>()(text));
}

/// Adds the keys of what a write around Runners changes and of what it relies on.
void add_fleet_keys(const fleet::Write& write, std::vector<std::uint64_t>& writes, std::vector<std::uint64_t>& reads);

} // namespace cleat::storage::pg
