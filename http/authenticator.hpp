#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "base/encoding.hpp"
#include "base/problem.hpp"
#include "base/time.hpp"
#include "http/backend.hpp"
#include "http/client_address.hpp"
#include "http/failed_logins.hpp"
#include "http/message.hpp"
#include "http/recent_tokens.hpp"

namespace cleat::http {

/// Says who asks: from a bearer token to a principal (spec 05). Tokens are looked up by digest; valid ones are
/// remembered for `http.token_cache_ms`, which keeps a revocation's way to every node within a second. Thread safe.
class Authenticator {
public:
  /// Remembers at most `max_entries` tokens for at most `max_age`, and longer which ones were valid. `failures` must
  /// outlive it.
  Authenticator(std::shared_ptr<const Clock> clock, std::chrono::milliseconds max_age, std::size_t max_entries,
                FailedLogins& failures)
    : clock_(std::move(clock)),
      max_age_(max_age),
      max_entries_(max_entries),
      failures_(failures),
      recent_(max_entries) {}

  /// The principal behind the request's token. `unauthorized` when there is none or it is not valid (any more);
  /// `unavailable` when the database cannot be asked, which says nothing about the token; `rate_limited` when it is not
  /// asked, because too many tokens from the client's address were not valid and this one was not lately either.
  Result<std::shared_ptr<const Principal>> authenticate(const HeaderFields& headers, ClientAddress client,
                                                        Backend& backend);

  /// Forgets what is remembered, look-ups that are on their way included. Called after this node changed a token or a
  /// principal.
  void forget();

private:
  struct Entry {
    std::shared_ptr<const Principal> principal;
    std::optional<Timestamp> expires_at;
    Timestamp loaded_at;
  };

  std::shared_ptr<const Principal> remembered(const Digest& digest, Timestamp now);
  bool was_valid(const Digest& digest);
  void note_invalid(const Digest& digest);
  Result<std::shared_ptr<const Principal>> look_up(const Digest& digest, Timestamp now, Backend& backend);
  void remember(const Digest& digest, const Entry& entry, std::uint64_t generation);
  std::uint64_t generation();

  const std::shared_ptr<const Clock> clock_;
  const std::chrono::milliseconds max_age_;
  const std::size_t max_entries_;
  FailedLogins& failures_;
  std::mutex mutex_;
  std::map<Digest, Entry> entries_;
  /// Raised by every `forget`, so that a look-up from before it is not remembered after it.
  std::uint64_t generation_ = 0;
  /// Not emptied by `forget`: it only says what is worth a look.
  RecentTokens recent_;
};

/// What a request has proved itself with, to be proved again while its answer takes time. Outlives the request, but
/// neither the authenticator nor the connection's backend.
class Credentials {
public:
  Credentials(Authenticator& authenticator, Backend& backend, const HeaderFields& headers, ClientAddress client);

  /// As `Authenticator::authenticate`.
  Result<std::shared_ptr<const Principal>> check() { return authenticator_.authenticate(headers_, client_, backend_); }

private:
  Authenticator& authenticator_;
  Backend& backend_;
  HeaderFields headers_;
  ClientAddress client_;
};

} // namespace cleat::http
