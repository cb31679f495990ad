#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

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
  /// A read of a log, as it arrived.
  struct LogRead {
    std::optional<EventFilter> filter; ///< nothing for an agent's own events
    std::int64_t after = 0;
    std::int64_t limit = 0;
  };

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

  /// Whether tokens are valid.
  std::atomic<bool> tokens_valid = true;
  /// Whether the logs can be read.
  std::atomic<bool> log_readable = true;

  /// Writes an entry into both logs and wakes who waits.
  void append(LogItem item);
  /// The entries behind `after`, as a read of a log finds them.
  Result<LogItems> read(const LogRead& read);
  /// Waits until that many reads have found nothing.
  void wait_for_empty_reads(int count);
  /// Waits until there have been that many reads.
  void wait_for_reads(std::size_t count);
  [[nodiscard]] std::vector<LogRead> reads();
  [[nodiscard]] bool has_behind(std::int64_t after);

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrivals_ = 0;
  std::vector<LogItem> log_;
  std::vector<LogRead> reads_;
  int empty_reads_ = 0;
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

  /// Writes an entry into both logs and has the herald tell it.
  void append(LogItem item);

  /// A request with a token, ready to be sent.
  static std::string get(const std::string& path, const std::string& fields = {});
  static std::string post(const std::string& path, const std::string& body, const std::string& fields = {});

  Config config_;
  caf::actor_system system_{config_};
  std::shared_ptr<Behind> behind_ = std::make_shared<Behind>();
  std::shared_ptr<Metrics> metrics_ = std::make_shared<Metrics>();
  http::HttpOptions options_;
  actors::herald_actor herald_;
  std::unique_ptr<http::Server> server_;
  std::uint16_t port_ = 0;
};

/// The reset of a thread, the write that these tests use.
extern const std::string reset_path;

} // namespace cleat::test
