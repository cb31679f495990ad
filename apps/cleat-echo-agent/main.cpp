#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

#include <simdjson.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/// An agent that greets, repeats each line that it is told, and ends on "exit". When its session is resumed it says
/// what it remembers; "secret NAME" asks for a secret of its account and says how long it is, and so does each name
/// on its command line at once.
namespace cleat::echo_agent {
namespace {

/// The value of a variable that the Runner sets; empty without it.
std::string variable(const char* name) {
  const char* value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): there is one thread
  return value == nullptr ? "" : value;
}

/// A line for the transcript; flushed, because somebody waits for it.
void say(const std::string& line) {
  std::cout << line << std::endl;
}

struct Memory {
  std::size_t lines = 0;
  std::string last;
};

/// Reads a session body: a JSON object a line, the newest last.
Memory remember(const std::string& path) {
  Memory memory;
  std::ifstream body(path);
  simdjson::dom::parser parser;
  for (std::string text; std::getline(body, text); ++memory.lines) {
    simdjson::dom::element object;
    std::string_view line;
    // The end of an earlier lifetime has an exit code and no text.
    if (parser.parse(text).get(object) == simdjson::SUCCESS && object["exit_code"].error() != simdjson::SUCCESS &&
        object["line"].get(line) == simdjson::SUCCESS)
      memory.last = line;
  }
  return memory;
}

/// Asks the Runner for a secret; answers all that it says.
std::string ask_for_secret(const std::string& name) {
  const std::string path = variable("CLEAT_SECRETS");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return "error no_socket\n";
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const std::string question = name + "\n";
  std::string answer;
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::write(socket, question.data(), question.size()) == static_cast<ssize_t>(question.size())) {
    std::array<char, 4096> piece{};
    for (ssize_t count = 0; (count = ::read(socket, piece.data(), piece.size())) > 0;)
      answer.append(piece.data(), static_cast<std::size_t>(count));
  }
  ::close(socket);
  return answer.empty() ? "error no_answer\n" : answer;
}

/// What is said about a secret: never its value.
std::string about_secret(const std::string& name) {
  const auto answer = ask_for_secret(name);
  const auto end = answer.find('\n');
  if (!answer.starts_with("ok "))
    return "secret " + name + ": " + answer.substr(0, end);
  return "secret " + name + ": " + std::to_string(answer.size() - end - 1) + " bytes";
}

void greet() {
  const auto body = variable("CLEAT_SESSION_BODY");
  if (body.empty()) {
    say("hello, this is session " + variable("CLEAT_SESSION_ID"));
    return;
  }
  const auto memory = remember(body);
  say("welcome back, I remember " + std::to_string(memory.lines) + " lines, the last one: " + memory.last);
}

void converse() {
  constexpr std::string_view secret = "secret ";
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "exit") {
      say("goodbye");
      return;
    }
    say(line.starts_with(secret) ? about_secret(line.substr(secret.size())) : "you said: " + line);
  }
}

} // namespace
} // namespace cleat::echo_agent

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    cleat::echo_agent::say(cleat::echo_agent::about_secret(argv[i]));
  cleat::echo_agent::greet();
  cleat::echo_agent::converse();
  return 0;
}
