#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "http/dispatcher.hpp"
#include "http/log_tail.hpp"
#include "tests/http/fake_backend.hpp"

/// `GET /v1/agent/events`: what is answered at once, what is waited for, and what ends a wait.
namespace cleat::http {
namespace {

using namespace std::chrono_literals;
using test::header;
using test::log_item;
using test::request;

class PollTest : public testing::Test {
protected:
  PollTest() { backend_.tokens[sha256("secret")] = test::token_of(1, "secret"); }

  Outgoing poll(const std::string& query) {
    return dispatcher_.answer(request("GET", "/v1/agent/events" + query), backend_, line_);
  }
  void revoke() {
    backend_.tokens.clear();
    clock_->advance(HttpOptions().token_cache_age);
  }
  [[nodiscard]] bool gauge_is(int waiting) const {
    return metrics_->render().find("cleat_http_waiting " + std::to_string(waiting)) != std::string::npos;
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

TEST_F(PollTest, IsAnsweredAtOnceWhenThereIsSomething) {
  backend_.log = {log_item(1), log_item(2), log_item(3)};
  const auto outgoing = poll("?after=1&limit=1&wait_s=60");
  EXPECT_EQ(outgoing.status, 200);
  EXPECT_EQ(outgoing.content_type, "application/json");
  EXPECT_EQ(outgoing.body, R"({"items":[{"seq":2,"type":"run.changed"}],"next_after":2})");
  ASSERT_EQ(backend_.agent_event_reads.size(), 1U);
  EXPECT_EQ(backend_.agent_event_reads[0].after, 1);
  EXPECT_EQ(backend_.agent_event_reads[0].limit, 1);
  EXPECT_EQ(*backend_.agent_event_reads[0].context.actor, test::human(1));
  EXPECT_EQ(backend_.waits, 0);
}

TEST_F(PollTest, BeginsAtTheBeginningAndDoesNotWaitUnlessToldTo) {
  EXPECT_EQ(poll("").body, R"({"items":[],"next_after":0})");
  EXPECT_EQ(poll("?after=7").body, R"({"items":[],"next_after":7})");
  EXPECT_EQ(backend_.agent_event_reads.at(0).after, 0);
  EXPECT_EQ(backend_.agent_event_reads.at(0).limit, limits::page_default);
  EXPECT_EQ(backend_.waits, 0);
}

TEST_F(PollTest, WaitsForSomethingOfItsOwnAgent) {
  AwaitLog awaited;
  backend_.on_await = [&](const AwaitLog& command) {
    awaited = command;
    EXPECT_TRUE(gauge_is(1));
    backend_.log = {log_item(8)};
  };
  EXPECT_EQ(poll("?after=7&wait_s=60").body, R"({"items":[{"seq":8,"type":"run.changed"}],"next_after":8})");
  EXPECT_EQ(awaited.agent_id, test::human(1).id);
  EXPECT_EQ(awaited.after, 7);
  EXPECT_EQ(awaited.patience_ms, limits::waiting_look_ms);
  EXPECT_TRUE(gauge_is(0));
}

TEST_F(PollTest, WaitsOnWhereTheReadHasLeftOff) {
  std::vector<std::int64_t> awaited;
  backend_.on_await = [&](const AwaitLog& command) {
    awaited.push_back(command.after);
    backend_.next_after = 5;
    line_.open = awaited.size() < 2;
  };
  EXPECT_EQ(poll("?wait_s=60").body, R"({"items":[],"next_after":5})");
  EXPECT_EQ(awaited, (std::vector<std::int64_t>{0, 5}));
}

TEST_F(PollTest, IsAnsweredWithNothingWhenItsTimeIsOver) {
  const auto begin = std::chrono::steady_clock::now();
  // As the herald does it: at the latest when the patience is over.
  backend_.on_await = [](const AwaitLog& command) {
    EXPECT_LE(command.patience_ms, limits::waiting_look_ms);
    std::this_thread::sleep_for(std::chrono::milliseconds(command.patience_ms));
  };
  EXPECT_EQ(poll("?wait_s=1").body, R"({"items":[],"next_after":0})");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 1s);
}

TEST_F(PollTest, ReadsNothingWhileItIsToldThatNothingHasCome) {
  backend_.moved = false;
  backend_.on_await = [&](const AwaitLog&) {
    if (backend_.waits < 3)
      return;
    backend_.moved = true;
    backend_.log = {log_item(1)};
  };
  EXPECT_EQ(poll("?wait_s=60").body, R"({"items":[{"seq":1,"type":"run.changed"}],"next_after":1})");
  EXPECT_EQ(backend_.waits, 3);
  EXPECT_EQ(backend_.agent_event_reads.size(), 2U) << "thousands of idle polls must not read all the time";
}

TEST_F(PollTest, DoesNotSpinWhenTheHeraldHasNothingToTell) {
  int pauses = 0;
  line_.on_wait = [&] { line_.open = ++pauses < 3; };
  EXPECT_EQ(poll("?wait_s=1").status, 200);
  EXPECT_LE(backend_.waits, 4);
}

TEST_F(PollTest, EndsWithinASecondOfItsTokensRevocation) {
  backend_.on_await = [this](const AwaitLog&) {
    revoke();
    backend_.log = {log_item(1)};
  };
  EXPECT_EQ(poll("?wait_s=60").status, 401);
  EXPECT_EQ(backend_.agent_event_reads.size(), 1U);
  EXPECT_TRUE(gauge_is(0));
}

TEST_F(PollTest, GivesNothingToATokenThatWasRevokedDuringTheRead) {
  backend_.log = {log_item(1)};
  backend_.on_read = [this] { revoke(); };
  EXPECT_EQ(poll("").status, 401);
}

TEST_F(PollTest, SaysThatTheDatabaseWentAway) {
  backend_.on_await = [this](const AwaitLog&) { backend_.log_refusal = Refusal{Code::unavailable}; };
  EXPECT_EQ(poll("?wait_s=60").status, 503);
  EXPECT_EQ(backend_.waits, 1);
}

TEST_F(PollTest, IsRefusedWhatTheActorsRefuse) {
  backend_.log_refusal = Refusal{Code::forbidden, Reason::actor_not_agent};
  const auto outgoing = poll("?wait_s=60");
  EXPECT_EQ(outgoing.status, 403);
  EXPECT_NE(outgoing.body.find("actor_not_agent"), std::string::npos);
  EXPECT_EQ(backend_.waits, 0);
}

TEST_F(PollTest, IsNotWaitedOutWhenTheClientHasGoneOrTheServerDrains) {
  backend_.on_await = [this](const AwaitLog&) { line_.open = false; };
  EXPECT_EQ(poll("?wait_s=60").status, 200);
  EXPECT_EQ(backend_.waits, 1);
  EXPECT_EQ(poll("?wait_s=60").status, 200);
  EXPECT_EQ(backend_.waits, 1);
}

TEST_F(PollTest, NeedsASeatToWaitAndNoneToBeAnsweredAtOnce) {
  Outgoing at_once;
  Outgoing waiting;
  backend_.on_await = [&](const AwaitLog&) {
    test::FakeBackend other;
    other.tokens = backend_.tokens;
    at_once = dispatcher_.answer(request("GET", "/v1/agent/events"), other, line_);
    waiting = dispatcher_.answer(request("GET", "/v1/agent/events?wait_s=1"), other, line_);
    EXPECT_EQ(other.waits, 0);
    line_.open = false;
  };
  poll("?wait_s=60");
  EXPECT_EQ(at_once.status, 200);
  EXPECT_FALSE(at_once.close);
  EXPECT_EQ(waiting.status, 503);
  EXPECT_NE(waiting.body.find("overloaded"), std::string::npos);
  EXPECT_EQ(header(waiting, "Retry-After"), "1");
  EXPECT_TRUE(waiting.close);
}

TEST_F(PollTest, NamesEveryParameterThatIsWrong) {
  for (const auto* query : {"?after=-1&wait_s=61&limit=201", "?after=x&wait_s=-1&limit=0",
                            "?after=&wait_s=1.5&limit=+1", "?after=9223372036854775808&wait_s=1s&limit=%201"}) {
    const auto outgoing = poll(query);
    EXPECT_EQ(outgoing.status, 400);
    EXPECT_NE(outgoing.body.find(R"("errors":[{"pointer":"/after","code":"out_of_range"},)"
                                 R"({"pointer":"/wait_s","code":"out_of_range"},)"
                                 R"({"pointer":"/limit","code":"out_of_range"}])"),
              std::string::npos)
      << outgoing.body;
  }
  EXPECT_EQ(poll("?after=9223372036854775807&wait_s=0&limit=200").status, 200);
  EXPECT_EQ(poll("?cursor=1").status, 400);
  EXPECT_EQ(backend_.agent_event_reads.size(), 1U);
}

} // namespace
} // namespace cleat::http
