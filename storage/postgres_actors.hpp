#pragma once

#include <memory>

#include <caf/actor_system.hpp>

#include "base/metrics.hpp"
#include "storage/interface.hpp"
#include "storage/options.hpp"

/// The three actors behind `open_postgres`. They block in libpq, so each is detached.
namespace cleat::storage {

/// Each spawns one of them over a connection of its own, which is made at the first request.
writer_actor spawn_postgres_writer(caf::actor_system& system, const DatabaseOptions& options,
                                   const std::shared_ptr<Metrics>& metrics);
loader_actor spawn_postgres_loader(caf::actor_system& system, const DatabaseOptions& options,
                                   const std::shared_ptr<Metrics>& metrics);
librarian_actor spawn_postgres_librarian(caf::actor_system& system, const DatabaseOptions& options,
                                         const std::shared_ptr<Metrics>& metrics);
log_reader_actor spawn_postgres_log_reader(caf::actor_system& system, const DatabaseOptions& options,
                                           const std::shared_ptr<Metrics>& metrics);

} // namespace cleat::storage
