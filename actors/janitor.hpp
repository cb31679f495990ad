#pragma once

#include <caf/fwd.hpp>

#include "actors/dependencies.hpp"
#include "actors/interfaces.hpp"

namespace cleat::actors {

/// Spawns the janitor: once a minute it asks storage to remove what has outlived its span (spec 05,
/// `idempotency.retention_s`), in bites, so that no transaction is long.
janitor_actor spawn_janitor(caf::actor_system& system, DependenciesPtr deps);

} // namespace cleat::actors
