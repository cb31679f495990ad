#include "storage/memory.hpp"

#include <utility>

#include <caf/typed_event_based_actor.hpp>

namespace cleat::storage {

namespace {

using memory_actor =
  writer_actor::extend_with<loader_actor>::extend_with<librarian_actor>::extend_with<log_reader_actor>;

memory_actor::behavior_type memory(memory_actor::pointer, const std::shared_ptr<MemoryTables>& tables) {
  return {
    [tables](const Commit& message) { return CommitResult{tables->commit(*message.decision)}; },
    [tables](const RecordDenial& message) { return CommitResult{tables->record_denial(message)}; },
    [tables](const LoadThread& message) { return tables->load(message); },
    [tables](const FindToken& message) { return tables->find(message); },
    [tables](const FindIdempotency& message) { return tables->find(message); },
    [tables](const LoadDirectory& message) { return tables->load(message); },
    [tables](const ReadPage& message) { return tables->read(message); },
    [tables](const Bootstrap& message) { return tables->bootstrap(message); },
    [tables](const CollectGarbage& message) { return tables->collect(message); },
    [tables](const Ping&) { return tables->ping(); },
    [tables](const LocateRun& message) { return tables->find(message); },
    [tables](const AdvanceLog&) { return tables->advance(); },
    [tables](const FindEvents& message) { return tables->find(message); },
    [tables](const FindAgentEvents& message) { return tables->find(message); },
    [tables](const FindOverdueRuns& message) { return tables->find(message); },
    [tables](const LoadContainer& message) { return tables->load(message); },
    [tables](const LocateContainer& message) { return tables->find(message); },
    [tables](const LoadEnrolment& message) { return tables->load(message); },
    [tables](const BeatNode& message) { return tables->beat(message); },
    [tables](const FindTranscript& message) { return tables->find(message); },
    [tables](const FindFleetWork& message) { return tables->find(message); },
  };
}

} // namespace

Store open_memory(caf::actor_system& system, std::shared_ptr<MemoryTables> tables) {
  const memory_actor actor = system.spawn(memory, std::move(tables));
  return {actor, actor, actor, actor};
}

} // namespace cleat::storage
