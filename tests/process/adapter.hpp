#pragma once

#include <optional>
#include <string>
#include <utility>

#include "tests/process/world.hpp"

namespace cleat::test {

/// Where things are done with a run.
std::string run_path(const std::string& run, const std::string& operation = {});

/// A human's message to a thread's operator, or to the agent that `more` names; `more` is further members of the body.
Response trigger(Client& client, const std::string& thread, const std::string& more = {}, const Headers& headers = {});

/// The id of a run that a trigger has to have made.
std::string triggered(Client& client, const std::string& thread, const std::string& more = {});

/// The tests' adapter: an agent's token, and the cursor that a real adapter keeps.
class Adapter {
public:
  explicit Adapter(Client client) : client_(std::move(client)) {}

  /// The payload of the next invocation, waited for as long as a test has patience; throws when none comes.
  Json next();
  /// Whether an invocation is there now.
  bool has_next();

  Response start(const std::string& run, const std::string& reference = {});
  Response finish(const std::string& run);
  /// Any operation that takes no body or this one.
  Response operate(const std::string& run, const std::string& operation, const std::string& body = "{}");
  /// A report; `version` is the one for `If-Match`, 0 sends none.
  Response report(const std::string& thread, const std::string& body, std::int64_t version = 0,
                  const Headers& headers = {});

  /// `next`, started with a reference when it is not empty.
  Json accept(const std::string& reference = {});

  Client& client() { return client_; }

private:
  Json poll(int wait_s);

  Client client_;
  std::int64_t cursor_ = 0;
};

/// The state of a run, as its thread's readers see it.
std::string state_of(Client& client, const std::string& run);

/// The messages and system lines of a thread, oldest first.
std::vector<Json> messages_of(Client& client, const std::string& thread);

/// How many system lines with this code a thread has.
int lines_of(Client& client, const std::string& thread, const std::string& code);

/// Waits until a run is in a state, as long as a test has patience; fails the test otherwise.
void await_state(Client& client, const std::string& run, const std::string& state);

} // namespace cleat::test
