#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace cleat::runner {

/// A process of this machine as /proc shows it.
struct ProcessInfo {
  pid_t pid = 0;
  pid_t group = 0;
  pid_t session = 0;
  /// Clock ticks from the machine's start.
  std::int64_t start = 0;
};

/// The process, if there is one that has not ended.
std::optional<ProcessInfo> process_info(pid_t pid);

/// All processes that have not ended.
std::vector<ProcessInfo> all_processes();

/// The value that a variable had when the process was started; nothing where it has none or may not be read.
std::optional<std::string> environment_of(pid_t pid, const std::string& name);

} // namespace cleat::runner
