#include "storage/memory_tables.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "storage/memory_change.hpp"

namespace cleat::storage {

namespace {

/// Everything that makes two denials equal (spec 03 section 2), as one key.
std::string denial_key(const AuditEntry& entry, std::int64_t window_s) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(entry.time.time_since_epoch()).count();
  std::string key =
    entry.actor_id.str() + entry.resource_id.str() + std::to_string(seconds / std::max<std::int64_t>(window_s, 1));
  for (const auto& part : {entry.action, entry.resource_kind, entry.reason})
    key += '\0' + part;
  return key;
}

template <class Answer>
Answer unavailable_answer() {
  Answer answer;
  answer.status = ReadStatus::unavailable;
  return answer;
}

} // namespace

CommitOutcome MemoryTables::commit(const Decision& decision) {
  const std::lock_guard lock(mutex_);
  if (!script_.empty()) {
    const ScriptedOutcome scripted = script_.front();
    script_.pop_front();
    if (scripted.commit)
      apply(decision);
    return scripted.answer;
  }
  return unavailable_ ? CommitOutcome::unavailable : apply(decision);
}

CommitOutcome MemoryTables::record_denial(const RecordDenial& denial) {
  const std::lock_guard lock(mutex_);
  if (unavailable_)
    return CommitOutcome::unavailable;
  Change change;
  const auto outcome = count_denial(change, denial.entry, denial.window_s);
  if (outcome == CommitOutcome::committed)
    change.keep();
  return outcome;
}

CommitOutcome MemoryTables::count_denial(Change& change, const AuditEntry& entry, std::int64_t window_s) {
  const auto key = denial_key(entry, window_s);
  if (change.insert(denials_, key, entry.id))
    return change.insert(audit_, entry.id, entry) ? CommitOutcome::committed : CommitOutcome::lost_race;
  AuditEntry counted = audit_.at(denials_.at(key));
  counted.count += entry.count;
  change.put(audit_, denials_.at(key), std::move(counted));
  return CommitOutcome::committed;
}

Bootstrapped MemoryTables::bootstrap(const Bootstrap& question) {
  const std::lock_guard lock(mutex_);
  if (unavailable_)
    return {ReadStatus::unavailable, false};
  if (!principals_.empty())
    return {ReadStatus::ok, false};
  principals_.emplace(question.owner.id, question.owner);
  tokens_.emplace(question.token.id, question.token);
  return {ReadStatus::ok, true};
}

GarbageCollected MemoryTables::collect(const CollectGarbage& question) {
  const std::lock_guard lock(mutex_);
  if (unavailable_)
    return {ReadStatus::unavailable, 0};
  std::int64_t removed = 0;
  for (auto record = idempotency_.begin(); record != idempotency_.end() && removed < question.limit;) {
    const bool outlived = record->second.expires_at <= question.now;
    record = outlived ? idempotency_.erase(record) : std::next(record);
    removed += outlived ? 1 : 0;
  }
  if (question.fleet)
    removed += fleet_.collect(question, *question.fleet);
  return {ReadStatus::ok, removed};
}

ContainerLoaded MemoryTables::load(const LoadContainer& question) const {
  const std::lock_guard lock(mutex_);
  if (unavailable_)
    return {ReadStatus::unavailable, {}};
  return {ReadStatus::ok, fleet_.load(question, clock_->now())};
}

ContainerLocated MemoryTables::find(const LocateContainer& question) const {
  const std::lock_guard lock(mutex_);
  if (unavailable_)
    return {ReadStatus::unavailable, std::nullopt};
  return {ReadStatus::ok, fleet_.find(question)};
}

EnrolmentLoaded MemoryTables::load(const LoadEnrolment& question) const {
  const std::lock_guard lock(mutex_);
  if (unavailable_)
    return {ReadStatus::unavailable, {}};
  return {ReadStatus::ok, fleet_.load(question)};
}

NodeBeaten MemoryTables::beat(const BeatNode& question) {
  const std::lock_guard lock(mutex_);
  if (unavailable_)
    return {ReadStatus::unavailable, {}};
  return {ReadStatus::ok, fleet_.beat(question, clock_->now())};
}

TranscriptFound MemoryTables::find(const FindTranscript& question) const {
  const std::lock_guard lock(mutex_);
  return unavailable_ ? unavailable_answer<TranscriptFound>() : fleet_.find(question);
}

FleetWork MemoryTables::find(const FindFleetWork& question) const {
  const std::lock_guard lock(mutex_);
  return unavailable_ ? unavailable_answer<FleetWork>() : fleet_.find(question, clock_->now());
}

FleetRows MemoryTables::fleet() const {
  const std::lock_guard lock(mutex_);
  return fleet_.rows();
}

void MemoryTables::set_clock(std::shared_ptr<const Clock> clock) {
  const std::lock_guard lock(mutex_);
  clock_ = std::move(clock);
}

void MemoryTables::script(std::vector<ScriptedOutcome> outcomes) {
  const std::lock_guard lock(mutex_);
  script_.insert(script_.end(), outcomes.begin(), outcomes.end());
}

void MemoryTables::set_unavailable(bool unavailable) {
  const std::lock_guard lock(mutex_);
  unavailable_ = unavailable;
}

std::int64_t MemoryTables::commits() const {
  const std::lock_guard lock(mutex_);
  return commits_;
}

} // namespace cleat::storage
