#include "apps/cleat-load/load_run.hpp"

#include <algorithm>
#include <iostream>
#include <utility>

#include <unistd.h>

#include "apps/cleat-load/etcd.hpp"
#include "apps/cleat-load/fleet.hpp"
#include "apps/cleat-load/processes.hpp"
#include "apps/cleat-load/words.hpp"

namespace cleat::load {
namespace {

using std::chrono::microseconds;

/// CPU of some processes together; `nullopt` when there are none or one of them cannot be seen.
std::optional<microseconds> cpu_of_all(const std::vector<pid_t>& processes) {
  std::optional<microseconds> sum;
  for (const pid_t process : processes) {
    const auto cpu = cpu_of(process);
    if (!cpu)
      return std::nullopt;
    sum = sum.value_or(microseconds(0)) + *cpu;
  }
  return sum;
}

CpuTimes cpu_now(const Target& target) {
  return {target.server_pid == 0 ? std::nullopt : cpu_of(target.server_pid),
          target.postgres_pid == 0 ? std::nullopt : cpu_of_family(target.postgres_pid), cpu_of(getpid()),
          cpu_of_all(target.runner_pids)};
}

std::optional<microseconds> difference(std::optional<microseconds> before, std::optional<microseconds> after) {
  return before && after ? std::optional(*after - *before) : std::nullopt;
}

/// Plays for the time or the number of requests that the options say, and measures what comes after the warm-up.
class LoadRun final : public Traffic {
public:
  LoadRun(Scenario scenario, const Options& options, const Target& target, Stage& stage)
    : options_(options),
      target_(target),
      stage_(stage),
      plays_(make_plays(scenario, stage, options.connections)),
      started_at_(Clock::now()) {
    result_.scenario = scenario;
    // A number of requests is counted from the first one.
    begins_at_ = options.count > 0 ? started_at_ : started_at_ + options.warmup;
    ends_at_ = options.count > 0 ? Clock::time_point::max() : begins_at_ + options.duration;
  }

  bool next(std::size_t connection, Request& request) override {
    const auto now = Clock::now();
    if (!begun_ && now >= begins_at_)
      begin(now);
    if (now >= ends_at_ || (options_.count > 0 && sent_ == options_.count))
      return false;
    ++sent_;
    plays_[connection]->next(request);
    return true;
  }

  void answered(std::size_t connection, const Answer& answer, std::chrono::nanoseconds latency) override {
    const Kind kind = plays_[connection]->check(answer);
    const auto now = Clock::now();
    ++result_.checked;
    of_this_second_.add(latency);
    if (begun_ && now >= ends_at_ && !ended_)
      end(now);
    if (begun_ && !ended_)
      result_.latencies[kind].add(latency);
  }

  void second() override {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - started_at_);
    std::cerr << to_string(result_.scenario) << (begun_ ? " " : " (warming up) ") << seconds.count()
              << " s: " << grouped(static_cast<std::int64_t>(of_this_second_.count())) << " answers/s, p99 "
              << short_time(of_this_second_.quantile(0.99)) << ", " << stage_.findings.count() << " wrong\n";
    of_this_second_ = {};
  }

  /// What it came to, once everything was played.
  Result result() && {
    if (!ended_)
      end(Clock::now());
    return std::move(result_);
  }

private:
  void begin(Clock::time_point now) {
    begun_ = true;
    begins_at_ = now;
    cpu_before_ = cpu_now(target_);
  }

  void end(Clock::time_point now) {
    ended_ = true;
    const CpuTimes after = cpu_now(target_);
    result_.cpu = {difference(cpu_before_.server, after.server), difference(cpu_before_.postgres, after.postgres),
                   difference(cpu_before_.load, after.load), difference(cpu_before_.runner, after.runner)};
    result_.span = std::chrono::duration_cast<microseconds>(now - begins_at_);
  }

  const Options& options_;
  const Target& target_;
  Stage& stage_;
  std::vector<std::unique_ptr<Play>> plays_;
  Clock::time_point started_at_;
  Clock::time_point begins_at_;
  Clock::time_point ends_at_;
  bool begun_ = false;
  bool ended_ = false;
  std::uint64_t sent_ = 0;
  CpuTimes cpu_before_;
  Histogram of_this_second_;
  Result result_;
};

/// What a scenario needs to find.
WorldPlan plan_of(Scenario scenario, const Options& options) {
  constexpr std::size_t listed = 64;
  constexpr std::size_t runs_a_reporter = 2;
  WorldPlan plan;
  const bool mixed = scenario == Scenario::mixed;
  if (mixed || scenario == Scenario::distinct || scenario == Scenario::takeover || scenario == Scenario::reset) {
    plan.threads = options.threads;
    plan.history = options.history;
  }
  if (mixed || scenario == Scenario::list)
    plan.listed = std::min(listed, options.threads);
  if (mixed || scenario == Scenario::report)
    plan.reported = mixed ? runs_a_reporter * options.connections : options.threads;
  if (scenario == Scenario::starts) {
    plan.containers = options.containers;
    plan.runners = options.runners;
  }
  return plan;
}

/// Plays in the world of `stage` and checks what is left.
Result play_in(Stage& stage, Scenario scenario, const Options& options, const Target& target) {
  const auto memory = [&] { return target.server_pid == 0 ? std::nullopt : resident_bytes(target.server_pid); };
  const auto memory_before = memory();
  LoadRun run(scenario, options, target, stage);
  Connections(target.address, options.connections, options.patience).play(run);
  stage.contest.settle(stage.findings);
  Result result = std::move(run).result();
  result.findings = std::move(stage.findings);
  result.server_memory_before = memory_before;
  result.server_memory = memory();
  if (scenario == Scenario::etcd)
    result.database = compare_with_etcd(target.address, stage.world, stage.tally, options.patience);
  else if (scenario != Scenario::noop && !target.database_url.empty())
    result.database = compare_with_database(target.database_url, stage.world, stage.tally);
  return result;
}

} // namespace

bool Result::right() const {
  return findings.count() == 0 &&
         std::all_of(database.begin(), database.end(), [](const auto& c) { return c.agrees(); });
}

std::int64_t Result::per_second(Kind kind) const {
  const auto found = latencies.find(kind);
  if (found == latencies.end() || span.count() == 0)
    return 0;
  constexpr std::int64_t micros_a_second = 1'000'000;
  return static_cast<std::int64_t>(found->second.count()) * micros_a_second / span.count();
}

Result run_scenario(Scenario scenario, const Options& options, const Target& target) {
  Stage stage;
  if (scenario == Scenario::noop || scenario == Scenario::etcd) {
    stage.world.run = new_run();
    return play_in(stage, scenario, options, target);
  }
  std::filesystem::path program;
  if (scenario == Scenario::starts) { // what is missing is said before anything is made
    require_runner_address(target);
    program = find_runner_program(options.runner_program);
  }
  stage.world = make_world(target, plan_of(scenario, options), options.connections, options.patience);
  if (scenario == Scenario::starts) {
    // They are ended when everything was compared, because that releases what is live.
    const Fleet fleet(program, target, stage.world, options.wait);
    Target with_runners = target;
    with_runners.runner_pids = fleet.pids();
    return play_in(stage, scenario, options, with_runners);
  }
  Result result = play_in(stage, scenario, options, target);
  if (!stage.world.reported.empty())
    finish_runs(target, stage.world, options.connections, options.patience);
  return result;
}

} // namespace cleat::load
