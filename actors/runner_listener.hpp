#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <caf/io/typed_broker.hpp>

#include "actors/dependencies.hpp"
#include "actors/interfaces.hpp"
#include "protocol/tls.hpp"

namespace cleat::actors {

/// Where Runners connect.
struct RunnerListenerOptions {
  std::string host = "127.0.0.1"; ///< of runner.listen
  std::uint16_t port = 0;         ///< of runner.listen; 0 picks a free one
  std::string certificate_file;   ///< runner.certificate, a chain as PEM; with it the listener speaks TLS 1.3
  std::string key_file;           ///< runner.key, as PEM
  bool insecure = false;          ///< whether other machines may connect without TLS

  /// The first thing that is wrong, as a sentence that names the key and the fix; nothing when all is well.
  [[nodiscard]] std::optional<std::string> validate() const;
};

/// A listener that accepts.
struct RunnerListener {
  /// On an exit message the port and every connection are closed; the Runners are at once marked as gone in the hub.
  caf::io::accept_handler handle;
  /// The port that it listens on.
  std::uint16_t port = 0;
  /// The certificate that new connections are shown, to be read again when its files have changed; none without TLS.
  std::shared_ptr<tls::ServerIdentity> identity;
};

/// Listens for Runners and gives each socket a connection of its own, at most `runner.max_connections`. CAF's middleman
/// has to be loaded. Throws `std::runtime_error` that says what cannot be used or opened.
RunnerListener start_runner_listener(caf::actor_system& system, const DependenciesPtr& deps, const hub_actor& hub,
                                     const fleet_actor& fleet, const RunnerListenerOptions& options);

} // namespace cleat::actors
