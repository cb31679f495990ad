#include <cstdlib>
#include <filesystem>

#include "tests/runner/fixture.hpp"

/// Agents inside bubblewrap (spec 04 section 7).
namespace cleat::test {
namespace {

class Bubblewrap : public RunnerTest {
protected:
  std::vector<std::string> said_by(const std::string& script, const std::string& more = "") {
    add_agent("one", script, "driver = \"bwrap\"\n" + more);
    serve();
    std::vector<std::string> lines;
    for (const auto& line : hear_to_the_end(start_agent("one", session('a'))))
      lines.push_back(line.exit_code ? "exit " + std::to_string(*line.exit_code) : line.line);
    return lines;
  }
};

TEST_F(Bubblewrap, TheAgentRunsInItsFolderAndTellsItsExitCode) {
  EXPECT_EQ(said_by("pwd; echo text > made; cat made; exit 9"),
            (std::vector<std::string>{folder().string(), "text", "exit 9"}));
  EXPECT_EQ(read_file(folder() / "made"), "text\n");
}

TEST_F(Bubblewrap, TheRestOfTheMachineIsReadOnlyAndTheRunnersStateIsNotThere) {
  // Not below /tmp, which is out of sight anyway.
  std::string outside = "/var/tmp/cleat-runner-XXXXXX";
  ASSERT_NE(::mkdtemp(outside.data()), nullptr);
  state_ = outside;
  write_file(state_ / "secret", "");
  const auto lines = said_by("touch /usr/made 2> /dev/null || echo read only; ls " + state().string() + "; cat " +
                             file("token").string() +
                             " 2> /dev/null || echo no token; test -S "
                             "\"$CLEAT_SECRETS\" && echo socket");
  // The state folder holds what leads to the agent's own socket and nothing else.
  EXPECT_EQ(lines, (std::vector<std::string>{"read only", "containers", "no token", "socket", "exit 0"}));
  runner_.reset();
  std::filesystem::remove_all(state_);
}

TEST_F(Bubblewrap, OtherProcessesAreOutOfSight) {
  const auto lines = said_by("ls /proc | grep -c '^[0-9]'; cat /proc/1/comm");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_LE(std::stoi(lines[0]), 5);
  EXPECT_EQ(lines[1], "bwrap");
}

TEST_F(Bubblewrap, ThereIsNoNetworkUnlessItIsConfigured) {
  EXPECT_EQ(said_by("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '"), (std::vector<std::string>{"lo", "exit 0"}));
}

TEST_F(Bubblewrap, NamespacesAreItsOwn) {
  const auto lines = said_by("for n in mnt pid ipc uts net; do readlink /proc/self/ns/$n; done", "network = true");
  ASSERT_EQ(lines.size(), 6U);
  const std::vector<std::string> names{"mnt", "pid", "ipc", "uts", "net"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto ours = std::filesystem::read_symlink("/proc/self/ns/" + names[i]).string();
    EXPECT_EQ(lines[i] == ours, names[i] == "net") << names[i];
  }
}

TEST_F(Bubblewrap, RootIsNobodySpecialInside) {
  EXPECT_EQ(said_by("grep CapEff /proc/self/status"),
            (std::vector<std::string>{"CapEff:\t0000000000000000", "exit 0"}));
}

TEST_F(Bubblewrap, HiddenFoldersAreEmpty) {
  EXPECT_EQ(said_by("ls /etc | wc -l", "hide = [\"/etc\"]"), (std::vector<std::string>{"0", "exit 0"}));
}

TEST_F(Bubblewrap, AResumeFindsItsBody) {
  add_agent("one", "cat \"$CLEAT_SESSION_BODY\"; echo x >> \"$CLEAT_SESSION_BODY\" 2> /dev/null || echo read only",
            "driver = \"bwrap\"");
  serve();
  const auto operation = new_id();
  peer_->send(envelope("one", operation, wire::BodyPart{0, "the body\n"}, 1));
  peer_->send(resume("one", operation, session('a'), 1));
  const auto lines = hear_to_the_end(operation);
  EXPECT_EQ(lines.front().line, "the body");
}

TEST_F(Bubblewrap, AStopLetsTheAgentSayGoodbye) {
  add_agent("one", "trap 'echo goodbye; exit 4' TERM; echo ready; while :; do sleep 0.05; done", "driver = \"bwrap\"");
  serve();
  const auto operation = start_agent("one", session('a'));
  hear(operation, 1);
  stop_agent("one", session('a'));
  const auto lines = hear_to_the_end(operation);
  EXPECT_EQ(lines.front().line, "goodbye");
  EXPECT_EQ(lines.back().exit_code, 4);
}

TEST_F(Bubblewrap, AnAgentThatDoesNotEndIsKilled) {
  add_agent("one", "trap '' TERM; echo ready; while :; do sleep 0.05; done", "driver = \"bwrap\"");
  serve();
  const auto operation = start_agent("one", session('a'));
  hear(operation, 1);
  stop_agent("one", session('a'));
  EXPECT_EQ(hear_to_the_end(operation).back().exit_code, 128 + 9);
}

/// How many processes there are to which this session was given.
int processes_of(const std::string& session_id) {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto environment = read_file(entry.path() / "environ");
    found += environment.find("CLEAT_SESSION_ID=" + session_id) == std::string::npos ? 0 : 1;
  }
  return found;
}

TEST_F(Bubblewrap, ItDiesWithTheRunner) {
  // Something of its own, so that no other test's agent is counted.
  const auto session_id = session('d').substr(0, 60) + "beef";
  add_agent("one", "setsid sleep 1000 & echo ready; while :; do sleep 0.05; done", "driver = \"bwrap\"");
  serve();
  hear(start_agent("one", session_id), 1);
  EXPECT_GE(processes_of(session_id), 3);
  kill_runner();
  start_runner();
  meet();
  EXPECT_EQ(processes_of(session_id), 0);
}

TEST_F(Bubblewrap, AProgramThatIsNotThereIsAFailedStart) {
  configure("[containers.one]\ndriver = \"bwrap\"\ncommand = [\"/nowhere/agent\"]\nfolder = \"" + folder().string() +
            "\"\n");
  attempts_["one"] = "";
  serve();
  peer_->send(fresh("one", new_id(), session('a')));
  EXPECT_EQ(std::get<wire::Failed>(peer_->next<wire::Failed>().report).code, "start_failed");
}

} // namespace
} // namespace cleat::test
