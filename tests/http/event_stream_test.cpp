#include <gtest/gtest.h>

#include <thread>

#include "http/dispatcher.hpp"
#include "http/event_stream.hpp"
#include "tests/http/fake_backend.hpp"

/// `GET /v1/events`: the page, the head of a stream, and what a stream sends on a line made for the test.
namespace cleat::http {
namespace {

using namespace std::chrono_literals;
using test::header;
using test::log_item;
using test::request;

const std::string opening = ": connected\n\n";

std::string event(std::int64_t seq) {
  const auto number = std::to_string(seq);
  return "id: " + number + "\nevent: run.changed\ndata: {\"seq\":" + number + ",\"type\":\"run.changed\"}\n\n";
}

class EventStreamTest : public testing::Test {
protected:
  EventStreamTest() {
    backend_.tokens[sha256("secret")] = test::token_of(1, "secret");
    options_.max_waiting = 1;
    // A stream ends when it would wait, unless a test has something else happen then.
    backend_.on_await = [this](const AwaitLog&) { line_.open = false; };
  }

  Outgoing answer(const std::string& query, HeaderFields fields = {}) {
    if (!dispatcher_)
      dispatcher_.emplace(options_, metrics_, clock_);
    auto incoming = request("GET", "/v1/events" + query);
    incoming.headers.insert(incoming.headers.end(), fields.begin(), fields.end());
    return dispatcher_->answer(incoming, backend_, line_);
  }

  /// Everything that a stream sends.
  std::string stream(const std::string& query = {}, HeaderFields fields = {}) {
    const auto outgoing = answer(query, std::move(fields));
    EXPECT_TRUE(outgoing.follow) << outgoing.body;
    if (outgoing.follow)
      outgoing.follow(line_);
    return line_.sent;
  }

  void revoke() {
    backend_.tokens.clear();
    clock_->advance(options_.token_cache_age);
  }
  [[nodiscard]] bool gauge_is(int waiting) const {
    return metrics_->render().find("cleat_http_waiting " + std::to_string(waiting)) != std::string::npos;
  }

  HttpOptions options_;
  std::shared_ptr<Metrics> metrics_ = std::make_shared<Metrics>();
  std::shared_ptr<test::SteppedClock> clock_ = std::make_shared<test::SteppedClock>();
  test::FakeBackend backend_;
  test::FakeLine line_;
  std::optional<Dispatcher> dispatcher_;
};

TEST_F(EventStreamTest, APageIsForThoseWhoAskForJson) {
  backend_.log = {log_item(1), log_item(2), log_item(3)};
  const auto outgoing = answer("?after=1&limit=1", {{"Accept", "application/json"}, {"Last-Event-ID", "x"}});
  EXPECT_EQ(outgoing.status, 200);
  EXPECT_EQ(outgoing.content_type, "application/json");
  EXPECT_EQ(outgoing.body, R"({"items":[{"seq":2,"type":"run.changed"}],"next_after":2})");
  EXPECT_FALSE(outgoing.follow);
  EXPECT_FALSE(outgoing.close);
  EXPECT_EQ(backend_.event_reads.at(0).limit, 1);
  answer("", {{"Accept", "application/json"}});
  EXPECT_EQ(backend_.event_reads.at(1).after, 0);
  EXPECT_EQ(backend_.event_reads.at(1).limit, limits::page_default);
  EXPECT_EQ(backend_.waits, 0);
}

TEST_F(EventStreamTest, APageThatCannotBeReadIsRefused) {
  backend_.log_refusal = Refusal{Code::unavailable};
  EXPECT_EQ(answer("", {{"Accept", "application/json"}}).status, 503);
}

TEST_F(EventStreamTest, AStreamHasAHeadOfItsOwn) {
  const auto outgoing = answer("");
  EXPECT_EQ(outgoing.status, 200);
  EXPECT_EQ(outgoing.content_type, "text/event-stream; charset=utf-8");
  EXPECT_EQ(header(outgoing, "X-Accel-Buffering"), "no");
  EXPECT_EQ(header(outgoing, "RateLimit-Policy"), "\"read\";q=1000;w=5");
  EXPECT_NE(header(outgoing, "X-Request-Id"), "");
  EXPECT_TRUE(outgoing.close);
  EXPECT_TRUE(outgoing.body.empty());
  // Nothing is read before the head is out.
  EXPECT_TRUE(backend_.event_reads.empty());
}

TEST_F(EventStreamTest, SendsWhatThereIsFromTheBeginning) {
  backend_.log = {log_item(1), log_item(2)};
  EXPECT_EQ(stream(), opening + event(1) + event(2));
  EXPECT_EQ(backend_.event_reads.at(0).after, 0);
  EXPECT_EQ(*backend_.event_reads.at(0).context.actor, test::human(1));
}

TEST_F(EventStreamTest, BeginsBehindWhatTheClientHas) {
  backend_.log = {log_item(1), log_item(2), log_item(3)};
  EXPECT_EQ(stream("?after=2"), opening + event(3));
  line_ = {};
  EXPECT_EQ(stream("?after=2", {{"Last-Event-ID", "1"}}), opening + event(2) + event(3));
}

TEST_F(EventStreamTest, AnIdThatIsNoneOfOursIsRefused) {
  for (const auto* id : {"", "x", "-1", "1.0", "9223372036854775808"}) {
    const auto outgoing = answer("", {{"Last-Event-ID", id}});
    EXPECT_EQ(outgoing.status, 400) << id;
    EXPECT_NE(outgoing.body.find(R"("errors":[{"pointer":"/Last-Event-ID","code":"invalid_format"}])"),
              std::string::npos)
      << outgoing.body;
  }
  EXPECT_EQ(answer("", {{"Last-Event-ID", "1"}, {"Last-Event-ID", "1"}}).status, 400);
}

TEST_F(EventStreamTest, FiltersInBothForms) {
  const auto id = [](std::uint8_t number) { return test::human(number).id.str(); };
  const auto query = "?space_id=" + id(1) + "&channel_id=" + id(2) + "&thread_id=" + id(3) + "&type=run.changed";
  answer(query, {{"Accept", "application/json"}});
  stream(query);
  const EventFilter filter{test::human(1).id, test::human(2).id, test::human(3).id, "run.changed"};
  EXPECT_EQ(backend_.event_reads.at(0).filter, filter);
  EXPECT_EQ(backend_.event_reads.at(1).filter, filter);
  stream();
  EXPECT_EQ(backend_.event_reads.at(0).filter, filter);
  const auto wrong = answer("?after=x&limit=0&space_id=x&channel_id=x&thread_id=x&type=");
  EXPECT_EQ(wrong.status, 400);
  for (const auto* name : {"after", "limit", "space_id", "channel_id", "thread_id", "type"})
    EXPECT_NE(wrong.body.find("\"/" + std::string(name) + '"'), std::string::npos) << name;
}

TEST_F(EventStreamTest, ReadsPageAfterPageWithoutAWait) {
  std::string expected = opening;
  for (std::int64_t seq = 1; seq <= 2 * stream_page + 1; ++seq) {
    backend_.log.push_back(log_item(seq));
    expected += event(seq);
  }
  EXPECT_EQ(stream(), expected);
  EXPECT_EQ(backend_.waits, 1);
  for (const auto& read : backend_.event_reads)
    EXPECT_EQ(read.limit, stream_page);
}

TEST_F(EventStreamTest, SendsLargeEntriesInPieces) {
  const std::string large(100'000, 'x');
  backend_.log = {{1, "a", large}, {2, "b", large}};
  int sends = 0;
  line_.on_send = [&] { ++sends; };
  EXPECT_EQ(stream(), opening + "id: 1\nevent: a\ndata: " + large + "\n\nid: 2\nevent: b\ndata: " + large + "\n\n");
  EXPECT_EQ(sends, 3);
}

TEST_F(EventStreamTest, WaitsForWhatHappensLater) {
  AwaitLog awaited;
  backend_.on_await = [&](const AwaitLog& command) {
    awaited = command;
    EXPECT_TRUE(gauge_is(1));
    if (backend_.log.empty())
      backend_.log = {log_item(8)};
    else
      line_.open = false;
  };
  EXPECT_EQ(stream("?after=7"), opening + event(8));
  EXPECT_EQ(awaited.agent_id, std::nullopt);
  EXPECT_EQ(awaited.after, 8);
  EXPECT_EQ(awaited.patience_ms, limits::waiting_look_ms);
}

TEST_F(EventStreamTest, BreaksItsSilenceWithAComment) {
  options_.heartbeat = 2ms;
  backend_.on_await = [&](const AwaitLog& command) {
    EXPECT_LE(command.patience_ms, 2);
    std::this_thread::sleep_for(std::chrono::milliseconds(command.patience_ms));
    line_.open = !line_.sent.ends_with("heartbeat\n\n") && backend_.waits < 1000;
  };
  EXPECT_EQ(stream(), opening + ": heartbeat\n\n");
}

TEST_F(EventStreamTest, EndsWithinASecondOfItsTokensRevocation) {
  backend_.on_await = [this](const AwaitLog&) {
    revoke();
    backend_.log = {log_item(1)};
  };
  EXPECT_EQ(stream(), opening);
  EXPECT_EQ(backend_.event_reads.size(), 1U);
}

TEST_F(EventStreamTest, GivesNothingToATokenThatWasRevokedDuringTheRead) {
  backend_.log = {log_item(1)};
  backend_.on_read = [this] { revoke(); };
  EXPECT_EQ(stream(), opening);
}

TEST_F(EventStreamTest, WaitsForADatabaseThatIsAwayAndLosesNothing) {
  backend_.log = {log_item(1)};
  // First the log, then the tokens cannot be read, then the tokens at the moment when something is to be sent.
  backend_.log_refusal = Refusal{Code::unavailable};
  int pauses = 0;
  line_.on_wait = [&] {
    ++pauses;
    backend_.log_refusal.reset();
    backend_.database = pauses != 1;
    clock_->advance(options_.token_cache_age);
    backend_.on_read = [&] {
      if (pauses != 2)
        return;
      backend_.database = false;
      clock_->advance(options_.token_cache_age);
    };
  };
  EXPECT_EQ(stream(), opening + event(1));
  EXPECT_EQ(pauses, 3);
}

TEST_F(EventStreamTest, EndsWhenItIsNotAllowedToReadAnyMore) {
  backend_.log_refusal = Refusal{Code::forbidden};
  EXPECT_EQ(stream(), opening);
  EXPECT_EQ(backend_.waits, 0);
  EXPECT_EQ(backend_.event_reads.size(), 1U);
}

TEST_F(EventStreamTest, EndsWhenTheClientDoesNotKeepUp) {
  for (std::int64_t seq = 1; seq <= stream_page + 1; ++seq)
    backend_.log.push_back({seq, "a", std::string(100'000, 'x')});
  int sends = 0;
  line_.on_send = [&] { line_.open = ++sends < 2; };
  EXPECT_EQ(stream(), opening);
  EXPECT_EQ(sends, 2);
  EXPECT_EQ(backend_.event_reads.size(), 1U);
}

TEST_F(EventStreamTest, DoesNotReadForAClientThatHasGoneBeforeItBegan) {
  line_.open = false;
  EXPECT_EQ(stream(), "");
  EXPECT_TRUE(backend_.event_reads.empty());
}

TEST_F(EventStreamTest, TakesASeatForAsLongAsItLasts) {
  {
    const auto first = answer("");
    EXPECT_TRUE(gauge_is(1));
    const auto second = answer("");
    EXPECT_EQ(second.status, 503);
    EXPECT_NE(second.body.find("overloaded"), std::string::npos);
    EXPECT_EQ(header(second, "Retry-After"), "1");
    EXPECT_TRUE(second.close);
    EXPECT_EQ(answer("", {{"Accept", "application/json"}}).status, 200);
  }
  EXPECT_TRUE(gauge_is(0));
  EXPECT_EQ(answer("").status, 200);
}

} // namespace
} // namespace cleat::http
