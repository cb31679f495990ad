#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include <sys/types.h>

#include "tests/process/load.hpp"
#include "tests/process/suite.hpp"

/// What clients were told stays true when processes die (issue 2, spec 02 invariants 2 and 5).
namespace cleat::test {
namespace {

constexpr int clients = 16;
constexpr std::size_t some = 200;

pid_t postmaster_of(const Server& server) {
  std::ifstream file(server.data() / "postgres" / "postmaster.pid");
  pid_t pid = 0;
  file >> pid;
  if (pid <= 0)
    throw std::runtime_error("the embedded PostgreSQL has no postmaster.pid");
  return pid;
}

/// How to look into the embedded database of a server: only its own folder leads there.
std::string embedded_url(const Server& server) {
  return "host=" + (server.data() / "postgres-socket").string() + " user=cleat dbname=cleat";
}

std::string listed(const std::map<std::string, int>& refusals) {
  std::string text;
  for (const auto& [answer, count] : refusals)
    text += answer + " x" + std::to_string(count) + "\n";
  return text;
}

/// Only answers that ask to try again are an excuse while something is down.
void expect_only_excuses(const BindLoad& load) {
  for (const auto& [answer, count] : load.refusals())
    EXPECT_TRUE(answer.starts_with("503 ") || answer == "409 idempotency_in_progress") << listed(load.refusals());
}

TEST(Crash, TestKillUnderLoad) {
  const std::string url = shared_cluster().createdb(fresh_database_name());
  Server server({url});
  World world(server);
  BindLoad load(world, server.endpoint(), clients);
  for (int round = 0; round < 4; ++round) {
    load.wait_for_more(some);
    server.kill();
    server.start();
    load.move_to(server.endpoint());
  }
  load.wait_for_more(some);
  load.finish();

  expect_only_excuses(load);
  Sql database(url);
  Client alex = server.client(world.alex.token);
  expect_all_kept(load, alex, database);
  expect_sound(url);
  EXPECT_EQ(database.number("SELECT count(*) FROM agent_sessions"), std::int64_t(load.acknowledged().size()))
    << "a request that was sent again after the crash wrote a second row";
}

TEST(Crash, TestKillUnderLoadWithTheEmbeddedDatabase) {
  Server server;
  World world(server);
  BindLoad load(world, server.endpoint(), clients);
  for (int round = 0; round < 2; ++round) {
    load.wait_for_more(some);
    server.kill();
    server.start();
    load.move_to(server.endpoint());
  }
  load.wait_for_more(some);
  load.finish();

  expect_only_excuses(load);
  Sql database(embedded_url(server));
  Client alex = server.client(world.alex.token);
  expect_all_kept(load, alex, database);
  expect_sound(embedded_url(server));
}

TEST(Crash, TestKillPostgresUnderLoad) {
  Server server;
  World world(server);
  BindLoad load(world, server.endpoint(), clients);
  for (int round = 0; round < 3; ++round) {
    load.wait_for_more(some);
    const pid_t postmaster = postmaster_of(server);
    ASSERT_EQ(::kill(postmaster, SIGKILL), 0);
  }
  load.wait_for_more(some);
  load.finish();

  expect_only_excuses(load);
  Sql database(embedded_url(server));
  Client alex = server.client(world.alex.token);
  expect_all_kept(load, alex, database);
  expect_sound(embedded_url(server));
  EXPECT_EQ(alex.get("/readyz").status, 200);
}

TEST(Crash, TheDatabaseAwayIs503AndTheServerRecovers) {
  Cluster cluster;
  Server server({cluster.createdb("cleat")});
  World world(server);
  Client alex = server.client(world.alex.token);
  const std::string thread = world.thread(world.support);
  ASSERT_EQ(bind(alex, thread, {fresh_reference()}).status, 201);

  cluster.stop();
  const auto refused = reset(alex, thread);
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(refused.header("retry-after"), "");
  EXPECT_EQ(server.client("").get("/readyz").status, 503);
  EXPECT_EQ(server.client("").get("/healthz").status, 200);

  cluster.start();
  EXPECT_EQ(reset(alex, thread).status, 201);
  EXPECT_EQ(server.client("").get("/readyz").status, 200);
}

TEST(Crash, DrainUnderLoadLosesNoAcknowledgedAnswer) {
  const std::string url = shared_cluster().createdb(fresh_database_name());
  Server server({url});
  World world(server);
  BindLoad load(world, server.endpoint(), clients);
  load.wait_for_more(some);
  load.give_up();
  EXPECT_EQ(server.stop(), 0) << server.output();
  load.finish();

  Sql database(url);
  EXPECT_EQ(database.number("SELECT count(*) FROM agent_sessions"), std::int64_t(load.acknowledged().size()))
    << "a bind was committed and its client was not told";
  expect_only_excuses(load);
  server.start();
  Client alex = server.client(world.alex.token);
  expect_all_kept(load, alex, database);
  expect_sound(url);
}

} // namespace
} // namespace cleat::test
