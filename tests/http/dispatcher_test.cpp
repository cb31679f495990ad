#include <gtest/gtest.h>

#include <stdexcept>

#include "http/dispatcher.hpp"
#include "tests/http/fake_backend.hpp"

namespace cleat::http {
namespace {

using test::header;
using test::request;

constexpr auto thread = "/v1/threads/0196f0a9-1b2c-7d10-9a55-6b1f0e2d3c44";
const std::string sessions = std::string(thread) + "/agent-sessions";

class DispatcherTest : public testing::Test {
protected:
  DispatcherTest() { backend_.tokens[sha256("secret")] = test::token_of(1, "secret"); }

  Outgoing answer(const Incoming& incoming) { return dispatcher_.answer(incoming, backend_, line_); }

  /// The status of the answer, and that it names `code`.
  int problem(const Incoming& incoming, std::string_view code) {
    const auto outgoing = answer(incoming);
    EXPECT_EQ(outgoing.content_type, "application/problem+json");
    EXPECT_NE(outgoing.body.find("\"code\":\"" + std::string(code) + '"'), std::string::npos) << outgoing.body;
    return outgoing.status;
  }

  std::shared_ptr<Metrics> metrics_ = std::make_shared<Metrics>();
  std::shared_ptr<test::SteppedClock> clock_ = std::make_shared<test::SteppedClock>();
  test::FakeBackend backend_;
  test::FakeLine line_;
  Dispatcher dispatcher_{HttpOptions(), metrics_, clock_};
};

TEST_F(DispatcherTest, HandsTheCommandOverAndTheAnswerBack) {
  backend_.answer = [] { return Reply{201, R"({"id":"x"})", 3, false}; };
  auto incoming = request("POST", sessions + "/bind", R"({"external_session_ref":"r"})");
  incoming.headers.emplace_back("X-Request-Id", "r-1");
  const auto outgoing = answer(incoming);
  EXPECT_EQ(outgoing.status, 201);
  EXPECT_EQ(outgoing.body, R"({"id":"x"})");
  EXPECT_EQ(header(outgoing, "ETag"), "\"3\"");
  EXPECT_EQ(header(outgoing, "X-Request-Id"), "r-1");
  ASSERT_EQ(backend_.bind_bodies.size(), 1U);
  EXPECT_EQ(backend_.bind_bodies[0].value().external_session_ref, "r");
  EXPECT_EQ(*backend_.contexts[0].actor, test::human(1));
  EXPECT_EQ(backend_.contexts[0].request_id, "r-1");
}

TEST_F(DispatcherTest, MakesARequestIdWhereNoneCanBeUsed) {
  auto incoming = request("GET", "/v1/me");
  incoming.headers.emplace_back("X-Request-Id", "not one");
  const auto first = header(answer(incoming), "X-Request-Id");
  EXPECT_TRUE(Id::parse(first));
  EXPECT_NE(first, header(answer(incoming), "X-Request-Id"));
}

TEST_F(DispatcherTest, LooksAtThePathFirst) {
  EXPECT_EQ(problem({"GET", "/v1/nothing", {}, {}}, "not_found"), 404);
  const auto other = answer({"PUT", "/v1/spaces", {}, {}});
  EXPECT_EQ(other.status, 405);
  EXPECT_EQ(header(other, "Allow"), "GET, HEAD, POST");
  EXPECT_EQ(backend_.look_ups, 0);
}

TEST_F(DispatcherTest, ThenAsksWhoItIs) {
  auto incoming = request("POST", sessions + "/bind", "{");
  incoming.headers = {{"Content-Type", "text/plain"}};
  EXPECT_EQ(problem(incoming, "unauthorized"), 401);
  backend_.database = false;
  EXPECT_EQ(problem(request("GET", "/v1/me"), "unavailable"), 503);
}

TEST_F(DispatcherTest, ThenReadsTheMessage) {
  auto incoming = request("POST", sessions + "/bind", "{}");
  incoming.headers[1].second = "text/plain";
  incoming.headers.emplace_back("If-Match", "*");
  EXPECT_EQ(problem(incoming, "unsupported_media_type"), 415);
  incoming.headers[1].second = "application/json";
  EXPECT_EQ(problem(incoming, "invalid_if_match"), 400);
  incoming.headers.pop_back();
  incoming.headers.emplace_back("Idempotency-Key", "a");
  incoming.headers.emplace_back("Idempotency-Key", "a");
  EXPECT_EQ(problem(incoming, "invalid_idempotency_key"), 400);
  EXPECT_TRUE(backend_.contexts.empty());
}

TEST_F(DispatcherTest, LeavesTheBodyToTheActorsBecauseRightsComeFirst) {
  backend_.answer = [] { return refuse(Code::not_found); };
  EXPECT_EQ(problem(request("POST", sessions + "/bind", "{"), "not_found"), 404);
  ASSERT_EQ(backend_.bind_bodies.size(), 1U);
  EXPECT_EQ(backend_.bind_bodies[0].error().code, Code::malformed_json);
}

TEST_F(DispatcherTest, ABodyWhereNoneIsTakenIsRefused) {
  const auto id = test::human(1).id.str();
  const auto grant = std::string(thread) + "/grants/" + id;
  EXPECT_EQ(problem(request("DELETE", grant, R"({"a":1})"), "validation_failed"), 400);
  EXPECT_EQ(answer(request("DELETE", grant, "{}")).status, 200);
  EXPECT_EQ(answer(request("DELETE", grant)).status, 200);
}

TEST_F(DispatcherTest, AMalformedIdIsAnUnknownOne) {
  backend_.answer = [] { return refuse(Code::not_found); };
  auto unknown = request("GET", thread);
  unknown.headers.emplace_back("X-Request-Id", "same");
  // What is left of a budget depends on what was asked before (spec 05).
  const auto asked_for = [this](const Incoming& incoming) {
    auto outgoing = answer(incoming);
    std::erase_if(outgoing.headers, [](const auto& field) { return field.first == "RateLimit"; });
    return outgoing;
  };
  const auto expected = asked_for(unknown);
  const auto asked = backend_.contexts.size();
  for (const auto* id : {"x", "", "0196F0A9-1B2C-7D10-9A55-6B1F0E2D3C44", "%00", "0196f0a91b2c7d109a556b1f0e2d3c44"}) {
    auto malformed = unknown;
    malformed.target = std::string("/v1/threads/") + id;
    const auto outgoing = asked_for(malformed);
    EXPECT_EQ(outgoing.status, 404);
    EXPECT_EQ(outgoing.body, expected.body) << id;
    EXPECT_EQ(outgoing.headers, expected.headers);
  }
  EXPECT_EQ(backend_.contexts.size(), asked);
}

TEST_F(DispatcherTest, KnowsThePartOfAListAndNothingElse) {
  EXPECT_EQ(answer(request("GET", "/v1/spaces?limit=7")).status, 200);
  ASSERT_EQ(backend_.operations.size(), 1U);
  EXPECT_EQ(std::get<op::ListSpaces>(backend_.operations[0]).range.value().limit, 7);
  EXPECT_EQ(problem(request("GET", "/v1/spaces?limit=7&offset=1"), "validation_failed"), 400);
  EXPECT_EQ(problem(request("GET", std::string(thread) + "?limit=1"), "validation_failed"), 400);
}

TEST_F(DispatcherTest, FiltersTheAuditLog) {
  const auto id = test::human(9).id;
  answer(request("GET", "/v1/audit?actor_id=" + id.str() + "&outcome=deny&action=agent_session.bind&limit=3"));
  answer(request("GET", "/v1/audit?actor_id=x&outcome=maybe&limit=0&action=&resource_id=y"));
  ASSERT_EQ(backend_.operations.size(), 2U);
  const auto& page = std::get<op::ListAudit>(backend_.operations[0]).query.value();
  EXPECT_EQ(page, (AuditPage{id, "agent_session.bind", false, {}, {3, {}}}));
  const auto& wrong = std::get<op::ListAudit>(backend_.operations[1]).query.error();
  EXPECT_EQ(wrong.errors, (std::vector<FieldError>{{"/actor_id", FieldCode::invalid_format},
                                                   {"/resource_id", FieldCode::invalid_format},
                                                   {"/action", FieldCode::required},
                                                   {"/outcome", FieldCode::unknown_value},
                                                   {"/limit", FieldCode::out_of_range}}));
}

TEST_F(DispatcherTest, PassesVersionAndKeyOn) {
  auto incoming = request("PATCH", thread, R"({"title":"a"})");
  incoming.headers.emplace_back("If-Match", "\"4\"");
  incoming.headers.emplace_back("Idempotency-Key", "k");
  answer(incoming);
  incoming.body = R"({"title":"b"})";
  answer(incoming);
  ASSERT_EQ(backend_.contexts.size(), 2U);
  const auto& first = backend_.contexts[0];
  EXPECT_EQ(first.if_match, 4);
  EXPECT_EQ(first.idempotency->key, "k");
  EXPECT_EQ(first.idempotency->principal_id, test::human(1).id);
  EXPECT_NE(first.idempotency->fingerprint, backend_.contexts[1].idempotency->fingerprint);
}

TEST_F(DispatcherTest, TheFingerprintCoversOperationAndTarget) {
  const auto fingerprint = [this](std::string method, std::string target, std::string body) {
    auto incoming = request(std::move(method), std::move(target), std::move(body));
    incoming.headers.emplace_back("Idempotency-Key", "k");
    answer(incoming);
    return backend_.contexts.back().idempotency->fingerprint;
  };
  const auto reset = fingerprint("POST", sessions + "/reset", "{}");
  EXPECT_EQ(reset, fingerprint("POST", sessions + "/reset", "{}"));
  EXPECT_NE(reset, fingerprint("POST", sessions + "/bind", "{}"));
  EXPECT_NE(reset, fingerprint("POST", "/v1/threads/0196f0a9-1b2c-7d10-9a55-6b1f0e2d3c45/agent-sessions/reset", "{}"));
}

TEST_F(DispatcherTest, ReadsTakeNoIdempotencyKey) {
  auto incoming = request("GET", thread);
  incoming.headers.emplace_back("Idempotency-Key", "k");
  answer(incoming);
  EXPECT_EQ(backend_.contexts.back().idempotency, std::nullopt);
}

TEST_F(DispatcherTest, ASecondRequestWithAKeyWaitsForTheFirst) {
  auto incoming = request("POST", sessions + "/reset");
  incoming.headers.emplace_back("Idempotency-Key", "k");
  Outgoing second;
  backend_.answer = [&] {
    test::FakeBackend other;
    other.tokens = backend_.tokens;
    second = dispatcher_.answer(incoming, other, line_);
    return Reply{201, "{}", {}, false};
  };
  EXPECT_EQ(answer(incoming).status, 201);
  EXPECT_EQ(second.status, 409);
  EXPECT_NE(second.body.find("idempotency_in_progress"), std::string::npos);
  backend_.answer = [] { return Reply{201, "{}", {}, true}; };
  EXPECT_EQ(header(answer(incoming), "Idempotent-Replay"), "true");
}

TEST_F(DispatcherTest, NoAnswerInTimeIsUnknownForAWriteAndNothingForARead) {
  backend_.answer = [] { return refuse(Code::outcome_unknown); };
  EXPECT_EQ(problem(request("POST", sessions + "/reset"), "outcome_unknown"), 503);
  EXPECT_EQ(problem(request("GET", sessions), "unavailable"), 503);
}

TEST_F(DispatcherTest, AnExceptionIsAnAnswerToo) {
  backend_.answer = []() -> Result<Reply> { throw std::runtime_error("broken"); };
  const auto outgoing = answer(request("GET", sessions));
  EXPECT_EQ(outgoing.status, 500);
  EXPECT_EQ(outgoing.body.find("broken"), std::string::npos);
  EXPECT_NE(header(outgoing, "X-Request-Id"), "");
}

TEST_F(DispatcherTest, ARevocationHoldsHereAtOnce) {
  EXPECT_EQ(answer(request("GET", "/v1/me")).status, 200);
  const auto id = test::human(1).id.str();
  backend_.answer = [this] {
    backend_.tokens.clear();
    return Reply{204, "", {}, false};
  };
  EXPECT_EQ(answer(request("DELETE", "/v1/principals/" + id + "/tokens/" + id)).status, 204);
  EXPECT_EQ(problem(request("GET", "/v1/me"), "unauthorized"), 401);
}

TEST_F(DispatcherTest, TellsAPrincipalWhatIsLeftOfItsBudget) {
  for (const auto* target : {"/v1/me", "/v1/me?nonsense=1", "/v1/threads/x"})
    EXPECT_EQ(header(answer(request("GET", target)), "RateLimit-Policy"), "\"read\";q=1000;w=5") << target;
  EXPECT_EQ(header(answer(request("GET", "/v1/me")), "RateLimit"), "\"read\";r=996;t=1");
  EXPECT_EQ(header(answer(request("POST", "/v1/spaces")), "RateLimit"), "\"admin\";r=499;t=1");
  for (const auto& incoming : {Incoming{"GET", "/v1/me", {}, {}}, Incoming{"GET", "/healthz", {}, {}}}) {
    EXPECT_EQ(header(answer(incoming), "RateLimit-Policy"), "");
    EXPECT_EQ(header(answer(incoming), "RateLimit"), "");
  }
}

TEST_F(DispatcherTest, APrincipalThatAsksTooMuchIsToldToWaitBeforeItsMessageIsRead) {
  HttpOptions options;
  options.rates = {1, 0, 1, 1, 1, 16};
  Dispatcher dispatcher(options, metrics_, clock_);
  const auto ask = [&](const Incoming& incoming) { return dispatcher.answer(incoming, backend_, line_); };
  EXPECT_EQ(ask(request("POST", "/v1/spaces", R"({"name":"a"})")).status, 200);
  auto unreadable = request("POST", "/v1/spaces", "{");
  unreadable.headers[1].second = "text/plain";
  const auto refused = ask(unreadable);
  EXPECT_EQ(refused.status, 429);
  EXPECT_NE(refused.body.find("rate_limited"), std::string::npos);
  EXPECT_EQ(header(refused, "Retry-After"), "1");
  EXPECT_EQ(header(refused, "RateLimit"), "\"admin\";r=0;t=1");
  EXPECT_EQ(backend_.operations.size(), 1U);
  // Other classes, other principals and open paths are not concerned.
  EXPECT_EQ(ask(request("GET", "/v1/me")).status, 200);
  EXPECT_EQ(ask(Incoming{"GET", "/healthz", {}, {}}).status, 200);
  backend_.tokens[sha256("other")] = test::token_of(2, "other");
  auto other = request("POST", "/v1/spaces", R"({"name":"a"})");
  other.headers[0].second = "Bearer other";
  EXPECT_EQ(ask(other).status, 200);
  // A class whose rate is 0 has no limit and says nothing about it.
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(header(ask(request("POST", sessions + "/reset")), "RateLimit"), "");
  clock_->advance(std::chrono::seconds(1));
  EXPECT_EQ(ask(request("POST", "/v1/spaces", R"({"name":"a"})")).status, 200);
}

TEST_F(DispatcherTest, AnAddressThatGuessesIsToldHowLongToWait) {
  HttpOptions options;
  options.auth = {6, 2, 16}; // one in ten seconds
  Dispatcher dispatcher(options, metrics_, clock_);
  const auto ask = [&](const std::string& secret, std::uint64_t network) {
    auto incoming = request("GET", "/v1/me");
    incoming.headers[0].second = "Bearer " + secret;
    incoming.client = {network};
    return dispatcher.answer(incoming, backend_, line_);
  };
  EXPECT_EQ(ask("secret", 1).status, 200);
  EXPECT_EQ(ask("a", 1).status, 401);
  EXPECT_EQ(ask("b", 1).status, 401);
  const auto look_ups = backend_.look_ups;
  const auto refused = ask("c", 1);
  EXPECT_EQ(refused.status, 429);
  EXPECT_NE(refused.body.find("rate_limited"), std::string::npos);
  EXPECT_EQ(header(refused, "Retry-After"), "10");
  EXPECT_EQ(header(refused, "RateLimit"), "") << "there is no principal whose budget it could tell";
  EXPECT_EQ(header(refused, "WWW-Authenticate"), "");
  EXPECT_EQ(backend_.look_ups, look_ups);
  EXPECT_EQ(ask("secret", 1).status, 200);
  EXPECT_EQ(ask("c", 2).status, 401);
  // No token at all and open paths are what they always were.
  EXPECT_EQ(dispatcher.answer({"GET", "/v1/me", {}, {}, BodyState::complete, {1}}, backend_, line_).status, 401);
  EXPECT_EQ(dispatcher.answer({"GET", "/healthz", {}, {}, BodyState::complete, {1}}, backend_, line_).status, 200);
  const auto text = dispatcher.answer({"GET", "/metrics", {}, {}}, backend_, line_).body;
  EXPECT_NE(text.find("cleat_auth_failures_total 3"), std::string::npos);
  EXPECT_NE(text.find("cleat_auth_refused_total 1"), std::string::npos);
}

TEST_F(DispatcherTest, ReadinessNeedsADatabaseAndNoDrain) {
  const Incoming ready{"GET", "/readyz", {}, {}};
  const std::string gate =
    R"("release_gate":{"expected_revision":"runner-session-id-v1","server":{"artifact":"cleatd","state":"passes"},)"
    R"("runner":{"artifact":"cleat-runner","state":"passes"}}})";
  EXPECT_EQ(answer(ready).status, 200);
  EXPECT_EQ(answer(ready).body,
            R"({"ready":true,"checks":{"database":true,"accepting":true,"release_gate":true},)" + gate);
  backend_.database = false;
  EXPECT_EQ(answer(ready).status, 503);
  EXPECT_EQ(answer({"GET", "/healthz", {}, {}}).status, 200);
  backend_.database = true;
  dispatcher_.drain();
  EXPECT_EQ(answer(ready).status, 503);
  EXPECT_EQ(answer(ready).body,
            R"({"ready":false,"checks":{"database":true,"accepting":false,"release_gate":true},)" + gate);
}

TEST_F(DispatcherTest, ReadinessNamesWhatTheReleaseGateExpectsAndHasFound) {
  const Incoming ready{"GET", "/readyz", {}, {}};
  auto verdict = test::open_verdict();
  verdict.server.program = sha256("program");
  verdict.runner.flaw = release::Flaw::other_revision;
  verdict.runner.manifest = release::Manifest{"cleat-runner", "1.0", hex_encode(sha256("runner")), "v0"};
  verdict.runner.manifest_digest = sha256("manifest");
  backend_.verdict = std::make_shared<release::Verdict>(verdict);
  const auto closed = answer(ready);
  EXPECT_EQ(closed.status, 503);
  EXPECT_EQ(closed.body,
            R"({"ready":false,"checks":{"database":true,"accepting":true,"release_gate":false},"release_gate":)"
            R"({"expected_revision":"runner-session-id-v1","server":{"artifact":"cleatd","state":"passes",)"
            R"("running_sha256":")" +
              hex_encode(sha256("program")) +
              R"("},"runner":{"artifact":"cleat-runner","state":"other_revision","manifest_revision":"v0",)"
              R"("version":"1.0","artifact_sha256":")" +
              hex_encode(sha256("runner")) + R"(","manifest_sha256":")" + hex_encode(sha256("manifest")) + R"("}}})");
  backend_.verdict = nullptr;
  EXPECT_EQ(answer(ready).status, 503) << "a server without a gate starts nothing";
}

TEST_F(DispatcherTest, CountsByOperationAndStatus) {
  answer(request("GET", sessions));
  answer(request("GET", "/v1/nothing"));
  const auto text = answer({"GET", "/metrics", {}, {}}).body;
  EXPECT_NE(text.find(R"(cleat_http_requests_total{operation="listAgentSessions",status="200"} 1)"), std::string::npos);
  EXPECT_NE(text.find(R"(cleat_http_requests_total{operation="none",status="404"} 1)"), std::string::npos);
  EXPECT_NE(text.find(R"(cleat_http_request_seconds_count{operation="listAgentSessions"} 1)"), std::string::npos);
}

TEST_F(DispatcherTest, ShowsItsContract) {
  EXPECT_TRUE(answer({"GET", "/openapi.yaml", {}, {}}).body.starts_with("openapi: 3.1.0"));
  const auto docs = answer({"GET", "/docs", {}, {}});
  EXPECT_EQ(docs.content_type, "text/html; charset=utf-8");
  EXPECT_NE(docs.body.find("id=\"bindAgentSession\""), std::string::npos);
  EXPECT_EQ(docs.body.find("<script"), std::string::npos);
  EXPECT_EQ(docs.body.find("src="), std::string::npos);
}

} // namespace
} // namespace cleat::http
