#include <gtest/gtest.h>

#include <optional>

#include "http/dispatcher.hpp"
#include "tests/http/fake_backend.hpp"

/// Every route of runs, reports and messages: to whom it hands what.
namespace cleat::http {
namespace {

using test::header;
using test::request;

constexpr auto id_text = "0196f0a9-1b2c-7d10-9a55-6b1f0e2d3c44";
const Id id = Id::parse(id_text).value();
const std::string thread = std::string("/v1/threads/") + id_text;
const std::string run = std::string("/v1/runs/") + id_text;

class RunRoutes : public testing::Test {
protected:
  RunRoutes() { backend_.tokens[sha256("secret")] = test::token_of(1, "secret"); }

  Outgoing answer(const Incoming& incoming) { return dispatcher_.answer(incoming, backend_, line_); }

  /// Sends a command to a run and expects that it arrives as `Operation`.
  template <class Operation>
  Operation command(const std::string& name, const std::string& body = {}) {
    backend_.runs.clear();
    EXPECT_EQ(answer(request("POST", run + "/" + name, body)).status, 200) << name;
    if (backend_.runs.size() != 1 || !std::holds_alternative<Operation>(backend_.runs[0].operation)) {
      ADD_FAILURE() << name << " is another operation";
      return Operation{};
    }
    EXPECT_EQ(backend_.runs[0].run_id, id);
    EXPECT_EQ(*backend_.runs[0].context.actor, test::human(1));
    return std::get<Operation>(backend_.runs[0].operation);
  }

  HttpOptions options_ = [] {
    HttpOptions options;
    options.message_max_bytes = 8;
    options.session_ref_max_bytes = 4;
    return options;
  }();
  test::FakeBackend backend_;
  test::FakeLine line_;
  Dispatcher dispatcher_{options_, std::make_shared<Metrics>(), std::make_shared<test::SteppedClock>()};
};

TEST_F(RunRoutes, TriggerHandsItsBodyToTheThread) {
  auto incoming = request("POST", thread + "/runs", R"({"content_md":"hi","when_active":"enqueue"})");
  incoming.headers.emplace_back("Idempotency-Key", "k");
  EXPECT_EQ(answer(incoming).status, 200);
  ASSERT_EQ(backend_.triggers.size(), 1U);
  EXPECT_EQ(backend_.triggers[0].thread_id, id);
  EXPECT_EQ(backend_.triggers[0].context.idempotency->key, "k");
  const auto& body = backend_.triggers[0].body.value();
  EXPECT_EQ(body.content_md, "hi");
  EXPECT_EQ(body.when_active, WhenActive::enqueue);
}

TEST_F(RunRoutes, ContentHasItsOwnLimit) {
  answer(request("POST", thread + "/runs", R"({"content_md":"123456789"})"));
  answer(request("POST", run + "/messages", R"({"content_md":"123456789"})"));
  const std::vector<FieldError> too_long{{"/content_md", FieldCode::too_long}};
  EXPECT_EQ(backend_.triggers.at(0).body.error().errors, too_long);
  EXPECT_EQ(std::get<run_op::Post>(backend_.runs.at(0).operation).body.error().errors, too_long);
}

TEST_F(RunRoutes, ReportHandsBodyAndVersionToTheThread) {
  auto incoming =
    request("POST", thread + "/agent-sessions/report", R"({"external_session_ref":"r","model":"m","started":true})");
  incoming.headers.emplace_back("If-Match", "\"4\"");
  backend_.answer = [] { return Reply{200, "{}", 5, false}; };
  EXPECT_EQ(header(answer(incoming), "ETag"), "\"5\"");
  ASSERT_EQ(backend_.reports.size(), 1U);
  EXPECT_EQ(backend_.reports[0].thread_id, id);
  EXPECT_EQ(backend_.reports[0].context.if_match, 4);
  const auto& body = backend_.reports[0].body.value();
  EXPECT_EQ(body.external_session_ref, "r");
  EXPECT_EQ(body.model, "m");
  EXPECT_TRUE(body.started);
}

TEST_F(RunRoutes, ReferencesHaveTheirOwnLimit) {
  answer(request("POST", thread + "/agent-sessions/report", R"({"external_session_ref":"12345"})"));
  answer(request("POST", run + "/start", R"({"external_session_ref":"12345"})"));
  const std::vector<FieldError> too_long{{"/external_session_ref", FieldCode::too_long}};
  EXPECT_EQ(backend_.reports.at(0).body.error().errors, too_long);
  EXPECT_EQ(std::get<run_op::Start>(backend_.runs.at(0).operation).body.error().errors, too_long);
}

TEST_F(RunRoutes, CommandsReachTheirRun) {
  const auto start = command<run_op::Start>("start", R"({"external_session_ref":"r","model":"m"})");
  EXPECT_EQ(start.body.value().external_session_ref, "r");
  EXPECT_EQ(start.body.value().model, "m");
  command<run_op::Wait>("wait");
  command<run_op::Resume>("resume", "{}");
  command<run_op::Heartbeat>("heartbeat");
  const auto finish = command<run_op::Finish>("finish", R"({"outcome":"failed","code":"c","detail":"d"})");
  EXPECT_FALSE(finish.body.value().succeeded);
  EXPECT_EQ(finish.body.value().code, "c");
  EXPECT_EQ(finish.body.value().detail, "d");
  command<run_op::Cancel>("cancel");
  EXPECT_EQ(command<run_op::Post>("messages", R"({"content_md":"hi"})").body.value().content_md, "hi");
}

TEST_F(RunRoutes, CommandsWithoutMembersLeaveTheirBodyToTheActorsAsWell) {
  for (const auto* name : {"wait", "resume", "heartbeat", "cancel"})
    EXPECT_EQ(answer(request("POST", run + "/" + name, R"({"a":1})")).status, 200) << name;
  const auto refused = [this](std::size_t index, auto operation) {
    const auto& body = std::get<decltype(operation)>(backend_.runs.at(index).operation).body;
    return !body && body.error().errors == std::vector<FieldError>{{"/a", FieldCode::unknown_member}};
  };
  EXPECT_TRUE(refused(0, run_op::Wait{}));
  EXPECT_TRUE(refused(1, run_op::Resume{}));
  EXPECT_TRUE(refused(2, run_op::Heartbeat{}));
  EXPECT_TRUE(refused(3, run_op::Cancel{}));
}

TEST_F(RunRoutes, EveryWriteTakesAnIdempotencyKey) {
  for (const auto* name : {"start", "wait", "resume", "heartbeat", "finish", "cancel", "messages"}) {
    auto incoming = request("POST", run + "/" + name);
    incoming.headers.emplace_back("Idempotency-Key", "k");
    answer(incoming);
    EXPECT_EQ(backend_.contexts.back().idempotency->key, "k") << name;
  }
  auto incoming = request("POST", thread + "/agent-sessions/report");
  incoming.headers.emplace_back("Idempotency-Key", "k");
  answer(incoming);
  EXPECT_EQ(backend_.contexts.back().idempotency->key, "k");
}

TEST_F(RunRoutes, ReadsGoToTheDirectory) {
  answer(request("GET", thread + "/runs?limit=7"));
  answer(request("GET", thread + "/messages?limit=8"));
  answer(request("GET", run));
  ASSERT_EQ(backend_.operations.size(), 3U);
  const auto& runs = std::get<op::ListRuns>(backend_.operations[0]);
  EXPECT_EQ(runs.thread_id, id);
  EXPECT_EQ(runs.range.value().limit, 7);
  const auto& messages = std::get<op::ListMessages>(backend_.operations[1]);
  EXPECT_EQ(messages.thread_id, id);
  EXPECT_EQ(messages.range.value().limit, 8);
  EXPECT_EQ(std::get<op::GetRun>(backend_.operations[2]).id, id);
}

TEST_F(RunRoutes, DrawOnTheirClass) {
  const auto rate_class = [this](const char* method, const std::string& target) {
    const auto policy = header(answer(request(method, target)), "RateLimit-Policy");
    return policy.substr(0, policy.find(';'));
  };
  EXPECT_EQ(rate_class("POST", thread + "/runs"), "\"trigger\"");
  EXPECT_EQ(rate_class("POST", thread + "/agent-sessions/report"), "\"agent_runtime\"");
  for (const auto* name : {"start", "wait", "resume", "heartbeat", "finish", "cancel", "messages"})
    EXPECT_EQ(rate_class("POST", run + "/" + name), "\"agent_runtime\"") << name;
  EXPECT_EQ(rate_class("GET", "/v1/agent/events"), "\"agent_runtime\"");
  for (const auto& target : {run, thread + "/runs", thread + "/messages", std::string("/v1/events")})
    EXPECT_EQ(rate_class("GET", target), "\"read\"") << target;
}

} // namespace
} // namespace cleat::http
