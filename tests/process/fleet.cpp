#include "tests/process/fleet.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/process/json.hpp"

namespace cleat::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto patience = std::chrono::seconds{30};
/// Between two looks at something that nobody announces.
constexpr auto look_pause = std::chrono::milliseconds{10};

Json made(const Response& response) {
  if (response.status / 100 != 2)
    throw std::runtime_error("refused: " + std::to_string(response.status) + " " + response.body);
  return response.json();
}

/// A name that no other test has.
std::string fresh_name(const std::string& prefix) {
  static std::atomic<int> count = 0;
  return prefix + "-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

/// A text as a basic string of TOML.
std::string quoted(const std::string& text) {
  std::string made_of = "\"";
  for (const char c : text)
    made_of += c == '"' || c == '\\' ? std::string("\\") + c : c == '\n' ? "\\n" : std::string(1, c);
  return made_of + "\"";
}

} // namespace

const char* const echo_agent = "echo ready; while IFS= read -r line; do [ \"$line\" = exit ] && exit 7; "
                               "echo \"said: $line\"; done";

Workshop::Workshop(Client& owner, const Actor& actor, int container_count) {
  account = made(owner.post("/v1/accounts", Object().text("name", fresh_name("account")).str()))["id"].string();
  made(owner.put("/v1/accounts/" + account + "/subscriber", Object().text("principal_id", actor.id).str()));
  runner = made(owner.post("/v1/runners", Object().text("name", fresh_name("runner")).str()))["id"].string();
  const auto answer = owner.post("/v1/runners/" + runner + "/tokens", Object().text("label", "test").str());
  token = made(answer)["token"].string();
  for (int i = 0; i < container_count; ++i)
    add_container(owner);
}

std::string Workshop::add_container(Client& owner) {
  containers.push_back(fresh_name("box"));
  Object body;
  body.text("name", containers.back()).text("account_id", account).text("runner_id", runner);
  made(owner.post("/v1/containers", body.str()));
  return containers.back();
}

RunnerProcess::RunnerProcess(std::string server, const Workshop& workshop, RunnerOptions options)
  : server_(std::move(server)), token_(workshop.token), options_(std::move(options)) {
  std::ofstream(folder_.path() / "token") << token_ << "\n";
  std::ofstream config(folder_.path() / "config.toml");
  config << options_.toml << "\n";
  for (const std::string& container : workshop.containers) {
    const auto place = folder_.path() / container;
    std::filesystem::create_directories(place);
    // The state folder's name in the command line is how `agents` knows the agents of this Runner.
    config << "[containers." << quoted(container) << "]\ndriver = " << quoted(options_.driver)
           << "\nfolder = " << quoted(place.string()) << "\ncommand = [\"/bin/sh\", \"-c\", " << quoted(options_.agent)
           << ", " << quoted(folder_.path().string()) << "]\n";
  }
  config.close();
  start();
  options_.crash_at.clear();
  options_.stop_at.clear();
}

RunnerProcess::~RunnerProcess() {
  child_->signal(SIGTERM);
  child_->wait(std::chrono::seconds{30});
}

void RunnerProcess::start() {
  const bool crashing = options_.crashing || !options_.crash_at.empty() || !options_.stop_at.empty();
  Command command{crashing ? CLEAT_RUNNER_CRASHING : CLEAT_RUNNER, {}, {}, folder_.path() / "runner.log"};
  command.arguments = {"--server",     server_,
                       "--token-file", (folder_.path() / "token").string(),
                       "--state",      (folder_.path() / "state").string(),
                       "--config",     (folder_.path() / "config.toml").string()};
  if (crashing)
    command.environment.emplace("CLEAT_RUNNER_CRASH_BY", (folder_.path() / "crash").string());
  if (!options_.crash_at.empty())
    command.environment.emplace("CLEAT_RUNNER_CRASH_AT", options_.crash_at);
  if (!options_.stop_at.empty())
    command.environment.emplace("CLEAT_RUNNER_STOP_AT", options_.stop_at);
  child_ = std::make_unique<Child>(command);
}

void RunnerProcess::wait_for_standstill() const {
  const auto deadline = Clock::now() + patience;
  const auto file = std::filesystem::path("/proc") / std::to_string(child_->pid()) / "stat";
  for (;;) {
    const std::string text = read_file(file);
    const auto end_of_name = text.rfind(')');
    if (end_of_name != std::string::npos && text.size() > end_of_name + 2 && text[end_of_name + 2] == 'T')
      return;
    if (Clock::now() > deadline)
      throw std::runtime_error("cleat-runner does not come to its point:\n" + output());
    std::this_thread::sleep_for(look_pause); // the kernel announces a stop to the parent alone, and only once
  }
}

void RunnerProcess::die_at(const std::string& point) {
  write_file(folder_.path() / "crash.new", point + "\n");
  std::filesystem::rename(folder_.path() / "crash.new", folder_.path() / "crash"); // read whole or not at all
}

void RunnerProcess::await_death() {
  const int status = wait();
  std::filesystem::remove(folder_.path() / "crash");
  if (status != 128 + SIGKILL)
    throw std::runtime_error("cleat-runner does not come to its crash point:\n" + output());
}

int RunnerProcess::stop() {
  child_->signal(SIGTERM);
  return wait();
}

void RunnerProcess::kill() {
  child_->signal(SIGKILL);
  wait();
}

int RunnerProcess::wait() {
  const auto status = child_->wait(std::chrono::minutes{1});
  if (!status)
    throw std::runtime_error("cleat-runner does not end:\n" + output());
  return *status;
}

std::string RunnerProcess::output() const {
  return read_file(folder_.path() / "runner.log");
}

bool RunnerProcess::says(const std::string& text) const {
  const auto deadline = Clock::now() + patience;
  while (output().find(text) == std::string::npos) {
    if (Clock::now() > deadline)
      return false;
    std::this_thread::sleep_for(look_pause); // its log is a file
  }
  return true;
}

int RunnerProcess::agents() const {
  const std::string mark = std::string(1, '\0') + folder_.path().string() + std::string(1, '\0');
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (!std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0; }))
      continue;
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    const std::string line = text.str();
    count += line.starts_with("/bin/sh") && line.find(mark) != std::string::npos ? 1 : 0;
  }
  return count;
}

std::string container_path(const std::string& container) {
  return "/v1/containers/" + container;
}

std::string session_path(const std::string& session) {
  return "/v1/agent-sessions/" + session;
}

Response start_agent(Client& client, const std::string& container, int wait_s, const std::string& body,
                     Headers headers) {
  if (wait_s > 0)
    headers.emplace("Prefer", "wait=" + std::to_string(wait_s));
  return client.post(container_path(container) + "/agent-sessions", body, headers);
}

Response resume_agent(Client& client, const std::string& container, const std::string& session, int wait_s) {
  return start_agent(client, container, wait_s, Object().text("resume_session_id", session).str());
}

Response stop_agent(Client& client, const std::string& session, const Headers& headers) {
  return client.post(session_path(session) + "/stop", "{}", headers);
}

Response say_to_agent(Client& client, const std::string& session, const std::string& line, const Headers& headers) {
  return client.post(session_path(session) + "/input", Object().text("line", line).str(), headers);
}

Response look_up(Client& client, const std::string& handle, int wait_s) {
  Object body;
  body.text("retry_handle", handle);
  if (wait_s > 0)
    body.json("wait_s", std::to_string(wait_s));
  return client.post("/v1/agent-session-operations/lookup", body.str());
}

Response retry(Client& client, const std::string& handle) {
  return client.post("/v1/agent-session-operations/retry", Object().text("retry_handle", handle).str());
}

std::vector<std::string> transcript_of(Client& client, const std::string& session) {
  std::vector<std::string> lines;
  std::string after = "0";
  for (;;) {
    const auto answer =
      client.get(session_path(session) + "/transcript?limit=200&after=" + after, {{"Accept", "application/json"}});
    if (answer.status != 200)
      return lines;
    const Json page = answer.json();
    for (const Json& item : page["items"].items())
      lines.push_back(item.has("exit_code") ? "exit: " + std::to_string(item["exit_code"].number())
                                            : item["direction"].string() + ": " + item["line"].string());
    if (page["items"].items().empty())
      return lines;
    after = std::to_string(page["next_after"].number());
  }
}

Json await_container(Client& client, const std::string& container, const std::string& state) {
  const auto deadline = Clock::now() + patience;
  for (;;) {
    const auto answer = client.get(container_path(container));
    if (answer.status == 200 && answer.json()["state"].string() == state)
      return answer.json();
    if (Clock::now() > deadline)
      throw std::runtime_error("the container does not become " + state + ": " + answer.body);
    std::this_thread::sleep_for(look_pause); // a container's state is read, there is nothing to wait on
  }
}

std::string live_session(Client& client, const std::string& container) {
  await_container(client, container, "idle");
  return made(start_agent(client, container, 20))["session_id"].string();
}

std::string live_session_for_certain(Client& client, const std::string& container) {
  const auto deadline = Clock::now() + patience;
  for (;;) {
    await_container(client, container, "idle");
    const auto started = start_agent(client, container, 20);
    if (started.status == 201)
      return started.json()["session_id"].string();
    if (Clock::now() > deadline)
      throw std::runtime_error("no agent starts: " + started.body);
    std::this_thread::sleep_for(look_pause); // as Retry-After says, nobody tells when
  }
}

void await_line(Client& client, const std::string& session, const std::string& line) {
  const auto deadline = Clock::now() + patience;
  for (;;) {
    const auto lines = transcript_of(client, session);
    if (std::ranges::find(lines, line) != lines.end())
      return;
    if (Clock::now() > deadline)
      throw std::runtime_error("the agent does not say: " + line);
    std::this_thread::sleep_for(look_pause); // a page is read on purpose; the stream has a test of its own
  }
}

} // namespace cleat::test
