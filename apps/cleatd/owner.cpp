#include "apps/cleatd/owner.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <caf/actor_system.hpp>

#include "apps/cleatd/ask.hpp"
#include "base/log.hpp"
#include "base/random.hpp"

namespace cleat::cleatd {
namespace {

constexpr const char* file_name = "owner.token";
/// A token that somebody brings must be as hard to guess as it looks: 256 bits in base64url have 43 characters.
constexpr std::size_t min_secret_characters = 32;
constexpr std::size_t max_secret_characters = 512;

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  const auto last = text.find_last_not_of(" \t\r\n");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

bool is_secret(const std::string& text) {
  return text.size() >= min_secret_characters && text.size() <= max_secret_characters &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

std::string read_given(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw std::runtime_error("owner_token_file is " + path.string() + ", which cannot be read.");
  const auto secret = trimmed({std::istreambuf_iterator<char>(file), {}});
  if (!is_secret(secret))
    throw std::runtime_error("owner_token_file is " + path.string() + ", which does not hold a token: one line of " +
                             std::to_string(min_secret_characters) + " to " + std::to_string(max_secret_characters) +
                             " visible ASCII characters, for example of `openssl rand -hex 32`.");
  return secret;
}

/// The token to offer to the database, and whether its file was made just now.
struct Offer {
  std::filesystem::path file;
  std::string secret;
  bool fresh = false;
};

Offer prepare(const storage::DataFolder& folder, const std::filesystem::path& given) {
  if (!given.empty())
    return {given, read_given(given), false};
  const auto path = folder.path() / file_name;
  if (const auto text = folder.read(file_name)) {
    const auto secret = trimmed(*text);
    if (!is_secret(secret))
      throw std::runtime_error(path.string() + " does not hold a token. Put it back from a backup, or remove it.");
    return {path, secret, false};
  }
  auto secret = new_secret();
  folder.write(file_name, secret + "\n");
  return {path, std::move(secret), true};
}

} // namespace

Owner make_owner(caf::actor_system& system, const storage::Store& store, const storage::DataFolder& folder,
                 const std::filesystem::path& given, IdSource& ids, const Clock& clock) {
  caf::scoped_actor self(system);
  const auto offer = prepare(folder, given);
  const auto now = clock.now();
  const auto digest = sha256(offer.secret);
  storage::Bootstrap bootstrap;
  bootstrap.owner = {ids.next(now), PrincipalKind::human, "Owner", std::nullopt, true, now};
  bootstrap.token = {ids.next(now), bootstrap.owner.id, "owner", digest, now, std::nullopt, std::nullopt};
  const auto made = ask<storage::Bootstrapped>(self, store.librarian, std::move(bootstrap));
  if (made.status != storage::ReadStatus::ok)
    throw std::runtime_error("The database went away during the start. Start cleatd again when it is back.");
  if (made.created)
    log::get().info("made the owner of this instance");

  const auto found = ask<storage::TokenFound>(self, store.loader, storage::FindToken{digest});
  if (found.principal)
    return {offer.file, found.principal};
  if (offer.fresh)
    folder.remove(file_name); // the database has an owner already, with another token
  else
    log::get().warn("the token in {} is none of this database", offer.file.string());
  return {};
}

} // namespace cleat::cleatd
