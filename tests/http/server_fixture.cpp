#include "tests/http/server_fixture.hpp"

#include <caf/typed_event_based_actor.hpp>

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
          [answer](const ImportSessions& command) { return answer(command); }, [](actors::Sweep) {}};
}

actors::directory_actor::behavior_type directory(std::shared_ptr<Behind> behind) {
  return {[behind](const DirectoryCommand&) {
            return Answer{Reply{200, R"({"ok":true})", {}, false}};
          },
          [behind](const ListSessions&) {
            return Answer{Reply{200, R"({"items":[]})", {}, false}};
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
            found.token.emplace();
            found.token->digest = find.digest;
            found.principal.emplace();
            return found;
          },
          [](const storage::FindIdempotency&) { return storage::IdempotencyFound{}; }};
}

storage::librarian_actor::behavior_type librarian(std::shared_ptr<Behind> behind) {
  return {[](const storage::LoadDirectory&) { return storage::DirectoryLoaded{}; },
          [](const storage::ReadPage&) { return storage::PageRead{}; },
          [](const storage::Bootstrap&) { return storage::Bootstrapped{}; },
          [](const storage::CollectGarbage&) { return storage::GarbageCollected{}; },
          [behind](storage::Ping) { return storage::Pong{status_of(*behind)}; }};
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

ServerTest::Config::Config() {
  add_message_types<caf::id_block::cleat_storage>();
  add_message_types<caf::id_block::cleat_actors>();
}

ServerTest::~ServerTest() {
  behind_->release();
  server_.reset();
}

void ServerTest::start() {
  actors::Frontends frontends{system_.spawn<caf::detached>(registry, behind_),
                              system_.spawn(directory, behind_),
                              {{}, system_.spawn(loader, behind_), system_.spawn(librarian, behind_)}};
  server_ = std::make_unique<http::Server>(
    options_, http::Dependencies{system_, std::move(frontends), metrics_, std::make_shared<SystemClock>()});
  port_ = server_->start();
}

std::string ServerTest::get(const std::string& path, const std::string& fields) {
  return "GET " + path + " HTTP/1.1\r\nHost: example.com\r\nAuthorization: Bearer secret\r\n" + fields + "\r\n";
}

std::string ServerTest::post(const std::string& path, const std::string& body, const std::string& fields) {
  return "POST " + path + " HTTP/1.1\r\nHost: example.com\r\nAuthorization: Bearer secret\r\n" + fields +
         "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

} // namespace cleat::test
