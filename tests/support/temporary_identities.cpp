#include "tests/support/temporary_identities.hpp"

#include <stdexcept>
#include <vector>

#include <stdlib.h>

#include "tests/support/child.hpp"

namespace cleat::test {
namespace {

std::filesystem::path new_folder() {
  std::string path = std::filesystem::temp_directory_path() / "cleat-tls-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr)
    throw std::runtime_error("cannot make a folder for certificates");
  return path;
}

} // namespace

TemporaryIdentities::TemporaryIdentities(const std::string& name) : authority_(name), folder_(new_folder()) {
  const auto identity = authority_.issue({"cleat.example.com"}, {"127.0.0.1"});
  write_file(file("ca.pem"), authority_.certificate());
  write_file(file("chain.pem"), identity.certificate);
  write_file(file("key.pem"), identity.key);
}

void TemporaryIdentities::become(const TemporaryIdentities& other) {
  for (const auto* name : {"ca.pem", "chain.pem", "key.pem"})
    write_file(file(name), read_file(other.file(name)));
}

TemporaryIdentities::~TemporaryIdentities() {
  std::filesystem::remove_all(folder_);
}

} // namespace cleat::test
