#pragma once

#include <memory>

#include <caf/actor_system.hpp>

#include "storage/interface.hpp"
#include "storage/memory_tables.hpp"

namespace cleat::storage {

/// The memory twin of `open_postgres`: one event-based actor behind all three handles, so that it runs under CAF's
/// deterministic test scheduler. Tests keep `tables` to script outcomes and to look at rows.
Store open_memory(caf::actor_system& system, std::shared_ptr<MemoryTables> tables);

} // namespace cleat::storage
