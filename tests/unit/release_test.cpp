#include "protocol/release.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

/// The release gate's judgement (spec 04 section 9), on bytes alone.
namespace cleat::release {
namespace {

const SigningKey key = SigningKey::generate();
const VerifyingKey root = *VerifyingKey::from_pem(key.public_pem());
const Digest program = sha256("the program");

Manifest manifest_of(std::string_view artifact) {
  return {std::string(artifact), "1.2.3", hex_encode(program), std::string(wire_contract_revision)};
}

Evidence signed_with(const SigningKey& by, const std::string& bytes) {
  return {bytes, by.sign(bytes), program};
}

Evidence good() {
  return signed_with(key, render(manifest_of(server_artifact)));
}

TEST(Release, ManifestsAreTheirBytes) {
  const auto manifest = manifest_of(server_artifact);
  const auto bytes = render(manifest);
  EXPECT_EQ(bytes, R"({"artifact":"cleatd","version":"1.2.3","sha256":")" + hex_encode(program) +
                     "\",\"session_id_wire_contract_revision\":\"runner-session-id-v1\"}\n");
  EXPECT_EQ(parse(bytes), manifest);
}

TEST(Release, WhatIsNoManifestIsNone) {
  const std::string digest = hex_encode(program);
  const auto with = [](const std::string& artifact, const std::string& sha256, const std::string& revision) {
    return R"({"artifact":")" + artifact + R"(","version":"1","sha256":")" + sha256 +
           R"(","session_id_wire_contract_revision":")" + revision + "\"}";
  };
  EXPECT_TRUE(parse(with("cleatd", digest, "r")));
  const std::vector<std::string> wrong{
    "",
    "{}",
    "[]",
    "null",
    with("", digest, "r"),
    with("a b", digest, "r"),
    with("a\\u0007", digest, "r"),
    with("a\\u00e9", digest, "r"),
    with(std::string(201, 'a'), digest, "r"),
    with("cleatd", digest.substr(1), "r"),
    with("cleatd", digest + "0", "r"),
    with("cleatd", "Z" + digest.substr(1), "r"),
    with("cleatd", digest, ""),
    R"({"artifact":"cleatd","version":"1","sha256":")" + digest + "\"}",
    with("cleatd", digest, "r") + "{}",
    with("cleatd", digest, R"(r","more":"x)"),
    with("cleatd", digest, R"(r","version":"2)"),
  };
  for (const auto& text : wrong)
    EXPECT_FALSE(parse(text)) << text;
}

TEST(Release, TestDeploymentGateUsesImmutableManifestRevision) {
  EXPECT_EQ(judge(server_artifact, good(), root).flaw, std::nullopt);

  auto old = manifest_of(server_artifact);
  old.session_id_wire_contract_revision = "runner-session-id-v0";
  auto newer = manifest_of(server_artifact);
  newer.session_id_wire_contract_revision = "runner-session-id-v1.1";
  auto altered_program = good();
  altered_program.program = sha256("another program");
  auto altered_manifest = good();
  altered_manifest.manifest->insert(0, " ");
  auto unsigned_one = good();
  unsigned_one.signature.reset();
  auto missing = good();
  missing.manifest.reset();
  auto empty_signature = good();
  empty_signature.signature = "";
  // Somebody raises the revision of an old release, whose signature is then worth nothing.
  auto raised = signed_with(key, render(old));
  raised.manifest = render(manifest_of(server_artifact));
  const std::vector<std::pair<Evidence, Flaw>> cases{
    {missing, Flaw::manifest_missing},
    {unsigned_one, Flaw::signature_missing},
    {empty_signature, Flaw::signature_wrong},
    {signed_with(SigningKey::generate(), *good().manifest), Flaw::signature_wrong},
    {altered_manifest, Flaw::signature_wrong},
    {raised, Flaw::signature_wrong},
    {signed_with(key, "{}"), Flaw::manifest_malformed},
    {signed_with(key, render(manifest_of(runner_artifact))), Flaw::other_artifact},
    {altered_program, Flaw::other_program},
    {signed_with(key, render(old)), Flaw::other_revision},
    {signed_with(key, render(newer)), Flaw::other_revision},
  };
  for (const auto& [evidence, flaw] : cases)
    EXPECT_EQ(judge(server_artifact, evidence, root).flaw, flaw) << to_string(flaw);
  EXPECT_EQ(judge(server_artifact, good(), std::nullopt).flaw, Flaw::trust_root_missing);
}

TEST(Release, AServerCannotKnowWhatRunsOnARunnersMachine) {
  auto evidence = signed_with(key, render(manifest_of(runner_artifact)));
  evidence.program.reset();
  const auto finding = judge(runner_artifact, evidence, root);
  EXPECT_EQ(finding.flaw, std::nullopt);
  EXPECT_EQ(finding.program, std::nullopt);
}

TEST(Release, AFindingNamesRevisionsAndDigests) {
  auto old = manifest_of(server_artifact);
  old.session_id_wire_contract_revision = "runner-session-id-v0";
  const auto bytes = render(old);
  const auto finding = judge(server_artifact, signed_with(key, bytes), root);
  EXPECT_EQ(finding.manifest, old);
  EXPECT_EQ(finding.manifest_digest, sha256(bytes));
  EXPECT_EQ(finding.program, program);
  const auto text = explain(finding);
  for (const auto& part :
       {std::string("expected revision runner-session-id-v1"), std::string("manifest revision runner-session-id-v0"),
        hex_encode(sha256(bytes)), hex_encode(program)})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_NE(explain(judge(server_artifact, {}, root)).find("there is no manifest"), std::string::npos);
}

TEST(Release, EveryFlawHasANameAndASentence) {
  Finding finding;
  std::set<std::string> names;
  std::set<std::string> sentences;
  for (int i = 0; i <= static_cast<int>(Flaw::other_revision); ++i) {
    finding.flaw = static_cast<Flaw>(i);
    names.emplace(to_string(*finding.flaw));
    sentences.insert(explain(finding));
  }
  EXPECT_EQ(names.size(), 8U);
  EXPECT_EQ(sentences.size(), 8U);
  EXPECT_FALSE(names.contains(""));
}

TEST(Release, AGateIsOpenForAPairAlone) {
  EXPECT_FALSE(Verdict().is_open()) << "what nobody has judged";
  Verdict verdict;
  verdict.server.flaw.reset();
  EXPECT_FALSE(verdict.is_open());
  verdict.runner.flaw.reset();
  EXPECT_TRUE(verdict.is_open());
  verdict.server.flaw = Flaw::other_program;
  EXPECT_FALSE(verdict.is_open());
  Gate gate(verdict);
  EXPECT_FALSE(gate.is_open());
  verdict.server.flaw.reset();
  gate.replace(verdict);
  EXPECT_TRUE(gate.is_open());
  EXPECT_TRUE(gate.verdict()->is_open());
}

} // namespace
} // namespace cleat::release
