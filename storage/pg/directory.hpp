#pragma once

#include "protocol/facts.hpp"
#include "protocol/pages.hpp"
#include "storage/messages.hpp"
#include "storage/pg/connection.hpp"

/// The librarian's work on a connection. Every function throws `ConnectionLost`, and `SqlError` with its transaction
/// left open.
namespace cleat::storage::pg {

/// The facts of provisioning, all from one snapshot.
DirectoryFacts load_directory(Connection& connection, const LoadDirectory& question);

/// One page, one row longer than asked for where there is more.
PageRows read_page(Connection& connection, const ReadPage& question);

/// Makes the owner of an empty instance; whether the instance's owner and first token are now the ones given. `again`
/// tells that an earlier try may have been committed unnoticed, so that finding its token is success as well.
bool bootstrap(Connection& connection, const Bootstrap& question, bool again);

/// Removes at most `limit` rows of each kind; how many went.
std::int64_t collect_garbage(Connection& connection, const CollectGarbage& question);

/// Whether the server takes writes: a standby answers but is of no use.
bool takes_writes(Connection& connection);

} // namespace cleat::storage::pg
