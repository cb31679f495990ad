#pragma once

#include <caf/fwd.hpp>

#include "actors/dependencies.hpp"
#include "actors/interfaces.hpp"

namespace cleat::actors {

/// Spawns the actor that looks how far the logs can be read, every `events.watch_ms` while anybody waits for more, and
/// wakes those whom it concerns. It reads nothing itself: whoever is woken reads with the rights of that moment.
herald_actor spawn_herald(caf::actor_system& system, DependenciesPtr deps);

} // namespace cleat::actors
