#include <csignal>

#include "tests/runner/fixture.hpp"
#include "tests/support/cores.hpp"

/// What passes through a Runner stays out of files; what an agent does with its own memory is the agent's affair.
namespace cleat::test {
namespace {

class CoreDumps : public RunnerTest {
protected:
  /// A Runner under no limit of core dumps, which works in a folder of its own.
  void serve_with_unlimited_cores() {
    starter_ = with_unlimited_cores(cores_.path());
    serve();
  }

  TemporaryFolder cores_;
};

TEST_F(CoreDumps, ACrashLeavesNoneBehind) {
  add_null("one");
  serve_with_unlimited_cores();
  start_agent("one", session('a'));
  EXPECT_EQ(core_limit_of(runner_->pid()), "0");
  runner_->signal(SIGABRT);
  EXPECT_EQ(end_of_runner(), 128 + SIGABRT);
  EXPECT_TRUE(cores_below(cores_.path()).empty());
  EXPECT_TRUE(cores_below(state()).empty());
}

TEST_F(CoreDumps, AnAgentBeginsWithoutThemAndMayAskForThem) {
  add_agent("one", "ulimit -c; ulimit -c unlimited && ulimit -c");
  serve_with_unlimited_cores();
  const auto lines = hear_to_the_end(start_agent("one", session('a')));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].line, "0");
  EXPECT_EQ(lines[1].line, "unlimited");
}

TEST_F(CoreDumps, AnAgentThatAsksGetsOneOfItself) {
  // This is also what shows that the test above would see a dump of the Runner if there were one.
  add_agent("one", "ulimit -c unlimited; kill -ABRT $$");
  serve_with_unlimited_cores();
  EXPECT_EQ(hear_to_the_end(start_agent("one", session('a'))).back().exit_code, 128 + SIGABRT);
  if (cores_are_files_here()) {
    EXPECT_EQ(cores_below(folder()).size(), 1U);
  }
}

TEST_F(CoreDumps, AnAgentCannotLookIntoItsRunner) {
  add_agent("one", "head -c 1 /proc/$$/environ > /dev/null && echo itself; "
                   "head -c 1 /proc/$PPID/environ > /dev/null && echo the Runner");
  starter_ = without_tracing();
  serve();
  const auto lines = hear_to_the_end(start_agent("one", session('a')));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].line, "itself");
}

} // namespace
} // namespace cleat::test
