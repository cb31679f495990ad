#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apps/cleat-load/play.hpp"
#include "tests/load/play_support.hpp"

/// What connections send, and that they see it when an answer is wrong.
namespace cleat::load {
namespace {

/// The members of a bind's answer.
struct Session {
  std::string id = "s1";
  std::string thread = "t0";
  std::string agent = "a";
  std::string reference;
  std::string rest = R"("is_current":true,"started":true,"version":1)";
  std::string etag = "\"1\"";
  int status = 201;
};

using load::http;

std::string http(const Session& s) {
  return http(s.status, s.etag,
              R"({"id":")" + s.id + R"(","thread_id":")" + s.thread + R"(","agent_id":")" + s.agent +
                R"(","external_session_ref":")" + s.reference + R"(",)" + s.rest + "}");
}

Stage stage_with(std::vector<std::string> threads) {
  Stage stage;
  stage.world.run = "run";
  stage.world.agent = "a";
  stage.world.human_token = "secret";
  stage.world.contested = "t0";
  stage.world.threads = std::move(threads);
  return stage;
}

TEST(Distinct, ExpectsWhatTheLastAnswerMade) {
  Stage stage = stage_with({"t0"});
  const auto plays = make_plays(Scenario::distinct, stage, 1);
  Request first;
  plays[0]->next(first);
  EXPECT_EQ(first.method, "POST");
  EXPECT_EQ(first.target, "/v1/threads/t0/agent-sessions/bind");
  EXPECT_EQ(first.token, "secret");
  EXPECT_EQ(member(first, "expected_current_session_id"), "");
  EXPECT_EQ(see(*plays[0], http({.reference = member(first, "external_session_ref")})), Kind::bind);
  Request second;
  plays[0]->next(second);
  EXPECT_EQ(member(second, "expected_current_session_id"), "s1");
  EXPECT_NE(member(second, "external_session_ref"), member(first, "external_session_ref"));
  EXPECT_NE(second.idempotency_key, first.idempotency_key);
  see(*plays[0], http({.id = "s2", .reference = member(second, "external_session_ref")}));
  EXPECT_EQ(stage.findings.count(), 0U);
  EXPECT_EQ(stage.tally.binds, 2);
  EXPECT_EQ(stage.tally.ended, 1);
}

TEST(Distinct, NoTwoConnectionsShareAThread) {
  Stage stage = stage_with({"t0", "t1", "t2", "t3"});
  const auto plays = make_plays(Scenario::distinct, stage, 2);
  std::vector<std::string> targets;
  for (const auto& play : plays)
    for (int i = 0; i < 2; ++i) {
      Request request;
      play->next(request);
      targets.push_back(request.target);
    }
  std::sort(targets.begin(), targets.end());
  EXPECT_EQ(std::unique(targets.begin(), targets.end()), targets.end());
}

TEST(Distinct, SeesEveryWrongAnswer) {
  const std::vector<std::function<void(Session&)>> mistakes{
    [](Session& s) { s.status = 409; },
    [](Session& s) { s.status = 200; },
    [](Session& s) { s.id = ""; },
    [](Session& s) { s.thread = "t1"; },
    [](Session& s) { s.agent = "b"; },
    [](Session& s) { s.reference += "x"; },
    [](Session& s) { s.etag = "\"2\""; },
    [](Session& s) { s.rest = R"("is_current":false,"started":true,"version":1)"; },
    [](Session& s) { s.rest = R"("is_current":true,"started":false,"version":1)"; },
    [](Session& s) { s.rest = R"("is_current":true,"started":true,"version":2)"; },
    [](Session& s) { s.rest = R"("is_current":true,"started":true,"version":1,"ended_at":"2026-01-01")"; },
    [](Session& s) { s.rest = R"("is_current":true,"started":true,"version":1,"end_reason":"reset")"; },
    [](Session& s) { s.rest = "this is no JSON"; },
  };
  for (std::size_t i = 0; i < mistakes.size(); ++i) {
    Stage stage = stage_with({"t0"});
    const auto plays = make_plays(Scenario::distinct, stage, 1);
    Request request;
    plays[0]->next(request);
    Session session{.reference = member(request, "external_session_ref")};
    mistakes[i](session);
    see(*plays[0], http(session));
    EXPECT_EQ(stage.findings.count(), 1U) << "mistake " << i;
  }
}

/// The answer to a reset of the session `id`.
std::string ended(const std::string& id, const std::string& more = R"(,"ended_at":"2026-01-01")", int version = 2) {
  const std::string number = std::to_string(version);
  return http(201, "\"" + number + "\"",
              R"({"id":")" + id + R"(","thread_id":"t0","is_current":false,"end_reason":"reset","version":)" + number +
                more + "}");
}

TEST(Reset, EndsWhatWasBoundAndBindsTheNextThread) {
  Stage stage = stage_with({"t0", "t1"});
  const auto plays = make_plays(Scenario::reset, stage, 1);
  Request bind;
  plays[0]->next(bind);
  EXPECT_EQ(bind.target, "/v1/threads/t0/agent-sessions/bind");
  EXPECT_EQ(see(*plays[0], http({.reference = member(bind, "external_session_ref")})), Kind::bind);
  Request reset;
  plays[0]->next(reset);
  EXPECT_EQ(reset.target, "/v1/threads/t0/agent-sessions/reset");
  EXPECT_EQ(member(reset, "expected_current_session_id"), "s1");
  EXPECT_NE(reset.idempotency_key, bind.idempotency_key);
  EXPECT_EQ(see(*plays[0], ended("s1")), Kind::reset);
  plays[0]->next(bind);
  EXPECT_EQ(bind.target, "/v1/threads/t1/agent-sessions/bind");
  EXPECT_EQ(member(bind, "expected_current_session_id"), "");
  EXPECT_EQ(stage.findings.count(), 0U);
  EXPECT_EQ(stage.tally.binds, 1);
  EXPECT_EQ(stage.tally.resets, 1);
}

TEST(Reset, SeesEveryWrongAnswer) {
  const std::vector<std::string> wrong{ended("s2"), ended("s1", ""), ended("s1", R"(,"ended_at":"2026-01-01")", 3),
                                       http(409, "", R"({"code":"conflict"})"),
                                       http({.reference = "the answer to a bind"})};
  for (const auto& answer : wrong) {
    Stage stage = stage_with({"t0"});
    const auto plays = make_plays(Scenario::reset, stage, 1);
    Request request;
    plays[0]->next(request);
    see(*plays[0], http({.reference = member(request, "external_session_ref")}));
    plays[0]->next(request);
    see(*plays[0], answer);
    EXPECT_EQ(stage.findings.count(), 1U) << answer;
  }
}

TEST(TakeOver, MovesOneReferenceFromThreadToThread) {
  Stage stage = stage_with({"t0", "t1"});
  const auto plays = make_plays(Scenario::takeover, stage, 1);
  std::string reference;
  for (const std::string thread : {"t0", "t1", "t0"}) {
    Request request;
    plays[0]->next(request);
    EXPECT_EQ(request.target, "/v1/threads/" + thread + "/agent-sessions/bind");
    EXPECT_EQ(member(request, "expected_current_session_id"), "");
    EXPECT_EQ(request.body.find("\"take_over\":true") != std::string::npos, !reference.empty());
    EXPECT_TRUE(reference.empty() || member(request, "external_session_ref") == reference);
    reference = member(request, "external_session_ref");
    see(*plays[0], http({.thread = thread, .reference = reference}));
  }
  EXPECT_EQ(stage.findings.count(), 0U);
  EXPECT_EQ(stage.tally.binds, 3);
  EXPECT_EQ(stage.tally.ended, 2);
}

constexpr const char* changed = R"({"code":"conflict","reason":"session_changed"})";

/// Two connections that bind on the contested thread with the same expectation.
class ContendedRound : public testing::Test {
protected:
  ContendedRound() {
    for (std::size_t i = 0; i < plays_.size(); ++i)
      plays_[i]->next(requests_[i]);
  }

  void win(std::size_t connection, const std::string& id) {
    see(*plays_[connection], http({.id = id, .reference = member(requests_[connection], "external_session_ref")}));
  }

  std::uint64_t wrong() {
    stage_.contest.settle(stage_.findings);
    return stage_.findings.count();
  }

  Stage stage_ = stage_with({});
  std::vector<std::unique_ptr<Play>> plays_ = make_plays(Scenario::contended, stage_, 2);
  std::vector<Request> requests_ = std::vector<Request>(2);
};

TEST_F(ContendedRound, OneWinsAndTheOtherIsRefused) {
  EXPECT_EQ(see(*plays_[1], http(409, "", changed)), Kind::refusal);
  win(0, "s1");
  EXPECT_EQ(wrong(), 0U);
  plays_[1]->next(requests_[1]);
  EXPECT_EQ(member(requests_[1], "expected_current_session_id"), "s1");
}

TEST_F(ContendedRound, TwoWinnersAreWrong) {
  win(0, "s1");
  win(1, "s2");
  EXPECT_EQ(wrong(), 1U);
}

TEST_F(ContendedRound, ARefusalThatNobodyCausedIsWrong) {
  see(*plays_[0], http(409, "", changed));
  see(*plays_[1], http(409, "", changed));
  EXPECT_EQ(wrong(), 1U);
}

TEST_F(ContendedRound, ARefusalForAnotherReasonIsWrong) {
  win(0, "s1");
  see(*plays_[1], http(409, "", R"({"code":"conflict","reason":"session_bound_elsewhere"})"));
  EXPECT_EQ(wrong(), 1U);
}

/// The list of a thread as an import leaves it, `count` sessions, newest first.
std::string history(std::size_t count, const std::string& first_time = "2026-01-99") {
  std::string items;
  for (std::size_t i = 0; i < count; ++i)
    items += std::string(i == 0 ? "" : ",") + R"({"thread_id":"t9","is_current":false,"end_reason":"import",)" +
             R"("created_at":")" + (i == 0 ? first_time : "2026-01-" + std::to_string(99 - i)) + R"("})";
  return http(200, "", R"({"items":[)" + items + "]}");
}

TEST(Lists, SeesEveryWrongList) {
  const std::vector<std::pair<std::vector<std::string>, std::uint64_t>> cases{
    {{history(50), history(50)}, 0},
    {{history(49)}, 1},
    {{history(50, "2026-01-00")}, 1},                // not the newest first
    {{history(50), history(50, "2026-01-99.5")}, 1}, // not what it was before
    {{http(404, "", R"({"code":"not_found"})")}, 1},
  };
  for (const auto& [answers, wrong] : cases) {
    Stage stage = stage_with({});
    stage.world.listed = {"t9"};
    const auto plays = make_plays(Scenario::list, stage, 1);
    for (const auto& answer : answers) {
      Request request;
      plays[0]->next(request);
      EXPECT_EQ(request.target, "/v1/threads/t9/agent-sessions");
      EXPECT_EQ(see(*plays[0], answer), Kind::list);
    }
    EXPECT_EQ(stage.findings.count(), wrong) << answers.back();
  }
}

TEST(Noop, WantsSuccess) {
  Stage stage;
  const auto plays = make_plays(Scenario::noop, stage, 1);
  Request request;
  plays[0]->next(request);
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.target, "/healthz");
  see(*plays[0], http(200, "", "{}"));
  EXPECT_EQ(stage.findings.count(), 0U);
  see(*plays[0], http(503, "", "{}"));
  EXPECT_EQ(stage.findings.count(), 1U);
}

} // namespace
} // namespace cleat::load
