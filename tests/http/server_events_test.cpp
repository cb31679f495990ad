#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "tests/http/server_fixture.hpp"

/// Long polls and event streams over sockets: framing, what ends them, and that those who wait are in nobody's way.
namespace cleat::test {
namespace {

using namespace std::chrono_literals;

const std::string stream_path = "/v1/events";
const std::string poll_path = "/v1/agent/events?wait_s=60";

LogItem item(std::int64_t seq, std::size_t size = 0) {
  return {seq, "run.changed", R"({"seq":)" + std::to_string(seq) + R"(,"x":")" + std::string(size, 'x') + "\"}"};
}

class ServerEvents : public ServerTest {
protected:
  /// A client whose stream has begun.
  std::unique_ptr<RawClient> stream(const std::string& fields = {}, int receive_buffer = 0) {
    auto client = std::make_unique<RawClient>(port_, RawOptions{receive_buffer});
    client->send(get(stream_path, fields));
    EXPECT_EQ(client->receive(true).value().status, 200);
    client->read_until(": connected\n\n");
    return client;
  }

  /// Opens streams until there is a seat for one: the one before has ended.
  void wait_for_a_seat() {
    for (int status = 0; status != 200;) {
      RawClient client(port_);
      client.send(get(stream_path));
      status = client.receive(true).value().status;
    }
  }
};

TEST_F(ServerEvents, AStreamBeginsAtOnceAndHasNoLength) {
  start();
  RawClient client(port_);
  client.send(get(stream_path, "Accept: text/event-stream\r\n"));
  const auto head = client.receive(true).value();
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers.at("content-type"), "text/event-stream; charset=utf-8");
  EXPECT_EQ(head.headers.at("cache-control"), "no-store");
  EXPECT_EQ(head.headers.at("x-accel-buffering"), "no");
  EXPECT_EQ(head.headers.at("connection"), "close");
  EXPECT_FALSE(head.headers.contains("content-length"));
  EXPECT_FALSE(head.headers.contains("transfer-encoding"));
  EXPECT_EQ(client.read_until("\n\n"), ": connected\n\n");
}

TEST_F(ServerEvents, AStreamSendsWhatHappensWhenItHappens) {
  start();
  const auto client = stream();
  behind_->wait_for_empty_reads(1);
  append(item(1));
  EXPECT_EQ(client->read_until("\n\n"), "id: 1\nevent: run.changed\ndata: {\"seq\":1,\"x\":\"\"}\n\n");
  append(item(2));
  append(item(3));
  EXPECT_EQ(client->read_until("id: 3\n"), "id: 2\nevent: run.changed\ndata: {\"seq\":2,\"x\":\"\"}\n\nid: 3\n");
}

TEST_F(ServerEvents, AStreamGoesOnWhereItsClientLeftOff) {
  behind_->append(item(1));
  behind_->append(item(2));
  start();
  EXPECT_TRUE(stream("Last-Event-ID: 1\r\n")->read_until("\n").starts_with("id: 2"));
}

TEST_F(ServerEvents, AStreamBreaksItsSilence) {
  options_.heartbeat = 20ms;
  start();
  const auto client = stream();
  EXPECT_EQ(client->read_until("\n\n"), ": heartbeat\n\n");
  EXPECT_EQ(client->read_until("\n\n"), ": heartbeat\n\n");
}

TEST_F(ServerEvents, OldClientsGetStreamsAsWell) {
  start();
  RawClient client(port_);
  client.send("GET " + stream_path + " HTTP/1.0\r\nAuthorization: Bearer secret\r\n\r\n");
  EXPECT_EQ(client.receive(true).value().headers.at("connection"), "close");
  EXPECT_EQ(client.read_until("\n\n"), ": connected\n\n");
}

TEST_F(ServerEvents, HeadOfAStreamIsAHead) {
  options_.max_waiting = 1;
  start();
  for (int i = 0; i < 2; ++i) {
    RawClient client(port_);
    client.send("HEAD " + stream_path + " HTTP/1.1\r\nAuthorization: Bearer secret\r\n\r\n");
    const auto head = client.receive(true).value();
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.headers.at("content-type"), "text/event-stream; charset=utf-8");
    EXPECT_TRUE(client.ends());
  }
  EXPECT_TRUE(behind_->reads().empty());
}

TEST_F(ServerEvents, RevocationEndsWhoWaits) {
  start();
  const auto listener = stream();
  RawClient poller(port_);
  poller.send(get(poll_path));
  behind_->wait_for_empty_reads(2);
  behind_->tokens_valid = false;
  const auto response = poller.receive().value();
  EXPECT_EQ(response.status, 401);
  EXPECT_EQ(response.headers.at("www-authenticate"), "Bearer");
  EXPECT_TRUE(listener->ends());
}

TEST_F(ServerEvents, DrainEndsWhoWaits) {
  // Later than any look at the server in between.
  options_.drain = 5s;
  start();
  const auto listener = stream();
  RawClient poller(port_);
  poller.send(get(poll_path));
  behind_->wait_for_empty_reads(2);
  auto drained = std::async(std::launch::async, [this] { return server_->drain(); });
  const auto response = poller.receive().value();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, R"({"items":[],"next_after":0})");
  EXPECT_EQ(response.headers.at("connection"), "close");
  EXPECT_TRUE(poller.ends());
  EXPECT_TRUE(listener->ends());
  EXPECT_TRUE(drained.get());
}

TEST_F(ServerEvents, DrainEndsAStreamWhoseDatabaseIsAway) {
  options_.drain = 5s;
  behind_->log_readable = false;
  start();
  const auto listener = stream();
  auto drained = std::async(std::launch::async, [this] { return server_->drain(); });
  EXPECT_TRUE(listener->ends());
  EXPECT_TRUE(drained.get());
}

TEST_F(ServerEvents, AStreamOutlivesItsDatabase) {
  options_.heartbeat = 20ms;
  behind_->log_readable = false;
  start();
  const auto client = stream();
  client->read_until(": heartbeat\n\n");
  behind_->append(item(1));
  behind_->log_readable = true;
  client->read_until("id: 1\n");
}

TEST_F(ServerEvents, AClientThatGoesAwayFreesItsSeat) {
  options_.max_waiting = 1;
  start();
  auto client = stream();
  RawClient refused(port_);
  const auto response = refused.exchange(get(stream_path));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.headers.at("retry-after"), "1");
  EXPECT_EQ(response.headers.at("connection"), "close");
  EXPECT_TRUE(refused.ends());
  client.reset();
  wait_for_a_seat();
}

TEST_F(ServerEvents, AClientThatGoesAwayFreesItsSeatInAPollAsWell) {
  options_.max_waiting = 1;
  start();
  {
    RawClient poller(port_);
    poller.send(get(poll_path));
    behind_->wait_for_empty_reads(1);
    // The seat is taken behind the read and before the herald is asked.
    RawClient refused(port_);
    while (refused.exchange(get("/v1/agent/events")).status == 200 &&
           metrics_->render().find("cleat_http_waiting 1") == std::string::npos) {
    }
  }
  wait_for_a_seat();
}

TEST_F(ServerEvents, ASlowReaderIsCutOffAndHoldsUpNobody) {
  options_.write_timeout = 300ms;
  options_.max_waiting = 2;
  std::size_t total = 0;
  for (std::int64_t seq = 1; seq <= 300; ++seq) {
    behind_->append(item(seq, 100'000));
    total += 100'000;
  }
  start();
  const auto slow = stream({}, 4096);
  const auto quick = stream("Last-Event-ID: 299\r\n");
  quick->read_until("id: 300\n");
  EXPECT_EQ(RawClient(port_).exchange(get("/v1/me")).status, 200);
  wait_for_a_seat();
  EXPECT_LT(slow->read_to_end().size(), total);
}

TEST_F(ServerEvents, DrainDoesNotWaitForASlowReader) {
  options_.write_timeout = 1h;
  options_.drain = 5s;
  for (std::int64_t seq = 1; seq <= 300; ++seq)
    behind_->append(item(seq, 100'000));
  start();
  const auto slow = stream({}, 4096);
  behind_->wait_for_reads(1);
  EXPECT_TRUE(server_->drain());
  EXPECT_LT(slow->read_to_end().size(), 300U * 100'000U);
}

TEST_F(ServerEvents, APollIsWokenByWhatItWaitsFor) {
  start();
  RawClient client(port_);
  client.send(get(poll_path));
  behind_->wait_for_empty_reads(1);
  append(item(1));
  const auto response = client.receive().value();
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, R"({"items":[{"seq":1,"x":""}],"next_after":1})");
  EXPECT_FALSE(response.headers.contains("connection"));
  EXPECT_EQ(client.exchange(get("/v1/agent/events?after=1")).body, R"({"items":[],"next_after":1})");
}

TEST_F(ServerEvents, APollWhoseHeraldIsSilentIsAnsweredInTime) {
  start();
  RawClient client(port_);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(client.exchange(get("/v1/agent/events?wait_s=1")).body, R"({"items":[],"next_after":0})");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 1s);
}

TEST_F(ServerEvents, ARequestSentAheadDoesNotEndAPoll) {
  start();
  RawClient client(port_);
  client.send(get(poll_path));
  behind_->wait_for_empty_reads(1);
  client.send(get("/v1/me", "X-Request-Id: 2\r\n"));
  // One more look is behind the poll now, and it still waits.
  behind_->wait_for_empty_reads(3);
  append(item(1));
  EXPECT_EQ(client.receive().value().body, R"({"items":[{"seq":1,"x":""}],"next_after":1})");
  EXPECT_EQ(client.receive().value().headers.at("x-request-id"), "2");
}

} // namespace
} // namespace cleat::test
