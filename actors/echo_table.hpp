#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "protocol/session_commands.hpp"

namespace cleat::actors {

/// What the commands of a connection were about, by their request ids, so that a report with missing or altered echoes
/// is tied to the operation it was sent for. Bounded: the newest are remembered.
class EchoTable {
public:
  /// `max`: how many commands are remembered.
  explicit EchoTable(std::size_t max) : max_(max) {}

  /// Remembers a command; the same request id again is about this from now on.
  void remember(const std::string& request_id, Sent about) {
    const auto [entry, is_new] = sent_.insert_or_assign(request_id, std::move(about));
    if (!is_new)
      return;
    order_.push_back(entry->first);
    if (order_.size() <= max_)
      return;
    sent_.erase(order_.front());
    order_.pop_front();
  }

  /// What the command was about; nothing when it is not known or not any more.
  [[nodiscard]] std::optional<Sent> find(const std::string& request_id) const {
    const auto entry = sent_.find(request_id);
    return entry == sent_.end() ? std::nullopt : std::optional(entry->second);
  }

private:
  std::size_t max_;
  std::unordered_map<std::string, Sent> sent_;
  std::deque<std::string> order_;
};

} // namespace cleat::actors
