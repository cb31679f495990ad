/// The loader: collects questions while a snapshot is being read and answers what has come from the next one.
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include <caf/atom.hpp>
#include <caf/make_message.hpp>
#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "base/log.hpp"
#include "storage/pg/database.hpp"
#include "storage/pg/loading.hpp"
#include "storage/postgres_actors.hpp"
#include "storage/postgres_waiting.hpp"

namespace cleat::storage {
namespace {

/// The loader as it knows itself; it flushes as the writer does.
using loader_self = loader_actor::extend<caf::reacts_to<caf::flush_atom>>;

struct LoaderState {
  const char* name = "postgres_loader";
  loader_self::pointer self = nullptr;
  std::optional<pg::Database> database;
  Waiting<LoadThread, ThreadLoaded> threads;
  Waiting<FindToken, TokenFound> tokens;
  Waiting<FindIdempotency, IdempotencyFound> keys;
  Waiting<LocateRun, RunLocated> runs;
  Waiting<LoadContainer, ContainerLoaded> containers;
  Waiting<LocateContainer, ContainerLocated> locations;
  bool flushing = false;

  template <class Answer, class Question>
  caf::result<Answer> ask(Waiting<Question, Answer>& waiting, Question& question);
  [[nodiscard]] std::int64_t pending() const;
  void await_flush();
  void on_flush();
  pg::Answers load(const pg::Questions& questions);
};

std::int64_t LoaderState::pending() const {
  return std::ssize(threads.questions) + std::ssize(tokens.questions) + std::ssize(keys.questions) +
         std::ssize(runs.questions) + std::ssize(containers.questions) + std::ssize(locations.questions);
}

template <class Answer, class Question>
caf::result<Answer> LoaderState::ask(Waiting<Question, Answer>& waiting, Question& question) {
  if (pending() >= database->options().max_pending)
    return Waiting<Question, Answer>::unavailable();
  auto promise = waiting.add(*self, question);
  await_flush();
  return promise;
}

void LoaderState::await_flush() {
  if (!flushing)
    self->send(self, caf::flush_atom_v);
  flushing = true;
}

void LoaderState::on_flush() {
  flushing = false;
  // Where the database is away nobody is kept waiting for the next try to connect.
  std::int64_t room = database->connection() ? database->options().max_batch : pending();
  auto some_tokens = tokens.take(room);
  auto some_keys = keys.take(room);
  auto some_runs = runs.take(room);
  auto some_locations = locations.take(room);
  auto some_containers = containers.take(room);
  auto some_threads = threads.take(room);
  pg::Questions questions{std::move(some_threads.questions),    std::move(some_tokens.questions),
                          std::move(some_keys.questions),       std::move(some_runs.questions),
                          std::move(some_containers.questions), std::move(some_locations.questions)};
  pg::Answers answers = load(questions);
  some_threads.deliver(answers.threads);
  some_tokens.deliver(answers.tokens);
  some_keys.deliver(answers.keys);
  some_runs.deliver(answers.runs);
  some_containers.deliver(answers.containers);
  some_locations.deliver(answers.locations);
  if (pending() > 0)
    await_flush();
}

pg::Answers LoaderState::load(const pg::Questions& questions) {
  const auto start = std::chrono::steady_clock::now();
  try {
    auto answers = database->read([&](pg::Connection& connection) { return pg::load(connection, questions); });
    const std::chrono::duration<double> span = std::chrono::steady_clock::now() - start;
    database->metrics().load_seconds.Observe(span.count());
    return answers ? std::move(*answers) : pg::Answers{};
  } catch (const std::exception& error) {
    // A row that cannot be read; nobody may wait for an answer that never comes.
    log::get().error("loader: {}", error.what());
    database->drop();
    return {};
  }
}

loader_self::behavior_type loader(loader_self::stateful_pointer<LoaderState> self, const DatabaseOptions& options,
                                  const std::shared_ptr<Metrics>& metrics) {
  LoaderState& state = self->state;
  state.self = self;
  state.database.emplace(options, pg::statements::loader, metrics);
  return {
    [&state](LoadThread& question) { return state.ask<ThreadLoaded>(state.threads, question); },
    [&state](FindToken& question) { return state.ask<TokenFound>(state.tokens, question); },
    [&state](FindIdempotency& question) { return state.ask<IdempotencyFound>(state.keys, question); },
    [&state](LocateRun& question) { return state.ask<RunLocated>(state.runs, question); },
    [&state](LoadContainer& question) { return state.ask<ContainerLoaded>(state.containers, question); },
    [&state](LocateContainer& question) { return state.ask<ContainerLocated>(state.locations, question); },
    [&state](caf::flush_atom) { state.on_flush(); },
  };
}

} // namespace

loader_actor spawn_postgres_loader(caf::actor_system& system, const DatabaseOptions& options,
                                   const std::shared_ptr<Metrics>& metrics) {
  return system.spawn<caf::detached>(loader, options, metrics);
}

} // namespace cleat::storage
