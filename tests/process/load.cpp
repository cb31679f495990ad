#include "tests/process/load.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace cleat::test {
namespace {

std::string body_of(const std::string& reference, const std::string& expected) {
  Object body;
  body.text("external_session_ref", reference);
  if (!expected.empty())
    body.text("expected_current_session_id", expected);
  return body.str();
}

Headers with_key(const std::string& key) {
  return {{"Idempotency-Key", key}};
}

} // namespace

BindLoad::BindLoad(World& world, Endpoint endpoint, int clients)
  : token_(world.alex.token), endpoint_(std::move(endpoint)) {
  std::vector<std::string> places;
  for (int i = 0; i < clients; ++i)
    places.push_back(world.thread(world.support));
  for (int i = 0; i < clients; ++i)
    threads_.emplace_back([this, place = places[static_cast<std::size_t>(i)], i] { run(place, i); });
}

BindLoad::~BindLoad() {
  give_up();
  finish();
}

void BindLoad::wait_for_more(std::size_t count) {
  std::unique_lock lock(mutex_);
  const std::size_t wanted = acknowledged_.size() + count;
  changed_.wait(lock, [&] { return acknowledged_.size() >= wanted; });
}

void BindLoad::move_to(const Endpoint& endpoint) {
  const std::lock_guard lock(mutex_);
  endpoint_ = endpoint;
  ++generation_;
  changed_.notify_all();
}

void BindLoad::give_up() {
  const std::lock_guard lock(mutex_);
  giving_up_ = true;
  changed_.notify_all();
}

void BindLoad::finish() {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
    changed_.notify_all();
  }
  threads_.clear();
}

void BindLoad::run(const std::string& thread, int who) {
  std::string expected;
  Client client(endpoint_, token_);
  int generation = 0;
  for (int step = 0;; ++step) {
    const std::string reference = fresh_reference();
    Acknowledged request{
      thread, body_of(reference, expected), std::to_string(who) + "-" + std::to_string(step), reference, {}};
    if (!send_until_answered(request, client, generation))
      return;
    expected = request.answer.json()["id"].string();
    const std::lock_guard lock(mutex_);
    acknowledged_.push_back(std::move(request));
    changed_.notify_all();
    if (finishing_)
      return;
  }
}

bool BindLoad::send_until_answered(Acknowledged& request, Client& client, int& generation) {
  for (;;) {
    auto answer = client.send("POST", sessions_path(request.thread) + "/bind", request.body, with_key(request.key));
    if (!answer) {
      if (!reconnect(client, generation))
        return false;
      continue;
    }
    request.answer = std::move(*answer);
    if (request.answer.status == 201)
      return true;
    note_refusal(request.answer);
    // Only "try again" is an excuse; anything else would repeat for ever.
    if (request.answer.status != 503 && request.answer.problem() != "idempotency_in_progress")
      return false;
    // Nobody tells a client when the database is back, so it asks again after a while, as Retry-After says.
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  }
}

bool BindLoad::reconnect(Client& client, int& generation) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return giving_up_ || generation_ > generation; });
  if (generation_ == generation)
    return false;
  generation = generation_;
  client = Client(endpoint_, token_);
  return true;
}

void BindLoad::note_refusal(const Response& answer) {
  const std::lock_guard lock(mutex_);
  ++refusals_[std::to_string(answer.status) + " " + answer.problem()];
  if (giving_up_)
    changed_.notify_all();
}

void expect_all_kept(const BindLoad& load, Client& client, Sql& database) {
  for (const auto& seen : load.acknowledged()) {
    EXPECT_EQ(database.run("SELECT id FROM agent_sessions WHERE external_session_ref = $1", {seen.reference}),
              (std::vector<Sql::Row>{{seen.answer.json()["id"].string()}}))
      << "an acknowledged bind is not there exactly once";
    const auto replay = client.post(sessions_path(seen.thread) + "/bind", seen.body, with_key(seen.key));
    EXPECT_EQ(replay.status, 201);
    EXPECT_EQ(replay.body, seen.answer.body);
    EXPECT_EQ(replay.header("etag"), seen.answer.header("etag"));
    EXPECT_EQ(replay.header("idempotent-replay"), "true");
  }
  EXPECT_EQ(database.number("SELECT count(*) FROM agent_sessions WHERE is_current"),
            database.number("SELECT count(DISTINCT thread_id) FROM agent_sessions"))
    << "every thread of the load has one current session";
}

} // namespace cleat::test
