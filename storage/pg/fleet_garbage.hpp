#pragma once

#include <cstdint>

#include "storage/messages.hpp"
#include "storage/pg/connection.hpp"

namespace cleat::storage::pg {

/// Adds the statements that collect what has outlived its span around Runners (spec 04 section 8). `removed` is raised
/// by the number of rows that are gone and outlives the pipeline's run.
void add_fleet_garbage(Pipeline& pipeline, const CollectGarbage& question, const FleetSpans& spans,
                       std::int64_t& removed);

} // namespace cleat::storage::pg
