#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/encoding.hpp"
#include "base/signing.hpp"

/// Releases and the gate in front of fresh starts (spec 04 section 9): which pair of server and Runner may start agents
/// is told by signed manifests, and by nothing that runs.
namespace cleat::release {

/// The wire contract of session ids that this source speaks; the only revision that the gate lets pass.
inline constexpr std::string_view wire_contract_revision = "runner-session-id-v1";

/// The artifacts of a release, as manifests name them.
inline constexpr std::string_view server_artifact = "cleatd";
inline constexpr std::string_view runner_artifact = "cleat-runner";

/// What a release says about one of its artifacts.
struct Manifest {
  std::string artifact;
  std::string version;
  /// Of the program's file, in lower-case hexadecimal.
  std::string sha256;
  std::string session_id_wire_contract_revision;

  bool operator==(const Manifest&) const = default;
};

/// The bytes of a manifest's file. What is signed is exactly these.
std::string render(const Manifest& manifest);

/// Reads a manifest. Nothing when it is no JSON object with exactly these four members, all of them visible ASCII.
std::optional<Manifest> parse(std::string_view bytes);

/// What is found in the file system about one artifact; what is missing there is missing here.
struct Evidence {
  std::optional<std::string> manifest;
  std::optional<std::string> signature;
  /// SHA-256 of the program that runs; nothing for an artifact that is not the one that asks.
  std::optional<Digest> program;
};

/// Why an artifact does not pass, in the order in which it is looked at.
enum class Flaw : std::uint8_t {
  manifest_missing,
  signature_missing,
  trust_root_missing,
  signature_wrong,
  manifest_malformed,
  other_artifact,
  other_program,
  other_revision,
};

/// The flaw's name in `/readyz`.
std::string_view to_string(Flaw flaw);

/// What the gate says of one artifact.
struct Finding {
  std::string artifact;
  /// Nothing: it passes. What nobody has judged does not.
  std::optional<Flaw> flaw = Flaw::manifest_missing;
  /// What the manifest says, signed or not, as far as it can be read.
  std::optional<Manifest> manifest;
  /// SHA-256 of the manifest's bytes.
  std::optional<Digest> manifest_digest;
  /// SHA-256 of the program that runs, as far as this process can know it.
  std::optional<Digest> program;
};

/// Judges one artifact. Nothing is believed that is not signed by `trust_root`.
Finding judge(std::string_view artifact, const Evidence& evidence, const std::optional<VerifyingKey>& trust_root);

/// One sentence for logs and terminals: what is wrong, with the expected revision, the manifest's and the digests.
std::string explain(const Finding& finding);

/// What the gate says of a pair.
struct Verdict {
  Finding server;
  Finding runner;

  /// Whether fresh starts and resumes may reach a Runner.
  [[nodiscard]] bool is_open() const { return !server.flaw && !runner.flaw; }
};

/// The present verdict, which is replaced as a whole when manifests are read again. Thread safe.
class Gate {
public:
  explicit Gate(Verdict verdict) { replace(std::move(verdict)); }

  /// As `Verdict::is_open`.
  [[nodiscard]] bool is_open() const { return is_open_; }
  [[nodiscard]] std::shared_ptr<const Verdict> verdict() const;
  void replace(Verdict verdict);

private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Verdict> verdict_;
  std::atomic<bool> is_open_ = false;
};

} // namespace cleat::release
