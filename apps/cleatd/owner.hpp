#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <caf/fwd.hpp>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "protocol/resources.hpp"
#include "storage/data_folder.hpp"
#include "storage/interface.hpp"

namespace cleat::cleatd {

/// The instance's owner, as this process knows it after start.
struct Owner {
  /// Where the token is; empty when no file opens this database.
  std::filesystem::path token_file;
  /// Whose token that is.
  std::optional<Principal> principal;
};

/// Makes the owner of an empty database (spec 05): one human and one token. The token is the one in `given`
/// (owner_token_file) or, when that is empty, `owner.token` in the data folder.
///
/// The file is durable before the database hears of the token, so that a crash in between loses nothing: a token whose
/// file exists is offered to the database again at the next start. Nodes that start at once agree through the
/// database, and the one that comes second takes its own file away again. Throws `std::runtime_error` for a token
/// file that cannot be read or is no secret.
Owner make_owner(caf::actor_system& system, const storage::Store& store, const storage::DataFolder& folder,
                 const std::filesystem::path& given, IdSource& ids, const Clock& clock);

} // namespace cleat::cleatd
