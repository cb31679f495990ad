#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "apps/cleat-load/answer_json.hpp"
#include "apps/cleat-load/connections.hpp"
#include "apps/cleat-load/findings.hpp"
#include "apps/cleat-load/options.hpp"
#include "apps/cleat-load/world.hpp"

namespace cleat::load {

/// What an answer was to; each is measured apart.
enum class Kind : std::uint8_t {
  bind,
  take_over,
  refusal,
  reset,
  report,
  heartbeat,
  list,
  start,
  stop,
  transaction,
  noop,
};

/// The kind's name in reports.
std::string_view to_string(Kind kind);

/// What was acknowledged to the clients, to be compared with the database.
struct Tally {
  /// Binds answered 201, take-overs included: each makes one row, one audit entry and one idempotency record.
  std::int64_t binds = 0;
  /// Rows that these ended.
  std::int64_t ended = 0;
  /// Resets answered 201.
  std::int64_t resets = 0;
  /// Reports answered 200; each changed something.
  std::int64_t reports = 0;
  /// Starts answered 201: each is an operation of its own and a binding.
  std::int64_t starts = 0;
  /// Stops answered 200: each released one of these bindings.
  std::int64_t stops = 0;
  /// Transactions of etcd that succeeded, and the keys that they have to have left.
  std::int64_t transactions = 0;
  std::int64_t keys = 0;
};

/// Connections that bind on one thread with the same expectation. Of all who expect one session exactly one may win,
/// and nobody may be refused an expectation that nobody won.
class Contest {
public:
  /// What everybody expects now; empty is no session.
  [[nodiscard]] const std::string& expectation() const { return expectation_; }

  /// Somebody who expected `expected` won and made the session `made`.
  void won(const std::string& expected, std::string_view made, Findings& findings);

  /// Somebody who expected `expected` was told that another session is current.
  void refused(const std::string& expected) { ++rounds_[expected].refused; }

  /// Looks over all rounds once every answer is there.
  void settle(Findings& findings) const;

private:
  struct Round {
    std::uint64_t won = 0;
    std::uint64_t refused = 0;
  };
  std::string expectation_;
  std::unordered_map<std::string, Round> rounds_;
};

/// What the connections of one scenario share.
struct Stage {
  World world;
  Findings findings = {};
  Tally tally = {};
  Contest contest = {};
  AnswerJson json = {};
  /// The first answer to a list of each of `world.listed`; nothing changes these threads, so all later ones are
  /// compared with it byte by byte.
  std::vector<std::string> lists = {};
  /// Session ids that were minted, so that none is ever seen twice.
  std::unordered_set<std::string> minted = {};
};

/// What one connection does.
class Play {
public:
  virtual ~Play() = default;

  /// The next request.
  virtual void next(Request& request) = 0;

  /// Holds the answer to it against what it must be, and says what it was.
  virtual Kind check(const Answer& answer) = 0;
};

/// One play a connection. `stage` must outlive them.
std::vector<std::unique_ptr<Play>> make_plays(Scenario scenario, Stage& stage, std::size_t connections);

} // namespace cleat::load
