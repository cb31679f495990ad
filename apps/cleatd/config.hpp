#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/encoding.hpp"
#include "base/limits.hpp"

/// The program `cleatd`: its configuration, and how the rooms are wired to each other.
namespace cleat::cleatd {

/// Everything that can be configured, with its defaults. What each member means stands at its key (`keys`) and in
/// docs/operating/configuration.md.
struct Config {
  std::string data = "data";
  bool demo = false;
  std::string owner_token_file;
  std::string log_level = "info";
  std::string log_format = "auto";

  std::string http_listen = "127.0.0.1:7480";
  bool http_insecure = false;
  std::string http_certificate;
  std::string http_key;
  std::string http_tls_min_version = "1.3";
  std::int64_t http_max_connections = limits::max_connections;
  std::int64_t http_max_waiting = limits::max_waiting;
  std::int64_t http_listen_backlog = limits::listen_backlog;
  std::int64_t http_max_header_bytes = limits::max_header_bytes;
  std::int64_t http_max_json_body_bytes = limits::max_json_body_bytes;
  std::int64_t http_keep_alive_s = limits::keep_alive_s;
  std::int64_t http_read_timeout_s = limits::read_timeout_s;
  std::int64_t http_write_timeout_s = limits::write_timeout_s;
  std::int64_t http_answer_timeout_s = limits::answer_timeout_s;
  std::int64_t http_ready_timeout_s = limits::ready_timeout_s;
  std::int64_t http_drain_s = limits::drain_s;
  std::int64_t http_token_cache_ms = limits::token_cache_ms;
  std::int64_t http_token_cache_max = limits::token_cache_max;

  std::int64_t rate_read_per_s = limits::rate_read_per_s;
  std::int64_t rate_trigger_per_s = limits::rate_trigger_per_s;
  std::int64_t rate_agent_runtime_per_s = limits::rate_agent_runtime_per_s;
  std::int64_t rate_admin_per_s = limits::rate_admin_per_s;
  std::int64_t rate_burst_s = limits::rate_burst_s;
  std::int64_t rate_max_principals = limits::rate_max_principals;

  std::int64_t auth_failures_per_minute = limits::auth_failures_per_minute;
  std::int64_t auth_burst = limits::auth_burst;
  std::int64_t auth_max_addresses = limits::auth_max_addresses;

  std::int64_t agent_poll_wait_max_s = limits::poll_wait_max_s;
  std::int64_t events_heartbeat_s = limits::event_heartbeat_s;
  std::int64_t messages_max_bytes = limits::message_max_bytes;

  std::string agent_default_currency = "EUR";
  std::int64_t agent_session_ref_max_bytes = limits::session_ref_max_bytes;
  std::int64_t agent_import_max_items = limits::import_max_items;
  std::int64_t idempotency_retention_s = limits::idempotency_retention_s;
  std::int64_t audit_deny_aggregate_window_s = limits::deny_aggregate_window_s;
  bool process_batch = true;
  bool process_core_dumps = false;
  std::int64_t runs_lease_s = limits::run_lease_s;
  std::int64_t runs_queued_timeout_s = limits::run_queued_timeout_s;
  std::int64_t runs_held_max = limits::runs_held_max;
  std::int64_t runs_watch_ms = limits::run_watch_ms;
  std::int64_t events_watch_ms = limits::events_watch_ms;

  std::int64_t actors_workers = limits::actor_workers;
  std::int64_t actors_idle_s = limits::actor_idle_s;
  std::int64_t actors_thread_queue_max = limits::thread_queue_max;

  std::string runner_listen = "127.0.0.1:7481";
  std::string runner_certificate;
  std::string runner_key;
  std::int64_t runner_max_connections = limits::runner_max_connections;
  std::int64_t runner_max_frame_bytes = limits::runner_max_frame_bytes;
  std::int64_t runner_max_reports = limits::runner_max_reports;
  std::int64_t runner_max_unsent_bytes = limits::runner_max_unsent_bytes;
  std::int64_t runner_max_body_bytes = limits::runner_max_body_bytes;
  std::int64_t runner_input_max_bytes = limits::input_max_bytes;
  std::int64_t runner_heartbeat_ms = limits::runner_heartbeat_ms;
  std::int64_t runner_timeout_s = limits::runner_timeout_s;
  std::int64_t runner_reconnect_grace_s = limits::runner_reconnect_grace_s;
  std::int64_t runner_wait_max_s = limits::runner_wait_max_s;
  std::int64_t runner_stop_timeout_s = limits::runner_stop_timeout_s;
  std::int64_t runner_cleanup_timeout_s = limits::runner_cleanup_timeout_s;
  std::int64_t runner_ask_after_ms = limits::runner_ask_after_ms;
  std::int64_t runner_watch_ms = limits::runner_watch_ms;
  std::int64_t actors_container_queue_max = limits::container_queue_max;
  std::string nodes_listen = "127.0.0.1:0";
  std::string nodes_address;
  std::string nodes_certificate;
  std::string nodes_key;
  std::string nodes_ca;
  std::int64_t nodes_heartbeat_ms = limits::node_heartbeat_ms;
  std::int64_t nodes_timeout_s = limits::node_timeout_s;
  std::int64_t retention_sweep_ms = limits::retention_sweep_ms;
  std::int64_t retention_deadline_s = limits::retention_deadline_s;
  std::int64_t retention_promoted_s = limits::retention_promoted_s;
  std::int64_t retention_failed_s = limits::retention_failed_s;
  std::int64_t retention_orphan_s = limits::retention_orphan_s;
  std::string secrets_master_key_file;
  std::int64_t secrets_max_bytes = limits::secret_max_bytes;

  std::string release_manifest;
  std::string release_runner_manifest;
  std::string release_trust_root;

  std::string database_url;
  std::int64_t database_max_batch = limits::max_batch;
  std::int64_t database_max_pending = limits::max_pending;
  std::int64_t database_tx_retry_max = limits::tx_retry_max;
  std::int64_t database_connect_timeout_s = limits::connect_timeout_s;
  std::int64_t database_statement_timeout_s = limits::statement_timeout_s;
  std::int64_t database_resolve_timeout_s = limits::resolve_timeout_s;
  std::int64_t database_request_timeout_s = limits::request_timeout_s;

  std::string database_postgres_bin;
  std::string database_embedded_user = "postgres";
  std::int64_t database_embedded_max_connections = limits::embedded_max_connections;
  std::int64_t database_embedded_shared_buffers_mb = limits::embedded_shared_buffers_mb;
  std::int64_t database_embedded_start_timeout_s = limits::embedded_start_timeout_s;
  std::int64_t database_embedded_stop_timeout_s = limits::embedded_stop_timeout_s;
  std::int64_t database_embedded_restart_backoff_max_ms = limits::embedded_restart_backoff_max_ms;
};

/// A configuration that cannot work. The text names the key and what to do about it.
struct ConfigError : std::runtime_error {
  explicit ConfigError(const std::string& text) : std::runtime_error(printable(text)) {}
};

/// A text, or one of a few words when `words` is not empty.
struct TextKey {
  std::string Config::*member;
  std::vector<std::string_view> words = {};
};
/// True or false.
struct SwitchKey {
  bool Config::*member;
};
/// A whole number from `min` to `max`.
struct NumberKey {
  std::int64_t Config::*member;
  std::int64_t min;
  std::int64_t max;
};

/// One thing that can be configured: in the file under `name`, by an environment variable, on the command line.
struct Key {
  std::string_view name;
  /// Its own option; keys without one are set with `--set NAME=VALUE`.
  std::string_view option;
  std::variant<TextKey, SwitchKey, NumberKey> kind;
  /// One sentence for the documentation and `--print-config`.
  std::string_view meaning;
};

/// Every key there is, in the order of the documentation.
const std::vector<Key>& keys();

/// `CLEAT_` and the option's name, or the key's where it has none: CLEAT_HTTP, CLEAT_HTTP_DRAIN_S.
std::string environment_name(const Key& key);

/// The value of a key as it would stand in the environment.
std::string value_of(const Config& config, const Key& key);

/// Sets a key from text. Throws `ConfigError` that names the key, `source` (where the text comes from) and what it
/// may be.
void assign(Config& config, const Key& key, std::string_view text, std::string_view source);

/// Where one value was found, by name: keys for the file and `--set`, variables for the environment.
using Values = std::map<std::string, std::string, std::less<>>;

/// Sets every key that the TOML file has. Throws `ConfigError` for a file that cannot be read, is no TOML or has a
/// key that does not exist.
void apply_file(Config& config, const std::string& path);

/// Sets every key that the environment has. Answers the variables named CLEAT_* that are no key of ours: other
/// programs of Cleat have theirs, so they are worth a warning and no more.
std::vector<std::string> apply_environment(Config& config, const Values& environment);

/// Sets the keys of the command line. Throws `ConfigError` for a key that does not exist.
void apply_options(Config& config, const Values& options);

/// Checks what no key can check alone. Throws `ConfigError`.
void validate(const Config& config);

/// The configuration as a TOML file with every key; a database URL stays out, because it may hold a password.
std::string print(const Config& config);

/// An address to listen on.
struct Listen {
  std::string host;
  std::uint16_t port = 0;
};

/// Splits HOST:PORT, with an IPv6 host in brackets. Throws `ConfigError` that names `key`.
Listen parse_listen(std::string_view text, std::string_view key);

} // namespace cleat::cleatd
