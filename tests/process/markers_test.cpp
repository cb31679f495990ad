/// Nothing secret is written where it does not belong (spec 06 section 3): markers are planted wherever a client, an
/// agent or an operator may put a secret, and looked for in logs, metrics, audit and errors.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/process/adapter.hpp"
#include "tests/process/fleet.hpp"
#include "tests/process/suite.hpp"

namespace cleat::test {
namespace {

/// Says what it is told and what its secret is, on both of its outputs.
const char* const talkative_agent =
  "exec perl -MIO::Socket::UNIX -e '$| = 1; print \"ready\\n\"; while (<STDIN>) { print \"said: $_\"; print STDERR $_; "
  "my $s = IO::Socket::UNIX->new(Peer => $ENV{CLEAT_SECRETS}) or die; print $s \"API_KEY\\n\"; $s->flush; "
  "my $head = <$s>; chomp $head; my ($ok, $n) = split / /, $head; my $v = \"\"; "
  "read($s, $v, $n) if $ok eq \"ok\"; print \"$head $v\\n\"; }'";

class Markers : public testing::Test {
protected:
  /// A text that stands nowhere else, and is remembered.
  std::string plant(const std::string& kind) {
    planted.push_back("Mark" + kind + "Mark" + std::to_string(planted.size()) + std::string(20, 'z'));
    return planted.back();
  }
  std::string plant_what_was_made(const std::string& secret) {
    EXPECT_GT(secret.size(), 20U);
    planted.push_back(secret);
    return secret;
  }

  /// Remembers the bodies of errors, in which nothing may be repeated.
  Response note(Response answer) {
    if (answer.status >= 400)
      errors += answer.body + "\n";
    return answer;
  }

  /// Made-up ones, in every place where somebody may put one.
  void plant_tokens() {
    Client stranger = server.client(plant("Token"));
    note(stranger.get("/v1/me"));
    note(server.client("").get("/v1/me", {{"Authorization", "Basic " + plant("Basic")}}));
    note(server.client("").get("/v1/me?access_token=" + plant("Query")));
    note(alex.get("/v1/" + plant("Path")));
    note(alex.get("/v1/threads/" + plant("Id") + "/agent-sessions"));
    note(owner.get("/v1/audit?cursor=" + plant("Cursor")));
    note(alex.post("/v1/spaces", plant("NoJson")));
    note(alex.post("/v1/spaces", Object().text(plant("Member"), "x").str()));
    const auto made = owner.post("/v1/principals/" + world.alex.id + "/tokens", R"({"label":"spare"})");
    plant_what_was_made(made.json()["token"].string());
  }

  /// Bound, bound elsewhere, taken over, imported, wrong.
  void plant_references() {
    const auto one = world.thread(world.support);
    const auto other = world.thread(world.support);
    const auto reference = plant("Reference");
    EXPECT_EQ(bind(alex, one, {reference}).status, 201);
    EXPECT_EQ(note(bind(alex, other, {reference})).status, 409);
    note(bind(alex, other, {plant("Wrong") + "\n"}));
    note(bind(sam, one, {plant("Denied")}));
    EXPECT_EQ(bind(alex, other, {.reference = reference, .take_over = true}).status, 201);
    note(
      alex.post(sessions_path(one) + "/import", R"({"items":[{"external_session_ref":")" + plant("Import") + "\"}]}"));
    note(alex.post(sessions_path(one) + "/bind", Object().text("external_session_ref", plant("Key")).str(),
                   {{"Idempotency-Key", plant("Idempotency")}}));
  }

  /// Handles, secrets and what agents say. Gives the Runner's log.
  std::string plant_around_a_runner() {
    const Workshop workshop(owner, world.alex);
    plant_what_was_made(workshop.token);
    const std::string secrets = "/v1/accounts/" + workshop.account + "/secrets/";
    EXPECT_EQ(owner.put(secrets + "API_KEY", Object().text("value", plant("Secret")).str()).status / 100, 2);
    note(owner.put(secrets + "API_KEY", Object().text("value", plant("Long") + std::string(70'000, 'x')).str()));
    note(owner.put(secrets + plant("name with spaces"), Object().text("value", plant("Odd")).str()));
    RunnerOptions options;
    options.agent = talkative_agent;
    options.toml = "[log]\nlevel = \"trace\"\n";
    RunnerProcess runner(server.runner_address(), workshop, options);
    await_container(alex, workshop.box(), "idle");
    const auto started = start_agent(alex, workshop.box(), 20);
    EXPECT_EQ(started.status, 201) << started.body;
    plant_what_was_made(started.json()["retry_handle"].string());
    const auto session = started.json()["session_id"].string();
    const auto line = plant("Transcript");
    EXPECT_EQ(say_to_agent(alex, session, line).status / 100, 2);
    await_line(alex, session, "out: said: " + line);
    note(say_to_agent(sam, session, plant("Foreign")));
    note(say_to_agent(alex, session, plant("Longest") + std::string(70'000, 'x')));
    note(look_up(alex, plant("Handle")));
    note(retry(alex, plant("Retry")));
    note(start_agent(alex, workshop.box(), 0, Object().text("reroute_of", plant("Reroute")).str()));
    note(resume_agent(alex, workshop.box(), plant("Resume")));
    EXPECT_EQ(stop_agent(alex, session).status, 200);
    note(stop_agent(alex, session));
    return runner.output();
  }

  /// An agent's words about its run.
  void plant_in_a_run() {
    const auto run = triggered(owner, world.thread(world.support));
    Client lotse = world.as(world.lotse);
    EXPECT_EQ(lotse.post(run_path(run, "start"), Object().text("external_session_ref", plant("Started")).str()).status,
              200);
    note(lotse.post(run_path(run, "finish"), R"({"outcome":"failed","code":"x","detail":")" + plant("Detail") + "\"}"));
  }

  void expect_none(const std::string& where, const std::string& text) {
    EXPECT_FALSE(text.empty()) << where;
    for (const auto& marker : planted)
      EXPECT_EQ(text.find(marker), std::string::npos) << marker << " stands in " << where;
  }

  std::string url = shared_cluster().createdb(fresh_database_name());
  Server server{{url, {}, {{"CLEAT_LOG_LEVEL", "trace"}}}};
  World world{server};
  Sql database{url};
  Client owner = world.as(world.owner);
  Client alex = world.as(world.alex);
  Client sam = world.as(world.sam);
  std::vector<std::string> planted;
  std::string errors;
};

TEST_F(Markers, NothingSecretIsInLogsMetricsAuditAndErrors) {
  for (const auto& actor : {world.owner, world.alex, world.sam, world.robin, world.lotse})
    plant_what_was_made(actor.token);
  plant_tokens();
  plant_references();
  const auto runners_log = plant_around_a_runner();
  plant_in_a_run();

  const auto request_id = "request-that-is-logged";
  alex.get("/v1/me", {{"X-Request-Id", request_id}});
  EXPECT_NE(server.output().find(request_id), std::string::npos)
    << "the log that is searched is the one that is written";
  EXPECT_GT(database.number("SELECT count(*) FROM audit_log WHERE NOT allowed"), 0);

  expect_none("the server's log", server.output());
  expect_none("the Runner's log", runners_log);
  expect_none("metrics", owner.get("/metrics").body);
  expect_none("the audit log", database.value("SELECT string_agg(a::text, ' ') FROM audit_log a"));
  expect_none("audit over HTTP", owner.get("/v1/audit?limit=200").body);
  expect_none("errors", errors);
  expect_none("readiness", server.client("").get("/readyz").body);
}

} // namespace
} // namespace cleat::test
