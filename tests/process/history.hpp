#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/linear/sessions.hpp"
#include "tests/process/client.hpp"

namespace cleat::test {

/// The servers of a history, wherever they are at the moment.
class Whereabouts {
public:
  explicit Whereabouts(std::vector<Endpoint> endpoints) : endpoints_(std::move(endpoints)) {}

  [[nodiscard]] std::size_t count() const { return endpoints_.size(); }
  /// A server has been started again.
  void move(std::size_t server, const Endpoint& endpoint);
  [[nodiscard]] Endpoint of(std::size_t server) const;

private:
  mutable std::mutex mutex_;
  std::vector<Endpoint> endpoints_;
};

/// Nanoseconds of the clock that all histories are told in.
linear::Moment moment_now();

/// What clients of one history have done, written down by each of them.
class Recorder {
public:
  void add(linear::Timed<linear::SessionOperation> operation);
  /// A number that no other operation has.
  int number() { return ++numbers_; }
  [[nodiscard]] linear::SessionHistory history() const;

private:
  mutable std::mutex mutex_;
  linear::SessionHistory history_;
  std::atomic<int> numbers_ = 0;
};

/// One principal that asks one server after the other, as a program with several addresses would: patient for a moment
/// only, and again with the same Idempotency-Key when it was told nothing.
class Caller {
public:
  Caller(const Whereabouts& servers, std::size_t first, std::string token, std::uint64_t seed);

  /// Sends an operation until it is decided or given up, and writes it down. The answer, if there was one.
  std::optional<linear::SessionAnswer> perform(linear::SessionOperation operation, Recorder& recorder);
  /// The same, never given up.
  linear::SessionAnswer perform_for_certain(const linear::SessionOperation& operation, Recorder& recorder);

  std::mt19937_64& random() { return random_; }
  [[nodiscard]] std::size_t below(std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_);
  }
  [[nodiscard]] bool chance(int percent) { return below(100) < static_cast<std::size_t>(percent); }

private:
  /// What one sending came to.
  enum class Heard { answer, nothing, not_now };

  Heard send(const linear::SessionOperation& operation, const std::string& key, Response& response);
  void next_server();

  const Whereabouts& servers_;
  std::size_t server_;
  std::string token_;
  std::mt19937_64 random_;
  std::optional<Client> client_;
  int port_ = 0;
};

/// The answer of a server to an operation; throws when it is none that the contract allows.
linear::SessionAnswer answer_of(const linear::SessionOperation& operation, const Response& response);

} // namespace cleat::test
