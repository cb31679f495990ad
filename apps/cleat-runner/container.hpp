#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/cleat-runner/agent.hpp"
#include "apps/cleat-runner/config.hpp"
#include "apps/cleat-runner/journal.hpp"
#include "apps/cleat-runner/secrets_socket.hpp"

namespace cleat::runner {

/// A stop that waits for the end of an agent.
struct WaitingStop {
  OperationRow row;
  std::string request_id;
};

/// One agent from the acceptance of its start to its end.
struct Lifetime {
  OperationRow row;
  std::string request_id;
  /// None with the null driver.
  std::unique_ptr<Agent> agent;
  std::unique_ptr<SecretsSocket> secrets;
  /// What the agent has asked for and has not been given, by the connection that asked.
  std::map<std::uint64_t, std::string> secret_requests;
  std::vector<WaitingStop> stops;
  /// Its start has been told to the server, so that the server may answer for it.
  bool told = false;
  /// It shall end as soon as it has started.
  bool unwanted = false;
  /// The last input line that has been written.
  std::int64_t input_written = 0;
  /// A line for which there was no room; later ones wait until it comes again.
  std::optional<std::int64_t> input_missed;
  EventLoop::TimerId kill_timer = 0;
};

/// What is done once the agent of an old attempt has ended.
struct PendingAttempt {
  std::string attempt_id;
  /// Of the server's request, which is answered then; without one nobody asked.
  std::optional<std::string> request_id;
};

/// A container and its transition lock: whatever is not `idle` or `live` is a transition, and none begins in one.
struct Container {
  enum class Phase : std::uint8_t { idle, starting, live, ending };

  std::string name;
  /// Null for a container that the server knows and this machine does not.
  const ContainerSpec* spec = nullptr;
  /// The current attempt; empty without one.
  std::string attempt_id;
  Phase phase = Phase::idle;
  std::unique_ptr<Lifetime> life;
  std::optional<PendingAttempt> pending;
  /// Commands of the pending attempt, which wait for the lock.
  std::vector<wire::ToRunner> parked;
};

} // namespace cleat::runner
