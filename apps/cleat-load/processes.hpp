#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include <sys/types.h>

/// What the kernel tells about processes in /proc.
namespace cleat::load {

/// CPU time, user and system, that a process has used so far; `nullopt` when it is gone or cannot be seen.
std::optional<std::chrono::microseconds> cpu_of(pid_t process);

/// CPU time of a process, its children that run, and those it has waited for. PostgreSQL's main process has one
/// child a connection.
std::optional<std::chrono::microseconds> cpu_of_family(pid_t process);

/// Resident memory in bytes.
std::optional<std::int64_t> resident_bytes(pid_t process);

/// How many processors this machine gives us.
unsigned int cores();

} // namespace cleat::load
