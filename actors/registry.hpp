#pragma once

#include <caf/fwd.hpp>

#include "actors/dependencies.hpp"
#include "actors/interfaces.hpp"

namespace cleat::actors {

/// Spawns the registry: it finds or spawns the owner of the thread that a command names and delegates the command
/// to it, passivates owners that nobody asked for `actors.idle_s`, and forgets owners that died, so that the next
/// command spawns them anew from PostgreSQL (spec 02, "supervision").
registry_actor spawn_registry(caf::actor_system& system, DependenciesPtr deps);

} // namespace cleat::actors
