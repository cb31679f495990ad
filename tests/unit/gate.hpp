#pragma once

#include <memory>

#include "protocol/release.hpp"

namespace cleat::test {

/// A verdict as a matching pair of releases gets it.
inline release::Verdict open_verdict() {
  release::Verdict verdict;
  verdict.server.artifact = release::server_artifact;
  verdict.runner.artifact = release::runner_artifact;
  verdict.server.flaw.reset();
  verdict.runner.flaw.reset();
  return verdict;
}

/// A gate that lets starts pass, for tests of what comes behind it.
inline std::shared_ptr<release::Gate> open_gate() {
  return std::make_shared<release::Gate>(open_verdict());
}

} // namespace cleat::test
