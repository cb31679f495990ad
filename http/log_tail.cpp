#include "http/log_tail.hpp"

#include <algorithm>
#include <utility>

namespace cleat::http {

Result<LogItems> LogTail::next() {
  readable_ = false;
  auto actor = credentials_.check();
  if (!actor)
    return tl::unexpected(std::move(actor).error());
  context_.actor = std::move(*actor);
  if (!due_ && std::chrono::steady_clock::now() - read_at_ < blind_time) {
    readable_ = true;
    spins_ = hurried_;
    return LogItems{{}, after_};
  }
  read_at_ = std::chrono::steady_clock::now();
  auto found = read_(context_, after_);
  if (!found)
    return found;
  // The read may have taken long, and what it found is handed out now.
  if (!found->items.empty())
    if (auto still = credentials_.check(); !still)
      return tl::unexpected(std::move(still).error());
  readable_ = true;
  spins_ = hurried_ && found->next_after == after_;
  after_ = found->next_after;
  return found;
}

bool LogTail::wait(Line& line, Span time) {
  using Clock = std::chrono::steady_clock;
  due_ = true;
  const auto span = std::clamp(time, Span(0), look_interval);
  if (!readable_)
    return line.holds(span);
  if (!line.holds(spins_ ? std::min(span, least_turn) : Span(0)))
    return false;
  const auto begin = Clock::now();
  waits_for_.after = after_;
  waits_for_.patience_ms = span.count();
  due_ = backend_.await(waits_for_);
  hurried_ = Clock::now() - begin < std::min(span, least_turn);
  return line.holds(Span(0));
}

} // namespace cleat::http
