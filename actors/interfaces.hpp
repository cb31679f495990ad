#pragma once

#include <caf/replies_to.hpp>
#include <caf/type_id.hpp>
#include <caf/typed_actor.hpp>

#include "protocol/commands.hpp"
#include "storage/interface.hpp"

/// Who owns which state, and what may be asked of whom (spec 02). Every message is answered with an `Answer`: a
/// reply that is durable, or a refusal that was true at some moment after the request arrived.
namespace cleat::actors {

/// Owns one thread: serializes every transition of its sessions and runs.
using thread_actor =
  caf::typed_actor<caf::replies_to<ResetSession>::with<Answer>,   // end the current session
                   caf::replies_to<BindSession>::with<Answer>,    // bind an external session, or take it over
                   caf::replies_to<ImportSessions>::with<Answer>, // write earlier sessions as history
                   caf::replies_to<TriggerRun>::with<Answer>,     // invoke an agent, now or when the active run ends
                   caf::replies_to<ReportSession>::with<Answer>,  // what the adapter says about its session
                   caf::replies_to<RunCommand>::with<Answer>      // the life of a run
                   >;

/// A moment has passed: the registry tells itself to passivate owners that nobody has asked for a while.
struct Sweep {};

/// Finds or spawns the owner of the thread that a message names and passes the message on.
using registry_actor = thread_actor::extend<caf::reacts_to<Sweep>>;

/// Provisioning and lists. Owns no state: versions guard its writes, so any number may run.
using directory_actor = caf::typed_actor<caf::replies_to<DirectoryCommand>::with<Answer>, // provisioning and its lists
                                         caf::replies_to<ListSessions>::with<Answer>,     // the history of a thread
                                         caf::replies_to<ReadEvents>::with<LogAnswer>,    // what may be seen of the log
                                         caf::replies_to<ReadAgentEvents>::with<LogAnswer> // an adapter's own events
                                         >;

/// Removes what has outlived its span, whenever it is told that a moment has passed.
using janitor_actor = caf::typed_actor<caf::reacts_to<Sweep>>;

/// Fails runs whose lease has run out, or that nobody starts, whenever it is told that a moment has passed.
using lease_watcher_actor = caf::typed_actor<caf::reacts_to<Sweep>>;

/// Knows how far the logs can be read, and answers those who wait for more.
using herald_actor = caf::typed_actor<caf::replies_to<AwaitLog>::with<LogMoved>, // there may be more, or time is up
                                      caf::reacts_to<Sweep>>;

/// What the http room talks to.
struct Frontends {
  registry_actor registry;
  directory_actor directory;
  herald_actor herald;
  storage::Store store;
};

} // namespace cleat::actors

CAF_BEGIN_TYPE_ID_BLOCK(cleat_actors, caf::id_block::cleat_storage_last_type_id + 1)
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::Answer))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::ResetSession))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::BindSession))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::ImportSessions))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::DirectoryCommand))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::ListSessions))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::actors::Sweep))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::TriggerRun))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::ReportSession))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::RunCommand))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::ReadEvents))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::ReadAgentEvents))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::LogAnswer))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::AwaitLog))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::LogMoved))
CAF_END_TYPE_ID_BLOCK(cleat_actors)

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::Answer)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::ResetSession)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::BindSession)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::ImportSessions)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::DirectoryCommand)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::ListSessions)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::actors::Sweep)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::TriggerRun)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::ReportSession)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::RunCommand)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::ReadEvents)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::ReadAgentEvents)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::LogAnswer)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::AwaitLog)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::LogMoved)
