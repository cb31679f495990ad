/// The logs in the memory twin. Commits come one after the other, so everything in them is safe to be read at once.
#include <algorithm>
#include <iterator>
#include <set>

#include "storage/memory_tables.hpp"

namespace cleat::storage {

namespace {

template <class Table>
std::int64_t end_of(const Table& table) {
  return table.empty() ? 0 : table.rbegin()->first;
}

/// Fills `found` with the rows of a log behind the question's position that are wanted.
template <class Found, class Log, class Question, class Wanted>
void read_log(Found& found, const Log& log, const Question& question, Wanted wanted) {
  found.next_after = question.after;
  if (question.limit < 1)
    return;
  for (auto item = log.upper_bound(question.after); item != log.end(); ++item) {
    if (!wanted(item->second))
      continue;
    found.events.push_back({item->first, item->second});
    if (std::ssize(found.events) == question.limit) {
      found.next_after = item->first;
      return;
    }
  }
  found.next_after = std::max(question.after, end_of(log));
}

bool matches(const EventFilter& filter, const Event& event) {
  return (!filter.space_id || event.space_id == *filter.space_id) &&
         (!filter.channel_id || event.channel_id == *filter.channel_id) &&
         (!filter.thread_id || event.thread_id == *filter.thread_id) && (!filter.type || event.type == *filter.type);
}

} // namespace

LogAdvanced MemoryTables::advance() {
  const std::lock_guard lock(mutex_);
  LogAdvanced answer;
  if (unavailable_) {
    answer.status = ReadStatus::unavailable;
    return answer;
  }
  std::set<Id> agents;
  for (auto item = agent_events_.upper_bound(told_); item != agent_events_.end(); ++item)
    agents.insert(item->second.agent_id);
  answer.agents.assign(agents.begin(), agents.end());
  answer.events = end_of(events_);
  answer.agent_events = told_ = end_of(agent_events_);
  return answer;
}

EventsFound MemoryTables::find(const FindEvents& question) const {
  const std::lock_guard lock(mutex_);
  EventsFound found;
  if (unavailable_)
    found.status = ReadStatus::unavailable;
  else
    read_log(found, events_, question, [&](const Event& event) {
      return matches(question.filter, event) && may_see(question.principal_id, event);
    });
  return found;
}

bool MemoryTables::may_see(const Id& principal, const Event& event) const {
  const auto space = spaces_.find(event.space_id);
  const auto has_grant = [&](const std::optional<Id>& id) { return id && grants_.contains({*id, principal}); };
  return (space != spaces_.end() && space->second.owner_id == principal) || has_grant(event.space_id) ||
         has_grant(event.channel_id) || has_grant(event.thread_id);
}

AgentEventsFound MemoryTables::find(const FindAgentEvents& question) const {
  const std::lock_guard lock(mutex_);
  AgentEventsFound found;
  if (unavailable_)
    found.status = ReadStatus::unavailable;
  else
    read_log(found, agent_events_, question,
             [&](const AgentEvent& event) { return event.agent_id == question.agent_id; });
  return found;
}

std::vector<LoggedEvent> MemoryTables::events() const {
  const std::lock_guard lock(mutex_);
  std::vector<LoggedEvent> rows;
  for (const auto& [seq, event] : events_)
    rows.push_back({seq, event});
  return rows;
}

std::vector<LoggedAgentEvent> MemoryTables::agent_events() const {
  const std::lock_guard lock(mutex_);
  std::vector<LoggedAgentEvent> rows;
  for (const auto& [seq, event] : agent_events_)
    rows.push_back({seq, event});
  return rows;
}

std::vector<AuditEntry> MemoryTables::audit() const {
  const std::lock_guard lock(mutex_);
  std::vector<AuditEntry> rows;
  for (const auto& [id, entry] : audit_)
    rows.push_back(entry);
  return rows;
}

} // namespace cleat::storage
