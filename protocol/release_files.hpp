#pragma once

#include <optional>
#include <string>

#include "base/encoding.hpp"
#include "base/signing.hpp"
#include "protocol/release.hpp"

/// Where the gate finds what it judges: files.
namespace cleat::release {

/// The name of the signature that belongs to a manifest's file.
std::string signature_file(const std::string& manifest_file);

/// The program that runs, with its folder.
std::string running_program();

/// Where the manifest of a program is looked for when nobody says otherwise: beside the program.
std::string default_manifest(const std::string& program);

/// Where the trust root is looked for when nobody says otherwise: `release.pub` beside the program.
std::string default_trust_root(const std::string& program);

/// SHA-256 of a whole file. Throws `std::runtime_error` that names it when it cannot be read.
Digest digest_of_file(const std::string& file);

/// SHA-256 of the image that runs, whatever has taken the place of its file since. Throws as `digest_of_file`.
Digest digest_of_running_program();

/// A manifest and its signature. What is not there, cannot be read or is too large to be one is missing.
Evidence read_evidence(const std::string& manifest_file);

/// The public key of a PEM file; nothing when there is none.
std::optional<VerifyingKey> read_trust_root(const std::string& file);

} // namespace cleat::release
