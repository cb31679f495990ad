#pragma once

#include <cstdint>

/// Every limit and its default in one place (spec 02, invariant 7; spec 07). Each has a configuration key of the
/// name beside it; what the numbers must satisfy among themselves is asserted below.
namespace cleat::limits {

// What a client may send.
inline constexpr std::int64_t max_json_body_bytes = 1 << 20; ///< http.max_json_body_bytes
inline constexpr std::int64_t max_header_bytes = 16 << 10;   ///< http.max_header_bytes, request line included
/// The longest request target; cpp-httplib reads no longer request line.
inline constexpr std::int64_t max_target_bytes = 8000;
inline constexpr std::int64_t session_ref_max_bytes = 1024; ///< agent.session_ref_max_bytes
/// An entry of the unique index on (agent_id, external_session_ref) must stay inside PostgreSQL's B-tree limit of
/// 2704 bytes, with the agent's 16 bytes, the tuple header and alignment.
inline constexpr std::int64_t session_ref_ceiling_bytes = 2600;
inline constexpr std::int64_t btree_entry_bytes = 2704;
inline constexpr std::int64_t model_max_characters = 128;
inline constexpr std::int64_t name_max_characters = 200;  ///< names, titles and labels
inline constexpr std::int64_t import_max_items = 500;     ///< agent.import_max_items
inline constexpr std::int64_t message_max_bytes = 65'536; ///< messages.max_bytes, the content of a message
inline constexpr std::int64_t failure_code_max_bytes = 64;
inline constexpr std::int64_t failure_detail_max_bytes = 2000;
inline constexpr std::int64_t json_max_depth = 16; ///< nesting of a request body
inline constexpr std::int64_t idempotency_key_max_bytes = 255;
inline constexpr std::int64_t request_id_max_bytes = 128;

// Pages.
inline constexpr std::int64_t page_default = 50;
inline constexpr std::int64_t page_max = 200;

// Time spans, in seconds unless the name says otherwise.
inline constexpr std::int64_t idempotency_retention_s = 86'400; ///< idempotency.retention_s
inline constexpr std::int64_t deny_aggregate_window_s = 300;    ///< audit.deny_aggregate_window_s
inline constexpr std::int64_t run_lease_s = 60;                 ///< runs.lease_s
inline constexpr std::int64_t run_queued_timeout_s = 3600;      ///< runs.queued_timeout_s
inline constexpr std::int64_t run_watch_ms = 500;               ///< runs.watch_ms, between looks for overdue runs
inline constexpr std::int64_t events_watch_ms = 20;             ///< events.watch_ms, between looks for new events
inline constexpr std::int64_t event_heartbeat_s = 15;           ///< events.heartbeat_s, a comment on a quiet stream
inline constexpr std::int64_t poll_wait_max_s = 60;             ///< agent.poll_wait_max_s, the longest long poll
inline constexpr std::int64_t actor_workers = 1;                ///< actors.workers
inline constexpr std::int64_t actor_idle_s = 600;               ///< actors.idle_s
inline constexpr std::int64_t token_cache_ms = 250;             ///< http.token_cache_ms
inline constexpr std::int64_t token_cache_ceiling_ms = 400;     ///< what http.token_cache_ms may be at most
inline constexpr std::int64_t waiting_blind_ms = 5000;          ///< a wait goes on so long without a look at its log
inline constexpr std::int64_t waiting_look_ms = 400;            ///< a wait goes on so long without a look at its token
inline constexpr std::int64_t waiting_slack_ms = 100;           ///< and so much longer when its herald is silent
/// Revocation holds on every node within a second (spec 05).
inline constexpr std::int64_t revocation_bound_ms = 1000;
inline constexpr std::int64_t drain_s = 10;         ///< http.drain_s
inline constexpr std::int64_t keep_alive_s = 60;    ///< http.keep_alive_s
inline constexpr std::int64_t read_timeout_s = 10;  ///< http.read_timeout_s
inline constexpr std::int64_t write_timeout_s = 10; ///< http.write_timeout_s
inline constexpr std::int64_t ready_timeout_s = 1;  ///< http.ready_timeout_s, /readyz's patience

// Work in flight.
inline constexpr std::int64_t max_connections = 4096;   ///< http.max_connections, one thread each
inline constexpr std::int64_t listen_backlog = 1024;    ///< http.listen_backlog
inline constexpr std::int64_t token_cache_max = 10'000; ///< http.token_cache_max, tokens remembered
inline constexpr std::int64_t thread_queue_max = 4096;  ///< actors.thread_queue_max, commands waiting at one owner
inline constexpr std::int64_t runs_held_max = 100;   ///< runs.held_max, runs of a thread that wait for the active one
inline constexpr std::int64_t max_waiting = 3000;    ///< http.max_waiting, long polls and streams together
inline constexpr std::int64_t max_batch = 256;       ///< database.max_batch, decisions a transaction
inline constexpr std::int64_t max_pending = 8192;    ///< database.max_pending, requests waiting at an actor of storage
inline constexpr std::int64_t tx_retry_max = 32;     ///< database.tx_retry_max
inline constexpr std::int64_t connect_timeout_s = 3; ///< database.connect_timeout_s
inline constexpr std::int64_t statement_timeout_s = 10; ///< database.statement_timeout_s
inline constexpr std::int64_t resolve_timeout_s = 10;   ///< database.resolve_timeout_s, to learn an unknown outcome
inline constexpr std::int64_t request_timeout_s = 30; ///< database.request_timeout_s, an owner's patience with storage
inline constexpr std::int64_t answer_timeout_s = 60;  ///< http.answer_timeout_s, a client's answer at the latest
inline constexpr std::int64_t retry_after_s = 1;      ///< what Retry-After says

// What a principal may ask, in requests a second.
inline constexpr std::int64_t rate_read_per_s = 200;          ///< rate.read_per_s
inline constexpr std::int64_t rate_trigger_per_s = 100;       ///< rate.trigger_per_s
inline constexpr std::int64_t rate_agent_runtime_per_s = 200; ///< rate.agent_runtime_per_s
inline constexpr std::int64_t rate_admin_per_s = 100;         ///< rate.admin_per_s
inline constexpr std::int64_t rate_burst_s = 5;               ///< rate.burst_s, how many seconds' worth may be saved up
inline constexpr std::int64_t rate_max_principals = 10'000;   ///< rate.max_principals, ones remembered

// The embedded PostgreSQL.
inline constexpr std::int64_t embedded_max_connections = 64;          ///< database.embedded_max_connections
inline constexpr std::int64_t embedded_shared_buffers_mb = 128;       ///< database.embedded_shared_buffers_mb
inline constexpr std::int64_t embedded_start_timeout_s = 120;         ///< database.embedded_start_timeout_s
inline constexpr std::int64_t embedded_stop_timeout_s = 30;           ///< database.embedded_stop_timeout_s
inline constexpr std::int64_t embedded_restart_backoff_max_ms = 5000; ///< database.embedded_restart_backoff_max_ms

static_assert(session_ref_max_bytes <= session_ref_ceiling_bytes);
static_assert(session_ref_ceiling_bytes + 16 + 8 + 8 <= btree_entry_bytes);
static_assert(session_ref_max_bytes < max_json_body_bytes);
static_assert(token_cache_ms <= token_cache_ceiling_ms);
static_assert(token_cache_ceiling_ms + waiting_look_ms + waiting_slack_ms < revocation_bound_ms);
static_assert(max_target_bytes < max_header_bytes);
static_assert(page_default <= page_max);
static_assert(max_batch <= max_pending);
static_assert(message_max_bytes < max_json_body_bytes);
static_assert(max_waiting < max_connections, "who waits must leave room for who asks");
static_assert(thread_queue_max >= max_connections, "every connection may wait at the same thread");
static_assert(statement_timeout_s + resolve_timeout_s < request_timeout_s);
static_assert(request_timeout_s < answer_timeout_s);

} // namespace cleat::limits
