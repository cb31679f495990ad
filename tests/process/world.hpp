#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/process/client.hpp"
#include "tests/process/server.hpp"
#include "tests/support/sql.hpp"

namespace cleat::test {

/// A principal and its token.
struct Actor {
  std::string id;
  std::string token;
};

/// A channel, its main thread and its operator.
struct Place {
  std::string channel;
  std::string main_thread;
  std::string operator_agent;
};

/// The place and the people that the background's tests are about, made anew through the API for each test:
///
/// | channel | operator | Alex | Sam | Robin |
/// | --- | --- | --- | --- | --- |
/// | Support | Lotse (container tools, shared) | trigger | read | - |
/// | Engineering | Builder (host tools) | trigger | - | - |
/// | Desk | Scout (personal, Sam is its holder) | trigger | trigger | - |
/// | Backstage | Lotse | - | - | - |
///
/// All in one space of the instance's owner. There is an app with `trigger` on Support, too.
class World {
public:
  /// Builds it; throws when the server refuses a step.
  explicit World(const Server& server);
  World(Endpoint endpoint, const std::string& owner_token);

  Actor owner;
  Actor alex;
  Actor sam;
  Actor robin;
  Actor app;
  Actor lotse;
  Actor builder;
  Actor scout;
  std::string space;
  Place support;
  Place engineering;
  Place desk;
  Place backstage;

  /// A connection for an actor.
  [[nodiscard]] Client as(const Actor& actor) const { return {endpoint_, actor.token}; }

  /// From now on the server is there.
  void move_to(const Endpoint& endpoint);

  /// Makes an ordinary thread in a channel, worked in by the channel's operator, and answers its id.
  std::string thread(const Place& place);

  /// Makes a principal with a token.
  Actor person(const std::string& kind, const std::string& name, const std::string& agent = {});

  /// Gives a level on a resource, for example `("channels", id, alex, "read")`.
  void grant(const std::string& kind, const std::string& id, const Actor& actor, const std::string& level);

private:
  Place channel(const std::string& name, const Actor& operator_agent);

  Endpoint endpoint_;
  Client owner_client_;
};

/// What to bind.
struct BindOptions {
  std::string reference;
  std::string expected = {}; ///< `expected_current_session_id`; empty: none is expected
  bool take_over = false;
};

/// The paths of a thread's sessions.
std::string sessions_path(const std::string& thread);

/// Binds a session to a thread.
Response bind(Client& client, const std::string& thread, const BindOptions& options, const Headers& headers = {});

/// Ends a thread's current session; with `expected` only that one.
Response reset(Client& client, const std::string& thread, const std::string& expected = {});

/// One earlier session for `import`, in the form of its items. Times are RFC 3339.
std::string import_item(const Actor& agent, const std::string& reference, const std::string& created_at,
                        const std::string& ended_at, std::int64_t baseline_micros = 0,
                        const std::string& currency = {});

/// Imports earlier sessions.
Response import_sessions(Client& client, const std::string& thread, const std::vector<std::string>& items);

/// The thread's sessions, newest first; fails the test when they cannot be listed.
std::vector<Json> sessions_of(Client& client, const std::string& thread);

/// The current session of a thread; throws when there is none.
Json current_session(Client& client, const std::string& thread);

/// A sentence a row, so that "nothing changed" is one comparison: every row of every table that a client can
/// change, except the entries of denials in the audit log.
std::string everything_in(Sql& database);

/// A reference that no other test of this process uses.
std::string fresh_reference();

} // namespace cleat::test
