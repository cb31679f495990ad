/// Accounts, Runners, containers, secrets and diagnostics through the API (spec 05 "Surface").
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "tests/process/fleet.hpp"
#include "tests/process/suite.hpp"

namespace cleat::test {
namespace {

using Clock = std::chrono::steady_clock;

/// Asks for secrets over the socket that CLEAT_SECRETS names: `NAME` on stdin, the answer's two lines on stdout.
const char* const secret_agent =
  "exec perl -MIO::Socket::UNIX -e '$| = 1; print \"ready\\n\"; while (<STDIN>) { "
  "my $s = IO::Socket::UNIX->new(Peer => $ENV{CLEAT_SECRETS}) or die; print $s $_; $s->flush; "
  "my $head = <$s>; chomp $head; my ($ok, $n) = split / /, $head; my $v = \"\"; "
  "read($s, $v, $n) if $ok eq \"ok\"; print \"$head $v\\n\"; }'";

class AgentProvisioning : public WorldSuite {};

TEST_F(AgentProvisioning, EverythingIsListedToWhomItConcerns) {
  const Workshop workshop(owner, world.alex, 2);
  const auto has = [](const Response& list, const std::string& member, const std::string& value) {
    const auto items = list.json()["items"].items();
    return std::ranges::any_of(items, [&](const Json& item) { return item[member].string() == value; });
  };
  EXPECT_TRUE(has(owner.get("/v1/accounts?limit=200"), "id", workshop.account));
  EXPECT_TRUE(has(owner.get("/v1/runners?limit=200"), "id", workshop.runner));
  EXPECT_TRUE(has(owner.get("/v1/containers?limit=200"), "name", workshop.box()));
  EXPECT_TRUE(has(alex.get("/v1/containers?limit=200"), "name", workshop.box()));
  EXPECT_FALSE(has(sam.get("/v1/containers?limit=200"), "name", workshop.box()));
  EXPECT_EQ(sam.get(container_path(workshop.box())).status, 404);
  EXPECT_EQ(alex.get("/v1/accounts").problem(), "forbidden/owner_required");
  EXPECT_EQ(alex.get("/v1/runners").problem(), "forbidden/owner_required");
  EXPECT_EQ(owner.get("/v1/orphan-diagnostics").status, 200);
}

TEST_F(AgentProvisioning, ARevokedTokenOfARunnerOpensNothing) {
  const Workshop workshop(owner, world.alex);
  const std::string tokens = "/v1/runners/" + workshop.runner + "/tokens";
  const Json listed = owner.get(tokens).json();
  ASSERT_EQ(listed["items"].size(), 1U);
  EXPECT_FALSE(listed["items"][0].has("token")) << "it was shown once";
  EXPECT_EQ(owner.del(tokens + "/" + listed["items"][0]["id"].string()).status, 204);
  RunnerProcess runner(server().runner_address(), workshop);
  EXPECT_NE(runner.wait(), 0) << runner.output();
  EXPECT_EQ(alex.get(container_path(workshop.box())).json()["state"].string(), "offline");
}

TEST_F(AgentProvisioning, SecretsAreNamedAndNeverShown) {
  const Workshop workshop(owner, world.alex);
  const std::string secrets = "/v1/accounts/" + workshop.account + "/secrets";
  const std::string value = "open-sesame-" + workshop.box();
  const auto put = owner.put(secrets + "/API_KEY", Object().text("value", value).str());
  EXPECT_EQ(put.status / 100, 2) << put.body;
  for (const Response& shown : {put, owner.get(secrets + "/API_KEY"), alex.get(secrets), owner.get(secrets)})
    EXPECT_EQ(shown.body.find(value), std::string::npos) << shown.body;
  EXPECT_EQ(sam.get(secrets).status, 404);
  EXPECT_EQ(database.number("SELECT count(*) FROM account_secrets WHERE position(convert_to('" + value +
                            "', 'UTF8') IN sealed) > 0"),
            0);

  RunnerOptions options;
  options.agent = secret_agent;
  RunnerProcess runner(server().runner_address(), workshop, options);
  const std::string session = live_session(alex, workshop.box());
  say_to_agent(alex, session, "API_KEY");
  await_line(alex, session, "out: ok " + std::to_string(value.size()) + " " + value);
  say_to_agent(alex, session, "OTHER");
  await_line(alex, session, "out: error not_found ");
  EXPECT_EQ(owner.del(secrets + "/API_KEY").status, 204);
  say_to_agent(alex, session, "API_KEY");
  const auto errors = [&] { return std::ranges::count(transcript_of(alex, session), "out: error not_found "); };
  const auto deadline = Clock::now() + std::chrono::seconds{10};
  while (errors() < 2 && Clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  EXPECT_EQ(errors(), 2) << "a secret that is gone is gone for the agent";
  EXPECT_EQ(server().output().find(value), std::string::npos);
}

TEST_F(AgentProvisioning, TheSubscriberDecidesWhoMayAct) {
  const Workshop workshop(owner, world.alex);
  RunnerProcess runner(server().runner_address(), workshop);
  const std::string session = live_session(alex, workshop.box());
  ASSERT_EQ(
    owner.put("/v1/accounts/" + workshop.account + "/subscriber", Object().text("principal_id", world.sam.id).str())
      .status,
    200);
  EXPECT_EQ(say_to_agent(alex, session, "x").status, 404) << "no more";
  EXPECT_EQ(say_to_agent(sam, session, "x").status, 404) << "it was not started for Sam";
  EXPECT_EQ(start_agent(sam, workshop.box()).problem(), "already_running");
  EXPECT_EQ(owner.del(container_path(workshop.box())).status, 204);
  EXPECT_EQ(runner.agents(), 0);
}

/// With spans that are over in a moment.
class AgentOrphans : public testing::Test {
protected:
  const std::string url = shared_cluster().createdb(fresh_database_name());
  Server server{{url, {"--set", "retention.deadline_s=1", "--set", "runner.watch_ms=50"}}};
  World world{server};
  Sql database{url};
  Client owner = server.client(world.owner.token);
  Client alex = server.client(world.alex.token);
  Workshop workshop{owner, world.alex};
};

TEST_F(AgentOrphans, WhatNobodyCanTellAboutClosesItsContainerUntilItIsResolved) {
  RunnerOptions options;
  options.stop_at = "after_journal_accepted";
  RunnerProcess runner(server.runner_address(), workshop, options);
  await_container(alex, workshop.box(), "idle");
  const auto accepted = start_agent(alex, workshop.box());
  ASSERT_EQ(accepted.status, 202);
  runner.wait_for_standstill();
  const auto deadline = Clock::now() + std::chrono::seconds{20};
  while (owner.get("/v1/orphan-diagnostics?resolved=false").json()["items"].size() == 0 && Clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds{20}); // the deadline announces nothing but this
  const Json orphans = owner.get("/v1/orphan-diagnostics?resolved=false").json();
  ASSERT_EQ(orphans["items"].size(), 1U);
  const Json orphan = orphans["items"][0];
  EXPECT_EQ(orphan["reason"].string(), "deadline_exceeded");
  const auto metrics = [&] { return server.client("").get("/metrics").body; };
  while (metrics().find("cleat_orphans_open 1") == std::string::npos && Clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  EXPECT_NE(metrics().find("cleat_orphans_open 1"), std::string::npos) << "which somebody may be alerted by";
  EXPECT_EQ(look_up(alex, accepted.json()["retry_handle"].string()).status, 404);
  EXPECT_EQ(start_agent(alex, workshop.box()).problem(), "conflict/container_closed");
  EXPECT_EQ(owner.del(container_path(workshop.box())).problem(), "conflict/container_closed");

  runner.process().signal(SIGCONT);
  const std::string path = "/v1/orphan-diagnostics/" + orphan["id"].string() + "/resolve";
  EXPECT_EQ(alex.post(path, "{}").problem(), "forbidden/owner_required");
  const auto resolved = owner.post(path, "{}");
  ASSERT_EQ(resolved.status, 200) << resolved.body << runner.output();
  EXPECT_TRUE(resolved.json().has("resolved_at"));
  EXPECT_EQ(runner.agents(), 0) << "what the old attempt left has ended";
  EXPECT_EQ(database.number("SELECT count(*) FROM audit_log WHERE action = 'orphan.resolve' AND allowed"), 1);
  live_session(alex, workshop.box());
  EXPECT_EQ(runner.agents(), 1);
}

} // namespace
} // namespace cleat::test
