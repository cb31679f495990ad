#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/process/adapter.hpp"
#include "tests/process/suite.hpp"

/// The example adapter at work: the whole life of a thread, over a restart of the server.
namespace cleat::test {
namespace {

class Example : public testing::Test {
protected:
  Example() {
    std::ofstream(folder.path() / "token") << world.lotse.token << "\n";
    adapter = std::make_unique<Child>(
      Command{std::filesystem::path(CLEAT_EXAMPLES) / "adapter.sh",
              {server.data().string(), (folder.path() / "token").string(), (folder.path() / "state").string()},
              {},
              folder.path() / "adapter.log"});
  }

  ~Example() override {
    adapter->signal(SIGTERM);
    EXPECT_EQ(adapter->wait(std::chrono::seconds(10)), 0) << log();
  }

  std::string log() const { return read_file(folder.path() / "adapter.log"); }

  /// A run of the thread, from trigger to success, and what the agent said in it.
  std::string say(const std::string& in) {
    Client alex = server.client(world.alex.token);
    const std::string run = triggered(alex, in);
    await_state(alex, run, "succeeded");
    std::string said;
    for (const auto& message : messages_of(alex, in))
      if (message.has("run_id") && message["run_id"].string() == run && message["kind"].string() == "message")
        said = message["content_md"].string();
    return said;
  }

  Server server;
  World world{server};
  TemporaryFolder folder;
  std::unique_ptr<Child> adapter;
  std::string thread = world.thread(world.support);
};

TEST_F(Example, TheWholeLifeOfAThread) {
  EXPECT_NE(say(thread).find("message 1 of session"), std::string::npos) << log();
  EXPECT_NE(log().find("session_mode=new"), std::string::npos) << log();
  server.stop();
  server.start(); // on another port, which the adapter finds out
  EXPECT_NE(say(thread).find("message 2 of session"), std::string::npos) << log();
  EXPECT_NE(log().find("session_mode=resume"), std::string::npos) << log();

  Client alex = server.client(world.alex.token);
  ASSERT_EQ(reset(alex, thread).status, 201);
  EXPECT_NE(say(thread).find("message 1 of session"), std::string::npos) << log();
  const std::string current = current_session(alex, thread)["id"].string();
  ASSERT_EQ(bind(alex, thread, {"nobody knows it", current}).status, 201);
  EXPECT_NE(say(thread).find("message 1 of session"), std::string::npos) << log();
  EXPECT_NE(log().find("session_mode=bind"), std::string::npos) << log();
  EXPECT_EQ(lines_of(alex, thread, "agent_session.resume_failed"), 1) << log();
  EXPECT_TRUE(current_session(alex, thread)["started"].boolean());
}

TEST_F(Example, AKilledServerLosesNoInvocation) {
  say(thread);
  server.kill();
  server.start();
  EXPECT_NE(say(thread).find("message 2 of session"), std::string::npos) << log();
}

TEST(Demonstration, ShowsEveryModeAndALineOnce) {
  // As scripts/run --demo has it: the demonstration beside the server.
  Server server({{}, {"--demo"}});
  TemporaryFolder folder;
  const auto log = folder.path() / "demo.log";
  Child demonstration({std::filesystem::path(CLEAT_EXAMPLES) / "demo.sh",
                       {server.data().string(), std::to_string(server.process().pid()), CLEAT_PROGRAMS},
                       {},
                       log});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (read_file(log).find("that was it") == std::string::npos && std::chrono::steady_clock::now() < deadline)
    ASSERT_FALSE(demonstration.wait(std::chrono::milliseconds(100)).has_value()) << read_file(log);
  const std::string text = read_file(log);
  for (const char* shown :
       {"session_mode=new ", "session_mode=resume ", "session_mode=bind ", "[system line] agent_session.resume_failed",
        "message 2 of session", "demo:   Alex: Hello!", "demo:   Alex: Do you remember me?", "stopped, and resumed"})
    EXPECT_NE(text.find(shown), std::string::npos) << shown << "\n" << text;
  server.stop();
  EXPECT_TRUE(demonstration.wait(std::chrono::seconds(20)).has_value()) << "it ends with its server";
}

} // namespace
} // namespace cleat::test
