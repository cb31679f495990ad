#include "tests/process/adapter.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

namespace cleat::test {
namespace {

constexpr std::chrono::seconds patience{20};

} // namespace

std::string run_path(const std::string& run, const std::string& operation) {
  return "/v1/runs/" + run + (operation.empty() ? "" : "/" + operation);
}

Response trigger(Client& client, const std::string& thread, const std::string& more, const Headers& headers) {
  const std::string body = R"({"content_md":"Please go on.")" + (more.empty() ? "" : "," + more) + "}";
  return client.post("/v1/threads/" + thread + "/runs", body, headers);
}

std::string triggered(Client& client, const std::string& thread, const std::string& more) {
  const auto answer = trigger(client, thread, more);
  if (answer.status != 201)
    throw std::runtime_error("a trigger was refused: " + answer.body);
  return answer.json()["id"].string();
}

Json Adapter::poll(int wait_s) {
  const auto answer =
    client_.get("/v1/agent/events?limit=1&after=" + std::to_string(cursor_) + "&wait_s=" + std::to_string(wait_s));
  if (answer.status != 200)
    throw std::runtime_error("a poll was refused: " + answer.body);
  return answer.json();
}

Json Adapter::next() {
  const Json page = poll(static_cast<int>(patience.count()));
  if (page["items"].size() == 0)
    throw std::runtime_error("no invocation came");
  const Json event = page["items"][std::size_t{0}];
  EXPECT_EQ(event["type"].string(), "agent.invocation");
  cursor_ = page["next_after"].number();
  return event["payload"];
}

bool Adapter::has_next() {
  return poll(0)["items"].size() > 0;
}

Response Adapter::operate(const std::string& run, const std::string& operation, const std::string& body) {
  return client_.post(run_path(run, operation), body);
}

Response Adapter::start(const std::string& run, const std::string& reference) {
  Object body;
  if (!reference.empty())
    body.text("external_session_ref", reference);
  return operate(run, "start", body.str());
}

Response Adapter::finish(const std::string& run) {
  return operate(run, "finish", R"({"outcome":"succeeded"})");
}

Response Adapter::report(const std::string& thread, const std::string& body, std::int64_t version,
                         const Headers& headers) {
  Headers all = headers;
  if (version > 0)
    all.emplace("If-Match", "\"" + std::to_string(version) + "\"");
  return client_.post(sessions_path(thread) + "/report", body, all);
}

Json Adapter::accept(const std::string& reference) {
  Json payload = next();
  const auto answer = start(payload["run_id"].string(), reference);
  if (answer.status != 200)
    throw std::runtime_error("a start was refused: " + answer.body);
  return payload;
}

std::string state_of(Client& client, const std::string& run) {
  return client.get(run_path(run)).json()["state"].string();
}

std::vector<Json> messages_of(Client& client, const std::string& thread) {
  return client.get("/v1/threads/" + thread + "/messages?limit=200").json()["items"].items();
}

int lines_of(Client& client, const std::string& thread, const std::string& code) {
  int count = 0;
  for (const auto& message : messages_of(client, thread))
    count += message.has("system_code") && message["system_code"].string() == code ? 1 : 0;
  return count;
}

void await_state(Client& client, const std::string& run, const std::string& state) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (state_of(client, run) != state && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(20)); // a run's state is read, there is nothing to wait on
  EXPECT_EQ(state_of(client, run), state);
}

} // namespace cleat::test
