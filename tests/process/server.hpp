#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/process/client.hpp"
#include "tests/support/child.hpp"

namespace cleat::test {

/// How a server is started.
struct ServerOptions {
  /// Empty: the server brings its own PostgreSQL.
  std::string database_url = {};
  std::vector<std::string> arguments = {};
  std::map<std::string, std::string> environment = {};
  /// A PEM file with the authority of the certificate that the arguments name; empty without TLS.
  std::string authority = {};
  /// A program with arguments that becomes what follows them; empty: the server is started directly.
  std::vector<std::string> through = {};
  /// `cleatd-crashing`, which dies where `die_at` says.
  bool crashing = false;
  /// The point at which the first start of `cleatd-crashing` dies: the server is not there until it is started again.
  std::string first_start_dies_at = {};
};

/// A `cleatd` process over a data folder of its own, on a free port of the loopback.
class Server {
public:
  /// Makes the folder and starts the server. Throws with what the server printed when it does not become ready.
  explicit Server(ServerOptions options = {});

  /// Ends the process, kindly, and removes the folder.
  ~Server();

  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Starts the server again over the same folder, after `stop` or `kill`.
  void start();

  /// Starts `cleatd-crashing`, which dies at this point of its start or later, without anybody's doing.
  void start_until_death(const std::string& point);

  /// SIGTERM; answers the exit status once the process is gone.
  int stop();

  /// SIGKILL; returns once the process is gone.
  void kill();

  /// From now on `cleatd-crashing` dies at this point, `POINT` or `POINT:N` for the Nth time that it comes by.
  void die_at(const std::string& point);

  /// Waits until it has died at its point; throws when it does not. It can be started again then.
  void await_death();

  /// The running process.
  [[nodiscard]] Child& process() { return *child_; }

  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }
  /// HOST:PORT for Runners; the same after a restart, so that a Runner finds its server again.
  [[nodiscard]] const std::string& runner_address() const { return runner_address_; }
  [[nodiscard]] const std::filesystem::path& data() const { return folder_.path(); }

  /// The owner's token, from the file that the first start wrote.
  [[nodiscard]] std::string owner_token() const;

  /// Everything that the server has printed so far.
  [[nodiscard]] std::string output() const;

  /// A connection for whoever holds `token`.
  [[nodiscard]] Client client(const std::string& token) const { return {endpoint_, token}; }

private:
  [[nodiscard]] std::filesystem::path crash_file() const { return folder_.path() / "crash"; }
  void launch(const std::string& dies_at);
  void wait_until_ready();

  ServerOptions options_;
  TemporaryFolder folder_;
  std::unique_ptr<Child> child_;
  /// What earlier processes over this folder have printed.
  std::size_t printed_before_ = 0;
  Endpoint endpoint_;
  std::string runner_address_ = "127.0.0.1:0";
};

} // namespace cleat::test
