#include "apps/cleatd/keys_fleet.hpp"

// The keys of Runners and containers. docs/operating/configuration.md says the same to people.
namespace cleat::cleatd {
namespace {

constexpr std::int64_t day_s = 24 * 3600;
constexpr std::int64_t year_s = 366 * day_s;
constexpr std::int64_t many = 1'000'000;

std::vector<Key> runner_keys() {
  return {
    {"runner.listen", "--runner", TextKey{&Config::runner_listen},
     "HOST:PORT for Runners to connect to; port 0 picks a free one."},
    {"runner.certificate", "", TextKey{&Config::runner_certificate},
     "A PEM file with the certificate that Runners are shown; needed beyond loopback."},
    {"runner.key", "", TextKey{&Config::runner_key}, "The PEM file with its key."},
    {"runner.max_connections", "", NumberKey{&Config::runner_max_connections, 1, 65536}, "Sockets of Runners."},
    {"runner.max_frame_bytes", "", NumberKey{&Config::runner_max_frame_bytes, limits::input_max_bytes * 2, 64 << 20},
     "The largest message of a Runner."},
    {"runner.max_reports", "", NumberKey{&Config::runner_max_reports, 1, many},
     "Reports of one Runner that are worked on at a time; reading waits meanwhile."},
    {"runner.max_unsent_bytes", "", NumberKey{&Config::runner_max_unsent_bytes, 1 << 20, 1 << 30},
     "What may wait for a Runner that reads slowly; past it the socket is closed."},
    {"runner.max_body_bytes", "", NumberKey{&Config::runner_max_body_bytes, 4096, 1 << 29},
     "The transcript that a resume is given: the newest lines that fit."},
    {"runner.input_max_bytes", "", NumberKey{&Config::runner_input_max_bytes, 1, 1 << 20},
     "The longest line for an agent."},
    {"runner.heartbeat_ms", "", NumberKey{&Config::runner_heartbeat_ms, 10, 600'000},
     "Between two signs of life to and from a Runner."},
    {"runner.timeout_s", "", NumberKey{&Config::runner_timeout_s, 1, day_s},
     "A Runner that is silent for so long is dropped."},
    {"runner.reconnect_grace_s", "", NumberKey{&Config::runner_reconnect_grace_s, 0, day_s},
     "A Runner that comes back within this span goes on; later it enrols anew."},
    {"runner.wait_max_s", "", NumberKey{&Config::runner_wait_max_s, 1, 3600},
     "How long Prefer: wait and a lookup may wait."},
    {"runner.stop_timeout_s", "", NumberKey{&Config::runner_stop_timeout_s, 1, 3600},
     "How long a caller waits for a stop."},
    {"runner.cleanup_timeout_s", "", NumberKey{&Config::runner_cleanup_timeout_s, 1, day_s},
     "How long the stop of an agent that was started wrongly is waited for."},
    {"runner.ask_after_ms", "", NumberKey{&Config::runner_ask_after_ms, 10, 3'600'000},
     "A Runner is asked about an operation that it has not answered for so long."},
    {"runner.watch_ms", "", NumberKey{&Config::runner_watch_ms, 10, 60'000},
     "Between two looks for operations that nobody has answered."},
    {"actors.container_queue_max", "", NumberKey{&Config::actors_container_queue_max, 1, many},
     "Commands and reports that wait at one container."},
  };
}

std::vector<Key> release_keys() {
  return {
    {"release.manifest", "", TextKey{&Config::release_manifest},
     "The signed manifest of this program; none means cleatd.manifest.json beside it."},
    {"release.runner_manifest", "", TextKey{&Config::release_runner_manifest},
     "The signed manifest of the Runner of the same release; none means cleat-runner.manifest.json beside cleatd."},
    {"release.trust_root", "", TextKey{&Config::release_trust_root},
     "A PEM file with the public key that signs releases; none means release.pub beside cleatd."},
  };
}

std::vector<Key> node_keys() {
  return {
    {"nodes.listen", "", TextKey{&Config::nodes_listen},
     "HOST:PORT for the other servers of the same database; port 0 picks a free one."},
    {"nodes.address", "", TextKey{&Config::nodes_address},
     "The host by which the other servers reach this one; none means the one it listens on."},
    {"nodes.certificate", "", TextKey{&Config::nodes_certificate},
     "A PEM file with this server's certificate for the others; needed beyond loopback."},
    {"nodes.key", "", TextKey{&Config::nodes_key}, "The PEM file with its key."},
    {"nodes.ca", "", TextKey{&Config::nodes_ca}, "A PEM file with the authority of the other servers' certificates."},
    {"nodes.heartbeat_ms", "", NumberKey{&Config::nodes_heartbeat_ms, 10, 60'000},
     "Between two signs of life in the database."},
    {"nodes.timeout_s", "", NumberKey{&Config::nodes_timeout_s, 1, 3600},
     "A server that is silent for so long holds no Runner."},
  };
}

std::vector<Key> retention_keys() {
  return {
    {"retention.sweep_ms", "", NumberKey{&Config::retention_sweep_ms, 10, 3'600'000},
     "Between two looks for rows that have outlived their span."},
    {"retention.deadline_s", "", NumberKey{&Config::retention_deadline_s, 1, year_s},
     "How long an operation may be in flight, or be retried."},
    {"retention.promoted_s", "", NumberKey{&Config::retention_promoted_s, 1, year_s},
     "How long the handle of a promoted operation is known."},
    {"retention.failed_s", "", NumberKey{&Config::retention_failed_s, 1, year_s},
     "How long an operation that failed for good is kept."},
    {"retention.orphan_s", "", NumberKey{&Config::retention_orphan_s, 1, year_s},
     "How long a resolved orphan diagnostic is kept."},
    {"secrets.master_key_file", "", TextKey{&Config::secrets_master_key_file},
     "A file with the key that secrets are sealed with (43 characters of base64url); none means master.key in the data "
     "folder, made when missing."},
    {"secrets.max_bytes", "", NumberKey{&Config::secrets_max_bytes, 1, 1 << 20}, "The longest secret."},
  };
}

} // namespace

std::vector<Key> fleet_keys() {
  std::vector<Key> all = runner_keys();
  for (const auto& part : {release_keys(), node_keys(), retention_keys()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

} // namespace cleat::cleatd
