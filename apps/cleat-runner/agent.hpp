#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/cleat-runner/event_loop.hpp"
#include "apps/cleat-runner/line_splitter.hpp"
#include "apps/cleat-runner/process.hpp"

namespace cleat::runner {

/// A file that is begun anew when it gets too long; what it was stays beside it as `.1`.
class BoundedLog {
public:
  BoundedLog(std::string path, std::int64_t max_bytes);
  void append(std::string_view bytes);

private:
  void open();

  std::string path_;
  std::int64_t max_bytes_;
  std::int64_t bytes_ = 0;
  Descriptor file_;
};

/// A running agent: its process and its three streams.
class Agent {
public:
  /// What happens to it. `executed` comes first, once: nothing, or why the program does not run; then it is over.
  /// `ended` comes last, after everything that it said, and the agent may be destroyed in it.
  struct Events {
    std::function<void(std::optional<std::string>)> executed;
    std::function<void(std::vector<std::string>)> said;
    std::function<void(std::int64_t)> input_done;
    std::function<void(std::int64_t exit_code)> ended;
  };

  /// Starts the process; throws `LaunchError`.
  Agent(EventLoop& loop, const Launch& launch, const std::string& errors_file, Events events);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  [[nodiscard]] pid_t pid() const { return process_.pid; }
  [[nodiscard]] std::int64_t start() const { return process_.start; }

  /// Whether `write` has room for a line of this length.
  [[nodiscard]] bool takes(std::size_t bytes) const;
  /// Queues an input line; `input_done` tells when it has been written.
  void write(std::int64_t seq, const std::string& line);

  /// While it is held what the agent says stays in its pipe, and the agent waits when that is full.
  void hold(bool held);

  /// Asks the agent to end.
  void terminate();
  /// Ends it and everything in its process group.
  void kill() const;

private:
  /// Learns whether the program was executed. Without it the agent is over, and may be gone when this returns false.
  bool learn_execution();
  void on_output();
  void on_errors();
  void on_input(bool nobody_reads);
  void on_ended();
  void read_output(bool to_the_end);
  void close_input();
  void close_all();

  EventLoop& loop_;
  Process process_;
  bool wrapped_;
  Events events_;
  LineSplitter splitter_;
  BoundedLog errors_;
  struct Line {
    std::int64_t seq;
    std::string text;
  };
  std::deque<Line> input_;
  std::size_t input_bytes_ = 0;
  /// How much of the first line has been written.
  std::size_t written_ = 0;
  bool held_ = false;
  bool executed_ = false;
};

} // namespace cleat::runner
