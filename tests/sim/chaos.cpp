#include "tests/sim/chaos.hpp"

#include <deque>
#include <utility>

#include <caf/actor_cast.hpp>
#include <caf/atom.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

namespace cleat::sim {
namespace {

using storage::CommitOutcome;
using store_actor = storage::writer_actor::extend_with<storage::loader_actor>::extend_with<
  storage::librarian_actor>::extend_with<storage::log_reader_actor>;

/// The store as it knows itself: it delivers its answers when it is told to, because an answer has to come from the
/// actor that was asked.
using store_self = store_actor::extend<caf::reacts_to<caf::flush_atom>>;

struct StoreState {
  const char* name = "chaos";
  std::deque<Chaos::Deliver> ready;
};

using Self = store_self::stateful_pointer<StoreState>;

/// A handler whose answer takes the way through the chaos.
template <class Reply, class Message, class Work>
auto late(Self self, const std::shared_ptr<Chaos>& chaos, Work work) {
  return [self, chaos, work](const Message& message) {
    auto promise = self->template make_response_promise<Reply>();
    chaos->add([self, chaos, promise, message, work]() -> Chaos::Deliver {
      Reply reply = work(message);
      if (chaos->happens(chaos->troubles().silent))
        return {};
      return [self, promise, reply] {
        self->state.ready.push_back([promise, reply]() mutable { promise.deliver(std::move(reply)); });
        caf::anon_send(caf::actor_cast<caf::actor>(self), caf::flush_atom_v);
      };
    });
    return promise;
  };
}

/// A question, which may find the database away.
template <class Reply, class Message, class Work>
auto question(Self self, const std::shared_ptr<Chaos>& chaos, Work work) {
  return late<Reply, Message>(self, chaos, [chaos, work](const Message& message) {
    if (!chaos->happens(chaos->troubles().unavailable))
      return work(message);
    Reply reply;
    reply.status = storage::ReadStatus::unavailable;
    return reply;
  });
}

store_self::behavior_type store(Self self, const std::shared_ptr<Chaos>& chaos) {
  storage::MemoryTables* const tables = &chaos->tables();
  return {
    late<storage::CommitResult, storage::Commit>(
      self, chaos,
      [chaos](const storage::Commit& message) { return storage::CommitResult{chaos->commit(message.decision)}; }),
    late<storage::CommitResult, storage::RecordDenial>(
      self, chaos,
      [tables](const storage::RecordDenial& message) { return storage::CommitResult{tables->record_denial(message)}; }),
    question<storage::ThreadLoaded, storage::LoadThread>(self, chaos,
                                                         [tables](const auto& m) { return tables->load(m); }),
    question<storage::TokenFound, storage::FindToken>(self, chaos, [tables](const auto& m) { return tables->find(m); }),
    question<storage::IdempotencyFound, storage::FindIdempotency>(self, chaos,
                                                                  [tables](const auto& m) { return tables->find(m); }),
    question<storage::RunLocated, storage::LocateRun>(self, chaos, [tables](const auto& m) { return tables->find(m); }),
    question<storage::ContainerLoaded, storage::LoadContainer>(self, chaos,
                                                               [tables](const auto& m) { return tables->load(m); }),
    question<storage::ContainerLocated, storage::LocateContainer>(self, chaos,
                                                                  [tables](const auto& m) { return tables->find(m); }),
    [self](caf::flush_atom) {
      const auto deliver = std::move(self->state.ready.front());
      self->state.ready.pop_front();
      deliver();
    },
    [tables](const storage::LoadDirectory& m) { return tables->load(m); },
    [tables](const storage::ReadPage& m) { return tables->read(m); },
    [tables](const storage::Bootstrap& m) { return tables->bootstrap(m); },
    [tables](const storage::CollectGarbage& m) { return tables->collect(m); },
    [tables](const storage::Ping&) { return tables->ping(); },
    [tables](const storage::AdvanceLog&) { return tables->advance(); },
    [tables](const storage::FindEvents& m) { return tables->find(m); },
    [tables](const storage::FindAgentEvents& m) { return tables->find(m); },
    [tables](const storage::FindOverdueRuns& m) { return tables->find(m); },
    [tables](const storage::LoadEnrolment& m) { return tables->load(m); },
    [tables](const storage::BeatNode& m) { return tables->beat(m); },
    [tables](const storage::FindTranscript& m) { return tables->find(m); },
    [tables](const storage::FindFleetWork& m) { return tables->find(m); },
  };
}

} // namespace

storage::Store Chaos::open(caf::actor_system& system, const std::shared_ptr<Chaos>& chaos) {
  const store_actor actor = system.spawn(store, chaos);
  return {actor, actor, actor, actor};
}

bool Chaos::step() {
  const std::size_t count = works_.size() + deliveries_.size();
  if (count == 0)
    return false;
  const auto take = [](auto& list, std::size_t at) {
    auto taken = std::move(list[at]);
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
    return taken;
  };
  const std::size_t at = random_() % count;
  if (at >= works_.size()) {
    take(deliveries_, at - works_.size())();
    return true;
  }
  if (auto deliver = take(works_, at)())
    deliveries_.push_back(std::move(deliver));
  return true;
}

bool Chaos::happens(unsigned permille) {
  return random_() % 1000 < permille;
}

CommitOutcome Chaos::commit(const std::shared_ptr<const Decision>& decision) {
  if (happens(troubles_.unavailable))
    return CommitOutcome::unavailable;
  if (happens(troubles_.stale))
    return CommitOutcome::stale;
  if (happens(troubles_.lost_race))
    return CommitOutcome::lost_race;
  if (happens(troubles_.unknown_and_undone))
    return CommitOutcome::unknown;
  const CommitOutcome outcome = commit_truly(decision);
  return happens(troubles_.unknown_and_done) ? CommitOutcome::unknown : outcome;
}

CommitOutcome Chaos::commit_truly(const std::shared_ptr<const Decision>& decision) {
  const CommitOutcome outcome = tables_->commit(*decision);
  if (outcome == CommitOutcome::committed)
    committed_.push_back(decision);
  return outcome;
}

} // namespace cleat::sim
