#pragma once

#include "actors/dependencies.hpp"
#include "actors/interfaces.hpp"

namespace cleat::actors {

/// The hub of this server: decides enrolments of Runners, knows their connections, and passes what is for a Runner
/// elsewhere on to the server that holds its socket. One a server; the watch over this node's heartbeat is its too.
///
/// It ends on an exit message, after its Runners were marked disconnected, or after `nodes.timeout_s`, when the other
/// servers take this one for gone anyway. Storage has to be there until then.
hub_actor spawn_hub(caf::actor_system& system, DependenciesPtr deps);

} // namespace cleat::actors
