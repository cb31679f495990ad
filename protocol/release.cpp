#include "protocol/release.hpp"

#include <algorithm>
#include <utility>

#include "protocol/json_reader.hpp"
#include "protocol/json_writer.hpp"

namespace cleat::release {
namespace {

constexpr std::size_t text_max_bytes = 200;

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= text_max_bytes &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

bool is_digest(const std::string& text) {
  return text.size() == 2 * sizeof(Digest) &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::optional<Flaw> find_flaw(std::string_view artifact, const Evidence& evidence,
                              const std::optional<VerifyingKey>& trust_root, const std::optional<Manifest>& manifest) {
  if (!evidence.manifest)
    return Flaw::manifest_missing;
  if (!evidence.signature)
    return Flaw::signature_missing;
  if (!trust_root)
    return Flaw::trust_root_missing;
  if (!trust_root->verifies(*evidence.manifest, *evidence.signature))
    return Flaw::signature_wrong;
  if (!manifest)
    return Flaw::manifest_malformed;
  if (manifest->artifact != artifact)
    return Flaw::other_artifact;
  if (evidence.program && hex_encode(*evidence.program) != manifest->sha256)
    return Flaw::other_program;
  if (manifest->session_id_wire_contract_revision != wire_contract_revision)
    return Flaw::other_revision;
  return std::nullopt;
}

std::string_view sentence_of(Flaw flaw) {
  switch (flaw) {
    case Flaw::manifest_missing:
      return "there is no manifest for it";
    case Flaw::signature_missing:
      return "its manifest is not signed";
    case Flaw::trust_root_missing:
      return "there is no trust root to verify its manifest with";
    case Flaw::signature_wrong:
      return "its manifest is not signed by the trust root";
    case Flaw::manifest_malformed:
      return "its manifest is not one";
    case Flaw::other_artifact:
      return "its manifest is that of another artifact";
    case Flaw::other_program:
      return "the program is not the one of its manifest";
    case Flaw::other_revision:
      return "its manifest is for another revision of the session id wire contract";
  }
  return {};
}

} // namespace

std::string render(const Manifest& manifest) {
  json::Writer writer;
  writer.begin_object();
  writer.member("artifact", manifest.artifact);
  writer.member("version", manifest.version);
  writer.member("sha256", manifest.sha256);
  writer.member("session_id_wire_contract_revision", manifest.session_id_wire_contract_revision);
  writer.end_object();
  return writer.str() + "\n";
}

std::optional<Manifest> parse(std::string_view bytes) {
  Manifest manifest;
  const auto refusal = json::read_object(bytes, false, [&manifest](json::ObjectReader& reader) {
    const auto text = [&reader](std::string_view member) {
      reader.require(member);
      return reader.string(member).value_or(std::string());
    };
    manifest.artifact = text("artifact");
    manifest.version = text("version");
    manifest.sha256 = text("sha256");
    manifest.session_id_wire_contract_revision = text("session_id_wire_contract_revision");
  });
  const bool is_good = !refusal && is_name(manifest.artifact) && is_name(manifest.version) &&
                       is_digest(manifest.sha256) && is_name(manifest.session_id_wire_contract_revision);
  return is_good ? std::optional(std::move(manifest)) : std::nullopt;
}

std::string_view to_string(Flaw flaw) {
  switch (flaw) {
    case Flaw::manifest_missing:
      return "manifest_missing";
    case Flaw::signature_missing:
      return "signature_missing";
    case Flaw::trust_root_missing:
      return "trust_root_missing";
    case Flaw::signature_wrong:
      return "signature_wrong";
    case Flaw::manifest_malformed:
      return "manifest_malformed";
    case Flaw::other_artifact:
      return "other_artifact";
    case Flaw::other_program:
      return "other_program";
    case Flaw::other_revision:
      return "other_revision";
  }
  return {};
}

Finding judge(std::string_view artifact, const Evidence& evidence, const std::optional<VerifyingKey>& trust_root) {
  Finding finding;
  finding.artifact = artifact;
  finding.program = evidence.program;
  if (evidence.manifest) {
    finding.manifest = parse(*evidence.manifest);
    finding.manifest_digest = sha256(*evidence.manifest);
  }
  finding.flaw = find_flaw(artifact, evidence, trust_root, finding.manifest);
  return finding;
}

std::string explain(const Finding& finding) {
  std::string text = finding.artifact;
  if (finding.flaw) {
    text += " does not pass the release gate: ";
    text += sentence_of(*finding.flaw);
  } else {
    text += " passes the release gate";
  }
  text += " (expected revision " + std::string(wire_contract_revision) + ", manifest revision ";
  text += finding.manifest ? finding.manifest->session_id_wire_contract_revision : "unknown";
  if (finding.manifest_digest)
    text += ", manifest sha256 " + hex_encode(*finding.manifest_digest);
  if (finding.manifest)
    text += ", program sha256 of the manifest " + finding.manifest->sha256;
  if (finding.program)
    text += ", of the running program " + hex_encode(*finding.program);
  return text + ")";
}

std::shared_ptr<const Verdict> Gate::verdict() const {
  const std::lock_guard lock(mutex_);
  return verdict_;
}

void Gate::replace(Verdict verdict) {
  const auto next = std::make_shared<const Verdict>(std::move(verdict));
  const std::lock_guard lock(mutex_);
  verdict_ = next;
  is_open_ = next->is_open();
}

} // namespace cleat::release
