#pragma once

#include <type_traits>
#include <variant>
#include <vector>

#include "protocol/decision.hpp"

/// The order in which what a decision writes around Runners is written, in PostgreSQL and in its memory twin.
///
/// Rows of their own come first, in the order of the decision. The others are written in sets, kind by kind:
/// containers; operations and bindings that end; attempts and removed containers; operations in flight, changed ones
/// and then new ones; live bindings likewise; transcripts; orphans. So what gives up a place that an index guards is
/// written before what takes it, and attempts that end suspend only what the decision has left live.
namespace cleat::storage {

/// Whether this is a row of its own, which is seldom written and needs no set.
inline bool is_written_alone(const fleet::Write& write) {
  return std::visit(
    [](const auto& item) {
      using Item = std::decay_t<decltype(item)>;
      return std::is_same_v<Item, fleet::InsertAccount> || std::is_same_v<Item, fleet::UpdateAccount> ||
             std::is_same_v<Item, fleet::PutSecret> || std::is_same_v<Item, fleet::DeleteSecret> ||
             std::is_same_v<Item, fleet::InsertRunner> || std::is_same_v<Item, fleet::UpdateRunner> ||
             std::is_same_v<Item, fleet::InsertRunnerToken> || std::is_same_v<Item, fleet::RevokeRunnerToken> ||
             std::is_same_v<Item, fleet::Enrol> || std::is_same_v<Item, fleet::InsertContainer> ||
             std::is_same_v<Item, fleet::UpdateOrphan>;
    },
    write);
}

/// The writes of one kind, in the order of the decision.
template <class Write>
std::vector<const Write*> writes_of(const Decision& decision) {
  std::vector<const Write*> found;
  for (const RowWrite& row : decision.rows)
    if (const auto* write = std::get_if<fleet::Write>(&row))
      if (const auto* item = std::get_if<Write>(write))
        found.push_back(item);
  return found;
}

} // namespace cleat::storage
