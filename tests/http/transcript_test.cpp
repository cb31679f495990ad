#include <gtest/gtest.h>

#include "http/dispatcher.hpp"
#include "http/event_stream.hpp"
#include "tests/http/fake_backend.hpp"

/// `GET /v1/agent-sessions/{session_id}/transcript`: the page, and a stream that reads a lifetime to its end.
namespace cleat::http {
namespace {

using test::header;
using test::log_item;
using test::request;

const std::string session(64, 'a');
const std::string target = "/v1/agent-sessions/" + session + "/transcript";
const std::string opening = ": connected\n\n";
const HeaderFields as_stream{{"Accept", "text/event-stream"}};

std::string event(std::int64_t seq) {
  return EventStream::event(log_item(seq));
}

class Transcript : public testing::Test {
protected:
  Transcript() {
    backend_.tokens[sha256("secret")] = test::token_of(1, "secret");
    backend_.lifetime = test::human(9).id;
    // A stream ends when it would wait, unless a test has something else happen then.
    backend_.on_await = [this](const AwaitLog&) { line_.open = false; };
  }

  Outgoing answer(const std::string& query, const HeaderFields& fields = {}) {
    auto incoming = request("GET", target + query);
    incoming.headers.insert(incoming.headers.end(), fields.begin(), fields.end());
    return dispatcher_.answer(incoming, backend_, line_);
  }

  /// Everything that a stream sends.
  std::string stream(const std::string& query = {}, HeaderFields fields = {}) {
    fields.insert(fields.end(), as_stream.begin(), as_stream.end());
    const auto outgoing = answer(query, fields);
    EXPECT_TRUE(outgoing.follow) << outgoing.body;
    if (outgoing.follow)
      outgoing.follow(line_);
    return line_.sent;
  }

  const HttpOptions options_ = [] {
    HttpOptions options;
    options.max_waiting = 1;
    return options;
  }();
  std::shared_ptr<Metrics> metrics_ = std::make_shared<Metrics>();
  std::shared_ptr<test::SteppedClock> clock_ = std::make_shared<test::SteppedClock>();
  test::FakeBackend backend_;
  test::FakeLine line_;
  Dispatcher dispatcher_{options_, metrics_, clock_};
};

TEST_F(Transcript, IsAPageUnlessAStreamIsAskedFor) {
  backend_.log = {log_item(1), log_item(2), log_item(3)};
  for (const auto& fields :
       {HeaderFields{}, HeaderFields{{"Accept", "*/*"}}, HeaderFields{{"Accept", "application/json"}}}) {
    const auto outgoing = answer("?after=1&limit=1", fields);
    EXPECT_EQ(outgoing.status, 200);
    EXPECT_EQ(outgoing.content_type, "application/json");
    EXPECT_EQ(outgoing.body, R"({"items":[{"seq":2,"type":"run.changed"}],"next_after":2})");
    EXPECT_FALSE(outgoing.follow);
  }
  ASSERT_EQ(backend_.transcript_reads.size(), 3U);
  EXPECT_EQ(backend_.transcript_reads[0].session_id, session);
  EXPECT_EQ(backend_.transcript_reads[0].after, 1);
  EXPECT_EQ(backend_.transcript_reads[0].limit, 1);
  EXPECT_EQ(backend_.transcript_reads[0].lifetime, std::nullopt);
  EXPECT_EQ(*backend_.transcript_reads[0].context.actor, test::human(1));
  answer("");
  EXPECT_EQ(backend_.transcript_reads.back().after, 0);
  EXPECT_EQ(backend_.transcript_reads.back().limit, limits::page_default);
}

TEST_F(Transcript, NamesEveryParameterThatIsWrong) {
  const auto outgoing = answer("?after=-1&limit=201");
  EXPECT_EQ(outgoing.status, 400);
  EXPECT_NE(outgoing.body.find(R"("errors":[{"pointer":"/after","code":"out_of_range"},)"
                               R"({"pointer":"/limit","code":"out_of_range"}])"),
            std::string::npos);
  EXPECT_EQ(answer("", {{"Accept", "text/event-stream"}, {"Last-Event-ID", "x"}}).status, 400);
}

TEST_F(Transcript, WhoMayNotReadItGetsNoStreamEither) {
  backend_.log_refusal = Refusal{Code::not_found};
  const auto page = answer("");
  const auto refused = answer("", as_stream);
  EXPECT_EQ(page.status, 404);
  EXPECT_EQ(refused.status, 404);
  EXPECT_FALSE(refused.follow);
  EXPECT_EQ(refused.body, page.body);
  EXPECT_EQ(refused.content_type, "application/problem+json");
  EXPECT_FALSE(refused.close);
}

TEST_F(Transcript, AStreamReadsTheLifetimeThatItFoundFirst) {
  backend_.log = {log_item(1), log_item(2), log_item(3)};
  EXPECT_EQ(stream("?after=1"), opening + event(2) + event(3));
  ASSERT_GE(backend_.transcript_reads.size(), 2U);
  EXPECT_EQ(backend_.transcript_reads[0].lifetime, std::nullopt);
  EXPECT_EQ(backend_.transcript_reads[0].after, 1);
  for (std::size_t i = 1; i < backend_.transcript_reads.size(); ++i) {
    EXPECT_EQ(backend_.transcript_reads[i].lifetime, backend_.lifetime);
    EXPECT_EQ(backend_.transcript_reads[i].session_id, session);
    EXPECT_EQ(backend_.transcript_reads[i].limit, stream_page);
  }
}

TEST_F(Transcript, AStreamBeginsBehindTheLastLineThatItsReaderHas) {
  backend_.log = {log_item(1), log_item(2), log_item(3)};
  EXPECT_EQ(stream("?after=1", {{"Last-Event-ID", "2"}}), opening + event(3));
}

TEST_F(Transcript, AStreamWaitsForItsSession) {
  AwaitLog awaited;
  backend_.on_await = [&](const AwaitLog& command) {
    awaited = command;
    if (backend_.log.empty())
      backend_.log = {log_item(1)};
    else
      line_.open = false;
  };
  EXPECT_EQ(stream(), opening + event(1));
  EXPECT_EQ(awaited.session_id, session);
  EXPECT_EQ(awaited.agent_id, std::nullopt);
  EXPECT_EQ(awaited.after, 1);
}

TEST_F(Transcript, AStreamEndsWithItsLifetimeAndSendsTheLastLineFirst) {
  backend_.on_await = [this](const AwaitLog&) {
    backend_.log = {log_item(1)};
    backend_.ended = true;
  };
  EXPECT_EQ(stream(), opening + event(1));
  EXPECT_TRUE(line_.open) << "it ended by itself";
  EXPECT_EQ(backend_.waits, 1);
}

TEST_F(Transcript, AStreamEndsWhenThereIsNothingMoreToSay) {
  backend_.ended = true;
  EXPECT_EQ(stream(), opening);
  EXPECT_EQ(backend_.waits, 0);
  EXPECT_TRUE(line_.open);
}

TEST_F(Transcript, AStreamEndsWhenTheSessionIsNotItsReadersAnyMore) {
  backend_.on_await = [this](const AwaitLog&) { backend_.log_refusal = Refusal{Code::not_found}; };
  EXPECT_EQ(stream(), opening);
  EXPECT_EQ(backend_.waits, 1);
}

TEST_F(Transcript, AStreamTakesASeatAndAPageNone) {
  const auto first = answer("", as_stream);
  EXPECT_TRUE(first.follow);
  EXPECT_EQ(first.content_type, "text/event-stream; charset=utf-8");
  const auto second = answer("", as_stream);
  EXPECT_EQ(second.status, 503);
  EXPECT_TRUE(second.close);
  EXPECT_EQ(answer("").status, 200);
}

TEST_F(Transcript, AnIdThatNoSessionHasIsUnknown) {
  for (const auto* id : {"x", "0196f0a9-1b2c-7d10-9a55-6b1f0e2d3c44"}) {
    auto incoming = request("GET", "/v1/agent-sessions/" + std::string(id) + "/transcript");
    EXPECT_EQ(dispatcher_.answer(incoming, backend_, line_).status, 404);
  }
  EXPECT_TRUE(backend_.transcript_reads.empty());
}

} // namespace
} // namespace cleat::http
