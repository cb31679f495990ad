#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/limits.hpp"

namespace cleat::http {

/// Configuration of the http room. Defaults come from `base/limits.hpp`; the configuration key of each stands beside
/// it.
struct HttpOptions {
  /// http.listen, the host part: an address or name to bind to.
  std::string host = "127.0.0.1";
  /// http.listen, the port part; 0 picks a free port.
  std::uint16_t port = 0;

  std::size_t max_connections = limits::max_connections;             ///< http.max_connections, one thread each
  int listen_backlog = limits::listen_backlog;                       ///< http.listen_backlog
  std::size_t max_header_bytes = limits::max_header_bytes;           ///< http.max_header_bytes, request line included
  std::size_t max_json_body_bytes = limits::max_json_body_bytes;     ///< http.max_json_body_bytes
  std::size_t session_ref_max_bytes = limits::session_ref_max_bytes; ///< agent.session_ref_max_bytes
  std::size_t import_max_items = limits::import_max_items;           ///< agent.import_max_items
  std::size_t token_cache_max = limits::token_cache_max;             ///< http.token_cache_max, tokens remembered

  std::chrono::milliseconds keep_alive = std::chrono::seconds(limits::keep_alive_s);         ///< http.keep_alive_s
  std::chrono::milliseconds read_timeout = std::chrono::seconds(limits::read_timeout_s);     ///< http.read_timeout_s
  std::chrono::milliseconds write_timeout = std::chrono::seconds(limits::write_timeout_s);   ///< http.write_timeout_s
  std::chrono::milliseconds drain = std::chrono::seconds(limits::drain_s);                   ///< http.drain_s
  std::chrono::milliseconds answer_timeout = std::chrono::seconds(limits::answer_timeout_s); ///< http.answer_timeout_s
  std::chrono::milliseconds ready_timeout = std::chrono::seconds(limits::ready_timeout_s);   ///< http.ready_timeout_s
  std::chrono::milliseconds token_cache_age{limits::token_cache_ms};                         ///< http.token_cache_ms

  /// Throws `std::invalid_argument` with the key and what to do about it when a value cannot work.
  void validate() const;
};

} // namespace cleat::http
