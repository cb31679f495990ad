#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <future>
#include <thread>
#include <vector>

#include "tests/http/server_fixture.hpp"

namespace cleat::test {
namespace {

using namespace std::chrono_literals;

constexpr const char* no_policy = "default-src 'none'; frame-ancestors 'none'";

TEST_F(ServerTest, AnswersAWriteWithEverythingItPromises) {
  start();
  RawClient client(port_);
  const auto response = client.exchange(post(reset_path, "{}", "X-Request-Id: r-1\r\n"));
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.body, R"({"ok":true})");
  const std::map<std::string, std::string> expected{{"ratelimit-policy", "\"trigger\";q=500;w=5"},
                                                    {"ratelimit", "\"trigger\";r=499;t=1"},
                                                    {"cache-control", "no-store"},
                                                    {"content-length", "11"},
                                                    {"content-security-policy", no_policy},
                                                    {"content-type", "application/json"},
                                                    {"cross-origin-resource-policy", "same-origin"},
                                                    {"etag", "\"1\""},
                                                    {"referrer-policy", "no-referrer"},
                                                    {"x-content-type-options", "nosniff"},
                                                    {"x-frame-options", "DENY"},
                                                    {"x-request-id", "r-1"}};
  EXPECT_EQ(response.headers, expected);
}

TEST_F(ServerTest, EveryAnswerTellsBrowsersWhatNotToDoWithIt) {
  start();
  for (const auto& bytes :
       {get("/v1/me"), get("/v1/nothing"), get("/healthz"), get("/openapi.yaml"), get("/metrics"), get("/docs"),
        std::string("GET /v1/me HTTP/1.1\r\n\r\n"), std::string("garbage\r\n\r\n"),
        std::string("BREW /v1/me HTTP/1.1\r\n\r\n"), "GET /" + std::string(8100, 'a') + " HTTP/1.1\r\n\r\n",
        post(reset_path, std::string(2'000'000, ' ')), get("/v1/events", "Accept: text/event-stream\r\n")}) {
    RawClient client(port_);
    const auto answer = client.exchange(bytes);
    const auto first_line = bytes.substr(0, bytes.find('\r'));
    const auto policy = bytes.starts_with("GET /docs")
                          ? "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
                            "frame-ancestors 'none'"
                          : no_policy;
    for (const auto& [name, value] : std::map<std::string, std::string>{{"cache-control", "no-store"},
                                                                        {"content-security-policy", policy},
                                                                        {"cross-origin-resource-policy", "same-origin"},
                                                                        {"referrer-policy", "no-referrer"},
                                                                        {"x-content-type-options", "nosniff"},
                                                                        {"x-frame-options", "DENY"}})
      EXPECT_EQ(answer.headers.contains(name) ? answer.headers.at(name) : "", value) << name << " of " << first_line;
    EXPECT_FALSE(answer.headers.contains("strict-transport-security")) << "not without TLS: " << first_line;
  }
}

TEST_F(ServerTest, CountsWrongTokensByTheAddressTheyComeFrom) {
  options_.auth = {1, 3, 100};
  options_.token_cache_age = 0ms;
  start();
  RawClient known(port_);
  EXPECT_EQ(known.exchange(get("/v1/me")).status, 200);
  behind_->tokens_valid = false;
  RawClient guesser(port_);
  const auto guess = [&guesser](const std::string& secret) {
    return guesser.exchange("GET /v1/me HTTP/1.1\r\nAuthorization: Bearer " + secret + "\r\n\r\n");
  };
  for (const auto* secret : {"a", "b", "c"})
    EXPECT_EQ(guess(secret).status, 401);
  const auto refused = guess("d");
  EXPECT_EQ(refused.status, 429);
  EXPECT_GT(std::stoi(refused.headers.at("retry-after")), 50);
  EXPECT_EQ(RawClient(port_).exchange(get("/v1/agent/events", "Authorization: Bearer e\r\n")).status, 401)
    << "two tokens are none";
  RawClient elsewhere(port_, {0, nullptr, 2});
  EXPECT_EQ(elsewhere.exchange("GET /v1/me HTTP/1.1\r\nAuthorization: Bearer d\r\n\r\n").status, 401);
  behind_->tokens_valid = true;
  EXPECT_EQ(known.exchange(get("/v1/me")).status, 200) << "who was there before goes on";
}

TEST_F(ServerTest, KeepsAConnectionForAnyNumberOfRequests) {
  start();
  RawClient client(port_);
  for (int i = 0; i < 200; ++i)
    ASSERT_EQ(client.exchange(get("/v1/me")).status, 200);
}

TEST_F(ServerTest, AnswersPipelinedRequestsInOrder) {
  start();
  RawClient client(port_);
  client.send(get("/v1/me", "X-Request-Id: 1\r\n") + post(reset_path, "{}", "X-Request-Id: 2\r\n") + "\r\n" +
              get("/healthz", "X-Request-Id: 3\r\n"));
  for (const auto* id : {"1", "2", "3"})
    EXPECT_EQ(client.receive().value().headers.at("x-request-id"), id);
}

TEST_F(ServerTest, TakesAWriteWithoutABodyAtOnce) {
  start();
  RawClient client(port_);
  // Without a length the library alone would wait for the client to close.
  EXPECT_EQ(client.exchange("POST " + reset_path + " HTTP/1.1\r\nAuthorization: Bearer secret\r\n\r\n").status, 201);
  EXPECT_EQ(client.exchange(get("/v1/me")).status, 200);
}

TEST_F(ServerTest, ReadsChunkedBodies) {
  start();
  RawClient client(port_);
  const auto response =
    client.exchange("POST " + reset_path +
                    " HTTP/1.1\r\nAuthorization: Bearer secret\r\nContent-Type: application/json\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n");
  EXPECT_EQ(response.status, 201);
}

TEST_F(ServerTest, InvitesABodyThatWaitsForIt) {
  start();
  RawClient client(port_);
  client.send("POST " + reset_path +
              " HTTP/1.1\r\nAuthorization: Bearer secret\r\nContent-Type: application/json\r\n"
              "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.receive().value().status, 100);
  EXPECT_EQ(client.exchange("{}").status, 201);
}

TEST_F(ServerTest, HeadHasTheHeadersOfGetAndNoBody) {
  start();
  RawClient client(port_);
  client.send("HEAD /v1/me HTTP/1.1\r\nAuthorization: Bearer secret\r\n\r\n");
  const auto response = client.receive(true).value();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.headers.at("content-length"), "11");
  EXPECT_EQ(client.exchange(get("/v1/me")).status, 200);
}

TEST_F(ServerTest, LeavesBytesAsTheyAreWhateverTheClientCouldUnpack) {
  start();
  RawClient client(port_);
  const auto response = client.exchange(get("/openapi.yaml", "Accept-Encoding: gzip, br\r\nRange: bytes=0-3\r\n"));
  EXPECT_EQ(response.status, 200);
  EXPECT_FALSE(response.headers.contains("content-encoding"));
  EXPECT_GT(response.body.size(), 1000U);
}

TEST_F(ServerTest, EndsTheConnectionWhenAskedTo) {
  start();
  RawClient client(port_);
  EXPECT_EQ(client.exchange(get("/v1/me", "Connection: close\r\n")).headers.at("connection"), "close");
  EXPECT_TRUE(client.ends());
  RawClient old(port_);
  EXPECT_EQ(old.exchange("GET /healthz HTTP/1.0\r\n\r\n").headers.at("connection"), "close");
  EXPECT_TRUE(old.ends());
}

TEST_F(ServerTest, ServesDescriptorsThatSelectCannot) {
  // Descriptors are given lowest first, so holding the low ones pushes the server's above select's limit.
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const auto before = limit;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 4096);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  start();
  std::vector<int> held;
  while (held.empty() || held.back() < FD_SETSIZE)
    held.push_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  {
    RawClient client(port_);
    EXPECT_EQ(client.exchange(get("/v1/me")).status, 200);
  }
  for (const int descriptor : held)
    ::close(descriptor);
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST_F(ServerTest, TellsConnectionsBeyondItsLimitToComeBack) {
  options_.max_connections = 2;
  options_.max_waiting = 1;
  start();
  RawClient first(port_);
  RawClient second(port_);
  EXPECT_EQ(first.exchange(get("/v1/me")).status, 200);
  EXPECT_EQ(second.exchange(get("/v1/me")).status, 200);
  EXPECT_EQ(metrics_->http_connections.Value(), 2);
  RawClient third(port_);
  const auto response = third.receive();
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 503);
  EXPECT_EQ(response->headers.at("retry-after"), "1");
  EXPECT_NE(response->body.find("overloaded"), std::string::npos);
  EXPECT_TRUE(third.ends());
  EXPECT_EQ(first.exchange(get("/v1/me")).status, 200);
}

TEST_F(ServerTest, SaysWhatItKnowsWhenNobodyAnswers) {
  options_.answer_timeout = 1s;
  start();
  behind_->holds = true;
  RawClient client(port_);
  const auto unknown = client.exchange(post(reset_path, "{}"));
  EXPECT_EQ(unknown.status, 503);
  EXPECT_NE(unknown.body.find("outcome_unknown"), std::string::npos);
  behind_->release();
  EXPECT_EQ(client.exchange(post(reset_path, "{}")).status, 201);
}

TEST_F(ServerTest, IsNotReadyWithoutItsDatabase) {
  options_.token_cache_age = 0ms;
  start();
  RawClient client(port_);
  EXPECT_EQ(client.exchange(get("/readyz")).status, 200);
  behind_->database_up = false;
  EXPECT_EQ(client.exchange(get("/readyz")).status, 503);
  EXPECT_EQ(client.exchange(get("/v1/me")).status, 503);
  EXPECT_EQ(client.exchange(get("/healthz")).status, 200);
}

TEST_F(ServerTest, DrainAnswersWhatIsInFlightAndEndsTheRest) {
  start();
  RawClient idle(port_);
  RawClient busy(port_);
  EXPECT_EQ(idle.exchange(get("/v1/me")).status, 200);
  EXPECT_EQ(busy.exchange(get("/v1/me")).status, 200);
  behind_->holds = true;
  busy.send(post(reset_path, "{}"));
  behind_->wait_for_arrivals(1);
  auto drained = std::async(std::launch::async, [this] { return server_->drain(); });
  EXPECT_TRUE(idle.ends());
  EXPECT_TRUE(RawClient::is_refused(port_));
  behind_->release();
  const auto response = busy.receive().value();
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.headers.at("connection"), "close");
  EXPECT_TRUE(busy.ends());
  EXPECT_TRUE(drained.get());
}

TEST_F(ServerTest, DrainGivesUpAfterItsTime) {
  options_.drain = 20ms;
  start();
  RawClient busy(port_);
  behind_->holds = true;
  busy.send(post(reset_path, "{}"));
  behind_->wait_for_arrivals(1);
  EXPECT_FALSE(server_->drain());
  behind_->release();
  server_->stop();
  EXPECT_TRUE(RawClient::is_refused(port_));
}

TEST_F(ServerTest, StopsWithoutHavingServed) {
  start();
  server_->stop();
  EXPECT_TRUE(RawClient::is_refused(port_));
}

TEST_F(ServerTest, SaysWhichAddressItCannotHave) {
  start();
  auto other = options_;
  other.port = port_;
  http::Server second(other, http::Dependencies{system_, {}, metrics_, std::make_shared<SystemClock>()});
  try {
    second.start();
    ADD_FAILURE() << "two servers on one port";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("http.listen"), std::string::npos);
  }
}

TEST(HttpOptions, NamesTheKeyThatIsWrong) {
  const auto complaint = [](auto change) {
    http::HttpOptions options;
    change(options);
    try {
      options.validate();
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(complaint([](auto&) {}), "");
  EXPECT_NE(complaint([](auto& o) { o.host.clear(); }).find("http.listen"), std::string::npos);
  EXPECT_NE(complaint([](auto& o) { o.max_connections = 0; }).find("http.max_connections"), std::string::npos);
  EXPECT_NE(complaint([](auto& o) { o.max_waiting = o.max_connections; }).find("http.max_waiting"), std::string::npos);
  EXPECT_NE(complaint([](auto& o) { o.message_max_bytes = 0; }).find("messages.max_bytes"), std::string::npos);
  EXPECT_NE(complaint([](auto& o) { o.poll_wait_max = 0s; }).find("agent.poll_wait_max_s"), std::string::npos);
  EXPECT_NE(complaint([](auto& o) { o.heartbeat = 0s; }).find("events.heartbeat_s"), std::string::npos);
  EXPECT_NE(complaint([](auto& o) { o.rates.admin_per_s = -1; }).find("rate."), std::string::npos);
  EXPECT_NE(complaint([](auto& o) { o.rates.burst_s = 0; }).find("rate.burst_s"), std::string::npos);
  EXPECT_NE(complaint([](auto& o) { o.rates.max_principals = 0; }).find("rate.max_principals"), std::string::npos);
  EXPECT_NE(complaint([](auto& o) { o.auth.failures_per_minute = -1; }).find("auth.failures"), std::string::npos);
  EXPECT_NE(complaint([](auto& o) { o.auth.burst = 0; }).find("auth.burst"), std::string::npos);
  EXPECT_NE(complaint([](auto& o) { o.auth.max_addresses = 0; }).find("auth.max_addresses"), std::string::npos);
  EXPECT_NE(complaint([](auto& o) { o.session_ref_max_bytes = 2601; }).find("agent.session_ref_max_bytes"),
            std::string::npos);
  EXPECT_NE(complaint([](auto& o) { o.token_cache_age = 1s; }).find("http.token_cache_ms"), std::string::npos);
}

} // namespace
} // namespace cleat::test
