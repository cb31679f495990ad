#pragma once

#include <memory>

#include <caf/actor_system.hpp>

#include "base/metrics.hpp"
#include "storage/interface.hpp"
#include "storage/options.hpp"

namespace cleat::storage {

/// Storage in PostgreSQL: spawns writer, loader and librarian, each on a thread and a connection of its own. They
/// connect at first use and again whenever a connection is lost; while the database is away they answer `unavailable`
/// at once. The schema must be there already (`migrate`). Throws `std::invalid_argument` for wrong options. The actors
/// end when the last handle to them is gone.
Store open_postgres(caf::actor_system& system, const DatabaseOptions& options, std::shared_ptr<Metrics> metrics);

} // namespace cleat::storage
