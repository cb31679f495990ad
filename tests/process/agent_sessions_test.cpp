/// The life of a session in a container, with a real Runner and real agents (spec 04).
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/process/crowd.hpp"
#include "tests/process/event_stream.hpp"
#include "tests/process/fleet.hpp"
#include "tests/process/suite.hpp"

namespace cleat::test {
namespace {

class AgentSessions : public WorldSuite {
protected:
  Workshop workshop{owner, world.alex};
  RunnerProcess runner{server().runner_address(), workshop};

  [[nodiscard]] const std::string& box() const { return workshop.box(); }

  std::int64_t count(const std::string& sql) { return std::stoll(database.value(sql)); }
  std::int64_t operations() {
    return count("SELECT count(*) FROM session_operations WHERE container_name = '" + box() + "'");
  }
};

TEST_F(AgentSessions, StartTalkStopResume) {
  await_container(alex, box(), "idle");
  const auto started = start_agent(alex, box(), 20);
  ASSERT_EQ(started.status, 201) << started.body;
  const std::string session = started.json()["session_id"].string();
  EXPECT_EQ(session.size(), 64U);
  EXPECT_EQ(await_container(alex, box(), "live")["session_id"].string(), session);
  await_line(alex, session, "out: ready");

  const auto typed = say_to_agent(alex, session, "hello");
  ASSERT_EQ(typed.status, 202) << typed.body;
  EXPECT_EQ(typed.json()["session_id"].string(), session);
  await_line(alex, session, "out: said: hello");
  EXPECT_EQ(transcript_of(alex, session), (std::vector<std::string>{"out: ready", "in: hello", "out: said: hello"}));

  const auto stopped = stop_agent(alex, session);
  ASSERT_EQ(stopped.status, 200) << stopped.body;
  EXPECT_EQ(stopped.json()["state"].string(), "released");
  EXPECT_EQ(runner.agents(), 0);
  EXPECT_EQ(stop_agent(alex, session).status, 404);
  EXPECT_EQ(say_to_agent(alex, session, "hello?").status, 404);

  const auto resumed = resume_agent(alex, box(), session, 20);
  ASSERT_EQ(resumed.status, 201) << resumed.body;
  EXPECT_EQ(resumed.json()["session_id"].string(), session) << "the same logical session";
  await_container(alex, box(), "live");
  EXPECT_EQ(runner.agents(), 1);
}

TEST_F(AgentSessions, AnAgentThatExitsReleasesItsSession) {
  const std::string session = live_session(alex, box());
  say_to_agent(alex, session, "exit");
  await_container(alex, box(), "idle");
  EXPECT_EQ(transcript_of(alex, session), std::vector<std::string>()) << "it is not live any more";
  EXPECT_EQ(database.value("SELECT exit_code FROM session_transcripts WHERE session_id = '" + session +
                           "' AND exit_code IS NOT NULL"),
            "7");
}

TEST_F(AgentSessions, AnAcceptedStartIsFollowedByItsHandle) {
  await_container(alex, box(), "idle");
  const auto accepted = start_agent(alex, box());
  ASSERT_EQ(accepted.status, 202) << accepted.body;
  EXPECT_FALSE(accepted.json().has("session_id"));
  const std::string handle = accepted.json()["retry_handle"].string();
  const auto ended = look_up(alex, handle, 20);
  ASSERT_EQ(ended.status, 200) << ended.body;
  EXPECT_EQ(ended.json()["state"].string(), "promoted");
  const std::string session = ended.json()["session_id"].string();
  EXPECT_EQ(retry(alex, handle).json()["session_id"].string(), session) << "promoted replays";
  EXPECT_EQ(operations(), 1);
  EXPECT_EQ(count("SELECT count(*) FROM session_operations WHERE handle_digest::text LIKE '%" + handle + "%'"), 0);
}

TEST_F(AgentSessions, SixtyFourCallersOneOperation) {
  await_container(alex, box(), "idle");
  const auto answers = at_once(64, [&](int) {
    Client caller = world.as(world.alex);
    return start_agent(caller, box());
  });
  const auto won = std::ranges::count_if(answers, [](const Response& one) { return one.status == 202; });
  const auto refused = std::ranges::count_if(
    answers, [](const Response& one) { return one.status == 409 && one.problem() == "already_running"; });
  EXPECT_EQ(won, 1);
  EXPECT_EQ(refused, 63);
  await_container(alex, box(), "live");
  EXPECT_EQ(operations(), 1);
  EXPECT_EQ(runner.agents(), 1);
}

TEST_F(AgentSessions, AKeyJoinsAndStartsNoSecondAgent) {
  await_container(alex, box(), "idle");
  const Headers key{{"Idempotency-Key", fresh_reference()}};
  const auto first = start_agent(alex, box(), 0, "{}", key);
  ASSERT_EQ(first.status, 202);
  const std::string session = await_container(alex, box(), "live")["session_id"].string();
  const auto again = start_agent(alex, box(), 0, "{}", key);
  EXPECT_EQ(again.status, 201) << again.body;
  EXPECT_EQ(again.header("idempotent-replay"), "true");
  EXPECT_EQ(again.json()["session_id"].string(), session);
  EXPECT_NE(again.json()["retry_handle"].string(), first.json()["retry_handle"].string());
  EXPECT_EQ(look_up(alex, first.json()["retry_handle"].string()).status, 404);
  EXPECT_EQ(look_up(alex, again.json()["retry_handle"].string()).status, 200);
  EXPECT_EQ(operations(), 1);
  EXPECT_EQ(runner.agents(), 1);
}

/// The same status, body and ETag, marked as a replay; and nothing for anybody else.
TEST_F(AgentSessions, WhatWasAnsweredComesAgainThoughTheSessionOrTheContainerIsGone) {
  const Headers key{{"Idempotency-Key", box()}};
  const std::string session = live_session(alex, box());
  const auto typed = say_to_agent(alex, session, "exit", key);
  ASSERT_EQ(typed.status, 202) << typed.body;
  await_container(alex, box(), "idle"); // the agent has exited, and its session is released
  const auto again = say_to_agent(alex, session, "exit", key);
  EXPECT_EQ(again.status, 202) << again.body;
  EXPECT_EQ(again.body, typed.body);
  EXPECT_EQ(again.header("idempotent-replay"), "true");
  EXPECT_EQ(say_to_agent(alex, session, "other", key).problem(), "idempotency_key_reuse");
  EXPECT_EQ(say_to_agent(alex, session, "exit").status, 404);
  EXPECT_EQ(say_to_agent(sam, session, "exit", key).status, 404);

  ASSERT_EQ(owner.del(container_path(box()), {{"Idempotency-Key", "gone"}}).status, 204);
  const auto removed = owner.del(container_path(box()), {{"Idempotency-Key", "gone"}});
  EXPECT_EQ(removed.status, 204) << removed.body;
  EXPECT_EQ(removed.header("idempotent-replay"), "true");
  EXPECT_EQ(owner.del(container_path(box())).status, 404);
  EXPECT_EQ(alex.del(container_path(box()), {{"Idempotency-Key", "gone"}}).status, 404);
}

TEST_F(AgentSessions, CallerOwnedMintInputsAreRefusedBeforeAnything) {
  await_container(alex, box(), "idle");
  for (const char* name : {"request_id", "operation_id", "relay_request_id", "fresh_session_id", "account_id",
                           "actor_id", "runner_id", "caller_request_id", "container_attempt_id"}) {
    const auto refused = start_agent(alex, box(), 0, Object().text(name, "x").number("wrong", 1).str());
    EXPECT_EQ(refused.status, 400) << name;
    EXPECT_EQ(refused.problem(), "invalid_argument") << name;
  }
  EXPECT_EQ(start_agent(alex, box(), 0, R"({"wrong": 1})").problem(), "validation_failed");
  EXPECT_EQ(operations(), 0);
  EXPECT_EQ(runner.agents(), 0);
}

TEST_F(AgentSessions, RejectedIdsAreAllTheSameBytes) {
  const std::string session = live_session(alex, box());
  const Workshop other(owner, world.sam);
  const std::string stopped = session;
  ASSERT_EQ(stop_agent(alex, stopped).status, 200);
  const std::string live = live_session(alex, box());
  // Unknown, malformed, stopped, and another actor's.
  std::vector<Response> refused;
  for (const std::string& id : {std::string(64, 'a'), std::string("nonsense"), stopped}) {
    refused.push_back(stop_agent(alex, id));
    refused.push_back(say_to_agent(alex, id, "x"));
    refused.push_back(alex.get(session_path(id) + "/transcript", {{"Accept", "application/json"}}));
  }
  refused.push_back(stop_agent(sam, live));
  refused.push_back(say_to_agent(sam, live, "x"));
  refused.push_back(sam.get(session_path(live) + "/transcript", {{"Accept", "application/json"}}));
  refused.push_back(resume_agent(alex, box(), std::string(64, 'a')));
  refused.push_back(resume_agent(sam, other.box(), stopped)); // another account and container
  refused.push_back(start_agent(sam, box()));
  refused.push_back(start_agent(alex, "no-such-box"));
  refused.push_back(look_up(alex, std::string(43, 'A')));
  refused.push_back(look_up(alex, "nonsense"));
  refused.push_back(retry(alex, std::string(43, 'A')));
  for (const Response& one : refused) {
    EXPECT_EQ(one.status, 404);
    EXPECT_EQ(one.body, refused.front().body);
    EXPECT_EQ(one.uniform_headers(), refused.front().uniform_headers());
  }
}

TEST_F(AgentSessions, ADeadRunnersHandlesAndSessionsFailClosedUntilResumed) {
  const auto started = [&] {
    await_container(alex, box(), "idle");
    return start_agent(alex, box(), 20).json();
  }();
  const std::string session = started["session_id"].string();
  await_line(alex, session, "out: ready");
  const Response unknown = stop_agent(alex, std::string(64, 'a'));
  runner.kill();
  runner.start();
  await_container(alex, box(), "idle");
  EXPECT_EQ(runner.agents(), 0) << "what the old process left has ended";
  for (const Response& one :
       {stop_agent(alex, session), say_to_agent(alex, session, "x"), look_up(alex, started["retry_handle"].string())}) {
    EXPECT_EQ(one.status, 404);
    EXPECT_EQ(one.body, unknown.body);
  }
  const auto resumed = resume_agent(alex, box(), session, 20);
  ASSERT_EQ(resumed.status, 201) << resumed.body;
  EXPECT_EQ(resumed.json()["session_id"].string(), session);
}

TEST_F(AgentSessions, WithoutItsRunnerNothingIsReserved) {
  await_container(alex, box(), "idle");
  runner.stop();
  await_container(alex, box(), "offline");
  const auto refused = start_agent(alex, box());
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.problem(), "runner_unavailable");
  EXPECT_NE(refused.header("retry-after"), "");
  EXPECT_EQ(operations(), 0);
}

TEST_F(AgentSessions, AStreamFollowsALifetimeToItsEnd) {
  const std::string session = live_session(alex, box());
  StreamOptions options{world.alex.token};
  options.path = session_path(session) + "/transcript";
  std::vector<std::string> lines;
  const StreamEnd end = read_stream(server().endpoint(), options, [&](const StreamedEvent& event) {
    if (event.data.empty())
      return true;
    if (lines.empty()) {
      EXPECT_EQ(say_to_agent(alex, session, "exit").status, 202);
    }
    lines.push_back(event.data);
    return true;
  });
  EXPECT_TRUE(end.by_server);
  ASSERT_EQ(lines.size(), 3U) << "ready, what was typed, and the end";
  EXPECT_NE(lines.back().find("\"exit_code\":7"), std::string::npos) << lines.back();
}

TEST_F(AgentSessions, ARemovedContainerIsStoppedFirst) {
  const std::string session = live_session(alex, box());
  EXPECT_EQ(alex.del(container_path(box())).problem(), "forbidden/owner_required");
  EXPECT_EQ(owner.del(container_path(box())).status, 204);
  EXPECT_EQ(runner.agents(), 0);
  EXPECT_EQ(alex.get(container_path(box())).status, 404);
  EXPECT_EQ(stop_agent(alex, session).status, 404);
}

} // namespace
} // namespace cleat::test
