#include "tests/pg/storage_fixture.hpp"

#include <chrono>
#include <ostream>
#include <stdexcept>
#include <utility>

#include "base/metrics.hpp"
#include "storage/memory.hpp"
#include "storage/postgres.hpp"
#include "tests/pg/databases.hpp"
#include "tests/support/sql.hpp"

namespace cleat::test {

namespace {

constexpr auto patience = std::chrono::seconds{60};

class MemoryBackend final : public Backend {
public:
  explicit MemoryBackend(caf::actor_system& system) : store_(storage::open_memory(system, tables_)) {}

  [[nodiscard]] const storage::Store& store() const override { return store_; }

  std::vector<EventLine> events() override {
    std::vector<EventLine> lines;
    for (const auto& [seq, event] : tables_->events())
      lines.push_back({seq, event_text(event)});
    return lines;
  }

private:
  std::shared_ptr<storage::MemoryTables> tables_ = std::make_shared<storage::MemoryTables>();
  storage::Store store_;
};

class PostgresBackend final : public Backend {
public:
  PostgresBackend(caf::actor_system& system, const storage::DatabaseOptions& options)
    : url_(options.url), store_(storage::open_postgres(system, options, std::make_shared<Metrics>())) {}

  [[nodiscard]] const storage::Store& store() const override { return store_; }

  std::vector<EventLine> events() override {
    std::vector<EventLine> lines;
    const auto rows = Sql(url_).run(
      "SELECT seq, concat_ws('|', id, type, to_char(time AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'),"
      " space_id, coalesce(channel_id::text, '-'), coalesce(thread_id::text, '-'), resource_kind, resource_id,"
      " coalesce(resource_version::text, '-'), actor_kind, actor_id, payload) FROM events ORDER BY seq");
    for (const auto& row : rows)
      lines.push_back({std::stoll(row.at(0).value()), row.at(1).value()});
    return lines;
  }

private:
  std::string url_;
  storage::Store store_;
};

/// The same on a database that it gives back at its end.
class LeasedPostgresBackend final : public Backend {
public:
  explicit LeasedPostgresBackend(caf::actor_system& system) : backend_(system, options_for(database_.url())) {}

  [[nodiscard]] const storage::Store& store() const override { return backend_.store(); }
  std::vector<EventLine> events() override { return backend_.events(); }

private:
  LeasedDatabase database_;
  PostgresBackend backend_;
};

/// Waits for one answer; whatever is no answer becomes an exception that names it.
template <class Answer, class Handle>
Answer receive(caf::actor_system& system, Handle&& handle) {
  std::optional<Answer> answer;
  std::string trouble;
  handle.receive([&](Answer& value) { answer = std::move(value); },
                 [&](const caf::error& error) { trouble = system.render(error); });
  if (!answer)
    throw std::runtime_error("no answer from storage: " + trouble);
  return std::move(*answer);
}

template <class Answer, class Actor, class Message>
Answer ask(caf::scoped_actor& self, const Actor& actor, const Message& message) {
  return receive<Answer>(self->home_system(), self->request(actor, patience, message));
}

/// Sends everything before it waits for anything.
template <class Answer, class Actor, class Message>
std::vector<Answer> ask_at_once(caf::scoped_actor& self, const Actor& actor, const std::vector<Message>& messages) {
  using Handle = decltype(self->request(actor, patience, messages.front()));
  std::vector<Handle> handles;
  for (const auto& message : messages)
    handles.push_back(self->request(actor, patience, message));
  std::vector<Answer> answers;
  for (auto& handle : handles)
    answers.push_back(receive<Answer>(self->home_system(), handle));
  return answers;
}

/// An answer that storage could not give would look like an empty one.
template <class Answer>
Answer must_be_ok(Answer answer) {
  if (answer.status != storage::ReadStatus::ok)
    throw std::runtime_error("storage is unavailable");
  return answer;
}

std::vector<storage::CommitOutcome> outcomes_of(const std::vector<storage::CommitResult>& results) {
  std::vector<storage::CommitOutcome> outcomes;
  for (const auto& result : results)
    outcomes.push_back(result.outcome);
  return outcomes;
}

} // namespace

StorageConfig::StorageConfig() {
  add_message_types<caf::id_block::cleat_storage>();
  set("scheduler.max-threads", 2);
}

std::unique_ptr<Backend> open_backend(caf::actor_system& system, BackendKind kind) {
  if (kind == BackendKind::memory)
    return std::make_unique<MemoryBackend>(system);
  return std::make_unique<LeasedPostgresBackend>(system);
}

std::unique_ptr<Backend> open_postgres_backend(caf::actor_system& system, const storage::DatabaseOptions& options) {
  return std::make_unique<PostgresBackend>(system, options);
}

std::string event_text(const Event& event) {
  const auto id_or_dash = [](const std::optional<Id>& id) { return id ? id->str() : std::string("-"); };
  const std::string version = event.resource_version ? std::to_string(*event.resource_version) : "-";
  std::string text;
  for (const auto& part :
       {event.id.str(), event.type, format_rfc3339(event.time), event.space_id.str(), id_or_dash(event.channel_id),
        id_or_dash(event.thread_id), event.resource_kind, event.resource_id.str(), version,
        std::string(to_string(event.actor_kind)), event.actor_id.str(), event.payload})
    text += (text.empty() ? "" : "|") + part;
  return text;
}

Client::Client(caf::actor_system& system, storage::Store store) : self_(system), store_(std::move(store)) {}

storage::CommitOutcome Client::commit(const Decision& decision) {
  return commit_at_once({decision}).front();
}

std::vector<storage::CommitOutcome> Client::commit_at_once(const std::vector<Decision>& decisions) {
  std::vector<storage::Commit> messages;
  for (const auto& decision : decisions)
    messages.push_back({std::make_shared<const Decision>(decision)});
  return outcomes_of(ask_at_once<storage::CommitResult>(self_, store_.writer, messages));
}

storage::CommitOutcome Client::deny(const AuditEntry& entry, std::int64_t window_s) {
  return deny_at_once({entry}, window_s).front();
}

std::vector<storage::CommitOutcome> Client::deny_at_once(const std::vector<AuditEntry>& entries,
                                                         std::int64_t window_s) {
  std::vector<storage::RecordDenial> messages;
  for (const auto& entry : entries)
    messages.push_back({entry, window_s});
  return outcomes_of(ask_at_once<storage::CommitResult>(self_, store_.writer, messages));
}

storage::ThreadLoaded Client::load(const storage::LoadThread& question) {
  return ask<storage::ThreadLoaded>(self_, store_.loader, question);
}

storage::TokenFound Client::find(const storage::FindToken& question) {
  return ask<storage::TokenFound>(self_, store_.loader, question);
}

storage::IdempotencyFound Client::find(const storage::FindIdempotency& question) {
  return ask<storage::IdempotencyFound>(self_, store_.loader, question);
}

storage::RunLocated Client::find(const storage::LocateRun& question) {
  return ask<storage::RunLocated>(self_, store_.loader, question);
}

storage::LogAdvanced Client::advance() {
  return ask<storage::LogAdvanced>(self_, store_.log_reader, storage::AdvanceLog{});
}

storage::EventsFound Client::find(const storage::FindEvents& question) {
  return ask<storage::EventsFound>(self_, store_.log_reader, question);
}

std::vector<storage::EventsFound> Client::find_at_once(const std::vector<storage::FindEvents>& questions) {
  return ask_at_once<storage::EventsFound>(self_, store_.log_reader, questions);
}

storage::AgentEventsFound Client::find(const storage::FindAgentEvents& question) {
  return ask<storage::AgentEventsFound>(self_, store_.log_reader, question);
}

storage::OverdueRuns Client::find(const storage::FindOverdueRuns& question) {
  return ask<storage::OverdueRuns>(self_, store_.log_reader, question);
}

storage::DirectoryLoaded Client::load(const storage::LoadDirectory& question) {
  return ask<storage::DirectoryLoaded>(self_, store_.librarian, question);
}

ContainerFacts Client::load(const storage::LoadContainer& question) {
  return load_at_once({question}).front();
}

std::vector<ContainerFacts> Client::load_at_once(const std::vector<storage::LoadContainer>& questions) {
  std::vector<ContainerFacts> facts;
  for (auto& answer : ask_at_once<storage::ContainerLoaded>(self_, store_.loader, questions))
    facts.push_back(must_be_ok(std::move(answer)).facts);
  return facts;
}

std::optional<std::string> Client::find(const storage::LocateContainer& question) {
  return must_be_ok(ask<storage::ContainerLocated>(self_, store_.loader, question)).name;
}

EnrolmentFacts Client::load(const storage::LoadEnrolment& question) {
  return must_be_ok(ask<storage::EnrolmentLoaded>(self_, store_.librarian, question)).facts;
}

std::vector<storage::HeldRunner> Client::beat(const Node& node) {
  return must_be_ok(ask<storage::NodeBeaten>(self_, store_.librarian, storage::BeatNode{node})).held;
}

storage::TranscriptFound Client::find(const storage::FindTranscript& question) {
  return must_be_ok(ask<storage::TranscriptFound>(self_, store_.log_reader, question));
}

storage::FleetWork Client::find(const storage::FindFleetWork& question) {
  return must_be_ok(ask<storage::FleetWork>(self_, store_.log_reader, question));
}

storage::Bootstrapped Client::bootstrap(const storage::Bootstrap& question) {
  return ask<storage::Bootstrapped>(self_, store_.librarian, question);
}

std::vector<storage::Bootstrapped> Client::bootstrap_at_once(const std::vector<storage::Bootstrap>& questions) {
  return ask_at_once<storage::Bootstrapped>(self_, store_.librarian, questions);
}

storage::GarbageCollected Client::collect(const storage::CollectGarbage& question) {
  return ask<storage::GarbageCollected>(self_, store_.librarian, question);
}

storage::Pong Client::ping() {
  return ask<storage::Pong>(self_, store_.librarian, storage::Ping{});
}

storage::PageRead Client::read(const PageQuery& query, std::int64_t node_timeout_s) {
  return ask<storage::PageRead>(self_, store_.librarian, storage::ReadPage{query, node_timeout_s});
}

std::vector<AgentSession> Client::sessions_of(const Id& thread_id) {
  storage::LoadThread question;
  question.thread_id = thread_id;
  question.with_sessions = true;
  return load(question).sessions;
}

std::optional<ThreadFacts> Client::facts_of(const Id& thread_id) {
  storage::LoadThread question;
  question.thread_id = thread_id;
  return load(question).facts;
}

std::vector<AuditEntry> Client::audit() {
  AuditPage query;
  query.range.limit = 100'000;
  return page<AuditEntry>(query);
}

std::vector<Run> Client::runs_of(const Id& thread_id) {
  return page<Run>(RunsPage{thread_id, {100'000, std::nullopt}});
}

std::vector<Message> Client::messages_of(const Id& thread_id) {
  return page<Message>(MessagesPage{thread_id, {100'000, std::nullopt}});
}

RunFacts Client::run_facts_of(const Id& thread_id) {
  storage::LoadThread question;
  question.thread_id = thread_id;
  question.with_runs = true;
  return load(question).run_facts.value();
}

void StorageTest::open() {
  backend_ = open_backend(system_, GetParam());
  client_.emplace(system_, backend_->store());
}

void StorageTest::SetUp() {
  open();
  ASSERT_EQ(client_->commit(world_.provision()), storage::CommitOutcome::committed);
}

} // namespace cleat::test

namespace cleat::storage {

void PrintTo(CommitOutcome outcome, std::ostream* out) {
  *out << to_string(outcome);
}

} // namespace cleat::storage
