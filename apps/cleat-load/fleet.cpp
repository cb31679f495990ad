#include "apps/cleat-load/fleet.hpp"

#include <stdexcept>

#include "apps/cleat-load/interrupt.hpp"
#include "apps/cleat-load/setup.hpp"

namespace cleat::load {
namespace {

/// How many containers of the world's human are idle; nobody else's are seen.
std::size_t count_idle(Setup& setup, const World& world) {
  std::size_t idle = 0;
  std::string cursor;
  do {
    setup.each(
      1,
      [&](std::size_t, Request& request) {
        request.target = "/v1/containers?limit=200" + (cursor.empty() ? "" : "&cursor=" + cursor);
        request.token = world.human_token;
      },
      [&](std::size_t, const JsonObject& page) {
        cursor = page.text("next_cursor");
        const auto items = page.array("items");
        if (!items)
          throw std::runtime_error("A list of containers has no items.");
        for (simdjson::dom::element element : *items)
          idle += JsonObject(element).text("state") == "idle" ? 1 : 0;
      });
  } while (!cursor.empty());
  return idle;
}

} // namespace

void require_runner_address(const Target& target) {
  if (target.runner_address.empty())
    throw std::runtime_error("Where do Runners connect to? Give --data DIR of a cleatd on this machine, or "
                             "--runner-address HOST:PORT.");
}

Fleet::Fleet(const std::filesystem::path& program, const Target& target, const World& world,
             std::chrono::seconds patience) {
  for (const RunnerEntry& runner : world.runners)
    runners_.push_back(std::make_unique<RunnerProcess>(program, target.runner_address, runner));
  await_idle(target, world, patience);
}

std::vector<pid_t> Fleet::pids() const {
  std::vector<pid_t> pids;
  for (const auto& runner : runners_)
    pids.push_back(runner->pid());
  return pids;
}

void Fleet::await_idle(const Target& target, const World& world, std::chrono::seconds patience) const {
  // A container's state is only read, there is nothing to wait on: a look now and then, and in between a Runner's end.
  constexpr std::chrono::milliseconds between_looks{20};
  std::size_t wanted = 0;
  for (const RunnerEntry& runner : world.runners)
    wanted += runner.containers.size();
  Setup setup(target, world.run + "-fleet", 1, patience);
  const auto deadline = Clock::now() + patience;
  std::size_t idle = count_idle(setup, world);
  while (idle < wanted) {
    throw_if_interrupted();
    for (const auto& runner : runners_)
      if (runner->ends_within(between_looks))
        throw std::runtime_error("cleat-runner has ended; it said:\n" + runner->last_words());
    if (Clock::now() > deadline)
      throw std::runtime_error("Only " + std::to_string(idle) + " of " + std::to_string(wanted) +
                               " containers became idle within " + std::to_string(patience.count()) + " s.");
    idle = count_idle(setup, world);
  }
}

} // namespace cleat::load
