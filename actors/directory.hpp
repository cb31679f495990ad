#pragma once

#include <caf/fwd.hpp>

#include "actors/dependencies.hpp"
#include "actors/interfaces.hpp"

namespace cleat::actors {

/// Spawns the directory: provisioning and lists. It owns no state; each command is loaded, decided by
/// `rules::decide` and committed under its guards, and decided again when a guard was stale.
directory_actor spawn_directory(caf::actor_system& system, DependenciesPtr deps);

} // namespace cleat::actors
