#include "apps/cleat-runner/relays.hpp"

#include <algorithm>
#include <utility>

#include "base/limits.hpp"

namespace cleat::runner {

Relays::Relays(Journal& journal, const Options& options) : journal_(journal), options_(options) {
  for (const auto& backlog : journal.backlogs()) {
    auto& lifetime = lifetimes_[backlog.key];
    lifetime.session_id = backlog.session_id;
    lifetime.said = backlog.last;
    lifetime.sent = lifetime.sent_once = lifetime.acknowledged = backlog.first - 1;
    lifetime.bytes = backlog.bytes;
    waiting_.insert(backlog.key);
    lifetime.ended = true; // its agent has not outlived its Runner
  }
}

void Relays::begin(const OperationKey& key, const std::string& session_id) {
  auto& lifetime = lifetimes_[key] = Lifetime{};
  lifetime.session_id = session_id;
}

void Relays::said(const OperationKey& key, std::string line, std::optional<std::int64_t> exit_code, Timestamp time) {
  auto& lifetime = lifetimes_.at(key);
  lifetime.bytes += std::ssize(line);
  lifetime.ended = lifetime.ended || exit_code.has_value();
  waiting_.insert(key);
  journal_.add_line(key, {++lifetime.said, time.time_since_epoch().count(), std::move(line), exit_code});
}

void Relays::ended_by_crash(const OperationRow& row, std::int64_t exit_code, Timestamp time) {
  auto& lifetime = lifetimes_[row.key];
  if (lifetime.said < row.said_through)
    lifetime.said = lifetime.sent = lifetime.sent_once = lifetime.acknowledged = row.said_through;
  lifetime.session_id = row.session_id;
  said(row.key, {}, exit_code, time);
}

std::int64_t Relays::said_through(const OperationKey& key) const {
  const auto found = lifetimes_.find(key);
  return found == lifetimes_.end() ? 0 : found->second.said;
}

void Relays::acknowledged(const OperationKey& key, std::int64_t through, Now now) {
  const auto found = lifetimes_.find(key);
  if (found == lifetimes_.end())
    return;
  auto& lifetime = found->second;
  through = std::min(through, lifetime.said);
  if (through <= lifetime.acknowledged)
    return;
  for (const auto& line :
       journal_.lines_after(key, lifetime.acknowledged, through - lifetime.acknowledged, lifetime.bytes + 1))
    lifetime.bytes -= std::ssize(line.line);
  journal_.forget_lines(key, through);
  lifetime.acknowledged = through;
  lifetime.sent = std::max(lifetime.sent, through);
  lifetime.sent_once = std::max(lifetime.sent_once, through);
  lifetime.moved = now;
  if (lifetime.acknowledged < lifetime.said)
    return;
  waiting_.erase(key);
  if (lifetime.ended)
    lifetimes_.erase(found);
}

bool Relays::is_full(const Lifetime& lifetime) const {
  return lifetime.said - lifetime.acknowledged >= options_.max_unacknowledged ||
         lifetime.bytes >= limits::agent_max_unacknowledged_bytes;
}

bool Relays::is_full(const OperationKey& key) const {
  const auto found = lifetimes_.find(key);
  return found != lifetimes_.end() && is_full(found->second);
}

bool Relays::is_sent(const OperationKey& key) const {
  const auto found = lifetimes_.find(key);
  return found == lifetimes_.end() || found->second.sent_once == found->second.said;
}

void Relays::rewind() {
  for (auto& [key, lifetime] : lifetimes_)
    lifetime.sent = lifetime.acknowledged;
}

std::optional<std::int64_t> Relays::take_from(const OperationKey& key, Now now, std::vector<wire::FromRunner>& frames) {
  auto& lifetime = lifetimes_.at(key);
  if (lifetime.sent > lifetime.acknowledged && now - lifetime.moved >= options_.resend)
    lifetime.sent = lifetime.acknowledged;
  const auto room = options_.window - (lifetime.sent - lifetime.acknowledged);
  if (lifetime.sent == lifetime.said || room <= 0)
    return std::nullopt;
  auto lines = journal_.lines_after(key, lifetime.sent, room, limits::agent_relay_frame_bytes);
  if (lines.empty())
    return std::nullopt;
  std::int64_t bytes = 0;
  for (const auto& line : lines)
    bytes += std::ssize(line.line);
  lifetime.sent = lines.back().seq;
  lifetime.sent_once = std::max(lifetime.sent_once, lifetime.sent);
  lifetime.moved = now;
  frames.push_back({"", key.operation_id, key.attempt_id, 0, wire::Relay{lifetime.session_id, std::move(lines)}});
  return bytes;
}

std::vector<wire::FromRunner> Relays::take(Now now, std::int64_t max_bytes) {
  std::vector<wire::FromRunner> frames;
  // Those whose turn is next first, each for one frame, until nobody has one.
  for (auto idle = std::ssize(waiting_); idle > 0 && max_bytes > 0; --idle) {
    auto turn = waiting_.upper_bound(last_turn_);
    if (turn == waiting_.end())
      turn = waiting_.begin();
    last_turn_ = *turn;
    if (const auto bytes = take_from(last_turn_, now, frames)) {
      max_bytes -= *bytes;
      idle = std::ssize(waiting_) + 1;
    }
  }
  return frames;
}

} // namespace cleat::runner
