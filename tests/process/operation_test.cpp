#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>

#include <sys/stat.h>

#include "tests/process/suite.hpp"

/// What whoever runs Cleat sees: start-up, the demo, health, stopping (spec 05 "Command line", spec 06 section 4).
namespace cleat::test {
namespace {

/// The permissions of a file, as in `ls`.
unsigned mode_of(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    throw std::runtime_error("no file " + path.string());
  return status.st_mode & 0777U;
}

/// What a shell makes of a command that a person pastes: its standard output, or nothing when it fails.
std::string pasted(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"),
                                                   [](FILE* file) { return ::pclose(file); });
  std::string output;
  char buffer[4096];
  for (std::size_t n = 0; (n = ::fread(buffer, 1, sizeof buffer, pipe.get())) > 0;)
    output.append(buffer, n);
  return output;
}

/// The `curl` commands in a text, with their continued lines.
std::vector<std::string> curl_commands(const std::string& text) {
  std::vector<std::string> commands;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos || line.compare(begin, 5, "curl ") != 0)
      continue;
    std::string command = line.substr(begin);
    while (command.ends_with('\\') && std::getline(lines, line))
      command = command.substr(0, command.size() - 1) + line;
    commands.push_back(command);
  }
  return commands;
}

std::string url_of(const Server& server) {
  return "http://" + server.endpoint().host + ":" + std::to_string(server.endpoint().port);
}

class Operating : public ServerSuite {};

TEST_F(Operating, HealthReadinessAndMetrics) {
  Client anybody = server().client("");
  EXPECT_EQ(anybody.get("/healthz").status, 200);
  EXPECT_EQ(anybody.get("/readyz").status, 200);
  World world(server());
  Client alex = world.as(world.alex);
  const std::string reference = fresh_reference();
  ASSERT_EQ(bind(alex, world.thread(world.support), {reference}).status, 201);
  const auto metrics = anybody.get("/metrics");
  EXPECT_EQ(metrics.status, 200);
  EXPECT_NE(metrics.body.find("bindAgentSession"), std::string::npos);
  EXPECT_EQ(metrics.body.find(reference), std::string::npos);
  EXPECT_EQ(metrics.body.find(world.alex.id), std::string::npos);
  EXPECT_EQ(server().output().find(reference), std::string::npos) << "a reference is in the log";
  EXPECT_EQ(server().output().find(world.alex.token), std::string::npos) << "a token is in the log";
}

TEST_F(Operating, TheContractIsServed) {
  Client anybody = server().client("");
  EXPECT_EQ(anybody.get("/openapi.yaml").body, read_file(CLEAT_OPENAPI));
  const auto page = anybody.get("/docs");
  EXPECT_EQ(page.status, 200);
  EXPECT_TRUE(page.header("content-type").starts_with("text/html"));
  EXPECT_EQ(page.body.find("src=\"http"), std::string::npos) << "the page asks nobody else";
}

TEST_F(Operating, StartUpSaysWhereEverythingIs) {
  const std::string text = server().output();
  EXPECT_NE(text.find(url_of(server())), std::string::npos) << text;
  EXPECT_NE(text.find("owner.token"), std::string::npos) << text;
  EXPECT_EQ(text.find(server().owner_token()), std::string::npos) << "the secret itself is not printed";
  EXPECT_EQ(mode_of(server().data() / "owner.token"), 0600U);
}

TEST(Operation, StopsCleanlyAndStartsAgain) {
  Server server;
  World world(server);
  Client alex = world.as(world.alex);
  const std::string thread = world.thread(world.support);
  const std::string id = bind(alex, thread, {fresh_reference()}).json()["id"].string();
  const std::string token = server.owner_token();
  EXPECT_EQ(server.stop(), 0) << server.output();
  server.start();
  EXPECT_EQ(server.owner_token(), token) << "the owner is made once";
  Client again = server.client(world.alex.token);
  EXPECT_EQ(current_session(again, thread)["id"].string(), id);
}

TEST(Operation, TheDemosCurlLinesWorkWhenPasted) {
  Server server({{}, {"--demo"}});
  const auto commands = curl_commands(server.output());
  ASSERT_EQ(commands.size(), 4U) << server.output();
  for (const auto& command : commands) {
    // A person sees the answer; a machine reads it as JSON that is no problem.
    const std::string output = pasted(command + " 2>/dev/null");
    ASSERT_TRUE(output.starts_with("{")) << command << "\n" << output;
    const Json answer = Json::parse(output.substr(0, output.rfind('}') + 1));
    EXPECT_FALSE(answer.has("code")) << command << "\n" << output;
    EXPECT_TRUE(answer.has("items") || answer.has("external_session_ref") || answer.has("triggered_by"))
      << command << "\n"
      << output;
  }
  EXPECT_EQ(mode_of(server.data() / "demo.tokens"), 0600U);

  Client owner = server.client(server.owner_token());
  const std::string spaces = owner.get("/v1/spaces").body;
  const std::string people = owner.get("/v1/principals").body;
  ASSERT_EQ(server.stop(), 0);
  server.start();
  Client later = server.client(server.owner_token());
  EXPECT_EQ(later.get("/v1/spaces").body, spaces) << "the demo world is made once";
  EXPECT_EQ(later.get("/v1/principals").body, people);
}

TEST(Operation, AWrongOptionNamesItself) {
  const TemporaryFolder folder;
  const auto log = folder.path() / "output.log";
  Child child({CLEAT_CLEATD, {"--data", folder.path().string(), "--nonsense"}, {}, log});
  EXPECT_NE(child.wait(std::chrono::seconds{30}).value_or(0), 0);
  EXPECT_NE(read_file(log).find("nonsense"), std::string::npos) << read_file(log);
}

TEST(Operation, ListensBeyondLoopbackOnlyWhenTold) {
  const TemporaryFolder folder;
  const auto log = folder.path() / "output.log";
  Child child({CLEAT_CLEATD, {"--data", folder.path().string(), "--http", "0.0.0.0:0"}, {}, log});
  EXPECT_NE(child.wait(std::chrono::seconds{30}).value_or(0), 0);
  EXPECT_NE(read_file(log).find("--insecure"), std::string::npos) << read_file(log);
}

TEST(Operation, HelpFitsAScreen) {
  const TemporaryFolder folder;
  const auto log = folder.path() / "output.log";
  Child child({CLEAT_CLEATD, {"--help"}, {}, log});
  EXPECT_EQ(child.wait(std::chrono::seconds{30}).value_or(-1), 0);
  const std::string text = read_file(log);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 40);
  for (const char* option : {"--config", "--data", "--http", "--database-url", "--demo", "--insecure"})
    EXPECT_NE(text.find(option), std::string::npos) << option;
}

} // namespace
} // namespace cleat::test
