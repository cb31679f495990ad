#include "apps/cleatd/room_options.hpp"

#include <optional>
#include <stdexcept>

namespace cleat::cleatd {

storage::EmbeddedOptions embedded_options(const Config& config) {
  storage::EmbeddedOptions options;
  options.postgres_bin = config.database_postgres_bin;
  options.user = config.database_embedded_user;
  options.max_connections = config.database_embedded_max_connections;
  options.shared_buffers_mb = config.database_embedded_shared_buffers_mb;
  options.start_timeout_s = config.database_embedded_start_timeout_s;
  options.stop_timeout_s = config.database_embedded_stop_timeout_s;
  options.restart_backoff_max_ms = config.database_embedded_restart_backoff_max_ms;
  return options;
}

storage::DatabaseOptions database_options(const Config& config, const std::string& url) {
  storage::DatabaseOptions options;
  options.url = url;
  options.max_batch = config.database_max_batch;
  options.max_pending = config.database_max_pending;
  options.tx_retry_max = config.database_tx_retry_max;
  options.connect_timeout_s = config.database_connect_timeout_s;
  options.statement_timeout_s = config.database_statement_timeout_s;
  options.resolve_timeout_s = config.database_resolve_timeout_s;
  return options;
}

namespace {

actors::FleetOptions fleet_options(const Config& config) {
  actors::FleetOptions options;
  options.heartbeat_ms = config.runner_heartbeat_ms;
  options.timeout_s = config.runner_timeout_s;
  options.reconnect_grace_s = config.runner_reconnect_grace_s;
  options.stop_timeout_s = config.runner_stop_timeout_s;
  options.cleanup_timeout_s = config.runner_cleanup_timeout_s;
  options.watch_ms = config.runner_watch_ms;
  options.ask_after_ms = config.runner_ask_after_ms;
  options.max_frame_bytes = config.runner_max_frame_bytes;
  options.max_body_bytes = config.runner_max_body_bytes;
  options.max_connections = config.runner_max_connections;
  options.max_unsent_bytes = config.runner_max_unsent_bytes;
  options.max_reports = config.runner_max_reports;
  options.container_queue_max = config.actors_container_queue_max;
  options.node_heartbeat_ms = config.nodes_heartbeat_ms;
  options.node_timeout_s = config.nodes_timeout_s;
  options.spans = {config.retention_deadline_s, config.retention_promoted_s, config.retention_failed_s,
                   config.retention_orphan_s};
  return options;
}

} // namespace

actors::ActorOptions actor_options(const Config& config) {
  actors::ActorOptions options;
  options.rules.default_currency = config.agent_default_currency;
  options.rules.idempotency_retention_s = config.idempotency_retention_s;
  options.idle_s = config.actors_idle_s;
  options.thread_queue_max = config.actors_thread_queue_max;
  options.tx_retry_max = config.database_tx_retry_max;
  options.request_timeout_s = config.database_request_timeout_s;
  options.deny_aggregate_window_s = config.audit_deny_aggregate_window_s;
  options.rules.deny_aggregate_window_s = config.audit_deny_aggregate_window_s;
  options.rules.run_lease_s = config.runs_lease_s;
  options.rules.run_queued_timeout_s = config.runs_queued_timeout_s;
  options.rules.runs_held_max = config.runs_held_max;
  options.rules.operation_deadline_s = config.retention_deadline_s;
  options.rules.operation_promoted_s = config.retention_promoted_s;
  options.rules.operation_failed_s = config.retention_failed_s;
  options.rules.cleanup_timeout_s = config.runner_cleanup_timeout_s;
  options.fleet = fleet_options(config);
  options.runs_watch_ms = config.runs_watch_ms;
  options.events_watch_ms = config.events_watch_ms;
  options.sweep_ms = config.retention_sweep_ms;
  return options;
}

actors::RunnerListenerOptions runner_listener_options(const Config& config) {
  const auto listen = parse_listen(config.runner_listen, "runner.listen");
  return {listen.host, listen.port, config.runner_certificate, config.runner_key, config.http_insecure};
}

actors::PeersOptions peers_options(const Config& config, const Id& node_id) {
  const auto listen = parse_listen(config.nodes_listen, "nodes.listen");
  actors::PeersOptions options;
  options.host = listen.host;
  options.port = listen.port;
  options.address_host = config.nodes_address;
  options.certificate_file = config.nodes_certificate;
  options.key_file = config.nodes_key;
  options.ca_file = config.nodes_ca;
  options.insecure = config.http_insecure;
  options.node_id = node_id;
  options.node_timeout_s = config.nodes_timeout_s;
  return options;
}

http::HttpOptions http_options(const Config& config) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  const auto listen = parse_listen(config.http_listen, "http.listen");
  http::HttpOptions options;
  options.host = listen.host;
  options.port = listen.port;
  options.certificate_file = config.http_certificate;
  options.key_file = config.http_key;
  options.oldest_tls = config.http_tls_min_version == "1.2" ? tls::Version::tls_1_2 : tls::Version::tls_1_3;
  options.insecure = config.http_insecure;
  options.max_connections = static_cast<std::size_t>(config.http_max_connections);
  options.max_waiting = static_cast<std::size_t>(config.http_max_waiting);
  options.listen_backlog = static_cast<int>(config.http_listen_backlog);
  options.max_header_bytes = static_cast<std::size_t>(config.http_max_header_bytes);
  options.max_json_body_bytes = static_cast<std::size_t>(config.http_max_json_body_bytes);
  options.session_ref_max_bytes = static_cast<std::size_t>(config.agent_session_ref_max_bytes);
  options.import_max_items = static_cast<std::size_t>(config.agent_import_max_items);
  options.message_max_bytes = static_cast<std::size_t>(config.messages_max_bytes);
  options.token_cache_max = static_cast<std::size_t>(config.http_token_cache_max);
  options.keep_alive = seconds(config.http_keep_alive_s);
  options.read_timeout = seconds(config.http_read_timeout_s);
  options.write_timeout = seconds(config.http_write_timeout_s);
  options.drain = seconds(config.http_drain_s);
  options.answer_timeout = seconds(config.http_answer_timeout_s);
  options.ready_timeout = seconds(config.http_ready_timeout_s);
  options.token_cache_age = milliseconds(config.http_token_cache_ms);
  options.poll_wait_max = seconds(config.agent_poll_wait_max_s);
  options.runner_wait_max = seconds(config.runner_wait_max_s);
  options.input_max_bytes = static_cast<std::size_t>(config.runner_input_max_bytes);
  options.secret_max_bytes = static_cast<std::size_t>(config.secrets_max_bytes);
  options.heartbeat = seconds(config.events_heartbeat_s);
  options.rates = {
    config.rate_read_per_s,  config.rate_trigger_per_s, config.rate_agent_runtime_per_s,
    config.rate_admin_per_s, config.rate_burst_s,       static_cast<std::size_t>(config.rate_max_principals)};
  options.auth = {config.auth_failures_per_minute, config.auth_burst,
                  static_cast<std::size_t>(config.auth_max_addresses)};
  return options;
}

void check_rooms(const Config& config) {
  // The embedded server's URL is known later and always right.
  const auto url = config.database_url.empty() ? "dbname=cleat" : config.database_url;
  for (const auto& complaint : {database_options(config, url).validate(), actor_options(config).validate()})
    if (complaint)
      throw ConfigError(*complaint + ".");
  try {
    http_options(config).validate();
  } catch (const std::invalid_argument& error) {
    throw ConfigError(error.what());
  }
}

} // namespace cleat::cleatd
