#include "tests/support/cores.hpp"

#include <array>
#include <fstream>
#include <sstream>
#include <string_view>

#include <elf.h>
#include <unistd.h>

#include "tests/support/child.hpp"

namespace cleat::test {
namespace {

bool is_core(const std::filesystem::path& path) {
  Elf64_Ehdr head{};
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(&head), sizeof head);
  return file.gcount() == sizeof head && std::string_view(reinterpret_cast<char*>(head.e_ident), SELFMAG) == ELFMAG &&
         head.e_type == ET_CORE;
}

} // namespace

std::vector<std::string> with_unlimited_cores(const std::filesystem::path& folder) {
  return {"/bin/sh", "-c", R"(ulimit -c unlimited && cd "$0" && exec "$@")", folder.string()};
}

std::vector<std::string> without_tracing() {
  if (geteuid() != 0)
    return {"/usr/bin/env"};
  // Newer kernels let those read who may measure performance.
  const std::string rights = "-sys_ptrace,-perfmon,-sys_admin";
  return {"/usr/bin/setpriv", "--inh-caps", rights, "--bounding-set", rights, "--"};
}

std::vector<std::filesystem::path> cores_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && is_core(entry.path()))
      found.push_back(entry.path());
  return found;
}

bool cores_are_files_here() {
  const auto pattern = read_file("/proc/sys/kernel/core_pattern");
  return pattern.size() > 1 && pattern.find_first_of("|/") == std::string::npos;
}

std::string core_limit_of(pid_t pid) {
  const std::string name = "Max core file size";
  std::istringstream lines(read_file("/proc/" + std::to_string(pid) + "/limits"));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name))
      continue;
    std::string soft;
    std::istringstream(line.substr(name.size())) >> soft;
    return soft;
  }
  return "";
}

} // namespace cleat::test
