#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace cleat::test {

/// A starter for `through` that lets a program work in `folder`, under no limit of core dumps.
std::vector<std::string> with_unlimited_cores(const std::filesystem::path& folder);

/// A starter for `through` that takes away the right of root to look into every process, so that root is told what
/// other users are told. For an ordinary user it changes nothing.
std::vector<std::string> without_tracing();

/// Every core dump below a folder, by what it is and not by its name.
std::vector<std::filesystem::path> cores_below(const std::filesystem::path& folder);

/// Whether this machine puts core dumps where the program worked. False where the kernel hands them to a program or
/// puts them elsewhere, so that no file tells whether there was one.
bool cores_are_files_here();

/// The soft limit of core dumps of a process, as the kernel says it: "0", "unlimited" or bytes.
std::string core_limit_of(pid_t pid);

} // namespace cleat::test
