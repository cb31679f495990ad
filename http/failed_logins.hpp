#pragma once

#include <cstdint>
#include <memory>

#include "base/metrics.hpp"
#include "base/time.hpp"
#include "http/buckets.hpp"
#include "http/client_address.hpp"
#include "http/options.hpp"

namespace cleat::http {

/// Counts the tokens that nobody knows against the address that they come from (decision 0025): a bucket of
/// `auth.burst` for each, into which `auth.failures_per_minute` are added a minute. Thread safe.
class FailedLogins {
public:
  FailedLogins(std::shared_ptr<const Clock> clock, const AuthLimits& limits, Metrics& metrics);

  /// Whether the address has used up its budget.
  [[nodiscard]] bool is_exhausted(ClientAddress client) const;

  /// After how many whole seconds it has some again; 0 when it has.
  [[nodiscard]] std::int64_t wait_s(ClientAddress client) const;

  /// A token from this address was looked up in vain.
  void count(ClientAddress client);

  /// A token from this address was refused without a look.
  void count_refusal() { refused_.Increment(); }

  /// How many addresses are remembered.
  [[nodiscard]] std::size_t size() const { return buckets_.size(); }

private:
  const std::shared_ptr<const Clock> clock_;
  const AuthLimits limits_;
  const double per_s_;
  Buckets<ClientAddress, 1> buckets_;
  prometheus::Counter& failed_;
  prometheus::Counter& refused_;
};

} // namespace cleat::http
