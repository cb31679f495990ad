#pragma once

#include <caf/meta/type_name.hpp>
#include <caf/replies_to.hpp>
#include <caf/type_id.hpp>
#include <caf/typed_actor.hpp>

#include "protocol/commands.hpp"
#include "protocol/release.hpp"
#include "protocol/session_commands.hpp"
#include "storage/interface.hpp"

/// Who owns which state, and what may be asked of whom (spec 02). Every message is answered with an `Answer`: a
/// reply that is durable, or a refusal that was true at some moment after the request arrived.
namespace cleat {

/// What crosses between servers, as CAF writes and reads it.
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, Id& x) {
  return f(x.bytes);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, Sent& x) {
  return f(caf::meta::type_name("sent"), x.operation_id, x.container_attempt_id, x.container_name);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, Node& x) {
  return f(caf::meta::type_name("node"), x.id, x.address);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, Deliver& x) {
  return f(caf::meta::type_name("deliver"), x.runner_id, x.epoch, x.node, x.request_id, x.about, x.envelopes);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, Delivered& x) {
  return f(caf::meta::type_name("delivered"), x.handed_over);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, ContainerMoved& x) {
  return f(caf::meta::type_name("container_moved"), x.container_name);
}

} // namespace cleat

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
                                         caf::replies_to<ReadAgentEvents>::with<LogAnswer>, // an adapter's own events
                                         caf::replies_to<ReadTranscript>::with<TranscriptAnswer> // what an agent said
                                         >;

/// A transcript has lines up to here.
struct TranscriptMoved {
  std::string session_id;
  std::int64_t through = 0;
};

/// Removes what has outlived its span, whenever it is told that a moment has passed.
using janitor_actor = caf::typed_actor<caf::reacts_to<Sweep>>;

/// Fails runs whose lease has run out, or that nobody starts, whenever it is told that a moment has passed.
using lease_watcher_actor = caf::typed_actor<caf::reacts_to<Sweep>>;

/// Sends the owners of containers to look after what is overdue, whenever it is told that a moment has passed.
using fleet_watcher_actor = caf::typed_actor<caf::reacts_to<Sweep>>;

/// Knows how far the logs can be read, and answers those who wait for more.
using herald_actor = caf::typed_actor<caf::replies_to<AwaitLog>::with<LogMoved>, // there may be more, or time is up
                                      caf::reacts_to<TranscriptMoved>,           // a session has said something, here
                                      caf::reacts_to<Sweep>>;

/// Owns one container: serializes its starts, resumes, stops, and what its Runner says (spec 02).
using container_actor =
  caf::typed_actor<caf::replies_to<StartSession>::with<Answer>,    // start or resume an agent
                   caf::replies_to<FollowHandle>::with<Answer>,    // look an operation up by its handle, or retry it
                   caf::replies_to<StopSession>::with<Answer>,     // stop an agent and release its session
                   caf::replies_to<SendInput>::with<Answer>,       // a line for the agent
                   caf::replies_to<RemoveContainer>::with<Answer>, // stop what runs, then remove the container
                   caf::replies_to<ResolveOrphan>::with<Answer>,   // close an orphan diagnostic, open the container
                   caf::reacts_to<RunnerSays>,                     // a report of the container's Runner
                   caf::reacts_to<Reconcile>,                      // look after operations in flight
                   caf::reacts_to<ContainerMoved>                  // another server has committed something
                   >;

/// Finds or spawns the owner of the container that a message is about and passes the message on.
using fleet_actor = container_actor::extend<caf::reacts_to<Sweep>>;

/// A Runner that wants in, as its connection heard it.
struct AdmitRunner {
  wire::AskEnrolment request;
};

/// What the connection tells it; with an enrolment, whose connection it is from now on.
struct RunnerAdmitted {
  wire::Command answer;
  std::optional<Id> runner_id;
  /// For the log.
  std::string runner_name = {};
  std::int64_t enrollment_revision = 0;
  std::int64_t epoch = 0;
};

/// A connection looks again whether it shall read its socket.
struct ReadingChanged {};

/// The socket of an admitted Runner has gone.
struct RunnerLeft {
  Id runner_id;
  std::int64_t epoch = 0;
};

/// The enrolment of a connection is another connection's now, or nobody's: it closes. `superseded`: another process
/// has enrolled, which the Runner is told first.
struct EnrolmentOver {
  bool superseded = false;
};

/// One socket of a Runner, once it is admitted: sends what it is given, and can be told that its enrolment is another
/// connection's now.
using runner_connection_actor = caf::typed_actor<caf::replies_to<Deliver>::with<Delivered>, // in this order, or not
                                                 caf::reacts_to<EnrolmentOver>              // told by the hub
                                                 >;

/// What one server asks of another, through CAF's network layer.
using peer_actor = caf::typed_actor<caf::replies_to<Deliver>::with<Delivered>, caf::reacts_to<ContainerMoved>>;

/// For a Runner whose socket another server holds. Answered with an error when nobody knows whether the envelopes have
/// left: whoever waits asks the Runner what became of them, and assumes nothing.
struct DeliverElsewhere {
  Deliver deliver;
};

/// Something about the container was committed here: servers that have delivered something for it lately are told.
struct TellPeers {
  ContainerMoved moved;
};

struct JoinPeers;

/// This server among the others: what they ask of it, and what it asks of them.
using peers_actor = peer_actor::extend<caf::replies_to<DeliverElsewhere>::with<Delivered>, // asked by the hub
                                       caf::reacts_to<TellPeers>,                          // told by the hub
                                       caf::reacts_to<JoinPeers>                           // once, at the start
                                       >;

/// The hub of a server that is one of several has peers from now on.
struct UsePeers {
  peers_actor peers;
};

/// Knows the sockets of Runners: those of this server, and where those of the others are. Decides enrolments.
using hub_actor = caf::typed_actor<caf::replies_to<Deliver>::with<Delivered>,          // to a Runner, wherever it is
                                   caf::replies_to<AdmitRunner>::with<RunnerAdmitted>, // asked by the connection
                                   caf::reacts_to<RunnerLeft>,                         // its socket has gone
                                   caf::reacts_to<ContainerMoved>, // committed here; servers that wait for it are told
                                   caf::reacts_to<UsePeers>,       // once, at the start
                                   caf::reacts_to<Sweep>>;

/// What the others ask for is passed on to these from now on.
struct JoinPeers {
  hub_actor hub;
  fleet_actor fleet;
};

/// What the http room talks to.
struct Frontends {
  registry_actor registry;
  directory_actor directory;
  herald_actor herald;
  storage::Store store;
  fleet_actor fleet;
  /// What the release gate says, for `/readyz`.
  std::shared_ptr<const release::Gate> gate;
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
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::StartSession))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::FollowHandle))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::StopSession))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::SendInput))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::RemoveContainer))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::ResolveOrphan))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::RunnerSays))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::Reconcile))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::ReadTranscript))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::TranscriptAnswer))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::actors::TranscriptMoved))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::actors::AdmitRunner))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::actors::RunnerAdmitted))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::actors::RunnerLeft))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::Deliver))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::Delivered))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::ContainerMoved))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::Sent))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::Node))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::actors::ReadingChanged))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::actors::EnrolmentOver))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::actors::DeliverElsewhere))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::actors::TellPeers))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::actors::UsePeers))
  CAF_ADD_TYPE_ID(cleat_actors, (cleat::actors::JoinPeers))
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
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::StartSession)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::FollowHandle)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::StopSession)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::SendInput)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::RemoveContainer)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::ResolveOrphan)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::RunnerSays)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::Reconcile)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::ReadTranscript)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::TranscriptAnswer)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::actors::TranscriptMoved)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::actors::AdmitRunner)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::actors::RunnerAdmitted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::actors::RunnerLeft)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::actors::ReadingChanged)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::actors::EnrolmentOver)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::actors::DeliverElsewhere)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::actors::TellPeers)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::actors::UsePeers)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::actors::JoinPeers)
