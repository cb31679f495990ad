#include <array>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "protocol/runner_codec.hpp"
#include "tests/runner/fixture.hpp"

/// How agents get secrets (spec 04 section 7): over a socket of their own, from the server, kept nowhere.
namespace cleat::test {
namespace {

class Secrets : public RunnerTest {
protected:
  void begin() {
    add_agent("one", "echo ready; read -r line");
    serve();
    operation_ = start_agent("one", session('a'));
    hear(operation_, 1);
  }

  /// Connects to the agent's socket and writes to it.
  int ask_socket(const std::string& text) {
    const auto path = (state() / "containers/one/secrets.sock").string();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size());
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    if (!text.empty()) {
      EXPECT_EQ(::send(socket, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    }
    return socket;
  }

  /// Everything that the socket says until it hangs up.
  static std::string all_of(int socket) {
    std::string text;
    std::array<char, 4096> piece{};
    pollfd ready{socket, POLLIN, 0};
    while (::poll(&ready, 1, static_cast<int>(patience.count())) == 1) {
      const auto count = ::recv(socket, piece.data(), piece.size(), 0);
      if (count <= 0)
        break;
      text.append(piece.data(), static_cast<std::size_t>(count));
    }
    ::close(socket);
    return text;
  }

  wire::FromRunner expect_question(const std::string& name) {
    auto question = peer_->next<wire::AskSecret>();
    EXPECT_EQ(question.operation_id, operation_);
    EXPECT_EQ(question.container_attempt_id, attempt("one"));
    EXPECT_EQ(std::get<wire::AskSecret>(question.report), (wire::AskSecret{session('a'), name}));
    return question;
  }

  void answer(const wire::FromRunner& question, const wire::SecretAnswer& with) {
    wire::ToRunner message;
    message.request_id = question.request_id;
    message.operation_id = question.operation_id;
    message.container_attempt_id = question.container_attempt_id;
    message.command = with;
    peer_->send(message);
  }

  std::string operation_;
};

TEST_F(Secrets, AnAgentAsksAndTheServerAnswers) {
  begin();
  const int socket = ask_socket("API_KEY\n");
  answer(expect_question("API_KEY"), {true, std::string("a\0b\n", 4)});
  EXPECT_EQ(all_of(socket), std::string("ok 4\na\0b\n", 9));
  const int other = ask_socket("NO_SUCH\n");
  answer(expect_question("NO_SUCH"), {false, ""});
  EXPECT_EQ(all_of(other), "error not_found\n");
}

TEST_F(Secrets, AnswersFindWhoAskedInWhateverOrderTheyCome) {
  begin();
  const int first = ask_socket("FIRST\n");
  const auto first_question = expect_question("FIRST");
  const int second = ask_socket("SECOND\n");
  const auto second_question = expect_question("SECOND");
  EXPECT_NE(first_question.request_id, second_question.request_id);
  answer(second_question, {true, "2"});
  answer(first_question, {true, "1"});
  EXPECT_EQ(all_of(first), "ok 1\n1");
  EXPECT_EQ(all_of(second), "ok 1\n2");
}

TEST_F(Secrets, AQuestionSurvivesAReconnect) {
  begin();
  const int socket = ask_socket("API_KEY\n");
  expect_question("API_KEY");
  peer_->close();
  meet();
  continue_enrolment();
  answer(expect_question("API_KEY"), {true, "x"});
  EXPECT_EQ(all_of(socket), "ok 1\nx");
}

TEST_F(Secrets, ALargeSecretArrivesWhole) {
  begin();
  const std::string value(65'536, 's');
  const int socket = ask_socket("LARGE\n");
  answer(expect_question("LARGE"), {true, value});
  EXPECT_EQ(all_of(socket), "ok 65536\n" + value);
}

TEST_F(Secrets, ANameThatIsTooLongIsNotAskedFor) {
  begin();
  EXPECT_EQ(all_of(ask_socket(std::string(65, 'A') + "\n")), "error not_found\n");
  EXPECT_EQ(all_of(ask_socket(std::string(500, 'A'))), "error not_found\n");
  EXPECT_FALSE(peer_->find<wire::AskSecret>(std::chrono::milliseconds(0)));
}

TEST_F(Secrets, OneTooManyIsHungUpOnAndOthersAreServed) {
  begin();
  std::vector<int> sockets;
  for (int i = 0; i < 16; ++i)
    sockets.push_back(ask_socket("API_KEY\n"));
  for (int i = 0; i < 16; ++i)
    answer(expect_question("API_KEY"), {true, "x"});
  for (const int socket : sockets)
    EXPECT_EQ(all_of(socket), "ok 1\nx");
  sockets.clear();
  for (int i = 0; i < 16; ++i)
    sockets.push_back(ask_socket(""));
  const int one_too_many = ask_socket("");
  EXPECT_EQ(all_of(one_too_many), "");
  for (const int socket : sockets)
    ::close(socket);
}

TEST_F(Secrets, TheSocketIsForItsUserAloneAndGoesWithTheAgent) {
  begin();
  const auto folder_of_one = state() / "containers/one";
  EXPECT_EQ(std::filesystem::status(folder_of_one).permissions(), std::filesystem::perms::owner_all);
  EXPECT_TRUE(std::filesystem::exists(folder_of_one / "secrets.sock"));
  stop_agent("one", session('a'));
  EXPECT_FALSE(std::filesystem::exists(folder_of_one / "secrets.sock"));
}

TEST_F(Secrets, WhatAnAgentAsksAtOnceComesAfterItsStartIsTold) {
  configure(std::string("[containers.two]\ncommand = [\"") + CLEAT_ECHO_AGENT + "\", \"API_KEY\"]\nfolder = \"" +
            folder().string() + "\"\n");
  attempts_["two"] = "";
  serve();
  const auto operation = new_id();
  peer_->send(fresh("two", operation, session('b')));
  EXPECT_TRUE(std::holds_alternative<wire::Acknowledged>(peer_->next_of_any().report));
  EXPECT_TRUE(std::holds_alternative<wire::Started>(peer_->next_of_any().report));
  const auto question = peer_->next_of_any();
  EXPECT_EQ(std::get<wire::AskSecret>(question.report), (wire::AskSecret{session('b'), "API_KEY"}));
  answer(question, {true, "12345"});
  EXPECT_EQ(hear(operation, 1).front().line, "secret API_KEY: 5 bytes");
}

TEST_F(Secrets, AQuestionNeverOvertakesTheStart) {
  configure(std::string("[containers.two]\ncommand = [\"") + CLEAT_ECHO_AGENT + "\", \"API_KEY\"]\nfolder = \"" +
            folder().string() + "\"\n");
  attempts_["two"] = "";
  add_agent("one", "read -r line");
  serve();
  // While the Runner writes a large session body, the agent before it is executed and asks, and the socket goes.
  const auto large = new_id();
  for (int part = 0; part < 24; ++part)
    peer_->send(envelope("one", large, wire::BodyPart{part, std::string(500'000, 'x')}, 1));
  const auto operation = new_id();
  peer_->send_bytes(wire::frame(wire::encode(fresh("two", operation, session('b')))) +
                    wire::frame(wire::encode(resume("one", large, session('a'), 24))));
  peer_->hang_up();
  meet();
  continue_enrolment();
  // The server does not know yet that the agent runs.
  EXPECT_FALSE(peer_->find<wire::AskSecret>(std::chrono::milliseconds(300)));
  EXPECT_EQ(settled_status_of("two", operation).kind, wire::StatusKind::live);
  EXPECT_EQ(peer_->next<wire::AskSecret>().operation_id, operation);
}

} // namespace
} // namespace cleat::test
