#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/fleet.hpp"
#include "actors/hub.hpp"
#include "protocol/runner_messages.hpp"
#include "tests/actor/fixture.hpp"

namespace cleat::test {

/// What was delivered to Runners, and how the hub of the test answers.
struct Wire {
  std::vector<Deliver> delivered;
  bool hands_over = true;
};

/// A container `box` of Sam's account under a connected Runner; the test is the Runner. Another container, `crate`, is
/// its as well.
class ContainerTest : public ActorTest {
public:
  explicit ContainerTest(const actors::ActorOptions& options = {});
  ~ContainerTest() override;

  /// Sends a command to the fleet from a caller of its own.
  template <class Command>
  std::shared_ptr<std::optional<Answer>> send_fleet(const Command& command);
  /// Sends, runs and gives the answer; fails the test where none came.
  template <class Command>
  Answer ask_fleet(const Command& command) {
    const auto answer = send_fleet(command);
    run();
    if (!*answer)
      throw std::runtime_error("the command was not answered");
    return **answer;
  }

  StartSession start(std::int64_t wait_ms = 0, const std::string& key = {}, const std::string& container = "box");
  StartSession resume(const std::string& session_id, std::int64_t wait_ms = 0);
  FollowHandle look_up(const std::string& handle, bool retry = false, std::int64_t wait_s = 0);
  StopSession stop(const std::string& session_id, const std::string& key = {});

  /// The commands that the Runner was sent since the last call.
  std::vector<wire::ToRunner> received();
  /// The only command that the Runner was sent since the last call.
  wire::ToRunner received_one();
  /// The Runner says something about a command, with exact echoes, over its connection in force.
  void say(const wire::ToRunner& about, wire::Report report);
  void say(const wire::ToRunner& about, wire::Report report, const std::string& operation_id,
           const std::string& attempt_id);
  /// The exact result of a start.
  static wire::Started started(const wire::ToRunner& start);
  /// Starts an agent and lets the Runner answer; gives the session id.
  std::string go_live();
  void reconcile(bool arrived = false);

  [[nodiscard]] std::vector<Operation> operations() const { return tables->fleet().operations_of("box"); }
  [[nodiscard]] std::optional<Binding> live() const { return tables->fleet().live_of("box"); }
  void commit(std::vector<fleet::Write> rows);

  Account account;
  Runner runner;
  Container box;
  Container crate;
  std::shared_ptr<Wire> runner_wire = std::make_shared<Wire>();
  actors::hub_actor hub;
  actors::fleet_actor fleet;

private:
  void make_container(Container& container, const std::string& name);
};

/// A member of an answer's JSON, as text; empty where there is none.
std::string member(const Answer& answer, const std::string& name);

} // namespace cleat::test
