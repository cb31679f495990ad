#pragma once

#include <filesystem>
#include <string>

#include "tests/support/certificates.hpp"

namespace cleat::test {

/// Certificates of one authority in a folder of the test's own: `ca.pem`, `chain.pem` and `key.pem` for
/// cleat.example.com and 127.0.0.1.
class TemporaryIdentities {
public:
  explicit TemporaryIdentities(const std::string& name);
  ~TemporaryIdentities();

  TemporaryIdentities(const TemporaryIdentities&) = delete;
  TemporaryIdentities& operator=(const TemporaryIdentities&) = delete;

  /// Puts another one's files in the place of these, as a renewal does.
  void become(const TemporaryIdentities& other);

  /// The path of a file in it.
  [[nodiscard]] std::string file(const std::string& name) const { return folder_ / name; }

private:
  Authority authority_;
  std::filesystem::path folder_;
};

} // namespace cleat::test
