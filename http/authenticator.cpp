#include "http/authenticator.hpp"

#include "http/request_headers.hpp"

namespace cleat::http {

Result<std::shared_ptr<const Principal>> Authenticator::authenticate(const HeaderFields& headers, ClientAddress client,
                                                                     Backend& backend) {
  const auto secret = bearer_token(headers);
  if (!secret)
    return refuse(Code::unauthorized);
  const auto digest = sha256(*secret);
  const auto now = clock_->now();
  if (auto principal = remembered(digest, now))
    return principal;
  // Who is logged in behind an address from which somebody else guesses goes on; a guess costs no look-up any more.
  if (failures_.is_exhausted(client) && !was_valid(digest)) {
    failures_.count_refusal();
    return refuse(Code::rate_limited);
  }
  auto found = look_up(digest, now, backend);
  if (!found && found.error().code == Code::unauthorized) {
    failures_.count(client);
    note_invalid(digest);
  }
  return found;
}

Result<std::shared_ptr<const Principal>> Authenticator::look_up(const Digest& digest, Timestamp now, Backend& backend) {
  const auto before = generation();
  const auto found = backend.find_token(digest);
  if (!found)
    return refuse(Code::unavailable);
  if (!*found)
    return refuse(Code::unauthorized);
  const auto& [token, principal] = **found;
  const bool expired = token.expires_at && *token.expires_at <= now;
  if (!equal_constant_time(token.digest, digest) || token.revoked_at || expired)
    return refuse(Code::unauthorized);
  const Entry entry{std::make_shared<const Principal>(principal), token.expires_at, now};
  remember(digest, entry, before);
  return entry.principal;
}

void Authenticator::forget() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  ++generation_;
}

std::shared_ptr<const Principal> Authenticator::remembered(const Digest& digest, Timestamp now) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(digest);
  if (found == entries_.end())
    return nullptr;
  const auto& entry = found->second;
  // A clock that was set back makes an entry look younger than it is; one from the future is not believed.
  const bool fresh = entry.loaded_at <= now && now - entry.loaded_at < max_age_;
  if (fresh && (!entry.expires_at || *entry.expires_at > now))
    return entry.principal;
  entries_.erase(found);
  return nullptr;
}

void Authenticator::remember(const Digest& digest, const Entry& entry, std::uint64_t generation) {
  const std::lock_guard lock(mutex_);
  recent_.add(digest);
  if (generation != generation_)
    return;
  // Entries live for a fraction of a second, so a full cache is emptied instead of searched for its oldest entry.
  if (entries_.size() >= max_entries_)
    entries_.clear();
  entries_.insert_or_assign(digest, entry);
}

bool Authenticator::was_valid(const Digest& digest) {
  const std::lock_guard lock(mutex_);
  return recent_.contains(digest);
}

void Authenticator::note_invalid(const Digest& digest) {
  const std::lock_guard lock(mutex_);
  recent_.remove(digest);
}

std::uint64_t Authenticator::generation() {
  const std::lock_guard lock(mutex_);
  return generation_;
}

Credentials::Credentials(Authenticator& authenticator, Backend& backend, const HeaderFields& headers,
                         ClientAddress client)
  : authenticator_(authenticator), backend_(backend), client_(client) {
  for (const auto value : values_of(headers, "Authorization"))
    headers_.emplace_back("Authorization", value);
}

} // namespace cleat::http
