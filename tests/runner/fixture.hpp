#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/ids.hpp"
#include "tests/runner/server.hpp"
#include "tests/support/child.hpp"

namespace cleat::test {

/// A session id of 64 characters.
inline std::string session(char letter) {
  return std::string(64, letter);
}

/// The real cleat-runner in a process of its own, with a state folder and an agent's folder that go with the test, and
/// a server in the test's hands.
class RunnerTest : public ::testing::Test {
protected:
  RunnerTest();
  ~RunnerTest() override;

  /// Adds to the configuration; the Runner reads it when it starts.
  void configure(const std::string& toml) { toml_ += toml; }
  /// A container whose agent is a shell script.
  void add_agent(const std::string& name, const std::string& script, const std::string& more = "");
  /// A container of the null driver.
  void add_null(const std::string& name);

  /// Starts the Runner; with a name, the one that kills itself at that place.
  void start_runner(const std::string& crash_at = "");
  /// kill -9, and waits until it is gone.
  void kill_runner();
  /// Waits for the end of the Runner; its exit status.
  std::optional<int> end_of_runner(std::chrono::milliseconds wait = patience) { return runner_->wait(wait); }

  /// Takes the Runner's connection and its request to enrol.
  wire::AskEnrolment meet();
  /// Enrols it: a new attempt for each container that was added.
  void enrol();
  /// Continues the enrolment that was there.
  void continue_enrolment();
  /// `start_runner`, `meet` and `enrol`.
  void serve();

  [[nodiscard]] std::string new_id();
  [[nodiscard]] std::string attempt(const std::string& container) const { return attempts_.at(container); }

  /// Envelopes for a container under its current attempt.
  wire::ToRunner fresh(const std::string& container, const std::string& operation, const std::string& session_id,
                       std::int64_t dispatch = 1);
  wire::ToRunner resume(const std::string& container, const std::string& operation, const std::string& session_id,
                        std::int64_t body_parts, std::int64_t dispatch = 1);
  wire::ToRunner stop(const std::string& container, const std::string& operation, const std::string& session_id);
  wire::ToRunner ask(const std::string& container, const std::string& operation, std::int64_t dispatch = 1);
  wire::ToRunner envelope(const std::string& container, const std::string& operation, wire::Command command,
                          std::int64_t dispatch = 0);

  /// Starts an agent and checks the acknowledgement and every echo of the result; the operation's id.
  std::string start_agent(const std::string& container, const std::string& session_id);
  /// Stops an agent and checks the answer.
  void stop_agent(const std::string& container, const std::string& session_id);
  /// The answer to a status query.
  wire::FromRunner status_of(const std::string& container, const std::string& operation, std::int64_t dispatch = 1);
  /// Asks until the operation is no longer in transition.
  wire::Status settled_status_of(const std::string& container, const std::string& operation, std::int64_t dispatch = 1);
  void type(const std::string& container, const std::string& operation, const std::string& session_id, std::int64_t seq,
            const std::string& line);

  /// Reads lines until `count` more have come in order; acknowledges them.
  std::vector<wire::RelayedLine> hear(const std::string& operation, std::size_t count, bool acknowledge = true);
  /// Reads lines up to the end of the agent.
  std::vector<wire::RelayedLine> hear_to_the_end(const std::string& operation);
  void acknowledge(const std::string& container, const std::string& operation, const std::string& session_id,
                   std::int64_t through);

  /// Whether a process of this number runs.
  static bool is_running(pid_t pid);
  static bool is_gone_within(pid_t pid, std::chrono::milliseconds wait = patience);
  /// Waits until a file of the agent's folder has text, and answers it.
  std::string file_of_agent(const std::string& name) const;

  [[nodiscard]] std::filesystem::path folder() const { return folder_.path() / "work"; }
  [[nodiscard]] std::filesystem::path state() const { return state_.empty() ? folder_.path() / "state" : state_; }
  [[nodiscard]] std::filesystem::path file(const std::string& name) const { return folder_.path() / name; }
  [[nodiscard]] std::string log() const { return read_file(file("runner.log")); }
  /// Whether the Runner says so in its log before patience is over. A line is written behind what it is about.
  [[nodiscard]] bool logs(const std::string& text) const;

  TemporaryFolder folder_;
  /// Where the Runner's state is when that is not in `folder_`.
  std::filesystem::path state_;
  std::unique_ptr<Server> server_ = std::make_unique<Server>();
  std::unique_ptr<Peer> peer_;
  std::unique_ptr<Child> runner_;
  /// What the Runner is started through; empty: nothing.
  std::vector<std::string> starter_;
  std::string toml_;
  std::map<std::string, std::string> attempts_;
  std::string journal_id_;
  wire::Enrolled enrolled_;
  /// How far each operation's lines have come.
  std::map<std::string, std::int64_t> heard_;
  RandomIdSource ids_;
};

} // namespace cleat::test
