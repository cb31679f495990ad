#include "apps/cleat-runner/launch.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <unistd.h>

namespace cleat::runner {
namespace {

namespace fs = std::filesystem;

constexpr const char* default_path = "/usr/local/bin:/usr/bin:/bin";

/// The program's file: as it stands with a slash, else found in `path`.
std::string find_program(const std::string& name, std::string_view path, const std::string& folder) {
  if (name.find('/') != std::string::npos)
    return name.front() == '/' ? name : folder + "/" + name;
  while (!path.empty()) {
    const auto entry = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(path.size(), entry.size() + 1));
    const auto candidate = std::string(entry) + "/" + name;
    if (!entry.empty() && ::access(candidate.c_str(), X_OK) == 0)
      return candidate;
  }
  throw LaunchError("there is no program " + name + " in the PATH of the container");
}

std::map<std::string, std::string> environment_of(const ContainerSpec& container, const LaunchFacts& facts) {
  auto environment = container.environment;
  environment.emplace("PATH", default_path);
  environment.emplace("HOME", container.folder);
  environment["CLEAT_SESSION_ID"] = facts.session_id;
  environment["CLEAT_SECRETS"] = facts.secrets_socket;
  if (!facts.body_file.empty())
    environment["CLEAT_SESSION_BODY"] = facts.body_file;
  return environment;
}

/// The same command inside bubblewrap: everything of this machine to be read, its folder alone to be written, and
/// nothing of the Runner's own.
std::vector<std::string> wrapped(const ContainerSpec& container, const LaunchFacts& facts) {
  std::vector<std::string> arguments{
    "bwrap", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent",
    // Without this one the agent of a Runner that is root would have all that root may.
    "--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs",
    "/run"};
  const auto add = [&](std::initializer_list<std::string> more) { arguments.insert(arguments.end(), more); };
  if (!container.network)
    add({"--unshare-net"});
  add({"--tmpfs", facts.state_folder});
  // A file below /tmp or /run has gone from sight with its folder already.
  if (!facts.token_file.starts_with("/tmp/") && !facts.token_file.starts_with("/run/") &&
      !facts.token_file.starts_with(facts.state_folder + "/"))
    add({"--ro-bind", "/dev/null", facts.token_file});
  for (const auto& folder : container.hide)
    add({"--tmpfs", folder});
  add({"--bind", container.folder, container.folder, "--bind", facts.secrets_socket, facts.secrets_socket});
  if (!facts.body_file.empty())
    add({"--ro-bind", facts.body_file, facts.body_file});
  add({"--chdir", container.folder, "--"});
  return arguments;
}

} // namespace

Launch plan_launch(const ContainerSpec& container, const LaunchFacts& facts) {
  Launch launch;
  launch.environment = environment_of(container, facts);
  launch.folder = container.folder;
  std::error_code error;
  if (!fs::is_directory(container.folder, error))
    throw LaunchError("the folder " + container.folder + " of the container is not there");
  const auto program = find_program(container.command.front(), launch.environment.at("PATH"), container.folder);
  launch.program = program;
  launch.arguments = container.command;
  if (container.driver != DriverKind::bwrap)
    return launch;
  // What bubblewrap cannot execute would look like an agent that has started and ended at once.
  if (::access(program.c_str(), X_OK) != 0)
    throw LaunchError("cannot execute " + program + ": " + std::strerror(errno));
  launch.program = find_program("bwrap", default_path, "/");
  launch.arguments = wrapped(container, facts);
  launch.arguments.push_back(program);
  launch.arguments.insert(launch.arguments.end(), container.command.begin() + 1, container.command.end());
  launch.wrapped = true;
  return launch;
}

} // namespace cleat::runner
