#include "tests/http/server_fixture.hpp"
#include "tests/unit/gate.hpp"

#include <algorithm>
#include <utility>

#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

namespace cleat::test {
namespace {

/// Blocks while it is told to hold answers back, so it is spawned with a thread of its own.
actors::registry_actor::behavior_type registry(std::shared_ptr<Behind> behind) {
  const auto answer = [behind](const auto&) {
    behind->arrive();
    return Answer{Reply{201, R"({"ok":true})", 1, false}};
  };
  return {[answer](const ResetSession& command) { return answer(command); },
          [answer](const BindSession& command) { return answer(command); },
          [answer](const ImportSessions& command) { return answer(command); },
          [answer](const TriggerRun& command) { return answer(command); },
          [answer](const ReportSession& command) { return answer(command); },
          [answer](const RunCommand& command) { return answer(command); },
          [](actors::Sweep) {}};
}

actors::directory_actor::behavior_type directory(std::shared_ptr<Behind> behind) {
  return {[behind](const DirectoryCommand&) {
            return Answer{Reply{200, R"({"ok":true})", {}, false}};
          },
          [behind](const ListSessions&) {
            return Answer{Reply{200, R"({"items":[]})", {}, false}};
          },
          [behind](const ReadEvents& command) {
            return LogAnswer{behind->read({command.filter, command.after, command.limit})};
          },
          [behind](const ReadAgentEvents& command) {
            return LogAnswer{behind->read({std::nullopt, command.after, command.limit})};
          },
          [behind](const ReadTranscript& command) {
            return TranscriptAnswer{behind->read({std::nullopt, command.after, command.limit}), {}, true};
          }};
}

actors::fleet_actor::behavior_type fleet() {
  const auto answer = [](const auto&) { return Answer{Reply{200, R"({"ok":true})", {}, false}}; };
  return {[answer](const StartSession& command) { return answer(command); },
          [answer](const FollowHandle& command) { return answer(command); },
          [answer](const StopSession& command) { return answer(command); },
          [answer](const SendInput& command) { return answer(command); },
          [answer](const RemoveContainer& command) { return answer(command); },
          [answer](const ResolveOrphan& command) { return answer(command); },
          [](const RunnerSays&) {},
          [](const Reconcile&) {},
          [](const ContainerMoved&) {},
          [](actors::Sweep) {}};
}

/// Keeps those who wait until it is told that something happened, and lets their patience run out by itself.
struct HeraldState {
  std::vector<std::pair<std::int64_t, caf::typed_response_promise<LogMoved>>> waiting;
};

actors::herald_actor::behavior_type herald(actors::herald_actor::stateful_pointer<HeraldState> self,
                                           std::shared_ptr<Behind> behind) {
  return {[self, behind](const AwaitLog& command) {
            auto promise = self->make_response_promise<LogMoved>();
            if (behind->has_behind(command.after))
              promise.deliver(LogMoved{true});
            else
              self->state.waiting.emplace_back(command.after, promise);
            return promise;
          },
          [](const actors::TranscriptMoved&) {},
          [self, behind](actors::Sweep) {
            std::erase_if(self->state.waiting, [&](auto& waiter) {
              const bool moved = behind->has_behind(waiter.first);
              if (moved)
                waiter.second.deliver(LogMoved{true});
              return moved;
            });
          }};
}

storage::ReadStatus status_of(const Behind& behind) {
  return behind.database_up ? storage::ReadStatus::ok : storage::ReadStatus::unavailable;
}

storage::loader_actor::behavior_type loader(std::shared_ptr<Behind> behind) {
  return {[](const storage::LoadThread&) { return storage::ThreadLoaded{}; },
          [behind](const storage::FindToken& find) {
            storage::TokenFound found;
            found.status = status_of(*behind);
            if (!behind->tokens_valid)
              return found;
            found.token.emplace();
            found.token->digest = find.digest;
            found.principal.emplace();
            return found;
          },
          [](const storage::FindIdempotency&) { return storage::IdempotencyFound{}; },
          [](const storage::LocateRun&) { return storage::RunLocated{}; },
          [](const storage::LoadContainer&) { return storage::ContainerLoaded{}; },
          [](const storage::LocateContainer&) { return storage::ContainerLocated{}; }};
}

storage::librarian_actor::behavior_type librarian(std::shared_ptr<Behind> behind) {
  return {[](const storage::LoadDirectory&) { return storage::DirectoryLoaded{}; },
          [](const storage::ReadPage&) { return storage::PageRead{}; },
          [](const storage::Bootstrap&) { return storage::Bootstrapped{}; },
          [](const storage::CollectGarbage&) { return storage::GarbageCollected{}; },
          [behind](storage::Ping) { return storage::Pong{status_of(*behind)}; },
          [](const storage::LoadEnrolment&) { return storage::EnrolmentLoaded{}; },
          [](const storage::BeatNode&) { return storage::NodeBeaten{}; }};
}

} // namespace

const std::string reset_path = "/v1/threads/0196f0a9-1b2c-7d10-9a55-6b1f0e2d3c44/agent-sessions/reset";

void Behind::arrive() {
  std::unique_lock lock(mutex_);
  ++arrivals_;
  changed_.notify_all();
  changed_.wait(lock, [this] { return !holds; });
}

void Behind::wait_for_arrivals(int count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return arrivals_ >= count; });
}

void Behind::release() {
  const std::lock_guard lock(mutex_);
  holds = false;
  changed_.notify_all();
}

int Behind::arrivals() {
  const std::lock_guard lock(mutex_);
  return arrivals_;
}

void Behind::append(LogItem item) {
  const std::lock_guard lock(mutex_);
  log_.push_back(std::move(item));
}

Result<LogItems> Behind::read(const LogRead& read) {
  const std::lock_guard lock(mutex_);
  reads_.push_back(read);
  changed_.notify_all();
  if (!log_readable)
    return refuse(Code::unavailable);
  LogItems found{{}, read.after};
  for (const auto& item : log_)
    if (item.seq > read.after && static_cast<std::int64_t>(found.items.size()) < read.limit) {
      found.items.push_back(item);
      found.next_after = item.seq;
    }
  if (found.items.empty())
    ++empty_reads_;
  return found;
}

void Behind::wait_for_empty_reads(int count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return empty_reads_ >= count; });
}

void Behind::wait_for_reads(std::size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return reads_.size() >= count; });
}

std::vector<Behind::LogRead> Behind::reads() {
  const std::lock_guard lock(mutex_);
  return reads_;
}

bool Behind::has_behind(std::int64_t after) {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(log_, [after](const LogItem& item) { return item.seq > after; });
}

ServerTest::Config::Config() {
  add_message_types<caf::id_block::cleat_storage>();
  add_message_types<caf::id_block::cleat_actors>();
}

ServerTest::~ServerTest() {
  behind_->release();
  server_.reset();
  // What it keeps waiting keeps it alive.
  caf::anon_send_exit(herald_, caf::exit_reason::user_shutdown);
}

void ServerTest::start() {
  herald_ = system_.spawn(herald, behind_);
  actors::Frontends frontends{system_.spawn<caf::detached>(registry, behind_),
                              system_.spawn(directory, behind_),
                              herald_,
                              {{}, system_.spawn(loader, behind_), system_.spawn(librarian, behind_), {}},
                              system_.spawn(fleet),
                              open_gate()};
  server_ = std::make_unique<http::Server>(
    options_, http::Dependencies{system_, std::move(frontends), metrics_, std::make_shared<SystemClock>()});
  port_ = server_->start();
}

void ServerTest::append(LogItem item) {
  behind_->append(std::move(item));
  caf::anon_send(herald_, actors::Sweep{});
}

std::string ServerTest::get(const std::string& path, const std::string& fields) {
  return "GET " + path + " HTTP/1.1\r\nHost: example.com\r\nAuthorization: Bearer secret\r\n" + fields + "\r\n";
}

std::string ServerTest::post(const std::string& path, const std::string& body, const std::string& fields) {
  return "POST " + path + " HTTP/1.1\r\nHost: example.com\r\nAuthorization: Bearer secret\r\n" + fields +
         "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

} // namespace cleat::test
