#pragma once

#include <caf/replies_to.hpp>
#include <caf/type_id.hpp>
#include <caf/typed_actor.hpp>

#include "storage/messages.hpp"

/// The seam to the database (spec 02). Typed actors: a writer that commits decisions in set-based batches,
/// a loader that batches the reads of hot paths, a librarian for pages and rare look-ups, and a reader of the logs. Two
/// implementations, PostgreSQL and a memory twin, pass the same suite.
///
/// The messages never leave the process, so they are not serializable and carry plain values; decisions are
/// shared, because a batch holds many of them.
namespace cleat::storage {

using writer_actor =
  caf::typed_actor<caf::replies_to<Commit>::with<CommitResult>, caf::replies_to<RecordDenial>::with<CommitResult>>;

using loader_actor =
  caf::typed_actor<caf::replies_to<LoadThread>::with<ThreadLoaded>, caf::replies_to<FindToken>::with<TokenFound>,
                   caf::replies_to<FindIdempotency>::with<IdempotencyFound>,
                   caf::replies_to<LocateRun>::with<RunLocated>, caf::replies_to<LoadContainer>::with<ContainerLoaded>,
                   caf::replies_to<LocateContainer>::with<ContainerLocated>>;

using librarian_actor =
  caf::typed_actor<caf::replies_to<LoadDirectory>::with<DirectoryLoaded>, caf::replies_to<ReadPage>::with<PageRead>,
                   caf::replies_to<Bootstrap>::with<Bootstrapped>,
                   caf::replies_to<CollectGarbage>::with<GarbageCollected>, caf::replies_to<Ping>::with<Pong>,
                   caf::replies_to<LoadEnrolment>::with<EnrolmentLoaded>, caf::replies_to<BeatNode>::with<NodeBeaten>>;

/// Reads the two logs and transcripts, and finds runs and operations whose time is over.
using log_reader_actor = caf::typed_actor<
  caf::replies_to<AdvanceLog>::with<LogAdvanced>, caf::replies_to<FindEvents>::with<EventsFound>,
  caf::replies_to<FindAgentEvents>::with<AgentEventsFound>, caf::replies_to<FindOverdueRuns>::with<OverdueRuns>,
  caf::replies_to<FindTranscript>::with<TranscriptFound>, caf::replies_to<FindFleetWork>::with<FleetWork>>;

/// The handles that owners work with.
struct Store {
  writer_actor writer;
  loader_actor loader;
  librarian_actor librarian;
  log_reader_actor log_reader;
};

} // namespace cleat::storage

CAF_BEGIN_TYPE_ID_BLOCK(cleat_storage, caf::first_custom_type_id)
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::Commit))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::RecordDenial))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::CommitResult))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::LoadThread))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::ThreadLoaded))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::FindToken))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::TokenFound))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::FindIdempotency))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::IdempotencyFound))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::LoadDirectory))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::DirectoryLoaded))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::ReadPage))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::PageRead))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::Bootstrap))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::Bootstrapped))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::CollectGarbage))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::GarbageCollected))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::Ping))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::Pong))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::LocateRun))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::RunLocated))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::AdvanceLog))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::LogAdvanced))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::FindEvents))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::EventsFound))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::FindAgentEvents))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::AgentEventsFound))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::FindOverdueRuns))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::OverdueRuns))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::LoadContainer))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::ContainerLoaded))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::LocateContainer))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::ContainerLocated))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::LoadEnrolment))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::EnrolmentLoaded))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::BeatNode))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::NodeBeaten))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::FindTranscript))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::TranscriptFound))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::FindFleetWork))
  CAF_ADD_TYPE_ID(cleat_storage, (cleat::storage::FleetWork))
CAF_END_TYPE_ID_BLOCK(cleat_storage)

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::Commit)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::RecordDenial)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::CommitResult)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::LoadThread)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::ThreadLoaded)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::FindToken)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::TokenFound)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::FindIdempotency)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::IdempotencyFound)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::LoadDirectory)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::DirectoryLoaded)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::ReadPage)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::PageRead)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::Bootstrap)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::Bootstrapped)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::CollectGarbage)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::GarbageCollected)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::Ping)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::Pong)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::LocateRun)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::RunLocated)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::AdvanceLog)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::LogAdvanced)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::FindEvents)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::EventsFound)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::FindAgentEvents)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::AgentEventsFound)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::FindOverdueRuns)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::OverdueRuns)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::LoadContainer)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::ContainerLoaded)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::LocateContainer)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::ContainerLocated)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::LoadEnrolment)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::EnrolmentLoaded)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::BeatNode)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::NodeBeaten)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::FindTranscript)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::TranscriptFound)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::FindFleetWork)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(cleat::storage::FleetWork)
