#pragma once

#include <memory>
#include <string>

#include "apps/cleatd/config.hpp"
#include "apps/cleatd/release_gate.hpp"
#include "base/metrics.hpp"
#include "storage/data_folder.hpp"
#include "storage/embedded.hpp"

namespace cleat::cleatd {

/// One running server: the rooms, wired to each other in the order in which they need each other, and taken apart in
/// the reverse one.
class Instance {
public:
  /// Takes the data folder. Throws `std::runtime_error` with a sentence for the person at the terminal, as `start`
  /// does.
  explicit Instance(const Config& config);
  /// Stops, if that has not happened yet.
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  /// Brings the database up: starts or adopts the embedded one, and migrates it.
  void start_database();

  /// Starts actors and HTTP, makes the owner and the demo world, writes `endpoints.json`. Requests are served when
  /// this returns.
  void start_serving();

  /// The text for the terminal, once requests are served.
  [[nodiscard]] std::string announcement() const;

  /// Reads again what may be replaced while requests are served: release manifests and their trust root, and the
  /// certificates of the HTTP and the Runner listener, for the connections to come. Says in the log what it found; a
  /// certificate that cannot be used leaves the old one in place. While requests are served.
  void reload();

  /// Answers what is in flight and stops everything, PostgreSQL last.
  void stop();

private:
  struct Actors;

  const Config config_;
  const storage::DataFolder folder_;
  const std::shared_ptr<Metrics> metrics_ = std::make_shared<Metrics>();
  ReleaseGate release_gate_;
  std::unique_ptr<storage::EmbeddedPostgres> embedded_;
  std::string database_url_;
  std::unique_ptr<Actors> actors_;
  /// Where HTTP is served.
  std::string url_;
  /// Where Runners connect, HOST:PORT.
  std::string runner_address_;
};

} // namespace cleat::cleatd
