#pragma once

#include <vector>

#include "protocol/fleet.hpp"
#include "storage/pg/params.hpp"

/// The columns of rows around Runners as arrays, each function in the order of the statement that it is named after.
namespace cleat::storage::pg {

/// The parameters of the statement of the same name.
Params update_containers_params(const std::vector<const Container*>& rows);
Params insert_operations_params(const std::vector<const Operation*>& rows);
Params update_operations_params(const std::vector<const Operation*>& rows);
Params insert_bindings_params(const std::vector<const Binding*>& rows);
Params update_bindings_params(const std::vector<const Binding*>& rows);
Params insert_transcripts_params(const std::vector<const TranscriptLine*>& rows);
Params insert_orphans_params(const std::vector<const Orphan*>& rows);

} // namespace cleat::storage::pg
