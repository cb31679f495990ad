#include "apps/cleat-runner/process_table.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

namespace cleat::runner {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace

std::optional<ProcessInfo> process_info(pid_t pid) {
  const auto stat = read("/proc/" + std::to_string(pid) + "/stat");
  // The name stands in parentheses and may hold some itself.
  const auto end = stat.rfind(')');
  if (end == std::string::npos)
    return std::nullopt;
  std::istringstream fields(stat.substr(end + 1));
  ProcessInfo info;
  info.pid = pid;
  char state = 0;
  pid_t parent = 0;
  fields >> state >> parent >> info.group >> info.session;
  // The start time is field 22; the session was field 6.
  std::string skipped;
  for (int field = 7; field < 22; ++field)
    fields >> skipped;
  fields >> info.start;
  if (!fields || state == 'Z' || state == 'X')
    return std::nullopt;
  return info;
}

std::vector<ProcessInfo> all_processes() {
  std::vector<ProcessInfo> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const auto name = entry.path().filename().string();
    pid_t pid = 0;
    const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (wrong != std::errc() || end != name.data() + name.size())
      continue;
    if (const auto info = process_info(pid))
      found.push_back(*info);
  }
  return found;
}

std::optional<std::string> environment_of(pid_t pid, const std::string& name) {
  const auto text = read("/proc/" + std::to_string(pid) + "/environ");
  const std::string wanted = name + "=";
  for (std::string_view rest = text; !rest.empty();) {
    const auto entry = rest.substr(0, rest.find('\0'));
    if (entry.starts_with(wanted))
      return std::string(entry.substr(wanted.size()));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
  }
  return std::nullopt;
}

} // namespace cleat::runner
