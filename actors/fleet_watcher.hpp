#pragma once

#include "actors/dependencies.hpp"
#include "actors/interfaces.hpp"

namespace cleat::actors {

/// Sends the owners of containers to look after operations whose deadline has passed or that a Runner has to be asked
/// about, and keeps the metrics that operators watch.
fleet_watcher_actor spawn_fleet_watcher(caf::actor_system& system, DependenciesPtr deps, fleet_actor fleet);

} // namespace cleat::actors
