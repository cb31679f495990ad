#pragma once

#include <memory>
#include <string>

#include <caf/fwd.hpp>
#include <caf/io/middleman_actor.hpp>

/// Mutual TLS 1.3 under CAF's network layer, for servers among themselves.
///
/// CAF has a module for that, which we do without (decision 0023): it leaves errors of one connection in OpenSSL's
/// queue, where the next connection of the thread takes them for its own, turns in circles while a peer takes its time
/// with the handshake, and reads the certificate files anew for each connection, where a mistake ends the process.
namespace cleat::actors {

/// What the connections to other servers are set up with.
class PeerTls {
public:
  /// Certificate chain, key and the authority whose certificates are believed, as PEM files. Throws
  /// `std::runtime_error` that names the file and what is wrong with it.
  PeerTls(const std::string& certificate_file, const std::string& key_file, const std::string& ca_file);
  ~PeerTls();

  PeerTls(const PeerTls&) = delete;
  PeerTls& operator=(const PeerTls&) = delete;

  struct State;
  [[nodiscard]] const State& state() const { return *state_; }

private:
  std::unique_ptr<State> state_;
};

/// Opens ports and connects as CAF's own middleman actor does, with TLS. It ends on `caf::exit_reason::kill` only, and
/// has to before the actor system does.
caf::io::middleman_actor spawn_tls_middleman(caf::actor_system& system, std::shared_ptr<const PeerTls> tls);

} // namespace cleat::actors
