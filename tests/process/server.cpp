#include "tests/process/server.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

namespace cleat::test {
namespace {

using Clock = std::chrono::steady_clock;

/// An initdb on a loaded machine takes a while.
constexpr auto start_patience = std::chrono::minutes{2};
constexpr auto stop_patience = std::chrono::minutes{1};

/// Tells when something in a folder changes.
class FolderWatch {
public:
  explicit FolderWatch(const std::filesystem::path& folder) : descriptor_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    if (::inotify_add_watch(descriptor_, folder.c_str(), IN_MOVED_TO | IN_CLOSE_WRITE | IN_MODIFY) < 0)
      throw std::runtime_error("cannot watch " + folder.string());
  }
  ~FolderWatch() { ::close(descriptor_); }

  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  /// Waits for a change, for the end of `child` or for the deadline. False when the child has ended or time is over.
  bool wait(const Child& child, Clock::time_point deadline) {
    std::array<pollfd, 2> watched{{{descriptor_, POLLIN, 0}, {child.descriptor(), POLLIN, 0}}};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0 || ::poll(watched.data(), watched.size(), static_cast<int>(left.count())) <= 0)
      return false;
    std::array<char, 4096> events{};
    while (::read(descriptor_, events.data(), events.size()) > 0) {
    }
    return watched[1].revents == 0;
  }

private:
  int descriptor_;
};

Endpoint endpoint_of(const std::string& url, const std::string& authority) {
  const std::string scheme = authority.empty() ? "http://" : "https://";
  const auto colon = url.rfind(':');
  if (!url.starts_with(scheme) || colon == std::string::npos)
    throw std::runtime_error("no address of a server: " + url);
  return {url.substr(scheme.size(), colon - scheme.size()), std::stoi(url.substr(colon + 1)), authority};
}

} // namespace

Server::Server(ServerOptions options) : options_(std::move(options)) {
  if (options_.first_start_dies_at.empty())
    start();
  else
    start_until_death(options_.first_start_dies_at);
}

Server::~Server() {
  try {
    stop();
  } catch (const std::exception&) {
    // The child's own destructor kills it.
  }
}

void Server::start() {
  launch({});
  wait_until_ready();
}

void Server::start_until_death(const std::string& point) {
  launch(point);
  await_death();
}

void Server::launch(const std::string& dies_at) {
  // tests/linear/mutants plays histories against servers that lack a guard.
  const char* const mutant = std::getenv("CLEAT_TEST_CLEATD");
  Command command{mutant == nullptr ? CLEAT_CLEATD : mutant,
                  {"--data", folder_.path().string(), "--http", "127.0.0.1:0", "--runner", runner_address_},
                  {},
                  {}};
  // A test is one principal that asks as fast as it can.
  for (const auto* rate : {"read", "trigger", "agent_runtime", "admin"})
    command.arguments.insert(command.arguments.end(), {"--set", "rate." + std::string(rate) + "_per_s=1000000"});
  // Tests of every kind of token come from one address.
  command.arguments.insert(command.arguments.end(), {"--set", "auth.failures_per_minute=0"});
  if (!options_.database_url.empty())
    command.arguments.insert(command.arguments.end(), {"--database-url", options_.database_url});
  command.arguments.insert(command.arguments.end(), options_.arguments.begin(), options_.arguments.end());
  command.environment = options_.environment;
  if (options_.crashing) {
    command.program = CLEAT_CLEATD_CRASHING;
    command.environment["CLEAT_SERVER_CRASH_BY"] = crash_file();
  }
  if (!dies_at.empty())
    command.environment["CLEAT_SERVER_CRASH_AT"] = dies_at;
  command.output = folder_.path() / "output.log";
  if (!options_.through.empty())
    command = through(options_.through, std::move(command));
  printed_before_ = output().size();
  child_ = std::make_unique<Child>(command);
}

void Server::wait_until_ready() {
  const auto deadline = Clock::now() + start_patience;
  FolderWatch watch(folder_.path());
  const auto file = folder_.path() / "endpoints.json";
  for (;;) {
    const std::string text = read_file(file);
    // The file of an earlier process may still lie there, and the last line of the start-up text comes after it.
    const bool written = !text.empty() && Json::parse(text)["pid"].number() == child_->pid();
    if (written && output().find("stops it.", printed_before_) != std::string::npos) {
      endpoint_ = endpoint_of(Json::parse(text)["http"].string(), options_.authority);
      runner_address_ = Json::parse(text)["runner"].string();
      return;
    }
    if (!watch.wait(*child_, deadline))
      throw std::runtime_error("cleatd did not become ready:\n" + output());
  }
}

void Server::die_at(const std::string& point) {
  const auto draft = folder_.path() / "crash.new";
  write_file(draft, point + "\n");
  std::filesystem::rename(draft, crash_file()); // so that it is read whole or not at all
}

void Server::await_death() {
  const auto status = child_->wait(stop_patience);
  std::filesystem::remove(crash_file());
  if (status != 128 + SIGKILL || output().find("crash point ", printed_before_) == std::string::npos)
    throw std::runtime_error("cleatd does not come to its crash point:\n" + output());
}

int Server::stop() {
  child_->signal(SIGTERM);
  const auto status = child_->wait(stop_patience);
  if (!status)
    throw std::runtime_error("cleatd does not stop:\n" + output());
  return *status;
}

void Server::kill() {
  child_->signal(SIGKILL);
  child_->wait(stop_patience);
}

std::string Server::owner_token() const {
  std::string token = read_file(folder_.path() / "owner.token");
  while (!token.empty() && (token.back() == '\n' || token.back() == ' '))
    token.pop_back();
  if (token.empty())
    throw std::runtime_error("cleatd wrote no owner.token:\n" + output());
  return token;
}

std::string Server::output() const {
  return read_file(folder_.path() / "output.log");
}

} // namespace cleat::test
