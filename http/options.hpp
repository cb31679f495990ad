#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/limits.hpp"
#include "protocol/tls.hpp"

namespace cleat::http {

/// How much each principal may ask, by the class of what it asks (spec 05). 0 a second is no limit.
struct RateLimits {
  std::int64_t read_per_s = limits::rate_read_per_s;                   ///< rate.read_per_s
  std::int64_t trigger_per_s = limits::rate_trigger_per_s;             ///< rate.trigger_per_s
  std::int64_t agent_runtime_per_s = limits::rate_agent_runtime_per_s; ///< rate.agent_runtime_per_s
  std::int64_t admin_per_s = limits::rate_admin_per_s;                 ///< rate.admin_per_s
  std::int64_t burst_s = limits::rate_burst_s;                         ///< rate.burst_s, what may be saved up
  std::size_t max_principals = limits::rate_max_principals;            ///< rate.max_principals, ones remembered
};

/// How many tokens that nobody knows may come from an address.
struct AuthLimits {
  std::int64_t failures_per_minute = limits::auth_failures_per_minute; ///< auth.failures_per_minute; 0 is no limit
  std::int64_t burst = limits::auth_burst;                             ///< auth.burst, how many at once
  std::size_t max_addresses = limits::auth_max_addresses;              ///< auth.max_addresses, ones remembered
};

/// Configuration of the http room. Defaults come from `base/limits.hpp`; the configuration key of each stands beside
/// it.
struct HttpOptions {
  /// http.listen, the host part: an address or name to bind to.
  std::string host = "127.0.0.1";
  /// http.listen, the port part; 0 picks a free port.
  std::uint16_t port = 0;
  std::string certificate_file;                    ///< http.certificate, a chain as PEM; with it the server speaks TLS
  std::string key_file;                            ///< http.key, as PEM
  tls::Version oldest_tls = tls::Version::tls_1_3; ///< http.tls_min_version
  /// http.insecure: whether other machines may connect without TLS.
  bool insecure = false;

  std::size_t max_connections = limits::max_connections;             ///< http.max_connections, one thread each
  std::size_t max_waiting = limits::max_waiting;                     ///< http.max_waiting, long polls and streams
  int listen_backlog = limits::listen_backlog;                       ///< http.listen_backlog
  std::size_t max_header_bytes = limits::max_header_bytes;           ///< http.max_header_bytes, request line included
  std::size_t max_json_body_bytes = limits::max_json_body_bytes;     ///< http.max_json_body_bytes
  std::size_t session_ref_max_bytes = limits::session_ref_max_bytes; ///< agent.session_ref_max_bytes
  std::size_t import_max_items = limits::import_max_items;           ///< agent.import_max_items
  std::size_t message_max_bytes = limits::message_max_bytes;         ///< messages.max_bytes
  std::size_t secret_max_bytes = limits::secret_max_bytes;           ///< secrets.max_bytes
  std::size_t input_max_bytes = limits::input_max_bytes;             ///< runner.input_max_bytes
  std::size_t token_cache_max = limits::token_cache_max;             ///< http.token_cache_max, tokens remembered

  std::chrono::milliseconds keep_alive = std::chrono::seconds(limits::keep_alive_s);         ///< http.keep_alive_s
  std::chrono::milliseconds read_timeout = std::chrono::seconds(limits::read_timeout_s);     ///< http.read_timeout_s
  std::chrono::milliseconds write_timeout = std::chrono::seconds(limits::write_timeout_s);   ///< http.write_timeout_s
  std::chrono::milliseconds drain = std::chrono::seconds(limits::drain_s);                   ///< http.drain_s
  std::chrono::milliseconds answer_timeout = std::chrono::seconds(limits::answer_timeout_s); ///< http.answer_timeout_s
  std::chrono::milliseconds ready_timeout = std::chrono::seconds(limits::ready_timeout_s);   ///< http.ready_timeout_s
  std::chrono::milliseconds token_cache_age{limits::token_cache_ms};                         ///< http.token_cache_ms

  std::chrono::milliseconds poll_wait_max = std::chrono::seconds(limits::poll_wait_max_s); ///< agent.poll_wait_max_s
  std::chrono::milliseconds runner_wait_max = std::chrono::seconds(limits::runner_wait_max_s); ///< runner.wait_max_s
  std::chrono::milliseconds heartbeat = std::chrono::seconds(limits::event_heartbeat_s);       ///< events.heartbeat_s

  RateLimits rates;
  AuthLimits auth;

  /// Whether the server speaks TLS.
  [[nodiscard]] bool encrypts() const { return !certificate_file.empty(); }

  /// Throws `std::invalid_argument` with the key and what to do about it when a value cannot work.
  void validate() const;
};

} // namespace cleat::http
