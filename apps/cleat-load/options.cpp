#include "apps/cleat-load/options.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <utility>

namespace cleat::load {
namespace {

constexpr std::array<std::pair<std::string_view, Scenario>, 10> names{{
  {"distinct", Scenario::distinct},
  {"contended", Scenario::contended},
  {"takeover", Scenario::takeover},
  {"reset", Scenario::reset},
  {"report", Scenario::report},
  {"mixed", Scenario::mixed},
  {"list", Scenario::list},
  {"starts", Scenario::starts},
  {"etcd", Scenario::etcd},
  {"noop", Scenario::noop},
}};

void add_seconds(CLI::App& app, const std::string& name, std::chrono::seconds& target, const std::string& words) {
  const auto store = [&target](const std::int64_t& seconds) { target = std::chrono::seconds(seconds); };
  app.add_option_function<std::int64_t>(name, store, words + " [" + std::to_string(target.count()) + "]")
    ->check(CLI::NonNegativeNumber);
}

} // namespace

std::string_view to_string(Scenario scenario) {
  for (const auto& [name, value] : names)
    if (value == scenario)
      return name;
  return {};
}

void declare(CLI::App& app, Options& options) {
  const std::map<std::string, Scenario> scenarios(names.begin(), names.end());
  app.add_option("--data", options.data, "Data folder of a cleatd on this machine: gives everything below");
  app.add_option("--url", options.url, "The server, http://HOST:PORT");
  app.add_option("--token-file", options.token_file, "File with the owner's token");
  app.add_option("--database-url", options.database_url, "Compare with this database afterwards");
  app.add_option("--server-pid", options.server_pid, "Process whose CPU counts as the server's");
  app.add_option("--postgres-pid", options.postgres_pid, "PostgreSQL's main process, for its CPU");
  app
    .add_option("--scenario", options.scenarios,
                "distinct, contended, takeover, reset, report, mixed, list, starts, noop, etcd; several with commas")
    ->delimiter(',')
    ->transform(CLI::CheckedTransformer(scenarios, CLI::ignore_case).description(""));
  app.add_option("--connections", options.connections, "Connections, each with one request on the way [64]");
  app.add_option("--threads-count", options.threads, "Threads of the world [640]");
  app.add_option("--history", options.history, "Imported sessions in each of them [0]");
  app.add_option("--containers", options.containers, "Containers of the scenario starts [1000]");
  app.add_option("--runners", options.runners, "Runners that hold them, each a process [1]");
  app.add_option("--runner-program", options.runner_program,
                 "Their program [cleat-runner beside this one, in the build folder or in PATH]");
  app.add_option("--runner-address", options.runner_address, "HOST:PORT that they connect to");
  add_seconds(app, "--duration-s", options.duration, "Seconds to measure");
  add_seconds(app, "--warmup-s", options.warmup, "Seconds of load before measuring");
  app.add_option("--count", options.count, "Requests to send, in place of a duration");
  app.add_option("--json", options.json, "Write the results to this file");
  app.add_option("--html", options.html, "Write a page with latency histograms to this file");
  add_seconds(app, "--wait-s", options.wait, "Seconds to wait for a server that is starting on --data");
  add_seconds(app, "--timeout-s", options.patience, "Seconds that an answer may take");
}

bool Options::plays(Scenario scenario) const {
  return std::find(scenarios.begin(), scenarios.end(), scenario) != scenarios.end();
}

void Options::validate() const {
  if (data.empty() && url.empty())
    throw std::invalid_argument(
      "Which server? Give --data DIR of a cleatd on this machine, or --url and --token-file.");
  if (connections == 0)
    throw std::invalid_argument("--connections must be at least 1.");
  if (threads < 2 * connections)
    throw std::invalid_argument("--threads-count must be at least twice --connections, because each connection works "
                                "on threads of its own: give --threads-count " +
                                std::to_string(2 * connections) + " or more.");
  if (plays(Scenario::starts) && (containers < connections || runners == 0 || runners > containers))
    throw std::invalid_argument("--containers must be at least --connections and at least --runners, because each "
                                "connection starts in containers of its own; and there must be a Runner.");
  if (plays(Scenario::etcd) && (scenarios.size() > 1 || url.empty()))
    throw std::invalid_argument("The scenario etcd is played alone and needs --url http://HOST:PORT of an etcd.");
  if (count == 0 && duration.count() == 0)
    throw std::invalid_argument("--duration-s must be at least 1, or give --count.");
}

} // namespace cleat::load
