#pragma once

#include <caf/fwd.hpp>

#include "actors/dependencies.hpp"
#include "actors/interfaces.hpp"

namespace cleat::actors {

/// Spawns the actor that looks for overdue runs every `runs.watch_ms` and asks their owners to fail them (spec 03
/// section 10). Every server has one; the owner's decision is guarded by the database's clock, so two of them do no
/// harm.
lease_watcher_actor spawn_lease_watcher(caf::actor_system& system, DependenciesPtr deps, registry_actor registry);

} // namespace cleat::actors
