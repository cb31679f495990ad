#include <csignal>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/cleat-runner/config.hpp"
#include "apps/cleat-runner/exit_status.hpp"
#include "apps/cleat-runner/recovery.hpp"
#include "apps/cleat-runner/runner.hpp"
#include "base/core_dumps.hpp"
#include "base/log.hpp"
#include "protocol/release_files.hpp"

namespace cleat::runner {
namespace {

struct CommandLine {
  std::string file;
  Values options;
};

Values environment_of_process() {
  Values values;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    if (const auto equals = text.find('='); equals != std::string::npos)
      values[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return values;
}

/// The options; ends the process for `--help` and `--version`.
CommandLine read_command_line(int argc, char** argv) {
  CLI::App app("cleat-runner: starts agents where a Cleat server tells it to", "cleat-runner");
  app.footer("Each option is also an environment variable (CLEAT_RUNNER_SERVER) and a key of the file.\n"
             "Containers and all keys: docs/operating/runner.md");
  app.set_version_flag("--version", std::string("cleat-runner ") + CLEAT_VERSION);
  CommandLine command;
  Values given;
  app.add_option("--config", command.file, "A TOML file with the containers")->type_name("FILE");
  app.add_option("--server", given["server"], "The server's address for Runners")->type_name("HOST:PORT");
  app.add_option("--token-file", given["token-file"], "The file with the Runner's token")->type_name("FILE");
  app.add_option("--state", given["state"], "The folder of the journal")->type_name("DIR");
  app.add_option("--log-level", given["log-level"], "trace, debug, info, warn or error")->type_name("LEVEL");
  app.add_option("--log-format", given["log-format"], "auto, text or json")->type_name("FORMAT");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0)
      std::exit(app.exit(error)); // NOLINT(concurrency-mt-unsafe): there is one thread
    throw ConfigError(std::string(error.what()) + ". Run cleat-runner --help to see the options.");
  }
  for (const auto& [name, value] : given)
    if (app.count("--" + name) > 0)
      command.options[name] = value;
  return command;
}

void start_log(const Config& config) {
  log::init(config.log_format == "json"   ? log::Format::json
            : config.log_format == "text" ? log::Format::text
                                          : log::Format::automatic,
            config.log_level);
}

/// An agent takes a handful of descriptors.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

/// SIGTERM and SIGINT as something that can be waited for.
Descriptor stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return Descriptor(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

/// Refuses to work as anything but what its release says it is (spec 04 section 9). The server does not believe what a
/// Runner says of itself; this keeps an altered or mixed-up Runner from enrolling at all.
void verify_release(const Config& config) {
  const auto program = release::running_program();
  const auto manifest = config.release_manifest.empty() ? release::default_manifest(program) : config.release_manifest;
  const auto trust_root =
    config.release_trust_root.empty() ? release::default_trust_root(program) : config.release_trust_root;
  auto evidence = release::read_evidence(manifest);
  evidence.program = release::digest_of_running_program();
  const auto finding = release::judge(release::runner_artifact, evidence, release::read_trust_root(trust_root));
  if (finding.flaw)
    throw std::runtime_error(release::explain(finding) + ". Looked at " + manifest + " with the trust root " +
                             trust_root + "; put the signed manifest of this release there.");
  log::get().info("{}", release::explain(finding));
}

int serve(const Config& config) {
  const Descriptor signals = stop_signals();
  const StateFolder state(config.state);
  Journal journal(state.journal());
  Relays relays(
    journal, {config.relay_window, config.relay_max_unacknowledged, std::chrono::milliseconds(config.relay_resend_ms)});
  end_leftovers(journal, relays, state, SystemClock().now());
  EventLoop loop;
  Runner runner(config, state, loop, journal, relays);
  loop.watch(signals.get(), EPOLLIN, [&](std::uint32_t) {
    signalfd_siginfo info{};
    if (::read(signals.get(), &info, sizeof info) == sizeof info)
      runner.drain();
  });
  log::get().info("cleat-runner {} with {} containers", CLEAT_VERSION, config.containers.size());
  return runner.run();
}

int run(int argc, char** argv) {
  try {
    // Tokens and secrets pass through this process. Agents get secrets as well; they begin without dumps and may ask
    // for them, as far as the limit of whoever started the Runner goes.
    forbid_core_dumps();
    const auto command = read_command_line(argc, argv);
    const auto environment = environment_of_process();
    auto file = command.file;
    if (const auto found = environment.find("CLEAT_RUNNER_CONFIG"); file.empty() && found != environment.end())
      file = found->second;
    const auto config = read_config(file, command.options, environment);
    start_log(config);
    raise_descriptor_limit();
    verify_release(config);
    return serve(config);
  } catch (const ConfigError& error) {
    std::fprintf(stderr, "cleat-runner: %s\n", error.what());
    return exit_status::wrong_configuration;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cleat-runner: %s\n", error.what());
    return exit_status::cannot_run;
  }
}

} // namespace
} // namespace cleat::runner

int main(int argc, char** argv) {
  // Whatever opens a descriptor must not get one of the three that everybody takes for a stream.
  while (true) {
    const int probe = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (probe < 0 || probe > STDERR_FILENO) {
      ::close(probe);
      break;
    }
  }
  umask(077);
  std::signal(SIGPIPE, SIG_IGN);
  return cleat::runner::run(argc, argv);
}
