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
inline constexpr std::int64_t check_findings_max = 100;   ///< findings that `cleatd check` lists of an invariant
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
inline constexpr std::int64_t transcript_look_ms = 250; ///< a reader of a transcript looks at the database so often
inline constexpr std::int64_t waiting_blind_ms = 5000;  ///< a wait goes on so long without a look at its log
inline constexpr std::int64_t waiting_look_ms = 400;    ///< a wait goes on so long without a look at its token
inline constexpr std::int64_t waiting_slack_ms = 100;   ///< and so much longer when its herald is silent
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

// What an address may try, in tokens that nobody knows.
inline constexpr std::int64_t auth_failures_per_minute = 60; ///< auth.failures_per_minute
inline constexpr std::int64_t auth_burst = 100;              ///< auth.burst, how many at once
inline constexpr std::int64_t auth_max_addresses = 10'000;   ///< auth.max_addresses, ones remembered

// Runners and containers (spec 04). Spans of retention are in seconds.
inline constexpr std::int64_t container_name_max_bytes = 63;
inline constexpr std::int64_t secret_name_max_bytes = 64;
inline constexpr std::int64_t account_secrets_max = 10'000; ///< what a list of an account's secrets shows at most
inline constexpr std::int64_t manifest_max_bytes = 4096;    ///< of a release manifest, its signature and its trust root
inline constexpr std::int64_t secret_max_bytes = 65'536;    ///< secrets.max_bytes
inline constexpr std::int64_t input_max_bytes = 65'536;     ///< runner.input_max_bytes, a line for an agent
inline constexpr std::int64_t runner_max_frame_bytes = 1 << 20; ///< runner.max_frame_bytes
inline constexpr std::int64_t runner_max_body_bytes = 16 << 20; ///< runner.max_body_bytes, the newest lines that fit
inline constexpr std::int64_t runner_heartbeat_ms = 5'000;      ///< runner.heartbeat_ms
inline constexpr std::int64_t runner_timeout_s = 20;            ///< runner.timeout_s, a silent peer is dropped after
inline constexpr std::int64_t runner_reconnect_grace_s = 60;    ///< runner.reconnect_grace_s
inline constexpr std::int64_t runner_stop_timeout_s = 20;    ///< runner.stop_timeout_s, a caller's patience with a stop
inline constexpr std::int64_t runner_cleanup_timeout_s = 30; ///< runner.cleanup_timeout_s
inline constexpr std::int64_t runner_wait_max_s = 30;        ///< runner.wait_max_s, for Prefer: wait and lookups
inline constexpr std::int64_t runner_watch_ms = 500;         ///< runner.watch_ms, between looks for operations
inline constexpr std::int64_t runner_ask_after_ms = 5'000;   ///< runner.ask_after_ms, before the first status query
inline constexpr std::int64_t runner_max_connections = 4096; ///< runner.max_connections
inline constexpr std::int64_t runner_max_unsent_bytes = 32 << 20; ///< runner.max_unsent_bytes, towards one Runner
inline constexpr std::int64_t runner_max_reports = 64;        ///< runner.max_reports, of one Runner in work at a time
inline constexpr std::int64_t runner_linger_ms = 1'000;       ///< for a Runner to read why its connection is closed
inline constexpr std::int64_t runner_echoes_max = 4096;       ///< commands whose echoes a connection remembers
inline constexpr std::int64_t runner_attempts_max = 10'000;   ///< attempts that a connection remembers to have told
inline constexpr std::int64_t container_queue_max = 4096;     ///< actors.container_queue_max
inline constexpr std::int64_t node_heartbeat_ms = 500;        ///< nodes.heartbeat_ms
inline constexpr std::int64_t node_timeout_s = 5;             ///< nodes.timeout_s
inline constexpr std::int64_t retention_sweep_ms = 60'000;    ///< retention.sweep_ms, between looks for old rows
inline constexpr std::int64_t retention_deadline_s = 86'400;  ///< retention.deadline_s
inline constexpr std::int64_t retention_promoted_s = 604'800; ///< retention.promoted_s
inline constexpr std::int64_t retention_failed_s = 2'592'000; ///< retention.failed_s
inline constexpr std::int64_t retention_orphan_s = 2'592'000; ///< retention.orphan_s

// The program cleat-runner. Its keys are explained in docs/operating/runner.md.
inline constexpr std::int64_t agent_line_max_bytes = 65'536; ///< of cleat-runner; longer lines are relayed in pieces
/// A byte that is no UTF-8 becomes the three of U+FFFD.
inline constexpr std::int64_t agent_line_growth = 3;
inline constexpr std::int64_t agent_relay_frame_bytes = 262'144;  ///< of cleat-runner; a frame of lines is closed then
inline constexpr std::int64_t agent_relay_window = 2'000;         ///< of cleat-runner: relay.window, lines on their way
inline constexpr std::int64_t agent_relay_unsent_bytes = 4 << 20; ///< of cleat-runner; lines beyond it wait
inline constexpr std::int64_t agent_relay_resend_ms = 2'000;      ///< of cleat-runner: relay.resend_ms
inline constexpr std::int64_t agent_max_unacknowledged = 10'000;  ///< of cleat-runner: relay.max_unacknowledged, lines
inline constexpr std::int64_t agent_max_unacknowledged_bytes = 16 << 20; ///< of cleat-runner
inline constexpr std::int64_t agent_stop_grace_s = 10; ///< of cleat-runner: stop_grace_s, from SIGTERM to SIGKILL
/// How long a stop's answer waits for the lines that come before it.
inline constexpr std::int64_t agent_stop_relay_s = 5;
inline constexpr std::int64_t agent_input_queue_lines = 1'024;   ///< of cleat-runner; for an agent that does not read
inline constexpr std::int64_t agent_input_queue_bytes = 4 << 20; ///< of cleat-runner
inline constexpr std::int64_t agent_stderr_max_bytes = 1 << 20;  ///< of cleat-runner; then the file is begun anew
inline constexpr std::int64_t agent_secret_connections = 16;     ///< of cleat-runner, one agent's at a time
inline constexpr std::int64_t agent_secret_timeout_s = 10;       ///< of cleat-runner
inline constexpr std::int64_t runner_parked_commands = 16;       ///< of cleat-runner; while an old attempt is ended
inline constexpr std::int64_t runner_pending_bodies_bytes = 64
                                                            << 20; ///< of cleat-runner; bodies whose start is to come
inline constexpr std::int64_t runner_connect_timeout_s = 10;       ///< of cleat-runner: server.connect_timeout_s
inline constexpr std::int64_t runner_backoff_min_ms = 100;         ///< of cleat-runner
inline constexpr std::int64_t runner_backoff_max_ms = 5'000;       ///< of cleat-runner: server.backoff_max_ms
inline constexpr std::int64_t runner_drain_s = 5;         ///< of cleat-runner: drain_s, for what is left to send
inline constexpr std::int64_t runner_prune_s = 3'600;     ///< of cleat-runner; between looks for old rows
inline constexpr std::int64_t runner_kill_timeout_s = 10; ///< of cleat-runner; for what a crash has left to be gone
inline constexpr std::int64_t journal_retention_s = 3'456'000; ///< of cleat-runner: journal.retention_s, 40 days

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
static_assert(runner_wait_max_s < answer_timeout_s && runner_stop_timeout_s < answer_timeout_s);
static_assert(runner_heartbeat_ms * 2 < runner_timeout_s * 1000);
static_assert(node_heartbeat_ms * 2 < node_timeout_s * 1000);
static_assert(input_max_bytes + 1024 < runner_max_frame_bytes);
static_assert(agent_line_max_bytes * agent_line_growth + agent_relay_frame_bytes + 1024 < runner_max_frame_bytes,
              "a frame of lines is closed by the line that passes agent_relay_frame_bytes");
static_assert(agent_relay_unsent_bytes + runner_max_frame_bytes < runner_max_unsent_bytes);
static_assert(runner_max_body_bytes <= runner_pending_bodies_bytes);
static_assert(journal_retention_s > retention_failed_s &&
                journal_retention_s > retention_promoted_s + retention_deadline_s,
              "a journal remembers longer than any server asks");
static_assert(runner_max_body_bytes * 5 / 4 < runner_max_unsent_bytes,
              "a session body must fit, its frames and TLS included");

} // namespace cleat::limits
