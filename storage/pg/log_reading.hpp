#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/metrics.hpp"
#include "storage/messages.hpp"
#include "storage/pg/database.hpp"

namespace cleat::storage::pg {

/// A position in each of the two logs.
struct LogPosition {
  std::int64_t events = 0;
  std::int64_t agent_events = 0;

  bool operator==(const LogPosition&) const = default;
};

/// Questions that one look at the logs answers.
struct LogQuestions {
  std::vector<FindEvents> events;
  std::vector<FindAgentEvents> agent_events;
  /// Transcripts have no gaps, so no look is needed for them.
  std::vector<FindTranscript> transcripts;
};

/// Their answers, in the same order; none of them when the database is away.
struct LogAnswers {
  std::vector<EventsFound> events;
  std::vector<AgentEventsFound> agent_events;
  std::vector<TranscriptFound> transcripts;
};

/// Reads the logs so that nobody skips an event that commits late (spec 02, invariant 9).
///
/// A writer has its transaction id before it draws a `seq`. So who reads the last `seq` of a log and then takes a
/// transaction id of his own knows: what was drawn up to there belongs to transactions with lower ids. Once the oldest
/// transaction that is still under way has a higher one, nothing can be committed up to there any more, and the log is
/// safe to be read that far. Blocks; used by one thread.
class LogReading {
public:
  LogReading(DatabaseOptions options, std::shared_ptr<Metrics> metrics);

  /// Looks once how far the logs are safe, and which agents have events since the last time that this was asked.
  LogAdvanced advance();

  /// Looks first how far the logs are safe, and for some milliseconds again while a transaction is in the way.
  LogAnswers find(const LogQuestions& questions);

  OverdueRuns find(const FindOverdueRuns& question);
  FleetWork find(const FindFleetWork& question);

  /// Gives the connection up; for when an answer could not be read.
  void drop() { database_.drop(); }

  /// Whether the database can be reached; connects when there is no connection.
  bool reachable() { return database_.connection() != nullptr; }

private:
  using Steady = std::chrono::steady_clock;

  /// What was drawn when the look was taken, and a transaction id that is higher than those of who had drawn it.
  struct Look {
    LogPosition ends;
    std::uint64_t xid = 0;
    Steady::time_point since;
  };

  bool step(Connection& connection);
  bool settle(Connection& connection);
  void take_look(Connection& connection, const LogPosition& ends);
  void judge(const Result& horizon);
  void step_with_patience(Connection& connection);
  void notice_new_connection();
  std::vector<Id> agents_since_last_time(Connection& connection);
  void add(Pipeline& pipeline, const FindEvents& question, EventsFound& found) const;
  void add(Pipeline& pipeline, const FindAgentEvents& question, AgentEventsFound& found) const;

  static void add(Pipeline& pipeline, const FindTranscript& question, TranscriptFound& found);

  Database database_;
  std::int64_t connection_ = 0;        ///< the number of the one that `look_` and `settled_` are from
  std::optional<Look> look_;           ///< still waiting for transactions that were under way
  std::optional<LogPosition> settled_; ///< the ends of the last look that waits no more
  bool ever_settled_ = false;
  /// The last events up to there. Of rows that are committed, and so never lowered: what was only drawn may be drawn
  /// again after a crash.
  LogPosition safe_;
  std::optional<std::int64_t> told_; ///< up to where `advance` has named the agents
};

} // namespace cleat::storage::pg
