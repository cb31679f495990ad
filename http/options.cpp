#include "http/options.hpp"

#include <stdexcept>

#include "base/addresses.hpp"

namespace cleat::http {
namespace {

void require(bool fine, const char* message) {
  if (!fine)
    throw std::invalid_argument(message);
}

} // namespace

void HttpOptions::validate() const {
  using namespace std::chrono_literals;
  require(!host.empty(), "http.listen has no host; use for example 127.0.0.1:7480");
  require(certificate_file.empty() == key_file.empty(), "set http.certificate and http.key together, or neither");
  require(
    encrypts() || insecure || is_loopback(host),
    "http.listen is an address that other machines reach, without TLS; set http.certificate and http.key, listen on "
    "127.0.0.1, or allow it with http.insecure");
  require(max_connections >= 1, "http.max_connections must be at least 1");
  require(
    max_waiting >= 1 && max_waiting < max_connections,
    "http.max_waiting must be at least 1 and less than http.max_connections, so that who waits leaves room for who "
    "asks");
  require(listen_backlog >= 1, "http.listen_backlog must be at least 1");
  require(max_header_bytes > static_cast<std::size_t>(limits::max_target_bytes),
          "http.max_header_bytes must be more than 8000, the longest request target");
  require(max_json_body_bytes >= 1024, "http.max_json_body_bytes must be at least 1024");
  require(session_ref_max_bytes >= 1 &&
            session_ref_max_bytes <= static_cast<std::size_t>(limits::session_ref_ceiling_bytes),
          "agent.session_ref_max_bytes must be between 1 and 2600, what an entry of the unique index can hold");
  require(session_ref_max_bytes < max_json_body_bytes,
          "agent.session_ref_max_bytes must be less than http.max_json_body_bytes");
  require(import_max_items >= 1, "agent.import_max_items must be at least 1");
  require(message_max_bytes >= 1, "messages.max_bytes must be at least 1");
  require(secret_max_bytes >= 1, "secrets.max_bytes must be at least 1");
  require(input_max_bytes >= 1, "runner.input_max_bytes must be at least 1");
  require(token_cache_max >= 1, "http.token_cache_max must be at least 1");
  require(keep_alive > 0ms, "http.keep_alive_s must be more than 0");
  require(read_timeout > 0ms, "http.read_timeout_s must be more than 0");
  require(write_timeout > 0ms, "http.write_timeout_s must be more than 0");
  require(drain >= 0ms, "http.drain_s must not be negative");
  require(answer_timeout > 0ms, "http.answer_timeout_s must be more than 0");
  require(ready_timeout > 0ms, "http.ready_timeout_s must be more than 0");
  require(poll_wait_max > 0ms, "agent.poll_wait_max_s must be more than 0");
  require(runner_wait_max > 0ms, "runner.wait_max_s must be more than 0");
  require(heartbeat > 0ms, "events.heartbeat_s must be more than 0");
  require(rates.read_per_s >= 0 && rates.trigger_per_s >= 0 && rates.agent_runtime_per_s >= 0 && rates.admin_per_s >= 0,
          "rate.*_per_s must not be negative; 0 is no limit");
  require(rates.burst_s >= 1, "rate.burst_s must be at least 1");
  require(rates.max_principals >= 1, "rate.max_principals must be at least 1");
  require(auth.failures_per_minute >= 0, "auth.failures_per_minute must not be negative; 0 is no limit");
  require(auth.burst >= 1, "auth.burst must be at least 1");
  require(auth.max_addresses >= 1, "auth.max_addresses must be at least 1");
  require(token_cache_age >= 0ms && token_cache_age <= std::chrono::milliseconds(limits::token_cache_ceiling_ms),
          "http.token_cache_ms must be between 0 and 400, so that a revocation holds everywhere within a second");
}

} // namespace cleat::http
