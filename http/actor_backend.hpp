#pragma once

#include <memory>

#include <caf/fwd.hpp>

#include "actors/interfaces.hpp"
#include "http/backend.hpp"
#include "http/options.hpp"

namespace cleat::http {

/// The backend of a connection that asks the actors and waits for their answers on the connection's own thread.
std::unique_ptr<Backend> make_actor_backend(caf::actor_system& system, const actors::Frontends& frontends,
                                            const HttpOptions& options);

} // namespace cleat::http
