#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/signing.hpp"
#include "protocol/release_files.hpp"

/// The program `cleat-release`: keys, manifests and their signatures.
namespace cleat::release {
namespace {

// What the process answers to whoever started it.
constexpr int good = 0;
constexpr int not_good = 1;

struct Options {
  std::string key;
  std::string public_key;
  std::string artifact;
  std::string version;
  std::string program;
  std::string manifest;
  std::string revision{wire_contract_revision};
};

std::string read_text(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw std::runtime_error(file + " cannot be read.");
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Writes a file whole or not at all: what is there before stays until the new one is complete.
void write_file(const std::string& file, const std::string& bytes, mode_t mode) {
  const std::string beside = file + ".new";
  ::unlink(beside.c_str());
  const int descriptor = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  bool written =
    descriptor >= 0 && ::write(descriptor, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  written = written && ::fchmod(descriptor, mode) == 0 && ::fsync(descriptor) == 0;
  if (descriptor >= 0)
    ::close(descriptor);
  if (!written || ::rename(beside.c_str(), file.c_str()) != 0) {
    ::unlink(beside.c_str());
    throw std::runtime_error(file + " cannot be written.");
  }
}

constexpr mode_t for_its_owner = 0600;
constexpr mode_t for_everybody = 0644;

SigningKey read_key(const std::string& file) {
  struct stat about {};
  if (::stat(file.c_str(), &about) == 0 && (about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    throw std::runtime_error(file +
                             " can be used by others than its owner, so it is no secret. Run chmod 600 on it if " +
                             "nobody has seen it, else make another key.");
  auto key = SigningKey::from_pem(read_text(file));
  if (!key)
    throw std::runtime_error(file + " holds no Ed25519 private key in PEM form without a passphrase.");
  return std::move(*key);
}

int keygen(const Options& options) {
  for (const auto& file : {options.key, options.public_key})
    if (::access(file.c_str(), F_OK) == 0)
      throw std::runtime_error(file + " is there already; a key is never replaced. Choose another name.");
  const auto key = SigningKey::generate();
  write_file(options.key, key.pem(), for_its_owner);
  write_file(options.public_key, key.public_pem(), for_everybody);
  return good;
}

int sign(const Options& options) {
  const auto key = read_key(options.key);
  const Manifest manifest{options.artifact, options.version, hex_encode(digest_of_file(options.program)),
                          options.revision};
  const auto bytes = render(manifest);
  if (parse(bytes) != manifest)
    throw std::runtime_error("artifact, version and revision are visible ASCII, at most 200 bytes each.");
  // Without its new signature a new manifest is worth nothing, so the gate is never open for a mixture.
  write_file(options.manifest, bytes, for_everybody);
  write_file(signature_file(options.manifest), key.sign(bytes), for_everybody);
  return good;
}

int verify(const Options& options) {
  auto evidence = read_evidence(options.manifest);
  if (!options.program.empty())
    evidence.program = digest_of_file(options.program);
  const auto manifest = evidence.manifest ? parse(*evidence.manifest) : std::nullopt;
  const std::string artifact = !options.artifact.empty() ? options.artifact
                               : manifest                ? manifest->artifact
                                                         : "artifact";
  const auto finding = judge(artifact, evidence, read_trust_root(options.public_key));
  std::fprintf(finding.flaw ? stderr : stdout, "%s\n", explain(finding).c_str());
  return finding.flaw ? not_good : good;
}

int show(const Options& options) {
  const auto bytes = read_text(options.manifest);
  const auto manifest = parse(bytes);
  if (!manifest)
    throw std::runtime_error(options.manifest + " is no release manifest.");
  std::printf("artifact    %s\nversion     %s\nsha256      %s\nrevision    %s\nmanifest    %s\nsignature   %s\n",
              manifest->artifact.c_str(), manifest->version.c_str(), manifest->sha256.c_str(),
              manifest->session_id_wire_contract_revision.c_str(), hex_encode(sha256(bytes)).c_str(),
              read_evidence(options.manifest).signature ? "there, see verify" : "missing");
  return good;
}

/// Declares the options and runs the command that was asked for.
int run(int argc, char** argv) {
  CLI::App app("cleat-release: makes and checks the manifests of releases", "cleat-release");
  app.set_version_flag("--version", std::string("cleat-release ") + CLEAT_VERSION);
  app.require_subcommand(1);
  Options options;
  auto* const make_key = app.add_subcommand("keygen", "Make an Ed25519 key: a private file (0600) and a public one");
  make_key->add_option("--key", options.key, "The private key's file")->type_name("FILE")->required();
  make_key->add_option("--public", options.public_key, "The public key's file")->type_name("FILE")->required();

  auto* const make = app.add_subcommand("sign", "Write a manifest for a program, and its signature beside it (.sig)");
  make->add_option("--key", options.key, "The private key")->type_name("FILE")->required();
  make->add_option("--artifact", options.artifact, "cleatd or cleat-runner")
    ->check(CLI::IsMember({std::string(server_artifact), std::string(runner_artifact)}))
    ->required();
  make->add_option("--version", options.version, "The release's version")->type_name("TEXT")->required();
  make->add_option("--binary", options.program, "The program as it will be run")->type_name("FILE")->required();
  make->add_option("--manifest", options.manifest, "The manifest to write")->type_name("FILE")->required();
  make->add_option("--revision", options.revision, "The session id wire contract that the program speaks")
    ->type_name("TEXT")
    ->capture_default_str();

  auto* const check = app.add_subcommand("verify", "Judge a manifest as the gate does");
  check->add_option("--trust-root", options.public_key, "The public key")->type_name("FILE")->required();
  check->add_option("--manifest", options.manifest, "The manifest")->type_name("FILE")->required();
  check->add_option("--binary", options.program, "The program it is for")->type_name("FILE");
  check->add_option("--artifact", options.artifact, "What it must be for; else whatever it says")->type_name("NAME");

  auto* const print = app.add_subcommand("show", "Print what a manifest says, verified or not");
  print->add_option("--manifest", options.manifest, "The manifest")->type_name("FILE")->required();
  CLI11_PARSE(app, argc, argv);
  return make_key->parsed() ? keygen(options)
         : make->parsed()   ? sign(options)
         : check->parsed()  ? verify(options)
                            : show(options);
}

} // namespace
} // namespace cleat::release

int main(int argc, char** argv) {
  try {
    return cleat::release::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cleat-release: %s\n", error.what());
    return cleat::release::not_good;
  }
}
