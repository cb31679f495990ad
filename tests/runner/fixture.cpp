#include "tests/runner/fixture.hpp"

#include <csignal>
#include <thread>

namespace cleat::test {
namespace {

/// Between two looks at something that tells nobody when it changes.
constexpr std::chrono::milliseconds look_interval{5};

template <class Condition>
bool comes_true(const Condition& condition, std::chrono::milliseconds wait = patience) {
  const auto until = std::chrono::steady_clock::now() + wait;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= until)
      return false;
    std::this_thread::sleep_for(look_interval);
  }
  return true;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c;
  }
  return result + "\"";
}

} // namespace

RunnerTest::RunnerTest() {
  std::filesystem::create_directory(folder());
  write_file(file("token"), "the-token\n");
  enrolled_.enrollment_revision = 0;
  enrolled_.heartbeat_ms = 1'000;
  enrolled_.timeout_ms = 30'000;
  enrolled_.reconnect_grace_ms = 30'000;
}

RunnerTest::~RunnerTest() {
  if (HasFailure())
    std::fprintf(stderr, "--- the Runner's log:\n%s---\n", log().c_str());
}

void RunnerTest::add_agent(const std::string& name, const std::string& script, const std::string& more) {
  configure("[containers." + name + "]\n" + "command = [\"/bin/sh\", \"-c\", " + quoted(script) + "]\n" +
            "folder = " + quoted(folder().string()) + "\nstop_grace_s = 1\n" + more + "\n");
  attempts_[name] = "";
}

void RunnerTest::add_null(const std::string& name) {
  configure("[containers." + name + "]\ndriver = \"null\"\n");
  attempts_[name] = "";
}

void RunnerTest::start_runner(const std::string& crash_at) {
  write_file(file("runner.toml"), toml_);
  Command command;
  command.program = crash_at.empty() ? CLEAT_RUNNER : CLEAT_RUNNER_CRASHING;
  command.arguments = {"--server",     "127.0.0.1:" + std::to_string(server_->port()),
                       "--state",      state().string(),
                       "--config",     file("runner.toml").string(),
                       "--token-file", file("token").string()};
  command.environment["FROM_OUTSIDE"] = "1";
  if (!crash_at.empty())
    command.environment["CLEAT_RUNNER_CRASH_AT"] = crash_at;
  command.output = file("runner.log");
  if (!starter_.empty())
    command = through(starter_, std::move(command));
  runner_.reset(); // it has the state folder as long as it lives
  runner_ = std::make_unique<Child>(command);
}

void RunnerTest::kill_runner() {
  runner_->signal(SIGKILL);
  ASSERT_TRUE(end_of_runner());
}

wire::AskEnrolment RunnerTest::meet() {
  peer_ = server_->accept();
  const auto message = peer_->next_of_any();
  const auto& request = std::get<wire::AskEnrolment>(message.report);
  journal_id_ = request.journal_id;
  return request;
}

void RunnerTest::enrol() {
  enrolled_.enrollment_revision += 1;
  enrolled_.epoch += 1;
  enrolled_.secret = "secret-" + std::to_string(enrolled_.enrollment_revision);
  enrolled_.continued = false;
  enrolled_.containers.clear();
  for (auto& [name, id] : attempts_) {
    id = new_id();
    enrolled_.containers.push_back({name, id});
  }
  wire::ToRunner message;
  message.command = enrolled_;
  peer_->send(message);
}

void RunnerTest::continue_enrolment() {
  enrolled_.epoch += 1;
  enrolled_.continued = true;
  wire::ToRunner message;
  message.command = enrolled_;
  peer_->send(message);
}

void RunnerTest::serve() {
  start_runner();
  EXPECT_EQ(meet().token, "the-token");
  enrol();
}

std::string RunnerTest::new_id() {
  return ids_.next(SystemClock().now()).str();
}

wire::ToRunner RunnerTest::envelope(const std::string& container, const std::string& operation, wire::Command command,
                                    std::int64_t dispatch) {
  wire::ToRunner message;
  message.request_id = new_id();
  message.operation_id = operation;
  message.container_attempt_id = attempt(container);
  message.dispatch = dispatch;
  message.command = std::move(command);
  return message;
}

wire::ToRunner RunnerTest::fresh(const std::string& container, const std::string& operation,
                                 const std::string& session_id, std::int64_t dispatch) {
  auto message = envelope(container, operation, wire::Start{container, "", 0}, dispatch);
  message.fresh_session_id = session_id;
  return message;
}

wire::ToRunner RunnerTest::resume(const std::string& container, const std::string& operation,
                                  const std::string& session_id, std::int64_t body_parts, std::int64_t dispatch) {
  return envelope(container, operation, wire::Start{container, session_id, body_parts}, dispatch);
}

wire::ToRunner RunnerTest::stop(const std::string& container, const std::string& operation,
                                const std::string& session_id) {
  return envelope(container, operation, wire::Stop{container, session_id, attempt(container)}, 1);
}

wire::ToRunner RunnerTest::ask(const std::string& container, const std::string& operation, std::int64_t dispatch) {
  return envelope(container, operation, wire::AskStatus{container, journal_id_}, dispatch);
}

std::string RunnerTest::start_agent(const std::string& container, const std::string& session_id) {
  const auto operation = new_id();
  const auto message = fresh(container, operation, session_id);
  peer_->send(message);
  const auto acknowledged = peer_->next<wire::Acknowledged>();
  EXPECT_EQ(std::get<wire::Acknowledged>(acknowledged.report).outcome, wire::AckOutcome::accepted);
  EXPECT_EQ(acknowledged.operation_id, operation);
  EXPECT_EQ(acknowledged.container_attempt_id, attempt(container));
  const auto started = peer_->next<wire::Started>();
  EXPECT_EQ(started, (wire::FromRunner{message.request_id, operation, attempt(container), 1,
                                       wire::Started{session_id, session_id, ""}}));
  return operation;
}

void RunnerTest::stop_agent(const std::string& container, const std::string& session_id) {
  const auto message = stop(container, new_id(), session_id);
  peer_->send(message);
  EXPECT_EQ(std::get<wire::Acknowledged>(peer_->next<wire::Acknowledged>().report).outcome, wire::AckOutcome::accepted);
  EXPECT_EQ(peer_->next<wire::Stopped>(), (wire::FromRunner{message.request_id, message.operation_id,
                                                            attempt(container), 1, wire::Stopped{session_id}}));
}

wire::FromRunner RunnerTest::status_of(const std::string& container, const std::string& operation,
                                       std::int64_t dispatch) {
  peer_->send(ask(container, operation, dispatch));
  auto answer = peer_->next<wire::Status>();
  EXPECT_EQ(answer.operation_id, operation);
  return answer;
}

wire::Status RunnerTest::settled_status_of(const std::string& container, const std::string& operation,
                                           std::int64_t dispatch) {
  wire::Status status;
  comes_true([&] {
    status = std::get<wire::Status>(status_of(container, operation, dispatch).report);
    return status.kind != wire::StatusKind::ambiguous;
  });
  return status;
}

void RunnerTest::type(const std::string& container, const std::string& operation, const std::string& session_id,
                      std::int64_t seq, const std::string& line) {
  peer_->send(envelope(container, operation, wire::Input{session_id, seq, line}));
}

void RunnerTest::acknowledge(const std::string& container, const std::string& operation, const std::string& session_id,
                             std::int64_t through) {
  peer_->send(envelope(container, operation, wire::RelayDone{session_id, through}));
}

std::vector<wire::RelayedLine> RunnerTest::hear(const std::string& operation, std::size_t count, bool acknowledged) {
  std::vector<wire::RelayedLine> lines;
  auto& heard = heard_[operation];
  while (lines.size() < count) {
    const auto message = peer_->next<wire::Relay>();
    if (message.operation_id != operation)
      continue;
    const auto& relay = std::get<wire::Relay>(message.report);
    for (const auto& line : relay.lines) {
      if (line.seq <= heard)
        continue; // again
      EXPECT_EQ(line.seq, heard + 1) << "a line is missing";
      heard = line.seq;
      lines.push_back(line);
    }
    if (acknowledged) {
      wire::ToRunner done;
      done.operation_id = operation;
      done.container_attempt_id = message.container_attempt_id;
      done.command = wire::RelayDone{relay.session_id, heard};
      peer_->send(done);
    }
  }
  return lines;
}

std::vector<wire::RelayedLine> RunnerTest::hear_to_the_end(const std::string& operation) {
  std::vector<wire::RelayedLine> lines;
  do {
    for (auto& line : hear(operation, 1))
      lines.push_back(std::move(line));
  } while (!lines.back().exit_code);
  return lines;
}

bool RunnerTest::is_running(pid_t pid) {
  const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const auto end = stat.rfind(')');
  return end != std::string::npos && stat.at(end + 2) != 'Z' && stat.at(end + 2) != 'X';
}

bool RunnerTest::logs(const std::string& text) const {
  return comes_true([&] { return log().find(text) != std::string::npos; });
}

bool RunnerTest::is_gone_within(pid_t pid, std::chrono::milliseconds wait) {
  return comes_true([&] { return !is_running(pid); }, wait);
}

std::string RunnerTest::file_of_agent(const std::string& name) const {
  std::string text;
  EXPECT_TRUE(comes_true([&] {
    text = read_file(folder() / name);
    return text.ends_with('\n');
  }))
    << name << " was not written";
  return text;
}

} // namespace cleat::test
