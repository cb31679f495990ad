#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apps/cleat-load/base64.hpp"
#include "apps/cleat-load/play.hpp"
#include "tests/load/play_support.hpp"

/// What connections send for runs, containers and etcd, and that they see it when an answer is wrong.
namespace cleat::load {
namespace {

/// The agent of one run.
class OneRun : public testing::Test {
protected:
  OneRun() {
    stage_.world.run = "run";
    stage_.world.agent = "a";
    stage_.world.agent_token = "agent secret";
    stage_.world.reported = {{"t0", "r0", "s0", "ref0"}};
    plays_ = make_plays(Scenario::report, stage_, 1);
    plays_[0]->next(request_);
  }

  /// A right answer to the report that was sent last.
  [[nodiscard]] std::string report(const std::string& id, int version, const std::string& model) const {
    const std::string number = std::to_string(version);
    return http(200, "\"" + number + "\"",
                R"({"id":")" + id + R"(","thread_id":"t0","agent_id":"a","external_session_ref":"ref0",)" +
                  R"("is_current":true,"started":true,"model":")" + model + R"(","version":)" + number + "}");
  }

  Stage stage_;
  std::vector<std::unique_ptr<Play>> plays_;
  Request request_;
};

TEST_F(OneRun, IsReportedUnderTheVersionOfTheLastAnswer) {
  EXPECT_EQ(request_.method, "POST");
  EXPECT_EQ(request_.target, "/v1/threads/t0/agent-sessions/report");
  EXPECT_EQ(request_.token, "agent secret");
  EXPECT_EQ(request_.if_match, 1);
  const std::string model = member(request_, "model");
  const std::string key = request_.idempotency_key;
  EXPECT_EQ(see(*plays_[0], report("s0", 2, model)), Kind::report);
  plays_[0]->next(request_);
  EXPECT_EQ(request_.if_match, 2);
  EXPECT_NE(member(request_, "model"), model) << "a report of what is known changes nothing";
  EXPECT_NE(request_.idempotency_key, key);
  EXPECT_EQ(stage_.findings.count(), 0U);
  EXPECT_EQ(stage_.tally.reports, 1);
}

TEST_F(OneRun, EveryWrongAnswerIsSeen) {
  const std::string model = member(request_, "model");
  const std::vector<std::string> wrong{report("s1", 2, model), report("s0", 3, model), report("s0", 2, "other"),
                                       http(412, "", R"({"code":"version_conflict"})"), http(200, "\"2\"", "{}")};
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    const auto plays = make_plays(Scenario::report, stage_, 1);
    plays[0]->next(request_);
    see(*plays[0], wrong[i]);
    EXPECT_EQ(stage_.findings.count(), i + 1) << wrong[i];
  }
}

const std::string id_a(64, 'a');
const std::string id_b(64, 'b');

std::string promoted(const std::string& id) {
  return http(201, "", R"({"state":"promoted","session_id":")" + id + R"(","retry_handle":"h"})");
}

std::string released(const std::string& id) {
  return http(200, "", R"({"session_id":")" + id + R"(","state":"released"})");
}

/// One connection with two containers.
class TwoContainers : public testing::Test {
protected:
  TwoContainers() {
    stage_.world.run = "run";
    stage_.world.human_token = "secret";
    stage_.world.runners = {{"token", {"box-0"}}, {"token", {"box-1"}}};
    plays_ = make_plays(Scenario::starts, stage_, 1);
  }

  /// The next request, answered by `answer`; its target.
  std::string next(const std::string& answer) {
    plays_[0]->next(request_);
    kind_ = see(*plays_[0], answer);
    return request_.target;
  }

  Stage stage_;
  std::vector<std::unique_ptr<Play>> plays_;
  Request request_;
  Kind kind_{};
};

TEST_F(TwoContainers, AreStartedInTurnAndStoppedWhenTheyComeRoundAgain) {
  EXPECT_EQ(next(promoted(id_a)), "/v1/containers/box-0/agent-sessions");
  EXPECT_EQ(request_.prefer, "wait=20") << "the answer is to be the promotion";
  EXPECT_EQ(kind_, Kind::start);
  EXPECT_EQ(next(promoted(id_b)), "/v1/containers/box-1/agent-sessions");
  EXPECT_EQ(next(released(id_a)), "/v1/agent-sessions/" + id_a + "/stop");
  EXPECT_EQ(request_.prefer, "");
  EXPECT_EQ(kind_, Kind::stop);
  EXPECT_EQ(next(promoted(std::string(64, 'c'))), "/v1/containers/box-0/agent-sessions");
  EXPECT_EQ(next(released(id_b)), "/v1/agent-sessions/" + id_b + "/stop");
  EXPECT_EQ(stage_.findings.count(), 0U);
  EXPECT_EQ(stage_.tally.starts, 3);
  EXPECT_EQ(stage_.tally.stops, 2);
}

TEST_F(TwoContainers, AnIdThatAnotherStartGotIsWrong) {
  next(promoted(id_a));
  next(promoted(id_a));
  EXPECT_EQ(stage_.findings.count(), 1U);
}

TEST_F(TwoContainers, EveryOtherAnswerToAStartIsWrong) {
  const std::vector<std::string> wrong{
    http(202, "", R"({"state":"in_flight","retry_handle":"h"})"),
    http(409, "", R"({"code":"already_running"})"),
    promoted(std::string(63, 'a')),
    promoted(std::string(64, 'A')),
    http(201, "", R"({"state":"promoted","session_id":")" + id_a + R"("})"),
    http(201, "", R"({"state":"failed","session_id":")" + id_a + R"(","retry_handle":"h"})"),
  };
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    const auto plays = make_plays(Scenario::starts, stage_, 1);
    plays[0]->next(request_);
    see(*plays[0], wrong[i]);
    EXPECT_EQ(stage_.findings.count(), i + 1) << wrong[i];
  }
}

TEST_F(TwoContainers, EveryOtherAnswerToAStopIsWrong) {
  const std::vector<std::string> wrong{released(id_b), http(404, "", R"({"code":"not_found"})"),
                                       http(200, "", R"({"session_id":")" + id_a + R"(","state":"live"})")};
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    stage_.minted.clear();
    plays_ = make_plays(Scenario::starts, stage_, 1);
    next(promoted(id_a));
    next(promoted(id_b));
    next(wrong[i]);
    EXPECT_EQ(stage_.findings.count(), i + 1) << wrong[i];
  }
}

TEST(Starts, NoTwoConnectionsShareAContainer) {
  Stage stage;
  stage.world.runners = {{"token", {"box-0", "box-1"}}};
  const auto plays = make_plays(Scenario::starts, stage, 2);
  Request first;
  Request second;
  plays[0]->next(first);
  plays[1]->next(second);
  EXPECT_EQ(first.target, "/v1/containers/box-0/agent-sessions");
  EXPECT_EQ(second.target, "/v1/containers/box-1/agent-sessions");
  EXPECT_NE(first.idempotency_key, second.idempotency_key);
}

const std::string done = R"({"succeeded":true,"responses":[{},{},{},{}]})";

TEST(Etcd, PutsFourKeysUnderTheVersionItExpects) {
  Stage stage;
  stage.world.run = "run";
  const auto plays = make_plays(Scenario::etcd, stage, 1);
  Request request;
  plays[0]->next(request);
  EXPECT_EQ(request.target, "/v3/kv/txn");
  EXPECT_NE(request.body.find(R"("version":0)"), std::string::npos);
  const std::string guarded = member(request, "key");
  std::size_t puts = 0;
  for (auto at = request.body.find("request_put"); at != std::string::npos;
       at = request.body.find("request_put", at + 1))
    ++puts;
  EXPECT_EQ(puts, 4U);
  EXPECT_NE(request.body.find(guarded, request.body.find("success")), std::string::npos) << "what is guarded is put";
  EXPECT_EQ(see(*plays[0], http(200, "", done)), Kind::transaction);
  for (std::string key; key != guarded; key = member(request, "key")) {
    EXPECT_EQ(request.body.find(R"("version":1)"), std::string::npos) << "of another place";
    plays[0]->next(request);
    see(*plays[0], http(200, "", done));
    if (stage.tally.transactions > 20)
      FAIL() << "it never comes round";
  }
  EXPECT_EQ(stage.findings.count(), 0U);
  EXPECT_EQ(stage.tally.transactions, 11);
  EXPECT_EQ(stage.tally.keys, 11 * 4 - 1);
}

TEST(Etcd, SeesEveryWrongAnswer) {
  for (const char* wrong : {R"({"responses":[{},{},{},{}]})", R"({"succeeded":true,"responses":[{},{},{}]})", "{}"}) {
    Stage stage;
    const auto plays = make_plays(Scenario::etcd, stage, 1);
    Request request;
    plays[0]->next(request);
    see(*plays[0], http(200, "", wrong));
    EXPECT_EQ(stage.findings.count(), 1U) << wrong;
    EXPECT_EQ(stage.tally.keys, 0);
  }
}

TEST(Base64, IsThatOfTheStandard) {
  for (const auto& [bytes, text] : std::vector<std::pair<std::string, std::string>>{
         {"", ""},
         {"f", "Zg=="},
         {"fo", "Zm8="},
         {"foo", "Zm9v"},
         {"foob", "Zm9vYg=="},
         {"fooba", "Zm9vYmE="},
         {"foobar", "Zm9vYmFy"},
         {"\xfb\xff", "+/8="},
       })
    EXPECT_EQ(to_base64(bytes), text);
}

TEST(Mixed, IsEverythingThatThreadsAndRunsCanDo) {
  Stage stage;
  stage.world.contested = "contested";
  for (int i = 0; i < 5; ++i) {
    stage.world.threads.push_back("t" + std::to_string(i));
    stage.world.reported.push_back({"r" + std::to_string(i), "run", "session", "reference"});
  }
  stage.world.listed = {"listed"};
  const auto plays = make_plays(Scenario::mixed, stage, 5);
  std::vector<std::string> targets;
  for (const auto& play : plays) {
    Request request;
    play->next(request);
    targets.push_back(request.target);
  }
  EXPECT_EQ(targets, (std::vector<std::string>{
                       "/v1/threads/t0/agent-sessions/bind",
                       "/v1/threads/contested/agent-sessions/bind",
                       "/v1/threads/t2/agent-sessions/bind",
                       "/v1/threads/r3/agent-sessions/report",
                       "/v1/threads/listed/agent-sessions",
                     }));
}

} // namespace
} // namespace cleat::load
