#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/process/client.hpp"
#include "tests/process/server.hpp"
#include "tests/process/world.hpp"
#include "tests/support/child.hpp"

/// Runners and the sessions in their containers, for tests of whole processes.
namespace cleat::test {

/// An account with its actor, a Runner with its token, and containers, made through the API.
struct Workshop {
  /// Makes everything as the instance's owner. Names are new in each.
  Workshop(Client& owner, const Actor& actor, int container_count = 1);

  /// Another container of the same account and Runner.
  std::string add_container(Client& owner);

  std::string account;
  std::string runner;
  std::string token;
  std::vector<std::string> containers;

  /// The first container.
  [[nodiscard]] const std::string& box() const { return containers.front(); }
};

/// An agent that says `ready`, then answers each line with `said: LINE`, until it is told `exit`, and exits with 7.
extern const char* const echo_agent;

/// How a Runner is started.
struct RunnerOptions {
  /// The agent, a program for sh.
  std::string agent = echo_agent;
  std::string driver = "process";
  /// More of the configuration, as TOML that stands before the containers.
  std::string toml = {};
  /// `cleat-runner-crashing` ends itself at the point that CLEAT_RUNNER_CRASH_AT names.
  std::string crash_at = {};
  /// `cleat-runner-crashing`, which ends itself where `die_at` says, in every process.
  bool crashing = false;
  /// It stands still there (SIGSTOP) until somebody lets it go on.
  std::string stop_at = {};
};

/// A `cleat-runner` process with a state folder of its own.
class RunnerProcess {
public:
  /// Starts it. `server` is HOST:PORT.
  RunnerProcess(std::string server, const Workshop& workshop, RunnerOptions options = {});
  /// Ends it, kindly.
  ~RunnerProcess();

  RunnerProcess(const RunnerProcess&) = delete;
  RunnerProcess& operator=(const RunnerProcess&) = delete;

  /// Starts it again over the same state, after `stop`, `kill` or a crash. Without a crash point from now on.
  void start();
  /// SIGTERM; answers the exit status once the process is gone.
  int stop();
  /// SIGKILL; returns once the process is gone.
  void kill();
  /// From now on `cleat-runner-crashing` dies at this point, `POINT` or `POINT:N` for the Nth time.
  void die_at(const std::string& point);
  /// Waits until it has died at its point; throws when it does not.
  void await_death();
  /// Waits until the process stands still at its point.
  void wait_for_standstill() const;
  /// Waits until the process has ended by itself.
  int wait();

  [[nodiscard]] Child& process() { return *child_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  [[nodiscard]] std::string output() const;
  /// Whether it says this within a while.
  [[nodiscard]] bool says(const std::string& text) const;
  /// How many agents are running that this Runner has started, over all its processes.
  [[nodiscard]] int agents() const;

private:
  std::string server_;
  std::string token_;
  RunnerOptions options_;
  TemporaryFolder folder_;
  std::unique_ptr<Child> child_;
};

/// The paths of a container's sessions and of a session.
std::string container_path(const std::string& container);
std::string session_path(const std::string& session);

/// Starts an agent; waits for its promotion when `wait_s` is given.
Response start_agent(Client& client, const std::string& container, int wait_s = 0, const std::string& body = "{}",
                     Headers headers = {});
Response resume_agent(Client& client, const std::string& container, const std::string& session, int wait_s = 0);
Response stop_agent(Client& client, const std::string& session, const Headers& headers = {});
Response say_to_agent(Client& client, const std::string& session, const std::string& line, const Headers& headers = {});
Response look_up(Client& client, const std::string& handle, int wait_s = 0);
Response retry(Client& client, const std::string& handle);

/// The lines of a transcript as `in: LINE`, `out: LINE` and `exit: CODE`.
std::vector<std::string> transcript_of(Client& client, const std::string& session);

/// Waits until a container is in this state; fails the test when it does not get there.
Json await_container(Client& client, const std::string& container, const std::string& state);
/// Starts an agent, waits for its promotion, and gives the session; throws when it was refused.
std::string live_session(Client& client, const std::string& container);
/// The same after a server has died: what it wrote down and never sent has failed and may be tried again.
std::string live_session_for_certain(Client& client, const std::string& container);
/// Waits until the transcript has this line.
void await_line(Client& client, const std::string& session, const std::string& line);

} // namespace cleat::test
