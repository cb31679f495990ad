#include "apps/cleatd/config.hpp"

#include <algorithm>

#include "apps/cleatd/keys_fleet.hpp"

// The table of every key. docs/operating/configuration.md says the same to people; a test holds the two together.
namespace cleat::cleatd {
namespace {

constexpr std::int64_t day_s = 24 * 3600;
constexpr std::int64_t year_s = 366 * day_s;
constexpr std::int64_t many = 1'000'000;

std::vector<Key> process_keys() {
  return {
    {"data", "--data", TextKey{&Config::data}, "The data folder: owner's token, addresses, embedded database."},
    {"demo", "--demo", SwitchKey{&Config::demo}, "Make a small world to try things on."},
    {"owner_token_file", "", TextKey{&Config::owner_token_file},
     "A file with the owner's token, instead of one that is made."},
    {"process.batch", "", SwitchKey{&Config::process_batch},
     "Run cleatd and its PostgreSQL as batch processes: fewer switches, more answers."},
    {"process.core_dumps", "", SwitchKey{&Config::process_core_dumps},
     "Leave core dumps to the limits of the process; they hold tokens and secrets in clear."},
    {"log.level", "", TextKey{&Config::log_level, {"trace", "debug", "info", "warn", "error"}},
     "What is logged: trace, debug, info, warn or error."},
    {"log.format", "", TextKey{&Config::log_format, {"auto", "text", "json"}},
     "How lines look: text, json, or auto, which is text on a terminal."},
  };
}

std::vector<Key> http_keys() {
  return {
    {"http.listen", "--http", TextKey{&Config::http_listen}, "HOST:PORT to serve HTTP on; port 0 picks a free one."},
    {"http.insecure", "--insecure", SwitchKey{&Config::http_insecure}, "Allow to listen beyond loopback without TLS."},
    {"http.certificate", "", TextKey{&Config::http_certificate},
     "A PEM file with the certificate that clients are shown, and those up to its authority; needed beyond loopback."},
    {"http.key", "", TextKey{&Config::http_key}, "The PEM file with its key."},
    {"http.tls_min_version", "", TextKey{&Config::http_tls_min_version, {"1.3", "1.2"}},
     "The oldest version of TLS that is spoken: 1.3 or 1.2."},
    {"http.max_connections", "", NumberKey{&Config::http_max_connections, 1, 65'536},
     "Open connections; each has a thread."},
    {"http.max_waiting", "", NumberKey{&Config::http_max_waiting, 1, 65'535},
     "Long polls and event streams together; less than the connections."},
    {"http.listen_backlog", "", NumberKey{&Config::http_listen_backlog, 1, 65'535},
     "Connections that wait to be accepted."},
    {"http.max_header_bytes", "", NumberKey{&Config::http_max_header_bytes, limits::max_target_bytes + 1, many},
     "Request line and headers together."},
    {"http.max_json_body_bytes", "", NumberKey{&Config::http_max_json_body_bytes, 4096, 1 << 30},
     "The longest request body."},
    {"http.keep_alive_s", "", NumberKey{&Config::http_keep_alive_s, 1, 3600},
     "How long an idle connection stays open."},
    {"http.read_timeout_s", "", NumberKey{&Config::http_read_timeout_s, 1, 3600},
     "How long a started request may take to arrive."},
    {"http.write_timeout_s", "", NumberKey{&Config::http_write_timeout_s, 1, 3600},
     "How long a client may take to read an answer."},
    {"http.answer_timeout_s", "", NumberKey{&Config::http_answer_timeout_s, 1, 3600},
     "When a client gets an answer at the latest."},
    {"http.ready_timeout_s", "", NumberKey{&Config::http_ready_timeout_s, 1, 60},
     "How long /readyz waits for the database."},
    {"http.drain_s", "", NumberKey{&Config::http_drain_s, 0, 3600}, "How long a stop waits for requests in flight."},
    {"http.token_cache_ms", "", NumberKey{&Config::http_token_cache_ms, 0, limits::token_cache_ceiling_ms},
     "How long a token is believed without asking the database."},
    {"http.token_cache_max", "", NumberKey{&Config::http_token_cache_max, 1, many}, "Tokens that are remembered."},
  };
}

std::vector<Key> rule_keys() {
  return {
    {"agent.default_currency", "", TextKey{&Config::agent_default_currency},
     "The currency of sessions that have no other: three capital letters."},
    {"agent.session_ref_max_bytes", "",
     NumberKey{&Config::agent_session_ref_max_bytes, 1, limits::session_ref_ceiling_bytes},
     "The longest external session reference."},
    {"agent.import_max_items", "", NumberKey{&Config::agent_import_max_items, 1, 10'000}, "Sessions in one import."},
    {"idempotency.retention_s", "", NumberKey{&Config::idempotency_retention_s, 60, year_s},
     "How long an Idempotency-Key replays its answer."},
    {"audit.deny_aggregate_window_s", "", NumberKey{&Config::audit_deny_aggregate_window_s, 1, day_s},
     "Equal denials inside this span share one audit entry."},
    {"actors.workers", "", NumberKey{&Config::actors_workers, 1, 256},
     "Threads that run owners; add one when the busiest of them is never idle."},
    {"actors.idle_s", "", NumberKey{&Config::actors_idle_s, 1, day_s},
     "How long the owner of a quiet thread stays in memory."},
    {"actors.thread_queue_max", "", NumberKey{&Config::actors_thread_queue_max, 1, many},
     "Commands that wait at one thread."},
  };
}

std::vector<Key> rate_keys() {
  return {
    {"rate.read_per_s", "", NumberKey{&Config::rate_read_per_s, 0, many},
     "Reads; the answer's RateLimit says \"read\"."},
    {"rate.trigger_per_s", "", NumberKey{&Config::rate_trigger_per_s, 0, many}, "Triggers, resets and binds."},
    {"rate.agent_runtime_per_s", "", NumberKey{&Config::rate_agent_runtime_per_s, 0, many},
     "Commands to runs, reports and polls."},
    {"rate.admin_per_s", "", NumberKey{&Config::rate_admin_per_s, 0, many},
     "Provisioning, grants, tokens and imports."},
    {"rate.burst_s", "", NumberKey{&Config::rate_burst_s, 1, 3600}, "How many seconds' worth may be saved up."},
    {"rate.max_principals", "", NumberKey{&Config::rate_max_principals, 1, many},
     "Principals whose rates are remembered at a time."},
  };
}

std::vector<Key> auth_keys() {
  return {
    {"auth.failures_per_minute", "", NumberKey{&Config::auth_failures_per_minute, 0, many},
     "Wrong tokens from one address; 0 is no limit."},
    {"auth.burst", "", NumberKey{&Config::auth_burst, 1, many}, "How many of them may come at once."},
    {"auth.max_addresses", "", NumberKey{&Config::auth_max_addresses, 1, many},
     "Addresses whose wrong tokens are remembered at a time."},
  };
}

std::vector<Key> run_keys() {
  return {
    {"agent.poll_wait_max_s", "", NumberKey{&Config::agent_poll_wait_max_s, 1, 3600},
     "How long a poll of agent events may wait."},
    {"events.heartbeat_s", "", NumberKey{&Config::events_heartbeat_s, 1, 3600},
     "After so much silence a stream of events gets a comment."},
    {"messages.max_bytes", "", NumberKey{&Config::messages_max_bytes, 1, 1 << 30}, "The longest message."},
    {"runs.lease_s", "", NumberKey{&Config::runs_lease_s, 1, day_s},
     "How long an agent holds a run without a heartbeat."},
    {"runs.queued_timeout_s", "", NumberKey{&Config::runs_queued_timeout_s, 1, year_s},
     "How long a run waits for its agent to start it."},
    {"runs.held_max", "", NumberKey{&Config::runs_held_max, 1, 1000},
     "Runs of a thread that wait for the active one to end."},
    {"runs.watch_ms", "", NumberKey{&Config::runs_watch_ms, 10, 60'000}, "Between two looks for overdue runs."},
    {"events.watch_ms", "", NumberKey{&Config::events_watch_ms, 1, 1000},
     "Between two looks for new events while anybody waits for them."},
  };
}

std::vector<Key> database_keys() {
  return {
    {"database.url", "--database-url", TextKey{&Config::database_url},
     "A libpq URL of a PostgreSQL to use; none means the embedded one."},
    {"database.max_batch", "", NumberKey{&Config::database_max_batch, 1, 65'536}, "Decisions in one transaction."},
    {"database.max_pending", "", NumberKey{&Config::database_max_pending, 1, many},
     "Requests that wait for the database."},
    {"database.tx_retry_max", "", NumberKey{&Config::database_tx_retry_max, 1, 100},
     "How often a command is decided again before the client hears of it."},
    {"database.connect_timeout_s", "", NumberKey{&Config::database_connect_timeout_s, 1, 3600},
     "How long a connection may take to be made."},
    {"database.statement_timeout_s", "", NumberKey{&Config::database_statement_timeout_s, 1, 3600},
     "How long a statement may run."},
    {"database.resolve_timeout_s", "", NumberKey{&Config::database_resolve_timeout_s, 1, 3600},
     "How long the truth about a lost COMMIT is looked for."},
    {"database.request_timeout_s", "", NumberKey{&Config::database_request_timeout_s, 1, 3600},
     "How long a thread's owner waits for the database."},
  };
}

std::vector<Key> embedded_keys() {
  return {
    {"database.postgres_bin", "", TextKey{&Config::database_postgres_bin},
     "The folder of initdb and postgres; none means a search."},
    {"database.embedded_user", "", TextKey{&Config::database_embedded_user},
     "Who runs the embedded PostgreSQL when cleatd is root."},
    {"database.embedded_max_connections", "", NumberKey{&Config::database_embedded_max_connections, 10, 10'000},
     "Connections that the embedded PostgreSQL takes."},
    {"database.embedded_shared_buffers_mb", "", NumberKey{&Config::database_embedded_shared_buffers_mb, 1, many},
     "Memory of the embedded PostgreSQL for pages."},
    {"database.embedded_start_timeout_s", "", NumberKey{&Config::database_embedded_start_timeout_s, 1, day_s},
     "How long its start may take, recovery after a crash included."},
    {"database.embedded_stop_timeout_s", "", NumberKey{&Config::database_embedded_stop_timeout_s, 1, 3600},
     "How long its clean stop may take before it is stopped hard."},
    {"database.embedded_restart_backoff_max_ms", "",
     NumberKey{&Config::database_embedded_restart_backoff_max_ms, 50, 600'000},
     "The longest pause between attempts to start it again."},
  };
}

} // namespace

const std::vector<Key>& keys() {
  static const std::vector<Key> all = [] {
    std::vector<Key> result;
    for (const auto& part : {process_keys(), http_keys(), auth_keys(), rate_keys(), rule_keys(), run_keys(),
                             fleet_keys(), database_keys(), embedded_keys()})
      result.insert(result.end(), part.begin(), part.end());
    return result;
  }();
  return all;
}

std::string environment_name(const Key& key) {
  std::string name = "CLEAT_";
  name += key.option.empty() ? key.name : key.option.substr(2);
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    const bool lower = c >= 'a' && c <= 'z';
    return lower ? static_cast<char>(c - 'a' + 'A') : (c == '.' || c == '-' ? '_' : c);
  });
  return name;
}

} // namespace cleat::cleatd
