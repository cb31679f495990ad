#pragma once

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include <unistd.h>

namespace cleat {

/// How a program that is built to crash does so. Only such programs include this, so the product has none of it.
///
/// `PREFIX_CRASH_AT` names the point at which the program kills itself, `POINT` or `POINT:N` for the Nth time that it
/// comes by. `PREFIX_CRASH_BY` names a file: once it is there, it holds the point in the same form, so a test can
/// prepare what it likes before. `PREFIX_STOP_AT` names the point at which the program stands still, once, until
/// SIGCONT. `list` in place of a point prints every name and ends.
class Crashing {
public:
  Crashing(const std::string& prefix, std::span<const std::string_view> names)
    : names_(names),
      crash_(trigger(variable(prefix + "_CRASH_AT"))),
      stop_(trigger(variable(prefix + "_STOP_AT"))),
      by_(variable(prefix + "_CRASH_BY")) {}

  /// Kills or stops this process where that was asked for.
  void pass(std::size_t point) {
    if (crash_.point == point && ++crashes_ == crash_.times)
      end(point, SIGKILL, "dies");
    if (stop_.point == point && ++stops_ == stop_.times)
      end(point, SIGSTOP, "stands still");
    if (!by_.empty() && ::access(by_.c_str(), R_OK) == 0)
      pass_with_file(point);
  }

private:
  struct Trigger {
    std::size_t point = static_cast<std::size_t>(-1);
    int times = 1;
  };

  void pass_with_file(std::size_t point) {
    std::string text;
    std::getline(std::ifstream(by_), text);
    const Trigger wanted = trigger(text);
    if (wanted.point == point && ++passed_ == wanted.times)
      end(point, SIGKILL, "dies");
  }

  static std::string variable(const std::string& name) {
    const char* const value = std::getenv(name.c_str()); // NOLINT(concurrency-mt-unsafe): before there are threads
    return value == nullptr ? "" : value;
  }

  /// A wrong name ends the program, so that no test waits for a point that is none.
  [[nodiscard]] Trigger trigger(const std::string& text) const {
    if (text == "list")
      list();
    if (text.empty())
      return {};
    const auto colon = text.find(':');
    const auto found = std::ranges::find(names_, std::string_view(text).substr(0, colon));
    if (found == names_.end()) {
      std::fprintf(stderr, "there is no crash point %s\n", text.c_str());
      std::_Exit(2);
    }
    return {static_cast<std::size_t>(found - names_.begin()),
            colon == std::string::npos ? 1 : std::stoi(text.substr(colon + 1))};
  }

  [[noreturn]] void list() const {
    for (const auto name : names_)
      std::printf("%.*s\n", static_cast<int>(name.size()), name.data());
    std::fflush(stdout);
    std::_Exit(0);
  }

  void end(std::size_t point, int signal, const char* what) const {
    std::fprintf(stderr, "crash point %.*s: the process %s\n", static_cast<int>(names_[point].size()),
                 names_[point].data(), what);
    ::kill(::getpid(), signal);
  }

  const std::span<const std::string_view> names_;
  const Trigger crash_;
  const Trigger stop_;
  const std::string by_;
  std::atomic<int> crashes_ = 0;
  std::atomic<int> stops_ = 0;
  std::atomic<int> passed_ = 0;
};

} // namespace cleat
