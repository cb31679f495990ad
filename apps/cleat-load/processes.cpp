#include "apps/cleat-load/processes.hpp"

#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include <unistd.h>

namespace cleat::load {
namespace {

namespace fs = std::filesystem;
using std::chrono::microseconds;

/// The fields of /proc/PID/stat that are of interest, in clock ticks (man 5 proc).
struct Stat {
  pid_t parent = 0;
  std::int64_t own_ticks = 0;
  std::int64_t reaped_ticks = 0;
};

std::optional<Stat> read_stat(const fs::path& folder) {
  std::ifstream file(folder / "stat");
  std::string text;
  std::getline(file, text);
  // The name in parentheses may hold anything, so fields are counted from its end.
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos)
    return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  std::string state;
  Stat stat;
  fields >> state >> stat.parent;
  constexpr int fields_between = 9; // process group to the count of major faults of children
  for (int i = 0; i < fields_between; ++i)
    fields >> state;
  std::array<std::int64_t, 4> ticks{};
  for (auto& value : ticks)
    fields >> value;
  if (!fields)
    return std::nullopt;
  stat.own_ticks = ticks[0] + ticks[1];
  stat.reaped_ticks = ticks[2] + ticks[3];
  return stat;
}

microseconds from_ticks(std::int64_t ticks) {
  constexpr std::int64_t micros_a_second = 1'000'000;
  return microseconds(ticks * micros_a_second / sysconf(_SC_CLK_TCK));
}

fs::path folder_of(pid_t process) {
  return fs::path("/proc") / std::to_string(process);
}

bool is_number(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

} // namespace

std::optional<microseconds> cpu_of(pid_t process) {
  const auto stat = read_stat(folder_of(process));
  return stat ? std::optional(from_ticks(stat->own_ticks)) : std::nullopt;
}

std::optional<microseconds> cpu_of_family(pid_t process) {
  const auto head = read_stat(folder_of(process));
  if (!head)
    return std::nullopt;
  std::int64_t ticks = head->own_ticks + head->reaped_ticks;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    if (!is_number(entry.path().filename().string()))
      continue;
    // A process that ends meanwhile has no file any more.
    const auto child = read_stat(entry.path());
    if (child && child->parent == process)
      ticks += child->own_ticks + child->reaped_ticks;
  }
  return from_ticks(ticks);
}

std::optional<std::int64_t> resident_bytes(pid_t process) {
  std::ifstream file(folder_of(process) / "statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  file >> total >> resident;
  return file ? std::optional(resident * sysconf(_SC_PAGESIZE)) : std::nullopt;
}

unsigned int cores() {
  return std::thread::hardware_concurrency();
}

} // namespace cleat::load
