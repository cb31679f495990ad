#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/limits.hpp"

namespace cleat::storage {

/// How PostgreSQL is reached and how hard it is worked. Each member has a configuration key of the name beside it.
struct DatabaseOptions {
  /// database.url: a libpq connection string or URL; several hosts and `target_session_attrs` are allowed. Session
  /// pooling is fine in between, transaction pooling is not, because statements are prepared once a connection.
  std::string url;
  /// database.max_batch: decisions a transaction, questions a snapshot.
  std::int64_t max_batch = limits::max_batch;
  /// database.max_pending: requests waiting at an actor of storage; more are answered `unavailable`.
  std::int64_t max_pending = limits::max_pending;
  /// database.tx_retry_max: how often a transaction is tried again after a deadlock.
  std::int64_t tx_retry_max = limits::tx_retry_max;
  /// database.connect_timeout_s: seconds a host may take to accept a connection.
  std::int64_t connect_timeout_s = limits::connect_timeout_s;
  /// database.statement_timeout_s: seconds a statement may take.
  std::int64_t statement_timeout_s = limits::statement_timeout_s;
  /// database.resolve_timeout_s: seconds to learn what became of a lost COMMIT.
  std::int64_t resolve_timeout_s = limits::resolve_timeout_s;

  /// What is wrong with these options, as a sentence that names the key and the fix; nothing when they are fine.
  [[nodiscard]] std::optional<std::string> validate() const;
};

} // namespace cleat::storage
