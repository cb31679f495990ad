#include "apps/cleatd/release_gate.hpp"

#include <filesystem>

#include "base/log.hpp"
#include "protocol/release_files.hpp"

namespace cleat::cleatd {
namespace {

std::string or_else(const std::string& configured, std::string otherwise) {
  return configured.empty() ? std::move(otherwise) : configured;
}

} // namespace

ReleaseGate::ReleaseGate(const Config& config)
  : computing_(std::async(std::launch::async, release::digest_of_running_program)) {
  const auto program = release::running_program();
  const auto runner = std::filesystem::path(program).replace_filename(std::string(release::runner_artifact)).string();
  manifest_ = or_else(config.release_manifest, release::default_manifest(program));
  runner_manifest_ = or_else(config.release_runner_manifest, release::default_manifest(runner));
  trust_root_ = or_else(config.release_trust_root, release::default_trust_root(program));
}

std::shared_ptr<const release::Gate> ReleaseGate::gate(Metrics& metrics) {
  if (!gate_) {
    program_ = computing_.get();
    gate_ = std::make_shared<release::Gate>(judge());
    tell(metrics);
  }
  return gate_;
}

void ReleaseGate::reload(Metrics& metrics) {
  gate_->replace(judge());
  tell(metrics);
}

release::Verdict ReleaseGate::judge() const {
  const auto root = release::read_trust_root(trust_root_);
  auto own = release::read_evidence(manifest_);
  own.program = program_;
  return {release::judge(release::server_artifact, own, root),
          release::judge(release::runner_artifact, release::read_evidence(runner_manifest_), root)};
}

void ReleaseGate::tell(Metrics& metrics) const {
  const auto verdict = gate_->verdict();
  metrics.release_gate_open.Set(verdict->is_open() ? 1 : 0);
  for (const auto& [finding, file] :
       {std::pair(&verdict->server, &manifest_), std::pair(&verdict->runner, &runner_manifest_)}) {
    if (finding->flaw)
      log::get().error("{}; looked at {} with the trust root {}. No agent can be started. Put the signed manifests of "
                       "this release there and send SIGHUP",
                       release::explain(*finding), *file, trust_root_);
    else
      log::get().info("{}", release::explain(*finding));
  }
}

} // namespace cleat::cleatd
