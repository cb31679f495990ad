#include "protocol/render_fleet.hpp"

#include <gtest/gtest.h>

#include "protocol/render.hpp"
#include "tests/unit/world.hpp"

/// Accounts, Runners, containers and sessions in them as JSON (spec 05 "Shapes").
namespace cleat::unit {
namespace {

/// The text with every $N replaced by the id number N and every @ by noon.
std::string spelled(std::string text) {
  for (std::size_t at = text.find('$'); at != std::string::npos; at = text.find('$')) {
    std::size_t end = at + 1;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9')
      ++end;
    text.replace(at, end - at, '"' + id_of(std::stoull(text.substr(at + 1))).str() + '"');
  }
  for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@'))
    text.replace(at, 1, "\"2026-01-01T12:00:00.000000Z\"");
  return text;
}

Operation operation(OperationKind kind, OperationState state) {
  Operation row;
  row.id = id_of(60);
  row.kind = kind;
  row.fresh_session_id = "fresh";
  row.container_attempt_id = id_of(50);
  row.state = state;
  return row;
}

TEST(FleetRender, AStart) {
  Operation row = operation(OperationKind::fresh, OperationState::reserved);
  EXPECT_EQ(render::start(row, "h"), R"({"state":"in_flight","retry_handle":"h"})")
    << "the id is not public before the promotion";
  row.state = OperationState::dispatched;
  row.reconciling = true;
  EXPECT_EQ(render::start(row, "h"), R"({"state":"in_flight","retry_handle":"h"})");
  row.state = OperationState::promoted;
  row.session_id = "s";
  EXPECT_EQ(render::start(row, "h"), R"({"state":"promoted","session_id":"s","retry_handle":"h"})");
  row.state = OperationState::failed;
  row.failure = OperationFailure{FailureClass::retryable, "exec_failed"};
  EXPECT_EQ(render::start(row, "h"),
            R"({"state":"failed","failure":{"class":"retryable","code":"exec_failed"},"retry_handle":"h"})");
}

TEST(FleetRender, AnOperationOfAHandle) {
  Operation row = operation(OperationKind::resume, OperationState::dispatched);
  EXPECT_EQ(render::operation(row), R"({"state":"in_flight"})");
  row.state = OperationState::promoted;
  row.session_id = "s";
  EXPECT_EQ(render::operation(row), R"({"state":"promoted","session_id":"s"})");
  row = operation(OperationKind::fresh, OperationState::failed);
  row.failure = OperationFailure{FailureClass::terminal, "wire_contract"};
  EXPECT_EQ(render::operation(row), R"({"state":"failed","failure":{"class":"terminal","code":"wire_contract"}})");
}

TEST(FleetRender, StopInputAndTranscript) {
  EXPECT_EQ(render::stopped("s"), R"({"session_id":"s","state":"released"})");
  EXPECT_EQ(render::input_accepted("s", 7), R"({"session_id":"s","seq":7})");
  EXPECT_EQ(render::transcript_line({"s", 3, noon, Direction::in, "a \"b\"\x01", {}}),
            spelled(R"({"seq":3,"time":@,"direction":"in","line":"a \"b\"\u0001"})"));
  EXPECT_EQ(render::transcript_line({"s", 4, noon, Direction::out, "", 137}),
            spelled(R"({"seq":4,"time":@,"direction":"out","line":"","exit_code":137})"));
}

TEST(FleetRender, WhatAgentsAndRunnersWriteIsMadeText) {
  const TranscriptLine line{"s", 1, noon, Direction::out, std::string("a\xff\xc3(\xe2\x82\xac\0", 8), {}};
  EXPECT_EQ(
    render::transcript_line(line),
    spelled("{\"seq\":1,\"time\":@,\"direction\":\"out\",\"line\":\"a\xef\xbf\xbd\xef\xbf\xbd(\xe2\x82\xac\\u0000\"}"));
  Orphan orphan;
  orphan.reported_session_id = "\xff";
  EXPECT_NE(render::orphan(orphan).find("\"reported_session_id\":\"\xef\xbf\xbd\""), std::string::npos);
}

TEST(FleetRender, AnOrphan) {
  Orphan row{
    id_of(1), "deadline_exceeded", id_of(2), id_of(3), id_of(4), id_of(5), "box", id_of(6), {}, {}, noon, {}, {}, 1};
  const std::string head = R"({"id":$1,"reason":"deadline_exceeded","operation_id":$2,"account_id":$3,"actor_id":$4,)"
                           R"("runner_id":$5,"container":"box","container_attempt_id":$6)";
  EXPECT_EQ(render::orphan(row), spelled(head + R"(,"opened_at":@})"));
  row.expected_session_id = "e";
  row.reported_session_id = "r";
  row.resolved_at = noon;
  row.resolved_by = id_of(7);
  EXPECT_EQ(render::orphan(row), spelled(head + R"(,"expected_session_id":"e","reported_session_id":"r","opened_at":@,)"
                                                R"("resolved_at":@,"resolved_by":$7})"));
}

TEST(FleetRender, AnAccountAndItsSecrets) {
  Account row{id_of(1), "Example", {}, noon, 1};
  EXPECT_EQ(render::account(row), spelled(R"({"id":$1,"name":"Example","created_at":@,"version":1})"));
  row.actor_id = id_of(12);
  EXPECT_EQ(render::account(row), spelled(R"({"id":$1,"name":"Example","actor_id":$12,"created_at":@,"version":1})"));
  const AccountSecret secret{row.id, "API_KEY", "sealed", noon};
  EXPECT_EQ(render::secret(secret), spelled(R"({"name":"API_KEY","updated_at":@})"));
  EXPECT_EQ(render::page(std::vector{secret}, 5), spelled(R"({"items":[{"name":"API_KEY","updated_at":@}]})"));
}

TEST(FleetRender, ARunnerAndItsTokens) {
  RunnerRow row;
  row.runner.id = id_of(1);
  row.runner.name = "Host";
  row.runner.created_at = noon;
  row.runner.enrollment_secret = Digest{};
  EXPECT_EQ(render::runner(row), spelled(R"({"id":$1,"name":"Host","state":"disconnected","created_at":@})"));
  row.runner.enrollment_revision = 2;
  row.runner.connected_at = noon;
  EXPECT_EQ(render::runner(row),
            spelled(R"({"id":$1,"name":"Host","state":"disconnected","enrollment_revision":2,"created_at":@})"));
  row.connected = true;
  EXPECT_EQ(render::runner(row), spelled(R"({"id":$1,"name":"Host","state":"connected","enrollment_revision":2,)"
                                         R"("connected_at":@,"created_at":@})"));
  RunnerToken token{id_of(2), id_of(1), "host", {}, noon, {}, {}};
  EXPECT_EQ(render::runner_token(token), spelled(R"({"id":$2,"runner_id":$1,"label":"host","created_at":@})"));
  EXPECT_EQ(render::runner_token(token, "secret"),
            spelled(R"({"id":$2,"runner_id":$1,"label":"host","created_at":@,"token":"secret"})"));
  token.expires_at = noon;
  token.revoked_at = noon;
  EXPECT_EQ(
    render::page(std::vector{token}, 5),
    spelled(R"({"items":[{"id":$2,"runner_id":$1,"label":"host","created_at":@,"expires_at":@,"revoked_at":@}]})"));
}

/// A connected container of Alex's account.
ContainerRow container_row() {
  ContainerRow row;
  row.container.id = id_of(1);
  row.container.name = "box";
  row.container.account_id = id_of(2);
  row.container.runner_id = id_of(3);
  row.container.attempt_id = id_of(50);
  row.account.id = id_of(2);
  row.account.actor_id = id_of(12);
  row.connected = true;
  return row;
}

const std::string head = R"({"name":"box","account_id":$2,"runner_id":$3,"state":)";

TEST(FleetRender, AContainersState) {
  ContainerRow row = container_row();
  const auto shown = [&] { return render::container(row, id_of(12)); };
  EXPECT_EQ(shown(), spelled(head + R"("idle"})"));
  row.live.emplace();
  row.live->session_id = "s";
  EXPECT_EQ(shown(), spelled(head + R"("live","session_id":"s"})"));
  row.open = {operation(OperationKind::stop, OperationState::reserved)};
  EXPECT_EQ(shown(), spelled(head + R"("stopping","session_id":"s","operation":{"state":"in_flight","kind":"stop"}})"));
  row.connected = false;
  EXPECT_EQ(shown(), spelled(head + R"("offline","session_id":"s","operation":{"state":"in_flight","kind":"stop"}})"))
    << "a lost first answer loses nothing while the Runner is away";
  row.connected = true;
  row.live.reset();
  for (const auto& [kind, name] :
       {std::pair{OperationKind::fresh, "fresh"}, std::pair{OperationKind::resume, "resume"}}) {
    row.open = {operation(kind, OperationState::dispatched)};
    EXPECT_EQ(shown(), spelled(head + R"("starting","operation":{"state":"in_flight","kind":")" + name + "\"}}"));
  }
}

TEST(FleetRender, AnOperationOfAnEarlierAttemptIsNobodysBusiness) {
  ContainerRow row = container_row();
  Operation old = operation(OperationKind::fresh, OperationState::dispatched);
  old.container_attempt_id = id_of(49);
  row.open = {old};
  EXPECT_EQ(render::container(row, id_of(12)), spelled(head + R"("idle"})"));
  row.open.push_back(operation(OperationKind::stop, OperationState::dispatched));
  EXPECT_NE(render::container(row, id_of(12)).find("stopping"), std::string::npos);
  row.container.attempt_id.reset();
  EXPECT_EQ(render::container(row, id_of(12)), spelled(head + R"("idle"})"));
}

TEST(FleetRender, ALiveSessionIsForTheAccountsActorAlone) {
  ContainerRow row = container_row();
  row.live.emplace();
  row.live->session_id = "s";
  const std::string hidden = spelled(head + R"("live"})");
  EXPECT_EQ(render::container(row, id_of(11)), hidden);
  EXPECT_EQ(render::container(row, std::nullopt), hidden);
  EXPECT_EQ(render::page(std::vector{row}, 5, id_of(11)), "{\"items\":[" + hidden + "]}");
  EXPECT_EQ(render::page(std::vector{row}, 5, id_of(12)),
            "{\"items\":[" + spelled(head + R"("live","session_id":"s"})") + "]}");
  row.account.actor_id.reset();
  EXPECT_EQ(render::container(row, std::nullopt), hidden) << "nobody is not the actor of an account without one";
}

TEST(FleetRender, PagesHaveTheirCursor) {
  const auto next = [](const PageRows& rows) {
    const std::string text = render::page(rows, 1);
    return text.find("\"next_cursor\":\"" + id_of(1).str()) != std::string::npos;
  };
  Account account;
  account.id = id_of(1);
  RunnerRow runner;
  runner.runner.id = id_of(1);
  RunnerToken token;
  token.id = id_of(1);
  Orphan orphan;
  orphan.id = id_of(1);
  const ContainerRow container = container_row();
  EXPECT_TRUE(next(std::vector{account, account}));
  EXPECT_TRUE(next(std::vector{runner, runner}));
  EXPECT_TRUE(next(std::vector{token, token}));
  EXPECT_TRUE(next(std::vector{orphan, orphan}));
  EXPECT_TRUE(next(std::vector{container, container}));
}

} // namespace
} // namespace cleat::unit
