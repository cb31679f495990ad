#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/linear/checker.hpp"

/// What threads and references are, one operation after the other, as clients are promised it (spec 03 sections 3 to
/// 8). It knows nothing of how the product comes to its answers.
namespace cleat::linear {

/// How a row stands.
enum class Standing { current, reset, rebind };

/// A row of `agent_sessions`, as an answer shows it.
struct SessionRow {
  std::string id;
  std::string reference;
  std::string model = {};
  std::int64_t version = 1;
  bool started = true;
  Standing standing = Standing::current;

  bool operator==(const SessionRow&) const = default;
};

/// What clients do.
enum class SessionVerb { bind, reset, report, start, list };

/// What an operation was answered.
enum class SessionOutcome {
  done,
  session_changed,
  session_bound_elsewhere,
  no_current_session,
  session_not_bound,
  version_conflict,
};

/// The answer to an operation: its rows are the one row of a bind, reset, report or conflict (none for a conflict
/// without `current`), or all rows of a list. Their order is not looked at: it is that of the servers' clocks.
struct SessionAnswer {
  SessionOutcome outcome = SessionOutcome::done;
  std::vector<SessionRow> rows = {};
};

/// An operation and its answer. One that was sent several times under one Idempotency-Key is one operation.
struct SessionOperation {
  SessionVerb verb = SessionVerb::list;
  std::string thread;
  /// Of a bind, a report or a start; empty: none is given.
  std::string reference = {};
  /// `expected_current_session_id`; of a bind, absent means "I expect none", of a reset "whichever it is".
  std::optional<std::string> expected = {};
  bool take_over = false;
  /// The version in If-Match.
  std::optional<std::int64_t> if_match = {};
  std::string model = {};
  bool started = false;
  bool bind_failed = false;
  /// Absent when the answer was lost, and for a start, which tells nothing but that it was done.
  std::optional<SessionAnswer> answer = {};
  /// Tells operations apart; 0 is nobody's.
  int number = 0;
  /// Who and where, for the reader of a failure.
  std::string note = {};
};

/// A row of the model. The id of a row whose maker got no answer is not known until somebody has seen the row.
struct ModelRow {
  SessionRow seen; ///< its id is empty as long as nobody has seen the row
  int maker = 0;   ///< the operation that made a row which nobody has seen

  bool operator==(const ModelRow&) const = default;
};

/// A thread's rows in the order of their making, and its active run.
struct ThreadPlace {
  std::vector<std::shared_ptr<const ModelRow>> rows;
  std::optional<std::size_t> current;
  bool is_running = false;
  bool bind_failed = false;
  /// The row that the run is on.
  std::optional<std::size_t> run_session;

  bool operator==(const ThreadPlace& other) const;
};

/// All threads that share references.
struct SessionState {
  std::map<std::string, std::shared_ptr<const ThreadPlace>> threads;

  bool operator==(const SessionState& other) const;
};

/// The sequential model of threads whose operator is one agent.
struct SessionModel {
  using Operation = SessionOperation;
  using State = SessionState;

  /// Every state that the operation can leave behind when it takes effect in `state` and answers as it did.
  static std::vector<State> after(const State& state, const Operation& operation);
  static std::size_t hash(const State& state);
  /// The operation with its answer lost; nothing for one that only looked or was refused, and so had no effect.
  static std::optional<Operation> without_answer(const Operation& operation);
};

/// A history of threads.
using SessionHistory = std::vector<Timed<SessionOperation>>;

/// Splits a history into parts that can be checked one by one.
///
/// Linearizability is local: a history is linearizable exactly if its restriction to each object is, as long as every
/// operation touches one object. A thread and a reference are no such objects by themselves, because a bind touches
/// both, and a take-over a second thread as well; what they touch together is the place of a reference, "current in
/// thread T". So an object is a thread with every reference that was ever named in it, and every other thread in which
/// one of these was named: the connected components of threads and references. Nothing spans two of them, because
/// whatever an operation reads or writes it reaches through its own thread or its own reference.
std::vector<SessionHistory> parts_of(const SessionHistory& history);

/// An operation as one line, times in milliseconds since `start`.
std::string to_string(const Timed<SessionOperation>& operation, Moment start);
/// The threads as lines.
std::string to_string(const SessionModel::State& state);
/// What is wrong with a part that is not linearizable: its shortest failing beginning, of which the last `max_lines`
/// operations are shown, and how far an explanation gets.
std::string explain(const SessionHistory& part, std::size_t max_lines = 40);

} // namespace cleat::linear
