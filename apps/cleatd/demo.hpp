#pragma once

#include <string>

#include <caf/fwd.hpp>

#include "actors/interfaces.hpp"
#include "apps/cleatd/owner.hpp"
#include "storage/data_folder.hpp"

namespace cleat::cleatd {

/// What of the demo world the start-up text shows.
struct Demo {
  /// A thread with a history and no current session.
  std::string thread_id;
};

/// Makes a small world to try things on: a space, channels, threads, three people with different rights, two agents
/// and sessions with a history. It uses the commands of clients, each under an Idempotency-Key, so a start that
/// was cut off goes on where it stopped; a world that is complete is left alone. The tokens of the people
/// and of the agent Lotse are written to `demo.tokens` in the data folder, the threads to `demo.threads`, the token of
/// a Runner with the container `workshop`, where Alex may start agents, to `demo.runner.token`. Throws
/// `std::runtime_error` when the owner is not known or a command is refused.
Demo make_demo(caf::actor_system& system, const actors::Frontends& frontends, const storage::DataFolder& folder,
               const Owner& owner);

} // namespace cleat::cleatd
