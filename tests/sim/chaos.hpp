#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include <caf/actor_system.hpp>

#include "storage/interface.hpp"
#include "storage/memory_tables.hpp"

/// A database that answers late, in any order, with errors, or never; and that knows what it has really done.
namespace cleat::sim {

/// What may go wrong with a request, out of a thousand each.
struct Troubles {
  unsigned unavailable = 40;
  unsigned unknown_and_done = 30;
  unsigned unknown_and_undone = 30;
  unsigned stale = 40;
  unsigned lost_race = 20;
  /// Done or not, and nobody is ever told.
  unsigned silent = 15;
};

class Chaos {
public:
  Chaos(std::shared_ptr<storage::MemoryTables> tables, std::uint64_t seed, const Troubles& troubles)
    : tables_(std::move(tables)), random_(seed), troubles_(troubles) {}

  /// A store of this database; one for each server.
  static storage::Store open(caf::actor_system& system, const std::shared_ptr<Chaos>& chaos);

  /// Does one of the things that are under way: works on a request, or delivers an answer. False when there is none.
  bool step();

  /// From now on nothing goes wrong.
  void calm() { troubles_ = {0, 0, 0, 0, 0, 0}; }

  /// Everything that was committed, in its order.
  [[nodiscard]] const std::vector<std::shared_ptr<const Decision>>& committed() const { return committed_; }

  [[nodiscard]] storage::MemoryTables& tables() { return *tables_; }

  // For the actor behind the store.
  using Deliver = std::function<void()>;
  /// Puts a request on its way. `work` does it and answers how the answer is delivered; nothing when it never is.
  void add(std::function<Deliver()> work) { works_.push_back(std::move(work)); }
  /// Whether this of a thousand is drawn.
  bool happens(unsigned permille);
  storage::CommitOutcome commit(const std::shared_ptr<const Decision>& decision);
  [[nodiscard]] const Troubles& troubles() const { return troubles_; }

private:
  storage::CommitOutcome commit_truly(const std::shared_ptr<const Decision>& decision);

  std::shared_ptr<storage::MemoryTables> tables_;
  std::mt19937_64 random_;
  Troubles troubles_;
  std::vector<std::function<Deliver()>> works_;
  std::vector<Deliver> deliveries_;
  std::vector<std::shared_ptr<const Decision>> committed_;
};

} // namespace cleat::sim
