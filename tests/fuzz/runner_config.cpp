#include <string>

#include "apps/cleat-runner/config.hpp"
#include "protocol/validate.hpp"
#include "tests/fuzz/files.hpp"

/// The configuration file of cleat-runner.
namespace cleat::fuzz {
namespace {

void check_container(const std::string& name, const runner::ContainerSpec& spec) {
  must(spec.name == name && !validate::container_name(name), "a container is called as the server can call it");
  must(spec.stop_grace_s >= 0 && spec.stop_grace_s <= 3600, "an agent has a while to end");
  if (spec.driver == runner::DriverKind::null)
    return;
  must(!spec.command.empty() && !spec.command.front().empty(), "an agent is a program");
  must(spec.folder.starts_with('/'), "an agent works somewhere");
}

void check(const runner::Config& config) {
  must(!config.server_host.empty() && config.server_port > 0, "a Runner knows its server");
  must(config.state.starts_with('/') && config.token_file.starts_with('/'), "files are where the Runner is not");
  must(!config.tls || !config.tls_server_name.empty(), "a server that speaks TLS has a name");
  must(config.relay_window > 0 && config.backoff_max_ms > 0 && config.drain_s >= 0, "numbers are in their range");
  for (const auto& [name, spec] : config.containers)
    check_container(name, spec);
}

} // namespace
} // namespace cleat::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cleat;
  const fuzz::MemoryFile file(fuzz::text_of(data, size));
  try {
    fuzz::check(runner::read_config(file.path(), {}, {}));
  } catch (const runner::ConfigError& error) {
    const std::string refusal = error.what();
    fuzz::must(refusal.ends_with('.') && refusal.size() > 10, "a refusal is a sentence");
  }
  return 0;
}
