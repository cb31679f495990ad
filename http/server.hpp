#pragma once

#include <cstdint>
#include <memory>

#include <caf/fwd.hpp>

#include "actors/interfaces.hpp"
#include "base/metrics.hpp"
#include "base/time.hpp"
#include "http/options.hpp"

namespace cleat::http {

/// What the http room needs from the rest of the process. The actor system must outlive the server.
struct Dependencies {
  caf::actor_system& system;
  actors::Frontends frontends;
  std::shared_ptr<Metrics> metrics;
  std::shared_ptr<const Clock> clock;
};

/// The HTTP surface of spec 05: translates requests to commands for the actors and their answers back. Decides
/// nothing itself.
///
/// `start`, `drain` and `stop` are called by one thread.
class Server {
public:
  /// Validates the options (`std::invalid_argument`) and reads the certificate, if there is one (`std::runtime_error`).
  /// Does not listen yet.
  Server(const HttpOptions& options, Dependencies dependencies);

  /// Stops, if that has not happened yet.
  ~Server();

  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Binds, listens and serves on threads of its own. Returns the bound port. Throws `std::runtime_error` when the
  /// address cannot be bound.
  std::uint16_t start();

  /// Reads `http.certificate` and `http.key` again, for the connections to come; the ones there are go on as they
  /// began. Throws `std::runtime_error` that says why the files cannot be used; then nothing has changed. Does nothing
  /// without TLS. May be called by any thread.
  void reload_certificates();

  /// Accepts no more connections, answers what is in flight with `Connection: close` and waits for it, at most
  /// `http.drain_s`. Returns whether everything was answered. `/readyz` says 503 meanwhile.
  bool drain();

  /// Ends: cuts the connections that are left and joins every thread. A request that still waits for an actor holds
  /// this up, at most for `http.answer_timeout_s`.
  void stop();

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace cleat::http
