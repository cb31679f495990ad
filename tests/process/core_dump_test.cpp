#include <gtest/gtest.h>

#include <csignal>

#include "tests/process/suite.hpp"
#include "tests/support/cores.hpp"

/// What is in the memory of a server stays out of files (spec 06 section 3; docs/operating/security.md).
namespace cleat::test {
namespace {

/// A server under no limit of core dumps, which works in a folder of its own.
class CoreDumps : public testing::Test {
protected:
  /// Starts a server, ends it by a signal that leaves a dump, and answers the dumps that are there then. Where dumps
  /// are no files here, the limit of the process is all that can be seen of it.
  std::vector<std::filesystem::path> dumps_of_a_crash(const std::vector<std::string>& arguments) {
    ServerOptions options;
    options.database_url = shared_cluster().createdb(fresh_database_name());
    options.arguments = arguments;
    options.through = with_unlimited_cores(folder_.path());
    Server server(options);
    limit_ = core_limit_of(server.process().pid());
    server.process().signal(SIGABRT);
    EXPECT_EQ(server.process().wait(std::chrono::minutes{1}), 128 + SIGABRT);
    auto found = cores_below(folder_.path());
    for (auto& path : cores_below(server.data()))
      found.push_back(std::move(path));
    return found;
  }

  TemporaryFolder folder_;
  std::string limit_;
};

TEST_F(CoreDumps, TestACrashLeavesNoneBehind) {
  EXPECT_EQ(dumps_of_a_crash({}), std::vector<std::filesystem::path>{});
  EXPECT_EQ(limit_, "0");
}

TEST_F(CoreDumps, TestWhoDebugsGetsOne) {
  const auto dumps = dumps_of_a_crash({"--set", "process.core_dumps=true"});
  EXPECT_EQ(limit_, "unlimited");
  if (cores_are_files_here()) {
    EXPECT_EQ(dumps.size(), 1U);
  }
}

/// Whether another process of the same user, without the rights of root, may look into a server.
bool can_be_looked_into(const std::vector<std::string>& arguments) {
  const TemporaryFolder folder;
  ServerOptions options;
  options.database_url = shared_cluster().createdb(fresh_database_name());
  options.arguments = arguments;
  options.through = without_tracing();
  Server server(options);
  const auto file = "/proc/" + std::to_string(server.process().pid()) + "/environ";
  Child reader(through(without_tracing(), {"/usr/bin/head", {"--bytes=1", file}, {}, folder.path() / "output"}));
  return reader.wait(std::chrono::minutes{1}) == 0;
}

TEST(Memory, TestIsForNoOtherProcess) {
  EXPECT_FALSE(can_be_looked_into({}));
  EXPECT_TRUE(can_be_looked_into({"--set", "process.core_dumps=true"}));
}

} // namespace
} // namespace cleat::test
