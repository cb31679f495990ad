#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "apps/cleatd/check.hpp"
#include "apps/cleatd/command_line.hpp"
#include "apps/cleatd/instance.hpp"
#include "apps/cleatd/signals.hpp"
#include "base/core_dumps.hpp"
#include "base/log.hpp"

namespace cleat::cleatd {
namespace {

// What the process answers to whoever started it.
constexpr int stopped = 0;
constexpr int cannot_run = 1;
constexpr int wrong_configuration = 2;

void start_log(const CommandLine& command) {
  const auto& format = command.config.log_format;
  log::init(format == "json"   ? log::Format::json
            : format == "text" ? log::Format::text
                               : log::Format::automatic,
            command.config.log_level);
  for (const auto& name : command.unknown_variables)
    log::get().warn("the environment variable {} means nothing to cleatd", name);
}

/// Every connection is a descriptor, and the usual soft limit of 1024 is what `http.max_connections` alone may need.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
    log::get().warn("the limit of open files could not be raised; many connections may be refused");
}

/// A batch process does not take the processor away from whoever it has just woken up or was woken by. Answers wait a
/// moment longer and more of them are ready together, which is what a server of many small steps wants. Threads and
/// the embedded PostgreSQL inherit it, so it is asked for before there are any.
void run_as_batch() {
  const sched_param priority{};
  if (sched_setscheduler(0, SCHED_BATCH, &priority) != 0)
    log::get().warn("batch scheduling is not available here; process.batch has no effect");
}

void serve(const Config& config) {
  Signals signals;
  Instance instance(config);
  instance.start_database();
  if (signals.stop_requested())
    return;
  instance.start_serving();
  std::fputs(instance.announcement().c_str(), stdout);
  std::fflush(stdout);
  while (signals.wait() == Signals::Request::reload)
    instance.reload();
  instance.stop();
}

int run(const std::vector<std::string>& arguments) {
  try {
    // The environment and the file may hold the password of a database.
    const auto core_limit = forbid_core_dumps();
    const auto command = read_command_line(arguments, environment_of_process());
    if (command.action == CommandLine::Action::print_and_exit) {
      std::fputs(command.text.c_str(), stdout);
      return stopped;
    }
    start_log(command);
    if (command.action == CommandLine::Action::check)
      return check(command.config, command.json);
    if (command.config.process_core_dumps) {
      allow_core_dumps(core_limit);
      log::get().warn("core dumps are allowed by process.core_dumps; they hold tokens and secrets in clear");
    }
    raise_descriptor_limit();
    if (command.config.process_batch)
      run_as_batch();
    serve(command.config);
    return stopped;
  } catch (const ConfigError& error) {
    std::fprintf(stderr, "cleatd: %s\n", error.what());
    return wrong_configuration;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cleatd: %s\n", error.what());
    return cannot_run;
  }
}

} // namespace
} // namespace cleat::cleatd

int main(int argc, char** argv) {
  // Everything that is written is for this user alone, and a client that hangs up is no reason to end.
  umask(077);
  std::signal(SIGPIPE, SIG_IGN);
  return cleat::cleatd::run({argv + 1, argv + argc});
}
