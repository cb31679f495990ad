#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/ids.hpp"
#include "base/metrics.hpp"
#include "storage/options.hpp"
#include "storage/pg/connection.hpp"

namespace cleat::storage::pg {

/// What became of a transaction whose COMMIT was not answered.
enum class Truth { committed, not_committed, unknown };

/// The connection of one actor: made when it is needed and made anew after it was lost. Used by one thread.
class Database {
public:
  Database(DatabaseOptions options, std::span<const Statement> statements, std::shared_ptr<Metrics> metrics);

  /// The connection, made now if there is none; null when the database cannot be reached, which was logged then.
  Connection* connection();

  /// Gives the connection up, so that the next use makes a new one.
  void drop();

  /// Runs `work` on the connection, once more on a new one when the first turns out to be gone, because an idle
  /// connection is only found dead by using it. Nothing when the database is away or refuses; both are logged. `work`
  /// must be safe to run twice.
  template <class Work>
  auto read(Work work) -> std::optional<std::invoke_result_t<Work, Connection&>>;

  /// Learns what became of transaction `xid`, whose COMMIT was sent and not answered: asks on new connections until
  /// the transaction is over, or `resolve_timeout_s` is. `marker` is the row of commit_markers that it wrote.
  Truth resolve(const std::string& xid, const Id& marker);

  /// How many connections have been made so far, by which the use of a new one is noticed.
  [[nodiscard]] std::int64_t connections() const { return connections_; }

  [[nodiscard]] const DatabaseOptions& options() const { return options_; }
  [[nodiscard]] Metrics& metrics() const { return *metrics_; }

private:
  std::optional<Truth> ask_for_truth(const std::string& xid, const Id& marker);
  bool may_try_again(const ConnectionLost& error, int attempt);
  void refused(const SqlError& error);

  DatabaseOptions options_;
  std::span<const Statement> statements_;
  std::shared_ptr<Metrics> metrics_;
  std::optional<Connection> connection_;
  std::int64_t connections_ = 0;
  std::string last_failure_; ///< of the tries since the last connection
};

template <class Work>
auto Database::read(Work work) -> std::optional<std::invoke_result_t<Work, Connection&>> {
  for (int attempt = 0;; ++attempt) {
    Connection* const open = connection();
    if (!open)
      return std::nullopt;
    try {
      return work(*open);
    } catch (const ConnectionLost& error) {
      if (!may_try_again(error, attempt))
        return std::nullopt;
    } catch (const SqlError& error) {
      refused(error);
      return std::nullopt;
    }
  }
}

} // namespace cleat::storage::pg
