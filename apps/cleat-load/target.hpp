#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "apps/cleat-load/connections.hpp"
#include "apps/cleat-load/options.hpp"

namespace cleat::load {

/// The server under load and what is known of its surroundings.
struct Target {
  Address address;
  /// Empty when no token file is known; then only `noop` works.
  std::string owner_token;
  /// Empty leaves out the comparison with the database.
  std::string database_url;
  /// HOST:PORT that Runners connect to; empty when it is not known.
  std::string runner_address;
  /// 0 leaves out the CPU of this process.
  pid_t server_pid = 0;
  pid_t postgres_pid = 0;
  /// The Runners that this run has started.
  std::vector<pid_t> runner_pids;
};

/// Reads `http://HOST:PORT`. Throws `std::invalid_argument` for anything else.
Address parse_url(const std::string& url);

/// Puts together what the options say and what lies in the data folder, where a server may still be starting: waits
/// for its `endpoints.json`. Throws `std::runtime_error` when nothing comes.
Target find_target(const Options& options);

} // namespace cleat::load
