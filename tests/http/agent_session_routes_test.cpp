#include <gtest/gtest.h>

#include "http/dispatcher.hpp"
#include "http/event_stream.hpp"
#include "tests/http/fake_backend.hpp"

/// Sessions in containers: starts, handles, stop, input (spec 04 sections 3 to 6). Their transcripts have a test of
/// their own.
namespace cleat::http {
namespace {

using test::header;
using test::request;

const std::string session(64, 'a');
const std::string starts = "/v1/containers/box/agent-sessions";
const std::string lookups = "/v1/agent-session-operations/lookup";
const std::string retries = "/v1/agent-session-operations/retry";
const std::string of_session = "/v1/agent-sessions/" + session;

class AgentSessionRoutes : public testing::Test {
protected:
  AgentSessionRoutes() { backend_.tokens[sha256("secret")] = test::token_of(1, "secret"); }

  Outgoing answer(const Incoming& incoming) { return dispatcher_.answer(incoming, backend_, line_); }
  Outgoing start(HeaderFields fields, const std::string& body = "{}") {
    auto incoming = request("POST", starts, body);
    incoming.headers.insert(incoming.headers.end(), fields.begin(), fields.end());
    return answer(incoming);
  }
  [[nodiscard]] bool gauge_is(int waiting) const {
    return metrics_->render().find("cleat_http_waiting " + std::to_string(waiting)) != std::string::npos;
  }

  const HttpOptions options_ = [] {
    HttpOptions options;
    options.max_waiting = 1;
    options.runner_wait_max = std::chrono::seconds(20);
    options.input_max_bytes = 4;
    return options;
  }();
  std::shared_ptr<Metrics> metrics_ = std::make_shared<Metrics>();
  test::FakeBackend backend_;
  test::FakeLine line_;
  Dispatcher dispatcher_{options_, metrics_, std::make_shared<test::SteppedClock>()};
};

TEST_F(AgentSessionRoutes, AStartGoesToItsContainer) {
  backend_.answer = [this] {
    EXPECT_TRUE(gauge_is(0)) << "who does not wait needs no seat";
    return Reply{202, R"({"state":"in_flight"})", {}, false};
  };
  const auto outgoing = start({{"Idempotency-Key", "k"}}, R"({"resume_session_id":")" + session + "\"}");
  EXPECT_EQ(outgoing.status, 202);
  EXPECT_EQ(outgoing.body, R"({"state":"in_flight"})");
  ASSERT_EQ(backend_.starts.size(), 1U);
  const auto& command = backend_.starts[0];
  EXPECT_EQ(command.container_name, "box");
  EXPECT_EQ(command.body->resume_session_id, session);
  EXPECT_EQ(command.wait_ms, 0);
  EXPECT_EQ(command.context.idempotency->key, "k");
  EXPECT_EQ(*command.context.actor, test::human(1));
  EXPECT_EQ(answer(request("POST", starts)).status, 202) << "no body is an empty one";
}

TEST_F(AgentSessionRoutes, OnlyTheCallersOwnRequestIdIsItsCorrelation) {
  start({});
  start({{"X-Request-Id", "mine"}});
  start({{"X-Request-Id", "not one"}});
  EXPECT_EQ(backend_.starts[0].caller_request_id, std::nullopt);
  EXPECT_EQ(backend_.starts[1].caller_request_id, "mine");
  EXPECT_EQ(backend_.starts[2].caller_request_id, std::nullopt);
}

TEST_F(AgentSessionRoutes, AStartWaitsAsLongAsItPrefersAndNoLongerThanItMay) {
  backend_.answer = [this] {
    EXPECT_TRUE(gauge_is(1));
    return Reply{201, "{}", {}, false};
  };
  start({{"Prefer", "respond-async, wait=7"}});
  start({{"Prefer", "wait=100"}});
  EXPECT_EQ(backend_.starts.at(0).wait_ms, 7'000);
  EXPECT_EQ(backend_.starts.at(1).wait_ms, 20'000);
  EXPECT_TRUE(gauge_is(0));
}

TEST_F(AgentSessionRoutes, AWaitLeavesTimeForItsAnswer) {
  HttpOptions options;
  options.answer_timeout = std::chrono::seconds(9);
  Dispatcher hasty(options, std::make_shared<Metrics>(), std::make_shared<test::SteppedClock>());
  auto incoming = request("POST", starts);
  incoming.headers.emplace_back("Prefer", "wait=100");
  hasty.answer(incoming, backend_, line_);
  EXPECT_EQ(backend_.starts.at(0).wait_ms, 8'000);
}

TEST_F(AgentSessionRoutes, WhoWaitsNeedsASeat) {
  Outgoing without_seat;
  Outgoing at_once;
  Outgoing lookup;
  backend_.answer = [&] {
    test::FakeBackend other;
    other.tokens = backend_.tokens;
    auto incoming = request("POST", starts);
    at_once = dispatcher_.answer(incoming, other, line_);
    incoming.headers.emplace_back("Prefer", "wait=1");
    without_seat = dispatcher_.answer(incoming, other, line_);
    lookup = dispatcher_.answer(request("POST", lookups, R"({"retry_handle":"h","wait_s":1})"), other, line_);
    EXPECT_EQ(other.starts.size(), 1U) << "nothing was reserved for the one without a seat";
    EXPECT_TRUE(other.handles.empty());
    return Reply{201, "{}", {}, false};
  };
  start({{"Prefer", "wait=1"}});
  EXPECT_EQ(at_once.status, 200);
  EXPECT_EQ(without_seat.status, 503);
  EXPECT_NE(without_seat.body.find("overloaded"), std::string::npos);
  EXPECT_TRUE(without_seat.close);
  EXPECT_EQ(lookup.status, 503);
}

TEST_F(AgentSessionRoutes, AHandleIsFollowed) {
  EXPECT_EQ(answer(request("POST", lookups, R"({"retry_handle":"h","wait_s":20})")).status, 200);
  EXPECT_EQ(answer(request("POST", lookups, R"({"retry_handle":"h"})")).status, 200);
  auto again = request("POST", retries, R"({"retry_handle":"g"})");
  again.headers.emplace_back("Idempotency-Key", "k");
  EXPECT_EQ(answer(again).status, 200);
  ASSERT_EQ(backend_.handles.size(), 3U);
  EXPECT_EQ(backend_.handles[0].body->retry_handle, "h");
  EXPECT_EQ(backend_.handles[0].body->wait_s, 20);
  EXPECT_FALSE(backend_.handles[0].retry);
  EXPECT_EQ(backend_.handles[1].body->wait_s, 0);
  EXPECT_EQ(backend_.handles[2].body->retry_handle, "g");
  EXPECT_TRUE(backend_.handles[2].retry);
  EXPECT_EQ(backend_.handles[2].context.idempotency->key, "k");
}

TEST_F(AgentSessionRoutes, ALookupChangesNothing) {
  backend_.answer = [] { return Result<Reply>(refuse(Code::outcome_unknown)); };
  auto lookup = request("POST", lookups, R"({"retry_handle":"h","wait_s":21})");
  lookup.headers.emplace_back("Idempotency-Key", "k");
  const auto outgoing = answer(lookup);
  EXPECT_NE(outgoing.body.find("\"unavailable\""), std::string::npos) << "there is no outcome to be unsure of";
  EXPECT_FALSE(backend_.handles.at(0).context.idempotency);
  EXPECT_EQ(backend_.handles[0].body.error().errors, (std::vector<FieldError>{{"/wait_s", FieldCode::out_of_range}}));
  EXPECT_NE(answer(request("POST", retries, R"({"retry_handle":"h"})")).body.find("\"outcome_unknown\""),
            std::string::npos);
}

TEST_F(AgentSessionRoutes, StopAndInputGoToTheirSession) {
  EXPECT_EQ(answer(request("POST", of_session + "/stop")).status, 200);
  EXPECT_EQ(answer(request("POST", of_session + "/stop", "{}")).status, 200);
  EXPECT_EQ(backend_.stops.at(1).session_id, session);
  EXPECT_TRUE(backend_.stops[1].body);
  EXPECT_EQ(answer(request("POST", of_session + "/input", R"({"line":"1234"})")).status, 200);
  EXPECT_EQ(backend_.inputs.at(0).session_id, session);
  EXPECT_EQ(backend_.inputs[0].body->line, "1234");
  answer(request("POST", of_session + "/input", R"({"line":"12345"})"));
  EXPECT_EQ(backend_.inputs.at(1).body.error().errors, (std::vector<FieldError>{{"/line", FieldCode::too_long}}));
}

TEST_F(AgentSessionRoutes, WhatTheServerMintsTravelsAsItsRefusal) {
  const std::string body = R"({"operation_id":null,"x":1})";
  for (const auto& target : {starts, lookups, retries, of_session + "/stop", of_session + "/input"})
    EXPECT_EQ(answer(request("POST", target, body)).status, 200) << target;
  EXPECT_EQ(backend_.starts.at(0).body.error().code, Code::invalid_argument);
  EXPECT_EQ(backend_.handles.at(0).body.error().code, Code::invalid_argument);
  EXPECT_EQ(backend_.handles.at(1).body.error().code, Code::invalid_argument);
  EXPECT_EQ(backend_.stops.at(0).body.error().code, Code::invalid_argument);
  EXPECT_EQ(backend_.inputs.at(0).body.error().code, Code::invalid_argument);
}

TEST_F(AgentSessionRoutes, WhatCannotBeIsAsUnknownAsWhatIsNot) {
  backend_.answer = [] { return Result<Reply>(refuse(Code::not_found)); };
  const auto seen = [this](const std::string& target) {
    auto outgoing = answer(request("POST", target));
    std::erase_if(outgoing.headers,
                  [](const auto& field) { return field.first == "X-Request-Id" || field.first == "RateLimit"; });
    return outgoing;
  };
  const auto expect_same = [](const Outgoing& a, const Outgoing& b) {
    EXPECT_EQ(a.status, 404);
    EXPECT_EQ(a.status, b.status);
    EXPECT_EQ(a.body, b.body);
    EXPECT_EQ(a.content_type, b.content_type);
    EXPECT_EQ(a.headers, b.headers);
  };
  for (const auto* name : {"Box", "a%2Fb", "%FF", "-"})
    expect_same(seen("/v1/containers/" + std::string(name) + "/agent-sessions"), seen(starts));
  for (const auto& id : {std::string("x"), std::string(64, 'A'), std::string(65, 'a')})
    for (const auto* what : {"/stop", "/input"})
      expect_same(seen("/v1/agent-sessions/" + id + what), seen(of_session + what));
}

TEST_F(AgentSessionRoutes, DrawOnTheirClass) {
  const auto rate_class = [this](const char* method, const std::string& target) {
    const auto policy = header(answer(request(method, target)), "RateLimit-Policy");
    return policy.substr(0, policy.find(';'));
  };
  for (const auto& target : {starts, lookups, retries, of_session + "/stop", of_session + "/input"})
    EXPECT_EQ(rate_class("POST", target), "\"trigger\"") << target;
  EXPECT_EQ(rate_class("GET", of_session + "/transcript"), "\"read\"");
}

} // namespace
} // namespace cleat::http
