#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "apps/cleat-load/runner_process.hpp"
#include "tests/support/child.hpp"

/// Programs in the Runner's place: how it is found, started and ended.
namespace cleat::load {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class RunnerProcessTest : public testing::Test {
protected:
  /// A program that writes down how it was called and then does `body`.
  fs::path program(const std::string& body) {
    fs::path path = folder_.path() / "program";
    std::ofstream(path) << "#!/bin/sh\nprintf '%s\\n' \"$@\" >" << (folder_.path() / "arguments").string() << "\n"
                        << body << "\n";
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }

  /// The value of an option that it was called with.
  std::string argument(const std::string& option) {
    std::ifstream file(folder_.path() / "arguments");
    for (std::string line; std::getline(file, line);)
      if (line == option && std::getline(file, line))
        return line;
    return {};
  }

  test::TemporaryFolder folder_;
  const RunnerEntry entry_{"the token", {"box-0", "box-1"}};
};

TEST_F(RunnerProcessTest, HasItsOwnFolderThatGoesWithIt) {
  fs::path state;
  {
    const RunnerProcess runner(program("cat \"$4\" \"$8\"; echo ready; exec sleep 600"), "127.0.0.1:1", entry_);
    while (!runner.last_words().ends_with("ready\n"))
      ASSERT_FALSE(runner.ends_within(5ms)) << "its log is a file, there is nothing to wait on";
    EXPECT_EQ(argument("--server"), "127.0.0.1:1");
    state = argument("--state");
    EXPECT_TRUE(fs::exists(state.parent_path() / "token"));
    EXPECT_EQ(fs::status(state.parent_path() / "token").permissions(), fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(runner.last_words(), "the token\n[containers.box-0]\ndriver = \"null\"\n[containers.box-1]\n"
                                   "driver = \"null\"\nready\n");
  }
  EXPECT_FALSE(state.empty());
  EXPECT_FALSE(fs::exists(state.parent_path()));
}

TEST_F(RunnerProcessTest, ItsEndIsSeenAndItsLastWordsAreKept) {
  const RunnerProcess runner(program("echo 'no such server'; exit 3"), "127.0.0.1:1", entry_);
  EXPECT_TRUE(runner.ends_within(30s));
  EXPECT_EQ(runner.last_words(), "no such server\n");
}

TEST_F(RunnerProcessTest, AProgramThatIsNotThereIsNamed) {
  const fs::path nowhere = folder_.path() / "nowhere";
  try {
    find_runner_program(nowhere);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find(nowhere.string()), std::string::npos);
  }
  const fs::path there = program("exit 0");
  EXPECT_EQ(find_runner_program(there), there);
}

} // namespace
} // namespace cleat::load
