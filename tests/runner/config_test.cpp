#include "apps/cleat-runner/config.hpp"

#include <gtest/gtest.h>

#include "tests/support/child.hpp"

namespace cleat::runner {
namespace {

class RunnerConfig : public ::testing::Test {
protected:
  Config read(const std::string& toml, const Values& options = required(), const Values& environment = {}) {
    test::write_file(file_, toml);
    return read_config(file_, options, environment);
  }

  static Values required() {
    return {{"server", "127.0.0.1:7481"}, {"token-file", "/run/token"}, {"state", "/var/state"}};
  }

  std::string sentence_of(const std::string& toml, const Values& options = required()) {
    try {
      read(toml, options);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "nothing is wrong";
  }

  test::TemporaryFolder folder_;
  std::string file_ = (folder_.path() / "runner.toml").string();
};

TEST_F(RunnerConfig, AContainerHasEverythingThatTheFileSays) {
  const auto config = read(R"(
    [containers.one]
    driver = "bwrap"
    command = ["agent", "--fast"]
    folder = "/srv/one"
    env = { GREETING = "hello" }
    network = true
    hide = ["/home"]
    stop_grace_s = 3
    [containers."two.b"]
    driver = "null"
  )");
  const auto& one = config.containers.at("one");
  EXPECT_EQ(one.name, "one");
  EXPECT_EQ(one.driver, DriverKind::bwrap);
  EXPECT_EQ(one.command, (std::vector<std::string>{"agent", "--fast"}));
  EXPECT_EQ(one.folder, "/srv/one");
  EXPECT_EQ(one.environment, (std::map<std::string, std::string>{{"GREETING", "hello"}}));
  EXPECT_TRUE(one.network);
  EXPECT_EQ(one.hide, (std::vector<std::string>{"/home"}));
  EXPECT_EQ(one.stop_grace_s, 3);
  EXPECT_EQ(config.containers.at("two.b").driver, DriverKind::null);
}

TEST_F(RunnerConfig, NoTextEndsBeforeItsEnd) {
  const std::string container = "[containers.one]\ncommand = [\"a\"]\nfolder = \"/srv\"\n";
  for (const char* wrong :
       {"tls.ca = \"/ca\\u0000\"", "[containers.one]\ncommand = [\"a\", \"b\\u0000\"]\nfolder = \"/\"",
        "[containers.one]\ncommand = [\"a\"]\nfolder = \"/\"\nenv = { A = \"\\u0000\" }"})
    EXPECT_NE(sentence_of(wrong).find("without NUL"), std::string::npos) << wrong;
  const auto unknown = sentence_of("\"ke\\u0000y\" = 1");
  EXPECT_NE(unknown.find("'ke?y'"), std::string::npos) << unknown;
  EXPECT_TRUE(unknown.ends_with('.')) << unknown;
  EXPECT_EQ(sentence_of(container), "nothing is wrong");
}

TEST_F(RunnerConfig, OptionsBeatTheEnvironmentThatBeatsTheFile) {
  const std::string file =
    "server = \"127.0.0.1:1\"\ntoken_file = \"/file\"\nstate = \"/file\"\n[log]\nlevel = \"warn\"";
  const Values environment{{"CLEAT_RUNNER_SERVER", "127.0.0.1:2"}, {"CLEAT_RUNNER_TOKEN_FILE", "/environment"}};
  const auto config = read(file, {{"server", "127.0.0.1:3"}}, environment);
  EXPECT_EQ(config.server_port, 3);
  EXPECT_EQ(config.token_file, "/environment");
  EXPECT_EQ(config.state, "/file");
  EXPECT_EQ(config.log_level, "warn");
}

TEST_F(RunnerConfig, PlainTextIsForThisMachineAlone) {
  auto options = required();
  EXPECT_FALSE(read("", options).tls);
  options["server"] = "[::1]:7481";
  EXPECT_FALSE(read("", options).tls);
  EXPECT_TRUE(read("[tls]\nca = \"/ca.pem\"", options).tls);
  options["server"] = "cleat.example.com:7481";
  const auto remote = read("", options);
  EXPECT_TRUE(remote.tls);
  EXPECT_EQ(remote.tls_server_name, "cleat.example.com");
  EXPECT_EQ(read("[tls]\nserver_name = \"other.example.com\"", options).tls_server_name, "other.example.com");
}

TEST_F(RunnerConfig, WhatIsWrongIsNamed) {
  const std::vector<std::pair<std::string, std::string>> wrong{
    {"containers.one = 5", "containers.one"},
    {"[containers.One]\ndriver = \"null\"", "containers.One"},
    {"[containers.\"a/../b\"]\ndriver = \"null\"", "containers.a/../b"},
    {"[containers.one]\ndriver = \"docker\"", "containers.one.driver"},
    {"[containers.one]\nfolder = \"/srv\"", "containers.one.command"},
    {"[containers.one]\ncommand = [\"a\"]\nfolder = \"srv\"", "containers.one.folder"},
    {"[containers.one]\ncommand = [\"a\"]\nfolder = \"/srv\"\nenv = {CLEAT_SECRETS = \"x\"}", "CLEAT_SECRETS"},
    {"[containers.one]\ncommand = \"a\"\nfolder = \"/srv\"", "containers.one.command"},
    {"[containers.one]\ndriver = \"null\"\nnetwork = \"yes\"", "containers.one.network"},
    {"[containers.one]\ndriver = \"null\"\nspeed = 1", "containers.one.speed"},
    {"[relay]\nwindow = 0", "relay.window"},
    {"[journal]\nretention = 5", "journal.retention"},
    {"typo = 1", "typo"},
    {"[log]\nlevel = \"loud\"", "log.level"},
    {"this is no toml", "cannot be read"},
  };
  for (const auto& [toml, named] : wrong)
    EXPECT_NE(sentence_of(toml).find(named), std::string::npos) << toml << ": " << sentence_of(toml);
}

TEST_F(RunnerConfig, WhatIsMissingIsNamed) {
  for (const char* option : {"server", "token-file", "state"}) {
    auto options = required();
    options.erase(option);
    EXPECT_NE(sentence_of("", options).find(std::string("--") + option), std::string::npos);
  }
  for (const char* server : {"localhost", "localhost:", ":7481", "localhost:0", "localhost:70000", "::1:7481"}) {
    auto options = required();
    options["server"] = server;
    EXPECT_NE(sentence_of("", options).find("HOST:PORT"), std::string::npos) << server;
  }
}

TEST_F(RunnerConfig, AStateFolderMustLeaveRoomForSockets) {
  auto options = required();
  options["state"] = "/" + std::string(90, 's');
  EXPECT_NE(sentence_of("[containers.one]\ndriver = \"null\"", options).find("too long"), std::string::npos);
}

} // namespace
} // namespace cleat::runner
