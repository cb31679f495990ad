#pragma once

#include <optional>

#include "protocol/decision.hpp"
#include "protocol/facts.hpp"
#include "storage/messages.hpp"
#include "storage/pg/result.hpp"

/// Rows of the tables as the resources that they are. Each function reads the columns in the order in which the
/// statements of storage/sql list them; the number says how many that are.
namespace cleat::storage::pg {

inline constexpr int thread_columns = 9;
inline constexpr int channel_columns = 8;
inline constexpr int space_columns = 6;
inline constexpr int principal_columns = 12;
inline constexpr int session_columns = 14;
inline constexpr int run_columns = 17;

/// Each reads one record, column after column, in the order in which the statements name them.
Thread read_thread(RowReader& in);
Channel read_channel(RowReader& in);
Space read_space(RowReader& in);
Principal read_principal(RowReader& in);
Token read_token(RowReader& in);
Grant read_grant(RowReader& in);
AgentSession read_session(RowReader& in);
Run read_run(RowReader& in);
Message read_message(RowReader& in);
AuditEntry read_audit_entry(RowReader& in);
IdempotencyRecord read_idempotency(RowReader& in);
LoggedEvent read_event(RowReader& in);
LoggedAgentEvent read_agent_event(RowReader& in);
OverdueRun read_overdue_run(RowReader& in);

/// The facts of a thread, all columns of load_threads behind the number.
ThreadFacts read_facts(RowReader& in);

/// What runs of a thread are decided on, all columns of load_run_facts behind the number; held runs come by themselves.
RunFacts read_run_facts(RowReader& in);

/// A held run, all columns of load_held_runs behind the number.
HeldRun read_held_run(RowReader& in);

/// The level in the next column; NULL is none.
Level read_level(RowReader& in);

/// What `read` makes of the next `columns` columns, or nothing when a LEFT JOIN found no row for them.
template <class Read>
auto read_optional(RowReader& in, int columns, Read read) -> std::optional<decltype(read(in))> {
  if (in.is_null()) {
    in.skip(columns);
    return std::nullopt;
  }
  return read(in);
}

/// Every row of a result.
template <class Read>
auto read_all(const Result& result, Read read) {
  std::vector<std::decay_t<std::invoke_result_t<Read, RowReader&>>> rows;
  rows.reserve(static_cast<std::size_t>(result.rows()));
  for (int i = 0; i < result.rows(); ++i) {
    RowReader in(result, i);
    rows.push_back(read(in));
  }
  return rows;
}

} // namespace cleat::storage::pg
