#include <array>

#include "base/problem.hpp"
#include "protocol/release.hpp"
#include "tests/fuzz/property.hpp"

/// Release manifests, their signatures and trust roots. The first line of an input says whether the rest is a manifest
/// or a PEM file.
namespace cleat::fuzz {
namespace {

using release::Flaw;

/// A pair of keys that no input knows.
const SigningKey& signing_key() {
  static const SigningKey key = SigningKey::generate();
  return key;
}

const VerifyingKey& trust_root() {
  static const VerifyingKey root = *VerifyingKey::from_pem(signing_key().public_pem());
  return root;
}

void check_judgement(std::string_view bytes, const std::optional<release::Manifest>& manifest) {
  const std::string text(bytes);
  const auto program = sha256("a program");
  const auto forged = release::judge(release::server_artifact, {text, text, program}, trust_root());
  must(forged.flaw == Flaw::signature_wrong, "what nobody has signed does not pass");
  const auto no_root =
    release::judge(release::server_artifact, {text, signing_key().sign(text), program}, std::nullopt);
  must(no_root.flaw == Flaw::trust_root_missing, "without a trust root nothing passes");
  const auto finding =
    release::judge(release::server_artifact, {text, signing_key().sign(text), program}, trust_root());
  const bool is_right = manifest && manifest->artifact == release::server_artifact &&
                        manifest->sha256 == hex_encode(program) &&
                        manifest->session_id_wire_contract_revision == release::wire_contract_revision;
  must(is_right == !finding.flaw, "a signed manifest passes when it is the right one");
  must(finding.manifest == manifest, "a finding shows the manifest");
  must(!release::explain(finding).empty(), "a finding has an explanation");
}

void check_manifest(std::string_view bytes) {
  const auto manifest = release::parse(bytes);
  must(!manifest || release::parse(release::render(*manifest)) == manifest, "a manifest that is written is read again");
  check_judgement(bytes, manifest);
}

void check_pem(std::string_view bytes) {
  const auto root = VerifyingKey::from_pem(bytes);
  must(!root || !root->verifies(bytes, signing_key().sign(bytes)), "another key's signature is none");
  const auto key = SigningKey::from_pem(bytes);
  if (!key)
    return;
  const auto again = SigningKey::from_pem(key->pem());
  must(again && again->pem() == key->pem(), "a key that is written is read again");
  const auto half = VerifyingKey::from_pem(key->public_pem());
  must(half && half->verifies(bytes, key->sign(bytes)), "the halves of a key belong together");
}

} // namespace
} // namespace cleat::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cleat::fuzz;
  auto input = text_of(data, size);
  if (take_line(input) == "pem")
    check_pem(input);
  else
    check_manifest(input);
  return 0;
}
