#pragma once

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/ids.hpp"

namespace cleat::http {

/// Which Idempotency-Keys are being worked on right now (spec 05): the second request with a key while the first still
/// runs is `409 idempotency_in_progress`. Across several servers the database's unique key decides. Thread safe.
class IdempotencyGate {
  using Key = std::pair<Id, std::string>;

public:
  /// Keeps a key taken for as long as it lives.
  class Pass {
  public:
    Pass(IdempotencyGate& gate, Key key) : gate_(&gate), key_(std::move(key)) {}
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)), key_(std::move(other.key_)) {}
    Pass& operator=(Pass&&) = delete;
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    ~Pass();

  private:
    IdempotencyGate* gate_;
    Key key_;
  };

  /// Takes the key of a principal; nothing when it is taken already.
  std::optional<Pass> enter(const Id& principal_id, const std::string& key);

private:
  std::mutex mutex_;
  std::set<Key> taken_;
};

} // namespace cleat::http
