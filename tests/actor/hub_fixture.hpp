#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/hub.hpp"
#include "tests/actor/fixture.hpp"

namespace cleat::test {

/// What a connection of a Runner was told.
struct Told {
  std::optional<actors::RunnerAdmitted> admitted;
  std::vector<Deliver> delivered;
  /// Present once its enrolment is over, and whether it was superseded then.
  std::optional<bool> over;

  /// The enrolment, if it was admitted.
  [[nodiscard]] const wire::Enrolled& enrolled() const;
  /// The code of the refusal, empty for none.
  [[nodiscard]] std::string refused() const;
};

/// A connection of a Runner without a socket.
struct FakeConnection {
  actors::runner_connection_actor handle;
  std::shared_ptr<Told> told;
};

/// Other servers, without a network.
struct FakePeers {
  actors::peers_actor handle;
  std::shared_ptr<std::vector<Deliver>> delivered = std::make_shared<std::vector<Deliver>>();
  std::shared_ptr<std::vector<std::string>> moved = std::make_shared<std::vector<std::string>>();
};

/// A librarian that looks at once and answers when it may: heartbeats and enrolments wait while they are held, and are
/// let go one by one.
using held_librarian_actor = storage::librarian_actor::extend<caf::reacts_to<actors::Sweep>>;

/// What its test and such a librarian share.
struct HeldAnswers {
  bool hold = false;
  std::deque<std::function<void()>> waiting;
};

/// Hubs on the deterministic scheduler, over one database with a Runner and two containers.
class HubTest : public ActorTest {
public:
  HubTest();
  ~HubTest() override;

  /// The hub of another server on the same database.
  actors::hub_actor spawn_hub_of(const Node& node);

  /// A connection that asks to be admitted. Nothing happens before `run`.
  FakeConnection connect(const actors::hub_actor& to, const std::string& secret = {},
                         const std::string& token = "token");
  /// As above, run to its end.
  FakeConnection admitted(const actors::hub_actor& to, const std::string& secret = {});

  /// What became of a delivery; absent while it is not answered, `unknown` when the answer was an error.
  enum class Handed { yes, no, unknown };
  std::optional<Handed> deliver(const actors::hub_actor& to, std::int64_t epoch, const Node& node);

  FakePeers spawn_peers();

  /// Lets the oldest answer go that is held, and runs.
  void release_one();

  /// The Runner's row as the database has it.
  [[nodiscard]] Runner row() const;
  [[nodiscard]] bool is_gone(const actors::hub_actor& hub) const;

  /// Time for `count` heartbeats.
  void beat(int count = 1);

  Runner runner;
  Node here{};
  Node there{};
  std::shared_ptr<HeldAnswers> held = std::make_shared<HeldAnswers>();
  actors::hub_actor hub;

private:
  [[nodiscard]] actors::DependenciesPtr dependencies_of(const Node& node);

  held_librarian_actor librarian_;
  std::vector<caf::strong_actor_ptr> spawned_;
  std::vector<caf::actor_id> ended_;
};

} // namespace cleat::test
