#pragma once

#include <future>
#include <memory>
#include <string>

#include "apps/cleatd/config.hpp"
#include "base/metrics.hpp"
#include "protocol/release.hpp"

namespace cleat::cleatd {

/// Keeps the verdict of the release gate (spec 04 section 9): reads manifests, signatures and the trust root from their
/// files, and the digest of the program that runs. Used by one thread; the gate it gives out is for all.
class ReleaseGate {
public:
  /// Starts to compute the program's digest, which takes a moment, beside whatever else a start does.
  explicit ReleaseGate(const Config& config);

  /// The gate. The first call waits for the digest and judges. Throws `std::runtime_error` when the running program
  /// cannot be read.
  std::shared_ptr<const release::Gate> gate(Metrics& metrics);

  /// Reads the files again and judges anew; logs what it found. After `gate`.
  void reload(Metrics& metrics);

private:
  [[nodiscard]] release::Verdict judge() const;
  void tell(Metrics& metrics) const;

  std::string manifest_;
  std::string runner_manifest_;
  std::string trust_root_;
  std::future<Digest> computing_;
  Digest program_{};
  std::shared_ptr<release::Gate> gate_;
};

} // namespace cleat::cleatd
