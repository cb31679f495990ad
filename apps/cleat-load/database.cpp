#include "apps/cleat-load/database.hpp"

#include <array>
#include <charconv>
#include <memory>
#include <stdexcept>
#include <string_view>

#include <libpq-fe.h>

namespace cleat::load {
namespace {

/// A connection that only counts.
class Counter {
public:
  explicit Counter(const std::string& url) : connection_(PQconnectdb(url.c_str()), &PQfinish) {
    if (PQstatus(connection_.get()) != CONNECTION_OK)
      throw std::runtime_error(std::string("Cannot compare with the database: ") + PQerrorMessage(connection_.get()));
  }

  /// The single number that a statement with one uuid parameter gives.
  std::int64_t count(const char* statement, const std::string& id) {
    const std::array values{id.c_str()};
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(
      PQexecParams(connection_.get(), statement, 1, nullptr, values.data(), nullptr, nullptr, 0), &PQclear);
    if (PQresultStatus(result.get()) != PGRES_TUPLES_OK || PQntuples(result.get()) != 1)
      throw std::runtime_error(std::string("Cannot compare with the database: ") + PQerrorMessage(connection_.get()));
    const std::string_view text = PQgetvalue(result.get(), 0, 0);
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }

private:
  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

constexpr const char* count_rows = R"(
SELECT count(*) FROM agent_sessions s JOIN threads t ON t.id = s.thread_id
WHERE t.channel_id = $1::uuid AND s.end_reason IS DISTINCT FROM 'import')";

constexpr const char* count_ended = R"(
SELECT count(*) FROM agent_sessions s JOIN threads t ON t.id = s.thread_id
WHERE t.channel_id = $1::uuid AND s.end_reason = 'rebind' AND s.version = 2)";

constexpr const char* count_threads_with_two = R"(
SELECT count(*) FROM (
  SELECT s.thread_id FROM agent_sessions s JOIN threads t ON t.id = s.thread_id
  WHERE t.channel_id = $1::uuid AND s.ended_at IS NULL GROUP BY 1 HAVING count(*) > 1) AS twice)";

constexpr const char* count_references_with_two = R"(
SELECT count(*) FROM (
  SELECT s.external_session_ref FROM agent_sessions s
  WHERE s.agent_id = $1::uuid AND s.ended_at IS NULL GROUP BY 1 HAVING count(*) > 1) AS twice)";

constexpr const char* count_events = R"(
SELECT count(*) FROM events WHERE channel_id = $1::uuid AND type = 'agent_session.changed')";

/// Rows whose every change has its own event: one for a row that is current or imported, two for one that ended.
constexpr const char* count_rows_without_events = R"(
SELECT count(*) FROM (
  SELECT s.id, CASE WHEN s.end_reason = 'rebind' THEN 2 ELSE 1 END AS changes
  FROM agent_sessions s JOIN threads t ON t.id = s.thread_id WHERE t.channel_id = $1::uuid) AS row
LEFT JOIN (
  SELECT (payload -> 'agent_session' ->> 'id')::uuid AS id, count(*) AS events
  FROM events WHERE channel_id = $1::uuid AND type = 'agent_session.changed' GROUP BY 1) AS log USING (id)
WHERE row.changes IS DISTINCT FROM log.events)";

constexpr const char* count_audit_entries = R"(
SELECT count(*) FROM audit_log
WHERE actor_id = $1::uuid AND action = 'agent_session.bind' AND allowed)";

constexpr const char* count_idempotency_records = R"(
SELECT count(*) FROM idempotency_records WHERE principal_id = $1::uuid AND status = 201)";

} // namespace

std::vector<Comparison> compare_with_database(const std::string& url, const World& world, const Tally& tally) {
  Counter database(url);
  const auto imported = static_cast<std::int64_t>(world.listed.size() * sessions_of_a_listed_thread);
  return {
    {"sessions made", tally.binds, database.count(count_rows, world.channel)},
    {"sessions ended", tally.ended, database.count(count_ended, world.channel)},
    {"threads with two current sessions", 0, database.count(count_threads_with_two, world.channel)},
    {"references with two current sessions", 0, database.count(count_references_with_two, world.agent)},
    {"events", tally.binds + tally.ended + imported, database.count(count_events, world.channel)},
    {"sessions with a change without its event", 0, database.count(count_rows_without_events, world.channel)},
    {"audit entries of binds", tally.binds, database.count(count_audit_entries, world.human)},
    {"idempotency records", tally.binds, database.count(count_idempotency_records, world.human)},
  };
}

} // namespace cleat::load
