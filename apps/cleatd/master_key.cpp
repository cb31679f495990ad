#include "apps/cleatd/master_key.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "base/encoding.hpp"
#include "base/log.hpp"
#include "base/random.hpp"

namespace cleat::cleatd {
namespace {

constexpr const char* file_name = "master.key";

std::shared_ptr<const MasterKey> read_key(std::string text, const std::string& path) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
    text.pop_back();
  const auto bytes = base64url_decode(text);
  std::array<std::uint8_t, 32> key{};
  if (!bytes || bytes->size() != key.size())
    throw std::runtime_error(path + " does not hold a master key: 43 characters of base64url. Put it back from a " +
                             "backup; without it the secrets that were sealed with it are lost.");
  std::ranges::copy(*bytes, key.begin());
  return std::make_shared<const MasterKey>(key);
}

} // namespace

std::shared_ptr<const MasterKey> load_master_key(const storage::DataFolder& folder, const std::string& file) {
  if (!file.empty()) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
      throw std::runtime_error("secrets.master_key_file is " + file + ", which cannot be read.");
    return read_key({std::istreambuf_iterator<char>(stream), {}}, file);
  }
  const std::string path = folder.path() / file_name;
  if (const auto text = folder.read(file_name))
    return read_key(*text, path);
  const std::string made = new_secret();
  folder.write(file_name, made + "\n");
  log::get().info("made the master key of secrets, {}; keep a copy of it", path);
  return read_key(made, path);
}

} // namespace cleat::cleatd
