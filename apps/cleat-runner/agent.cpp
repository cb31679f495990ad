#include "apps/cleat-runner/agent.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/cleat-runner/process_table.hpp"
#include "base/limits.hpp"

namespace cleat::runner {
namespace {

constexpr std::size_t piece_bytes = 65'536;

/// Reads once; nothing at the end or when there is nothing now.
std::string_view read_piece(const Descriptor& from, std::array<char, piece_bytes>& piece, bool& at_end) {
  const auto count = ::read(from.get(), piece.data(), piece.size());
  at_end = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
  return count > 0 ? std::string_view(piece.data(), static_cast<std::size_t>(count)) : std::string_view();
}

} // namespace

BoundedLog::BoundedLog(std::string path, std::int64_t max_bytes) : path_(std::move(path)), max_bytes_(max_bytes) {
  open();
}

void BoundedLog::open() {
  file_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  struct stat info {};
  bytes_ = file_ && ::fstat(file_.get(), &info) == 0 ? info.st_size : 0;
}

void BoundedLog::append(std::string_view bytes) {
  if (bytes_ > 0 && bytes_ + std::ssize(bytes) > max_bytes_) {
    std::rename(path_.c_str(), (path_ + ".1").c_str());
    open();
  }
  // A log that cannot be written is no reason to stop an agent.
  if (const auto count = ::write(file_.get(), bytes.data(), bytes.size()); count > 0)
    bytes_ += count;
}

Agent::Agent(EventLoop& loop, const Launch& launch, const std::string& errors_file, Events events)
  : loop_(loop),
    process_(spawn(launch)),
    wrapped_(launch.wrapped),
    events_(std::move(events)),
    splitter_(static_cast<std::size_t>(limits::agent_line_max_bytes)),
    errors_(errors_file, limits::agent_stderr_max_bytes) {
  loop_.watch(process_.execution.get(), EPOLLIN, [this](std::uint32_t) { learn_execution(); });
  loop_.watch(process_.output.get(), EPOLLIN, [this](std::uint32_t) { on_output(); });
  loop_.watch(process_.errors.get(), EPOLLIN, [this](std::uint32_t) { on_errors(); });
  loop_.watch(process_.input.get(), 0, [this](std::uint32_t happened) { on_input((happened & EPOLLERR) != 0); });
  loop_.watch(process_.ended.get(), EPOLLIN, [this](std::uint32_t) { on_ended(); });
}

Agent::~Agent() {
  close_all();
}

void Agent::close_all() {
  for (auto* descriptor : {&process_.execution, &process_.output, &process_.errors, &process_.input, &process_.ended}) {
    if (*descriptor)
      loop_.unwatch(descriptor->get());
    descriptor->reset();
  }
}

bool Agent::learn_execution() {
  if (executed_)
    return true;
  auto failure = exec_failure(process_.execution);
  loop_.unwatch(process_.execution.get());
  process_.execution.reset();
  executed_ = true;
  if (failure) {
    // The child is on its way out, so this is a matter of moments.
    ::waitpid(process_.pid, nullptr, 0);
    close_all();
    const auto executed = std::move(events_.executed);
    executed(std::move(failure));
    return false;
  }
  events_.executed(std::nullopt);
  return true;
}

void Agent::read_output(bool to_the_end) {
  std::array<char, piece_bytes> piece{};
  bool at_end = false;
  do {
    const auto bytes = read_piece(process_.output, piece, at_end);
    if (bytes.empty())
      break;
    if (auto lines = splitter_.append(bytes); !lines.empty())
      events_.said(std::move(lines));
  } while (to_the_end);
  if (at_end) {
    loop_.unwatch(process_.output.get());
    process_.output.reset();
  }
}

void Agent::on_output() {
  // What speaks has been executed, and its start is told before what it says.
  if (learn_execution())
    read_output(false);
}

void Agent::on_errors() {
  std::array<char, piece_bytes> piece{};
  bool at_end = false;
  errors_.append(read_piece(process_.errors, piece, at_end));
  if (at_end) {
    loop_.unwatch(process_.errors.get());
    process_.errors.reset();
  }
}

void Agent::on_ended() {
  if (!learn_execution())
    return;
  // As long as the first process has not been waited for, its group's number means nobody else.
  kill();
  int status = 0;
  ::waitpid(process_.pid, &status, 0);
  if (process_.errors)
    on_errors();
  if (process_.output)
    read_output(true);
  if (auto last = splitter_.finish(); !last.empty())
    events_.said(std::move(last));
  close_all();
  const auto ended = std::move(events_.ended);
  ended(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

bool Agent::takes(std::size_t bytes) const {
  return std::ssize(input_) < limits::agent_input_queue_lines &&
         (input_.empty() || input_bytes_ + bytes <= static_cast<std::size_t>(limits::agent_input_queue_bytes));
}

void Agent::write(std::int64_t seq, const std::string& line) {
  if (!process_.input) {
    events_.input_done(seq); // nobody will ever read it
    return;
  }
  input_.push_back({seq, line + "\n"});
  input_bytes_ += input_.back().text.size();
  on_input(false);
}

void Agent::on_input(bool nobody_reads) {
  std::optional<std::int64_t> through;
  while (!input_.empty()) {
    const auto rest = std::string_view(input_.front().text).substr(written_);
    const auto count = ::write(process_.input.get(), rest.data(), rest.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
      break;
    if (count < 0) {
      // The agent has closed its input; whatever is sent to it has arrived as far as it ever will.
      through = input_.back().seq;
      close_input();
      break;
    }
    written_ += static_cast<std::size_t>(count);
    if (written_ < input_.front().text.size())
      continue;
    through = input_.front().seq;
    input_bytes_ -= input_.front().text.size();
    input_.pop_front();
    written_ = 0;
  }
  if (nobody_reads && process_.input)
    close_input();
  if (process_.input)
    loop_.change(process_.input.get(), input_.empty() ? 0U : EPOLLOUT);
  if (through)
    events_.input_done(*through);
}

void Agent::close_input() {
  loop_.unwatch(process_.input.get());
  process_.input.reset();
  input_.clear();
  input_bytes_ = written_ = 0;
}

void Agent::hold(bool held) {
  if (held == held_ || !process_.output)
    return;
  held_ = held;
  loop_.change(process_.output.get(), held ? 0U : EPOLLIN);
}

void Agent::terminate() {
  bool told = false;
  if (wrapped_)
    // Bubblewrap would take everything with it at once; so the agent is asked, and bubblewrap ends after it.
    for (const auto& other : all_processes())
      if (other.group == process_.pid && other.pid != process_.pid)
        told |= ::kill(other.pid, SIGTERM) == 0;
  if (!told)
    ::kill(-process_.pid, SIGTERM);
}

void Agent::kill() const {
  ::kill(-process_.pid, SIGKILL);
}

} // namespace cleat::runner
