/// The log reader: how far the logs can be read, what stands in them, and which runs have outlived their time. It
/// collects the questions of readers while a look is being taken and answers what has come from the next one.
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <caf/atom.hpp>
#include <caf/make_message.hpp>
#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "base/crash_points.hpp"
#include "base/log.hpp"
#include "storage/pg/log_reading.hpp"
#include "storage/postgres_actors.hpp"
#include "storage/postgres_waiting.hpp"

namespace cleat::storage {
namespace {

/// The log reader as it knows itself; it flushes as the writer does.
using log_reader_self = log_reader_actor::extend<caf::reacts_to<caf::flush_atom>>;

struct LogReaderState {
  const char* name = "postgres_log_reader";
  log_reader_self::pointer self = nullptr;
  std::optional<pg::LogReading> logs;
  std::int64_t max_batch = 0;
  std::int64_t max_pending = 0;
  Waiting<FindEvents, EventsFound> events;
  Waiting<FindAgentEvents, AgentEventsFound> agent_events;
  Waiting<FindTranscript, TranscriptFound> transcripts;
  bool flushing = false;

  /// What `work` answers; nothing where it fails, which is logged.
  template <class Work>
  auto read(Work work) -> std::optional<std::invoke_result_t<Work, pg::LogReading&>>;
  /// The same, where no answer is `unavailable`.
  template <class Work>
  std::invoke_result_t<Work, pg::LogReading&> answer(Work work);
  template <class Answer, class Question>
  caf::result<Answer> ask(Waiting<Question, Answer>& waiting, Question& question);
  [[nodiscard]] std::int64_t pending() const;
  void await_flush();
  void on_flush();
};

template <class Work>
auto LogReaderState::read(Work work) -> std::optional<std::invoke_result_t<Work, pg::LogReading&>> {
  try {
    return work(*logs);
  } catch (const std::exception& error) {
    // A row that cannot be read; nobody may wait for an answer that never comes.
    log::get().error("log reader: {}", error.what());
    logs->drop();
    return std::nullopt;
  }
}

template <class Work>
std::invoke_result_t<Work, pg::LogReading&> LogReaderState::answer(Work work) {
  if (auto answer = read(work))
    return std::move(*answer);
  std::invoke_result_t<Work, pg::LogReading&> none;
  none.status = ReadStatus::unavailable;
  return none;
}

std::int64_t LogReaderState::pending() const {
  return std::ssize(events.questions) + std::ssize(agent_events.questions) + std::ssize(transcripts.questions);
}

template <class Answer, class Question>
caf::result<Answer> LogReaderState::ask(Waiting<Question, Answer>& waiting, Question& question) {
  if (pending() >= max_pending)
    return Waiting<Question, Answer>::unavailable();
  auto promise = waiting.add(*self, question);
  await_flush();
  return promise;
}

void LogReaderState::await_flush() {
  if (!flushing)
    self->send(self, caf::flush_atom_v);
  flushing = true;
}

void LogReaderState::on_flush() {
  flushing = false;
  // Where the database is away nobody is kept waiting for the next try to connect.
  std::int64_t room = logs->reachable() ? max_batch : pending();
  auto some_agent_events = agent_events.take(room); // first, because agents are few and wait for their work
  auto some_transcripts = transcripts.take(room);
  auto some_events = events.take(room);
  const pg::LogQuestions questions{std::move(some_events.questions), std::move(some_agent_events.questions),
                                   std::move(some_transcripts.questions)};
  auto found = read([&](pg::LogReading& reading) { return reading.find(questions); }).value_or(pg::LogAnswers{});
  crash_point(CrashPoint::log_read);
  some_events.deliver(found.events);
  some_agent_events.deliver(found.agent_events);
  some_transcripts.deliver(found.transcripts);
  if (pending() > 0)
    await_flush();
}

log_reader_self::behavior_type log_reader(log_reader_self::stateful_pointer<LogReaderState> self,
                                          const DatabaseOptions& options, const std::shared_ptr<Metrics>& metrics) {
  LogReaderState& state = self->state;
  state.self = self;
  state.logs.emplace(options, metrics);
  state.max_batch = options.max_batch;
  state.max_pending = options.max_pending;
  return {
    [&state](const AdvanceLog&) { return state.answer([](pg::LogReading& logs) { return logs.advance(); }); },
    [&state](FindEvents& question) { return state.ask<EventsFound>(state.events, question); },
    [&state](FindAgentEvents& question) { return state.ask<AgentEventsFound>(state.agent_events, question); },
    [&state](const FindOverdueRuns& question) {
      return state.answer([&](pg::LogReading& logs) { return logs.find(question); });
    },
    [&state](FindTranscript& question) { return state.ask<TranscriptFound>(state.transcripts, question); },
    [&state](const FindFleetWork& question) {
      return state.answer([&](pg::LogReading& logs) { return logs.find(question); });
    },
    [&state](caf::flush_atom) { state.on_flush(); },
  };
}

} // namespace

log_reader_actor spawn_postgres_log_reader(caf::actor_system& system, const DatabaseOptions& options,
                                           const std::shared_ptr<Metrics>& metrics) {
  return system.spawn<caf::detached>(log_reader, options, metrics);
}

} // namespace cleat::storage
