#include "http/idempotency_gate.hpp"

namespace cleat::http {

IdempotencyGate::Pass::~Pass() {
  if (gate_ == nullptr)
    return;
  const std::lock_guard lock(gate_->mutex_);
  gate_->taken_.erase(key_);
}

std::optional<IdempotencyGate::Pass> IdempotencyGate::enter(const Id& principal_id, const std::string& key) {
  Key entry{principal_id, key};
  const std::lock_guard lock(mutex_);
  if (!taken_.insert(entry).second)
    return std::nullopt;
  return std::optional<Pass>(std::in_place, *this, std::move(entry));
}

} // namespace cleat::http
