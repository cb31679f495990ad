#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <gtest/gtest.h>

#include "actors/interfaces.hpp"
#include "http/server.hpp"
#include "tests/http/raw_client.hpp"

namespace cleat::test {

/// What the actors behind the server do, and a place where a test can meet them.
class Behind {
public:
  std::atomic<bool> database_up = true;
  /// Whether the owner of a thread keeps its answers back.
  std::atomic<bool> holds = false;

  /// Called by the owner when a command arrived; returns when it may be answered.
  void arrive();
  /// Waits until that many commands have arrived.
  void wait_for_arrivals(int count);
  /// Lets every command be answered.
  void release();
  [[nodiscard]] int arrivals();

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrivals_ = 0;
};

/// A real server on a free port, in front of actors that answer at once: every token is valid, every command succeeds
/// with `{"ok":true}`.
class ServerTest : public testing::Test {
protected:
  struct Config : caf::actor_system_config {
    Config();
  };

  ~ServerTest() override;

  /// Starts the server. Options other than the defaults are set before.
  void start();

  /// A request with a token, ready to be sent.
  static std::string get(const std::string& path, const std::string& fields = {});
  static std::string post(const std::string& path, const std::string& body, const std::string& fields = {});

  Config config_;
  caf::actor_system system_{config_};
  std::shared_ptr<Behind> behind_ = std::make_shared<Behind>();
  std::shared_ptr<Metrics> metrics_ = std::make_shared<Metrics>();
  http::HttpOptions options_;
  std::unique_ptr<http::Server> server_;
  std::uint16_t port_ = 0;
};

/// The reset of a thread, the write that these tests use.
extern const std::string reset_path;

} // namespace cleat::test
