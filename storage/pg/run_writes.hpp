#pragma once

#include <vector>

#include "protocol/decision.hpp"
#include "storage/pg/params.hpp"

/// What is written around runs as the parameters of its statements, column after column.
namespace cleat::storage::pg {

/// The parameters of the statement that is named after them, for these rows.
Params update_sessions_params(const std::vector<const UpdateSession*>& updates);
Params insert_messages_params(const std::vector<const Message*>& rows);
Params insert_runs_params(const std::vector<const Run*>& rows);
Params update_runs_params(const std::vector<const UpdateRun*>& updates);
Params insert_agent_events_params(const std::vector<const AgentEvent*>& rows);

} // namespace cleat::storage::pg
