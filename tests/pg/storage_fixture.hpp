#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>
#include <gtest/gtest.h>

#include "storage/interface.hpp"
#include "storage/options.hpp"
#include "tests/pg/world.hpp"

namespace cleat::test {

/// CAF with the messages of storage registered and as few threads as it takes.
struct StorageConfig : caf::actor_system_config {
  StorageConfig();
};

/// An event of the log, in a form in which both implementations can be compared.
struct EventLine {
  std::int64_t seq = 0;
  std::string text;
};

/// One implementation of storage, made fresh for one test.
class Backend {
public:
  virtual ~Backend() = default;

  [[nodiscard]] virtual const storage::Store& store() const = 0;

  /// The event log in the order of `seq`; `text` holds every column but `seq`.
  virtual std::vector<EventLine> events() = 0;
};

/// Which implementation a test runs against.
enum class BackendKind : std::uint8_t { memory, postgres };

/// PostgreSQL gets a fresh database of the shared cluster.
std::unique_ptr<Backend> open_backend(caf::actor_system& system, BackendKind kind);

/// The PostgreSQL implementation on a database that is migrated already.
std::unique_ptr<Backend> open_postgres_backend(caf::actor_system& system, const storage::DatabaseOptions& options);

/// Every column of an event but `seq`.
std::string event_text(const Event& event);

/// Asks storage from a test's thread and waits for the answers. An answer that does not come within a generous
/// time, and an actor that dies, fail the test by an exception.
class Client {
public:
  Client(caf::actor_system& system, storage::Store store);

  storage::CommitOutcome commit(const Decision& decision);
  /// Sends all decisions before it waits for the first outcome, so that they share batches.
  std::vector<storage::CommitOutcome> commit_at_once(const std::vector<Decision>& decisions);
  storage::CommitOutcome deny(const AuditEntry& entry, std::int64_t window_s);
  std::vector<storage::CommitOutcome> deny_at_once(const std::vector<AuditEntry>& entries, std::int64_t window_s);

  storage::ThreadLoaded load(const storage::LoadThread& question);
  storage::TokenFound find(const storage::FindToken& question);
  storage::IdempotencyFound find(const storage::FindIdempotency& question);
  storage::RunLocated find(const storage::LocateRun& question);
  storage::LogAdvanced advance();
  storage::EventsFound find(const storage::FindEvents& question);
  std::vector<storage::EventsFound> find_at_once(const std::vector<storage::FindEvents>& questions);
  storage::AgentEventsFound find(const storage::FindAgentEvents& question);
  storage::OverdueRuns find(const storage::FindOverdueRuns& question);
  storage::DirectoryLoaded load(const storage::LoadDirectory& question);
  ContainerFacts load(const storage::LoadContainer& question);
  std::vector<ContainerFacts> load_at_once(const std::vector<storage::LoadContainer>& questions);
  std::optional<std::string> find(const storage::LocateContainer& question);
  EnrolmentFacts load(const storage::LoadEnrolment& question);
  std::vector<storage::HeldRunner> beat(const Node& node);
  storage::TranscriptFound find(const storage::FindTranscript& question);
  storage::FleetWork find(const storage::FindFleetWork& question);
  storage::Bootstrapped bootstrap(const storage::Bootstrap& question);
  std::vector<storage::Bootstrapped> bootstrap_at_once(const std::vector<storage::Bootstrap>& questions);
  storage::GarbageCollected collect(const storage::CollectGarbage& question);
  storage::Pong ping();

  /// The rows of a page, which must be of the kind asked for.
  template <class Row>
  std::vector<Row> page(const PageQuery& query) {
    return std::get<std::vector<Row>>(read(query).rows);
  }
  storage::PageRead read(const PageQuery& query, std::int64_t node_timeout_s = 60);

  /// Shorthands of what tests look at most.
  std::vector<AgentSession> sessions_of(const Id& thread_id);
  std::optional<ThreadFacts> facts_of(const Id& thread_id);
  std::vector<AuditEntry> audit();
  std::vector<Run> runs_of(const Id& thread_id);
  std::vector<Message> messages_of(const Id& thread_id);
  /// What runs of the thread are decided on, which must be there.
  RunFacts run_facts_of(const Id& thread_id);

private:
  caf::scoped_actor self_;
  storage::Store store_;
};

/// A test that runs against one implementation, with a small world in it.
class StorageTest : public testing::TestWithParam<BackendKind> {
protected:
  void SetUp() override;

  /// Opens the implementation without putting anything in it.
  void open();

  StorageConfig config_;
  caf::actor_system system_{config_};
  std::unique_ptr<Backend> backend_;
  std::optional<Client> client_;
  World world_;
};

} // namespace cleat::test

namespace cleat::storage {

/// For GoogleTest's messages.
void PrintTo(CommitOutcome outcome, std::ostream* out);

} // namespace cleat::storage
