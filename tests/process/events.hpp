#pragma once

#include <string>
#include <vector>

#include "tests/process/json.hpp"
#include "tests/support/sql.hpp"

namespace cleat::test {

/// An event of the log, as far as the tests look at it.
struct LoggedEvent {
  std::string seq;
  std::string type;
  std::string space_id;
  std::string channel_id;
  std::string thread_id;
  std::string resource;         ///< `kind/id`
  std::string resource_version; ///< empty: absent
  std::string actor;            ///< `kind/id`
  Json payload;
};

/// The events of a type in a thread, in order.
inline std::vector<LoggedEvent> events_of(Sql& database, const std::string& thread,
                                          const std::string& type = "agent_session.changed") {
  const auto rows = database.run("SELECT seq, type, space_id, channel_id, thread_id, resource_kind, resource_id, "
                                 "resource_version, actor_kind, actor_id, payload "
                                 "FROM events WHERE thread_id = $1 AND type = $2 ORDER BY seq",
                                 {thread, type});
  std::vector<LoggedEvent> events;
  for (const auto& row : rows) {
    const auto text = [&](std::size_t column) { return row[column].value_or(""); };
    events.push_back({text(0), text(1), text(2), text(3), text(4), text(5) + "/" + text(6), text(7),
                      text(8) + "/" + text(9), Json::parse(text(10))});
  }
  return events;
}

} // namespace cleat::test
