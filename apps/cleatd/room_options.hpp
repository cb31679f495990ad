#pragma once

#include <string>

#include "actors/dependencies.hpp"
#include "actors/peers.hpp"
#include "actors/runner_listener.hpp"
#include "apps/cleatd/config.hpp"
#include "http/options.hpp"
#include "storage/embedded.hpp"
#include "storage/options.hpp"

/// What each room is told of the configuration.
namespace cleat::cleatd {

storage::EmbeddedOptions embedded_options(const Config& config);
storage::DatabaseOptions database_options(const Config& config, const std::string& url);
actors::ActorOptions actor_options(const Config& config);
actors::RunnerListenerOptions runner_listener_options(const Config& config);
/// `node_id` is this server among the others.
actors::PeersOptions peers_options(const Config& config, const Id& node_id);
http::HttpOptions http_options(const Config& config);

/// Lets each room check its own options. Throws `ConfigError` with the first sentence that one of them has to say.
void check_rooms(const Config& config);

} // namespace cleat::cleatd
