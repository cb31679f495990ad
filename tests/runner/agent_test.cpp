#include <fcntl.h>
#include <unistd.h>

#include "tests/runner/fixture.hpp"

/// What an agent finds when it starts (spec 04 section 7), and the example agent.
namespace cleat::test {
namespace {

class Agents : public RunnerTest {};

TEST_F(Agents, TheEnvironmentIsClean) {
  add_agent("one", "/usr/bin/env | sort", "env = {GREETING = \"hello\"}");
  serve();
  const auto lines = hear_to_the_end(start_agent("one", session('a')));
  std::map<std::string, std::string> environment;
  for (const auto& line : lines)
    if (!line.exit_code)
      environment[line.line.substr(0, line.line.find('='))] = line.line.substr(line.line.find('=') + 1);
  environment.erase("PWD"); // the shell's own
  environment.erase("OLDPWD");
  environment.erase("SHLVL");
  environment.erase("_");
  const std::map<std::string, std::string> expected{
    {"CLEAT_SECRETS", (state() / "containers/one/secrets.sock").string()},
    {"CLEAT_SESSION_ID", session('a')},
    {"GREETING", "hello"},
    {"HOME", folder().string()},
    {"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  EXPECT_EQ(environment, expected);
}

TEST_F(Agents, NoDescriptorIsInheritedAndTheFolderIsTheContainers) {
  add_agent("one", "pwd; ls /proc/self/fd | tr '\\n' ' '; echo");
  // Whoever started the Runner has left something open.
  const int left_open = ::open("/dev/null", O_RDONLY);
  ASSERT_GE(left_open, 0);
  serve();
  ::close(left_open);
  const auto lines = hear_to_the_end(start_agent("one", session('a')));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].line, folder().string());
  // The three streams, and the one by which ls reads the folder.
  EXPECT_EQ(lines[1].line, "0 1 2 3 ");
}

TEST_F(Agents, SignalsAreAsAProgramExpectsThem) {
  // Without a shell, which would put some of it right by itself.
  configure("[containers.one]\ncommand = [\"/bin/grep\", \"-E\", \"^Sig(Blk|Ign)\", \"/proc/self/status\"]\n"
            "folder = \"" +
            folder().string() + "\"\n");
  attempts_["one"] = "";
  serve();
  const auto lines = hear_to_the_end(start_agent("one", session('a')));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].line, "SigBlk:\t0000000000000000");
  EXPECT_EQ(lines[1].line, "SigIgn:\t0000000000000000");
}

TEST_F(Agents, ErrorsGoToALogOfBoundedSize) {
  add_agent("one", "echo \"a complaint\" >&2; i=0; while [ $i -lt 40 ]; do printf '%065000d\\n' $i >&2; i=$((i+1)); "
                   "done; echo done; read -r line");
  serve();
  hear(start_agent("one", session('a')), 1);
  const auto log_file = state() / "containers/one/stderr.log";
  const auto size = std::filesystem::file_size(log_file);
  EXPECT_GT(size, 0U);
  EXPECT_LE(size, 1U << 20);
  EXPECT_LE(std::filesystem::file_size(log_file.string() + ".1"), 1U << 20);
}

TEST_F(Agents, AFolderThatIsNotThereIsAFailedStart) {
  configure("[containers.one]\ncommand = [\"sh\"]\nfolder = \"/nowhere/at/all\"\n");
  attempts_["one"] = "";
  serve();
  peer_->send(fresh("one", new_id(), session('a')));
  const auto failed = std::get<wire::Failed>(peer_->next<wire::Failed>().report);
  EXPECT_EQ(failed.code, "start_failed");
  EXPECT_TRUE(failed.retryable);
  EXPECT_NE(failed.detail.find("/nowhere/at/all"), std::string::npos);
}

class EchoAgent : public RunnerTest {
protected:
  EchoAgent() {
    configure(std::string("[containers.one]\ncommand = [\"") + CLEAT_ECHO_AGENT + "\"]\nfolder = \"" +
              folder().string() + "\"\n");
    attempts_["one"] = "";
  }
};

TEST_F(EchoAgent, GreetsAnswersAndEnds) {
  serve();
  const auto operation = start_agent("one", session('a'));
  EXPECT_EQ(hear(operation, 1).front().line, "hello, this is session " + session('a'));
  type("one", operation, session('a'), 2, "good morning");
  EXPECT_EQ(hear(operation, 1).front().line, "you said: good morning");
  type("one", operation, session('a'), 4, "exit");
  const auto lines = hear_to_the_end(operation);
  EXPECT_EQ(lines.front().line, "goodbye");
  EXPECT_EQ(lines.back().exit_code, 0);
}

TEST_F(EchoAgent, RemembersItsSession) {
  serve();
  const auto operation = new_id();
  const std::string body =
    R"({"seq":1,"time":"2026-01-31T12:00:00.000000Z","direction":"out","line":"hello"})"
    "\n"
    R"({"seq":2,"time":"2026-01-31T12:00:01.000000Z","direction":"in","line":"my \"name\" is Alex"})"
    "\n"
    R"({"seq":3,"time":"2026-01-31T12:00:02.000000Z","direction":"out","line":"","exit_code":0})"
    "\n";
  peer_->send(envelope("one", operation, wire::BodyPart{0, body}, 1));
  peer_->send(resume("one", operation, session('a'), 1));
  EXPECT_EQ(hear(operation, 1).front().line, "welcome back, I remember 3 lines, the last one: my \"name\" is Alex");
}

} // namespace
} // namespace cleat::test
