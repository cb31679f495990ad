#include <chrono>
#include <string>
#include <vector>

#include "tests/http/server_fixture.hpp"

/// Bad input of every kind of spec 05, as bytes on a socket: each gets its error, none reaches an actor, and the server
/// goes on.
namespace cleat::test {
namespace {

using namespace std::chrono_literals;

class BadInput : public ServerTest {
protected:
  ~BadInput() override {
    // Whatever came before, the next client is served.
    RawClient client(port_);
    EXPECT_EQ(client.exchange(get("/v1/me")).status, 200);
  }

  void expect_problem(const RawResponse& response, int status, const std::string& code) {
    EXPECT_EQ(response.status, status) << response.body;
    EXPECT_EQ(response.headers.at("content-type"), "application/problem+json");
    EXPECT_TRUE(response.headers.contains("x-request-id"));
    EXPECT_NE(response.body.find("\"code\":\"" + code + '"'), std::string::npos) << response.body;
    EXPECT_EQ(behind_->arrivals(), 0);
  }

  void expect_problem(const std::string& bytes, int status, const std::string& code) {
    RawClient client(port_);
    expect_problem(client.exchange(bytes), status, code);
  }
};

TEST_F(BadInput, WhatIsNoRequest) {
  start();
  for (const auto* bytes :
       {"\x16\x03\x01\n\n", "hello\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/3.0\r\n\r\n", "GET /v1/me HTTP/1.1\n\n",
        "GET /v1/me HTTP/1.1\r\nno colon\r\n\r\n", "POST /v1/spaces HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        "POST /v1/spaces HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
        "POST /v1/spaces HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET /v1/me HTTP/1.1\r\nRange: nonsense\r\n\r\n"}) {
    RawClient client(port_);
    const auto response = client.exchange(bytes);
    expect_problem(response, 400, "bad_request");
    EXPECT_EQ(response.headers.at("connection"), "close") << bytes;
    EXPECT_TRUE(client.ends());
  }
}

TEST_F(BadInput, TooMuchOfIt) {
  options_.max_json_body_bytes = 4096;
  start();
  expect_problem("GET /" + std::string(8100, 'a') + " HTTP/1.1\r\n\r\n", 414, "uri_too_long");
  expect_problem("GET / HTTP/1.1\r\nA: " + std::string(20'000, 'a') + "\r\n\r\n", 431, "headers_too_large");
  std::string many;
  for (int i = 0; i < 2000; ++i)
    many += "A: b12345\r\n";
  expect_problem("GET / HTTP/1.1\r\n" + many + "\r\n", 431, "headers_too_large");
  expect_problem(post(reset_path, std::string(4097, ' ')), 413, "payload_too_large");
}

TEST_F(BadInput, ABodyWithoutEnd) {
  options_.max_json_body_bytes = 4096;
  options_.read_timeout = 1h; // what ends it is its size and not the time
  start();
  const auto head = "POST " + reset_path + " HTTP/1.1\r\nAuthorization: Bearer secret\r\n";
  expect_problem(head + "Content-Length: 9999999999999\r\n\r\n" + std::string(20'000, ' '), 413, "payload_too_large");
  std::string chunks;
  for (int i = 0; i < 6; ++i)
    chunks += "400\r\n" + std::string(1024, ' ') + "\r\n";
  expect_problem(head + "Transfer-Encoding: chunked\r\n\r\n" + chunks, 413, "payload_too_large");
  expect_problem(head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400, "bad_request");
}

TEST_F(BadInput, AWrongMethod) {
  start();
  for (const auto* method : {"PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PRI", "BREW", "get"}) {
    RawClient client(port_);
    const auto response = client.exchange(std::string(method) + " /v1/spaces HTTP/1.1\r\n\r\n");
    expect_problem(response, 405, "method_not_allowed");
    EXPECT_EQ(response.headers.at("allow"), "GET, HEAD, POST") << method;
  }
}

TEST_F(BadInput, NoTokenOrAStrangeOne) {
  start();
  for (const auto* fields : {"", "Authorization:\r\n", "Authorization: Basic YTpi\r\n", "Authorization: Bearer a b\r\n",
                             "Authorization: Bearer a\r\nAuthorization: Bearer a\r\n"}) {
    RawClient client(port_);
    const auto response = client.exchange("GET /v1/me HTTP/1.1\r\n" + std::string(fields) + "\r\n");
    expect_problem(response, 401, "unauthorized");
    EXPECT_EQ(response.headers.at("www-authenticate"), "Bearer");
  }
}

TEST_F(BadInput, AWrongMediaType) {
  start();
  const auto head = "POST " + reset_path + " HTTP/1.1\r\nAuthorization: Bearer secret\r\nContent-Length: 2\r\n";
  for (const auto* fields :
       {"", "Content-Type: text/plain\r\n", "Content-Type: application/x-www-form-urlencoded\r\n",
        "Content-Type: multipart/form-data; boundary=x\r\n", "Content-Type: multipart/form-data\r\n",
        "Content-Type: application/json\r\nContent-Encoding: gzip\r\n"})
    expect_problem(head + fields + "\r\n{}", 415, "unsupported_media_type");
}

TEST_F(BadInput, WrongHeaderFields) {
  start();
  for (const auto* value : {"*", "W/\"1\"", "\"1\", \"2\"", "1", ""})
    expect_problem(post(reset_path, "{}", std::string("If-Match: ") + value + "\r\n"), 400, "invalid_if_match");
  expect_problem(post(reset_path, "{}", "Idempotency-Key: a\r\nIdempotency-Key: a\r\n"), 400,
                 "invalid_idempotency_key");
  expect_problem(post(reset_path, "{}", "Idempotency-Key:\r\n"), 400, "invalid_idempotency_key");
  expect_problem(post(reset_path, "{}", "Idempotency-Key: " + std::string(256, 'k') + "\r\n"), 400,
                 "invalid_idempotency_key");
}

TEST_F(BadInput, BodiesThatTravelToTheActorsAsRefusals) {
  start();
  // These are the actors' to refuse, after rights; here they must only arrive unharmed, whatever their depth.
  for (const auto& body :
       {std::string("{"), std::string(100'000, '['), std::string("\xff\xfe"), std::string(64, '\0')}) {
    RawClient client(port_);
    EXPECT_EQ(client.exchange(post(reset_path, body)).status, 201);
  }
}

TEST_F(BadInput, GarbageBehindARequest) {
  start();
  RawClient client(port_);
  client.send(get("/v1/me") + "garbage\r\n\r\n" + get("/v1/me"));
  EXPECT_EQ(client.receive().value().status, 200);
  expect_problem(client.receive().value(), 400, "bad_request");
  EXPECT_TRUE(client.ends());
}

TEST_F(BadInput, ABodyOnAReadIsNotTakenForTheNextRequest) {
  start();
  RawClient client(port_);
  const auto smuggled = get("/v1/spaces");
  client.send(get("/v1/me", "Content-Length: " + std::to_string(smuggled.size()) + "\r\n") + smuggled);
  EXPECT_EQ(client.receive().value().headers.at("connection"), "close");
  EXPECT_TRUE(client.ends());
}

TEST_F(BadInput, ClientsThatAreTooSlow) {
  options_.read_timeout = 50ms;
  options_.keep_alive = 50ms;
  start();
  RawClient silent(port_);
  RawClient half_head(port_);
  half_head.send("GET /v1/me HTT");
  RawClient half_body(port_);
  half_body.send(post(reset_path, "{}").substr(0, post(reset_path, "{}").size() - 1));
  RawClient served(port_);
  EXPECT_EQ(served.exchange(get("/v1/me")).status, 200);
  EXPECT_TRUE(silent.ends());
  EXPECT_TRUE(half_head.ends());
  expect_problem(half_body.receive().value(), 400, "bad_request");
  EXPECT_TRUE(served.ends());
}

TEST_F(BadInput, AClientThatDripsDoesNotBuyTime) {
  options_.read_timeout = 100ms;
  start();
  RawClient client(port_);
  // A byte in every tenth of the time that the server gives: each alone would be in time.
  int drops = 0;
  client.send("GET /v1/me?");
  while (!client.ends_within(10ms) && drops < 200) {
    client.send("a");
    ++drops;
  }
  EXPECT_LT(drops, 100);
}

TEST_F(BadInput, ClientsThatVanish) {
  start();
  for (const auto& bytes : {std::string("GET"), get("/v1/me").substr(0, 30), post(reset_path, "{}").substr(0, 120)}) {
    RawClient client(port_);
    client.send(bytes);
  }
}

} // namespace
} // namespace cleat::test
