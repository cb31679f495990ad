#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "storage/messages.hpp"

namespace cleat::storage {

/// Changes to the tables that are taken back unless they are kept: the twin's transaction.
class MemoryChange {
public:
  MemoryChange() = default;
  MemoryChange(const MemoryChange&) = delete;
  MemoryChange& operator=(const MemoryChange&) = delete;
  ~MemoryChange() {
    for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo)
      (*undo)();
  }

  /// Inserts or replaces a row.
  template <class Map>
  void put(Map& map, const typename Map::key_type& key, typename Map::mapped_type value) {
    remember(map, key);
    map.insert_or_assign(key, std::move(value));
  }

  /// Inserts a row unless its key is taken; answers whether it was inserted.
  template <class Map>
  bool insert(Map& map, const typename Map::key_type& key, typename Map::mapped_type value) {
    if (map.contains(key))
      return false;
    put(map, key, std::move(value));
    return true;
  }

  template <class Map>
  void erase(Map& map, const typename Map::key_type& key) {
    remember(map, key);
    map.erase(key);
  }

  void keep() { undo_.clear(); }

private:
  template <class Map>
  static std::optional<typename Map::mapped_type> find(const Map& map, const typename Map::key_type& key) {
    const auto found = map.find(key);
    return found == map.end() ? std::nullopt : std::optional(found->second);
  }

  template <class Map>
  void remember(Map& map, const typename Map::key_type& key) {
    undo_.push_back([&map, key, before = find(map, key)] {
      if (before)
        map.insert_or_assign(key, *before);
      else
        map.erase(key);
    });
  }

  std::vector<std::function<void()>> undo_;
};

/// What speaks against a decision, found out as PostgreSQL does: statement after statement, where most only refuse and
/// a broken constraint ends the transaction on the spot.
class MemoryVerdict {
public:
  /// What is refused from here on is told by the next statement's result.
  void next_statement() { before_ = refusal_; }

  void refuse(CommitOutcome outcome) {
    if (!refusal_ || weight(*refusal_) < weight(outcome))
      refusal_ = outcome;
  }
  void refuse_unless(bool holds, CommitOutcome outcome) {
    if (!holds)
      refuse(outcome);
  }

  /// A statement that is ended by a constraint has no result. What was refused before it explains it better.
  void abort(CommitOutcome outcome) {
    refusal_ = before_ ? before_ : outcome;
    aborted_ = true;
  }

  [[nodiscard]] bool aborted() const { return aborted_; }
  [[nodiscard]] CommitOutcome outcome() const { return refusal_.value_or(CommitOutcome::committed); }

private:
  static int weight(CommitOutcome outcome) {
    if (outcome == CommitOutcome::key_used)
      return 2;
    return outcome == CommitOutcome::stale ? 1 : 0;
  }

  std::optional<CommitOutcome> refusal_;
  std::optional<CommitOutcome> before_; ///< of the statements before this one
  bool aborted_ = false;
};

} // namespace cleat::storage
