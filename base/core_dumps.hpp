#pragma once

#include <sys/resource.h>

namespace cleat {

/// Keeps what this process has in memory out of core dumps: tokens, secrets and what agents say are there in clear.
/// Called first in main, before anything of that is read. The kernel then writes no dump of it, neither into a file nor
/// into the pipe of a handler, and other processes of the same user can neither trace it nor read its memory. Programs
/// that it starts begin with a soft limit of no dump, and may raise that up to the hard limit, which stays as it was.
///
/// Answers the limit that was there, for `allow_core_dumps`. Throws `std::system_error`.
rlimit forbid_core_dumps();

/// Takes `forbid_core_dumps` back. Throws `std::system_error`.
void allow_core_dumps(const rlimit& limit_before);

} // namespace cleat
