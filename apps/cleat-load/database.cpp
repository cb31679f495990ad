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

constexpr const char* count_resets = R"(
SELECT count(*) FROM agent_sessions s JOIN threads t ON t.id = s.thread_id
WHERE t.channel_id = $1::uuid AND s.end_reason = 'reset' AND s.version = 2)";

/// A row begins at version 1. Binds and resets leave a current one as it is, so whatever is above that was reported.
constexpr const char* count_reports = R"(
SELECT coalesce(sum(s.version - 1), 0) FROM agent_sessions s JOIN threads t ON t.id = s.thread_id
WHERE t.channel_id = $1::uuid AND s.ended_at IS NULL)";

/// Rows that have another number of events than of changes, and each change has made a version.
constexpr const char* count_rows_without_events = R"(
SELECT count(*) FROM (
  SELECT s.id, s.version AS changes
  FROM agent_sessions s JOIN threads t ON t.id = s.thread_id WHERE t.channel_id = $1::uuid) AS row
LEFT JOIN (
  SELECT (payload -> 'agent_session' ->> 'id')::uuid AS id, count(*) AS events
  FROM events WHERE channel_id = $1::uuid AND type = 'agent_session.changed' GROUP BY 1) AS log USING (id)
WHERE row.changes IS DISTINCT FROM log.events)";

constexpr const char* count_audit_entries = R"(
SELECT count(*) FROM audit_log
WHERE actor_id = $1::uuid AND action = 'agent_session.bind' AND allowed)";

/// Those of the play: what prepares it has keys of its own.
constexpr const char* count_idempotency_records = R"(
SELECT count(*) FROM idempotency_records
WHERE principal_id = $1::uuid AND status IN (200, 201) AND key NOT LIKE '%-make-%')";

// Of an account: everything that its starts and stops left.

constexpr const char* count_starts = R"(
SELECT count(*) FROM session_operations WHERE account_id = $1::uuid AND kind = 'fresh' AND state = 'promoted')";

constexpr const char* count_starts_not_promoted = R"(
SELECT count(*) FROM session_operations WHERE account_id = $1::uuid AND kind = 'fresh' AND state <> 'promoted')";

constexpr const char* count_stops = R"(
SELECT count(*) FROM session_operations WHERE account_id = $1::uuid AND kind = 'stop' AND state = 'promoted')";

constexpr const char* count_bindings = R"(
SELECT count(*) FROM session_bindings WHERE account_id = $1::uuid)";

constexpr const char* count_live_bindings = R"(
SELECT count(*) FROM session_bindings WHERE account_id = $1::uuid AND state = 'live')";

constexpr const char* count_released_bindings = R"(
SELECT count(*) FROM session_bindings WHERE account_id = $1::uuid AND state = 'released')";

/// Starts whose session is bound by no operation, or by another one or in another container.
constexpr const char* count_starts_without_their_binding = R"(
SELECT count(*) FROM session_operations o
LEFT JOIN session_bindings b ON b.session_id = o.session_id AND b.operation_id = o.id
                            AND b.container_name = o.container_name AND b.account_id = o.account_id
WHERE o.account_id = $1::uuid AND o.kind = 'fresh' AND o.state = 'promoted' AND b.session_id IS NULL)";

constexpr const char* count_ids_twice = R"(
SELECT count(*) - count(DISTINCT session_id) FROM session_operations
WHERE account_id = $1::uuid AND kind = 'fresh' AND session_id IS NOT NULL)";

constexpr const char* count_containers_with_two = R"(
SELECT count(*) FROM (
  SELECT container_name FROM session_bindings
  WHERE account_id = $1::uuid AND state = 'live' GROUP BY 1 HAVING count(*) > 1) AS twice)";

constexpr const char* count_orphans = R"(
SELECT count(*) FROM orphan_diagnostics WHERE account_id = $1::uuid)";

constexpr const char* count_audited_starts = R"(
SELECT count(*) FROM audit_log WHERE actor_id = $1::uuid AND action = 'agent_session.start' AND allowed)";

std::vector<Comparison> compare_threads(Counter& database, const World& world, const Tally& tally) {
  const auto reported = static_cast<std::int64_t>(world.reported.size());
  const std::int64_t made = tally.binds + reported;
  const std::int64_t changes = made + tally.ended + tally.resets + tally.reports + world.imported;
  return {
    {"sessions made", made, database.count(count_rows, world.channel)},
    {"sessions ended", tally.ended, database.count(count_ended, world.channel)},
    {"sessions reset", tally.resets, database.count(count_resets, world.channel)},
    {"changes reported", tally.reports, database.count(count_reports, world.channel)},
    {"threads with two current sessions", 0, database.count(count_threads_with_two, world.channel)},
    {"references with two current sessions", 0, database.count(count_references_with_two, world.agent)},
    {"events", changes, database.count(count_events, world.channel)},
    {"sessions with a change without its event", 0, database.count(count_rows_without_events, world.channel)},
    {"audit entries of binds", tally.binds, database.count(count_audit_entries, world.human)},
    {"idempotency records", tally.binds + tally.resets, database.count(count_idempotency_records, world.human)},
    {"idempotency records of reports", tally.reports, database.count(count_idempotency_records, world.agent)},
  };
}

std::vector<Comparison> compare_containers(Counter& database, const World& world, const Tally& tally) {
  const std::string& account = world.account;
  return {
    {"starts promoted", tally.starts, database.count(count_starts, account)},
    {"starts not promoted", 0, database.count(count_starts_not_promoted, account)},
    {"bindings", tally.starts, database.count(count_bindings, account)},
    {"starts without their binding", 0, database.count(count_starts_without_their_binding, account)},
    {"session ids of two starts", 0, database.count(count_ids_twice, account)},
    {"stops", tally.stops, database.count(count_stops, account)},
    {"bindings released", tally.stops, database.count(count_released_bindings, account)},
    {"bindings live", tally.starts - tally.stops, database.count(count_live_bindings, account)},
    {"containers with two live bindings", 0, database.count(count_containers_with_two, account)},
    {"orphans", 0, database.count(count_orphans, account)},
    {"audit entries of starts", tally.starts, database.count(count_audited_starts, world.human)},
  };
}

} // namespace

std::vector<Comparison> compare_with_database(const std::string& url, const World& world, const Tally& tally) {
  Counter database(url);
  return world.account.empty() ? compare_threads(database, world, tally) : compare_containers(database, world, tally);
}

} // namespace cleat::load
