#include "storage/postgres.hpp"

#include <stdexcept>

#include "storage/postgres_actors.hpp"

namespace cleat::storage {

Store open_postgres(caf::actor_system& system, const DatabaseOptions& options, std::shared_ptr<Metrics> metrics) {
  if (const auto wrong = options.validate())
    throw std::invalid_argument(*wrong);
  return {spawn_postgres_writer(system, options, metrics), spawn_postgres_loader(system, options, metrics),
          spawn_postgres_librarian(system, options, metrics), spawn_postgres_log_reader(system, options, metrics)};
}

} // namespace cleat::storage
