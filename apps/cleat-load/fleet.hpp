#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "apps/cleat-load/runner_process.hpp"
#include "apps/cleat-load/target.hpp"
#include "apps/cleat-load/world.hpp"

namespace cleat::load {

/// Throws `std::runtime_error` when it is not known where Runners connect to.
void require_runner_address(const Target& target);

/// The Runners of a world, as real processes.
class Fleet {
public:
  /// Starts one process a Runner of `world` and waits until all its containers are idle. Throws `std::runtime_error`
  /// when a Runner ends or that takes longer than `patience`.
  Fleet(const std::filesystem::path& program, const Target& target, const World& world, std::chrono::seconds patience);

  /// The processes.
  [[nodiscard]] std::vector<pid_t> pids() const;

private:
  void await_idle(const Target& target, const World& world, std::chrono::seconds patience) const;

  std::vector<std::unique_ptr<RunnerProcess>> runners_;
};

} // namespace cleat::load
