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
  options.runs_watch_ms = config.runs_watch_ms;
  options.events_watch_ms = config.events_watch_ms;
  return options;
}

http::HttpOptions http_options(const Config& config) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  const auto listen = parse_listen(config.http_listen, "http.listen");
  http::HttpOptions options;
  options.host = listen.host;
  options.port = listen.port;
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
  options.heartbeat = seconds(config.events_heartbeat_s);
  options.rates = {
    config.rate_read_per_s,  config.rate_trigger_per_s, config.rate_agent_runtime_per_s,
    config.rate_admin_per_s, config.rate_burst_s,       static_cast<std::size_t>(config.rate_max_principals)};
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
