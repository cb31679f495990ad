#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <caf/fwd.hpp>

#include "actors/interfaces.hpp"
#include "base/limits.hpp"

namespace cleat::actors {

/// How this server speaks to the others on the same database.
struct PeersOptions {
  std::string host = "127.0.0.1"; ///< of nodes.listen
  std::uint16_t port = 0;         ///< of nodes.listen; 0 picks a free one
  std::string address_host;       ///< nodes.address, by which the others reach it; empty: as it listens
  std::string certificate_file;   ///< nodes.certificate, a chain as PEM
  std::string key_file;           ///< nodes.key, as PEM
  std::string ca_file;            ///< nodes.ca: whoever has a certificate of it is a server of ours
  bool insecure = false;          ///< whether other machines may connect without TLS
  Id node_id;                     ///< this server
  std::int64_t node_timeout_s = limits::node_timeout_s; ///< nodes.timeout_s

  /// The first thing that is wrong, as a sentence that names the key and the fix; nothing when all is well.
  [[nodiscard]] std::optional<std::string> validate() const;
  [[nodiscard]] bool with_tls() const { return !certificate_file.empty(); }
};

/// Loads CAF's network layer for an actor system that is yet to be made; Runners need it too. A peer that hangs up does
/// not end the process from then on. Throws `std::runtime_error` that names what is wrong with the options.
void prepare_network(caf::actor_system_config& config, const PeersOptions& options);

/// This server among the others.
struct Peers {
  /// Ends on an exit message: the port closes, and whoever waits for an answer is told that nobody knows.
  peers_actor handle;
  /// `HOST:PORT`, for the table of servers.
  std::string address;
};

/// Opens the port for the others, before there is a hub: its address is needed for the first heartbeat. Until
/// `join_peers` they are told that nothing can be delivered here. Throws `std::runtime_error` that names the file that
/// cannot be used or the address that cannot be opened.
Peers start_peers(caf::actor_system& system, const PeersOptions& options);

/// From now on the hub reaches Runners elsewhere, and the others reach the hub and the fleet.
void join_peers(const Peers& peers, const hub_actor& hub, const fleet_actor& fleet);

} // namespace cleat::actors
