#include <optional>
#include <string>

#include "apps/cleatd/config.hpp"
#include "tests/fuzz/files.hpp"

/// The configuration file of cleatd.
namespace cleat::fuzz {
namespace {

/// A configuration, or the sentence that says why it is none.
struct Read {
  std::optional<cleatd::Config> config;
  std::string refusal;
};

Read read(std::string_view text) {
  const MemoryFile file(text);
  Read result;
  try {
    cleatd::Config config;
    cleatd::apply_file(config, file.path());
    cleatd::validate(config);
    config.database_url.clear(); // never shown, because it may hold a password
    result.config = std::move(config);
  } catch (const cleatd::ConfigError& error) {
    result.refusal = error.what();
    must(result.refusal.ends_with('.') && result.refusal.size() > 10, "a refusal is a sentence");
  }
  return result;
}

} // namespace
} // namespace cleat::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cleat;
  const auto first = fuzz::read(fuzz::text_of(data, size));
  if (!first.config)
    return 0;
  const auto shown = cleatd::print(*first.config);
  const auto again = fuzz::read(shown);
  fuzz::must(again.config.has_value(), "a configuration that is shown can be used");
  fuzz::must(cleatd::print(*again.config) == shown, "a configuration that is shown is read as the same");
  return 0;
}
