/// The librarian: pages and rare look-ups, one at a time.
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "base/log.hpp"
#include "storage/pg/database.hpp"
#include "storage/pg/directory.hpp"
#include "storage/pg/fleet_loading.hpp"
#include "storage/postgres_actors.hpp"

namespace cleat::storage {
namespace {

struct LibrarianState {
  const char* name = "postgres_librarian";
  std::optional<pg::Database> database;

  /// Does `work` on the connection; its value, or nothing where the database is away or the work failed, which was
  /// logged.
  template <class Work>
  auto read(Work work) -> std::optional<std::invoke_result_t<Work, pg::Connection&>> {
    try {
      return database->read(work);
    } catch (const std::exception& error) {
      log::get().error("librarian: {}", error.what());
      database->drop();
      return std::nullopt;
    }
  }
};

ReadStatus status_of(bool available) {
  return available ? ReadStatus::ok : ReadStatus::unavailable;
}

librarian_actor::behavior_type librarian(librarian_actor::stateful_pointer<LibrarianState> self,
                                         const DatabaseOptions& options, const std::shared_ptr<Metrics>& metrics) {
  LibrarianState& state = self->state;
  state.database.emplace(options, pg::statements::librarian, metrics);
  return {
    [&state](const LoadDirectory& question) {
      auto facts = state.read([&](pg::Connection& connection) { return pg::load_directory(connection, question); });
      return DirectoryLoaded{status_of(facts.has_value()), facts ? std::move(*facts) : DirectoryFacts{}};
    },
    [&state](const ReadPage& question) {
      auto rows = state.read([&](pg::Connection& connection) { return pg::read_page(connection, question); });
      return PageRead{status_of(rows.has_value()), rows ? std::move(*rows) : PageRows{}};
    },
    [&state](const Bootstrap& question) {
      bool again = false;
      const auto created = state.read(
        [&](pg::Connection& connection) { return pg::bootstrap(connection, question, std::exchange(again, true)); });
      return Bootstrapped{status_of(created.has_value()), created.value_or(false)};
    },
    [&state](const CollectGarbage& question) {
      const auto removed =
        state.read([&](pg::Connection& connection) { return pg::collect_garbage(connection, question); });
      return GarbageCollected{status_of(removed.has_value()), removed.value_or(0)};
    },
    [&state](const LoadEnrolment& question) {
      auto facts = state.read([&](pg::Connection& connection) { return pg::load_enrolment(connection, question); });
      return EnrolmentLoaded{status_of(facts.has_value()), facts ? std::move(*facts) : EnrolmentFacts{}};
    },
    [&state](const BeatNode& question) {
      auto held = state.read([&](pg::Connection& connection) { return pg::beat(connection, question); });
      return NodeBeaten{status_of(held.has_value()), held ? std::move(*held) : std::vector<HeldRunner>{}};
    },
    [&state](const Ping&) { return Pong{status_of(state.read(pg::takes_writes).value_or(false))}; },
  };
}

} // namespace

librarian_actor spawn_postgres_librarian(caf::actor_system& system, const DatabaseOptions& options,
                                         const std::shared_ptr<Metrics>& metrics) {
  return system.spawn<caf::detached>(librarian, options, metrics);
}

} // namespace cleat::storage
