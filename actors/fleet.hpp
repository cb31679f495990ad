#pragma once

#include "actors/dependencies.hpp"
#include "actors/interfaces.hpp"

namespace cleat::actors {

/// The registry of containers: finds or spawns their owners, as `registry` does for threads. Owners speak to Runners
/// through `hub` and tell `herald` about transcripts.
fleet_actor spawn_fleet(caf::actor_system& system, DependenciesPtr deps, hub_actor hub, herald_actor herald);

} // namespace cleat::actors
