#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/cleat-runner/journal.hpp"
#include "base/time.hpp"

namespace cleat::runner {

/// What agents have said and the server has not acknowledged. It is in the journal before it is sent; what is sent is
/// sent again until it is acknowledged (spec 04 section 7).
class Relays {
public:
  struct Options {
    std::int64_t window = 0;             ///< lines on their way, of one lifetime
    std::int64_t max_unacknowledged = 0; ///< lines of one lifetime after which its agent has to wait
    std::chrono::milliseconds resend{};
  };
  using Now = std::chrono::steady_clock::time_point;

  /// Takes up what the journal holds.
  Relays(Journal& journal, const Options& options);

  /// A lifetime begins: its lines are numbered from 1.
  void begin(const OperationKey& key, const std::string& session_id);
  /// Adds a line, or the end of the agent.
  void said(const OperationKey& key, std::string line, std::optional<std::int64_t> exit_code, Timestamp time);
  /// The end of an agent whose Runner has died with it. `said_through`: what the operation's row knows.
  void ended_by_crash(const OperationRow& row, std::int64_t exit_code, Timestamp time);
  /// The number of the last line; 0 before the first.
  [[nodiscard]] std::int64_t said_through(const OperationKey& key) const;

  /// Everything up to here is durable at the server.
  void acknowledged(const OperationKey& key, std::int64_t through, Now now);
  /// Whether so much waits that the agent has to.
  [[nodiscard]] bool is_full(const OperationKey& key) const;
  /// Whether every line has been handed over at least once.
  [[nodiscard]] bool is_sent(const OperationKey& key) const;
  /// Whether no line of any lifetime waits.
  [[nodiscard]] bool is_empty() const { return waiting_.empty(); }

  /// A new connection: whatever is not acknowledged goes again.
  void rewind();
  /// The frames that shall be sent now; no more once they have `max_bytes`. Lifetimes take turns.
  [[nodiscard]] std::vector<wire::FromRunner> take(Now now, std::int64_t max_bytes);

private:
  struct Lifetime {
    std::string session_id;
    std::int64_t said = 0;
    std::int64_t sent = 0;
    /// How far it has ever been sent.
    std::int64_t sent_once = 0;
    std::int64_t acknowledged = 0;
    std::int64_t bytes = 0;
    bool ended = false;
    /// When lines were sent or acknowledged last.
    Now moved{};
  };

  [[nodiscard]] bool is_full(const Lifetime& lifetime) const;
  /// Takes one frame of a lifetime, if it may send one; answers its bytes.
  std::optional<std::int64_t> take_from(const OperationKey& key, Now now, std::vector<wire::FromRunner>& frames);

  Journal& journal_;
  Options options_;
  std::map<OperationKey, Lifetime> lifetimes_;
  /// Those with lines that are not acknowledged, so that quiet agents cost nothing.
  std::set<OperationKey> waiting_;
  /// Whose turn was last.
  OperationKey last_turn_;
};

} // namespace cleat::runner
